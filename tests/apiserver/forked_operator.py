"""The operator as a fork of a process that has imported its code, for tests that start many of them.

The imports take three seconds of a core, which is most of a start. From there on it is the process of every other test.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Final, Self

from kubernetes.aio.config import kube_config

from paimon_operator.__main__ import main
from tests.apiserver.operator_process import OperatorProcess

_FORKS: Final = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__])
_SET_PARENT_DEATH_SIGNAL: Final = 1


class ForkedOperator(OperatorProcess):
    """Ends by a kill only."""

    _fork: ForkServerProcess | None = None

    def start(self) -> Self:
        """Starts the process; it dies with the process of the tests."""
        self._fork = _FORKS.Process(target=_run, args=(self._environment, self.log_file))
        self._fork.start()
        return self

    def kill(self) -> None:
        """Kills the process, like a node that fails."""
        assert self._fork is not None, "not started"
        self._fork.kill()
        self._fork.join()

    def __exit__(self, *_: object) -> None:
        self.kill()


def _run(environment: dict[str, str], log_file: Path) -> None:
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    os.environ.clear()
    os.environ.update(environment)
    with log_file.open("ab") as log:
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)
    sys.argv[1:] = []  # a fork has the arguments of the tests
    kube_config.KUBE_CONFIG_DEFAULT_LOCATION = environment["KUBECONFIG"]  # was read from the environment by the import
    sys.exit(main())
