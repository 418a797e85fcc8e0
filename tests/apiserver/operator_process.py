"""The real operator as a process: started with settings, observed through its log and endpoints, ended by signals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.cluster.cache import CHECKOUT
from tests.cluster.ports import free_ports
from tests.cluster.processes import ProcessDiedError, wait_until

IMAGE = "example.test/paimon-spark:test"
TIMEOUT_S = 150.0
"""Seconds that a start or an end may take on a busy machine. No test asserts a time."""


class OperatorProcess:
    """`python -m paimon_operator` against one API server. As a context manager it runs for the block."""

    def __init__(
        self,
        kubeconfig: Path,
        directory: Path,
        *,
        namespaces: Sequence[str],
        lease_namespace: str,
        name: str = "operator",
        **settings: str,
    ) -> None:
        """`settings` have their names in `Settings` and text values: `workers="4"`."""
        self.log_file = directory / f"{name}.log"
        self.health_port, self.metrics_port = free_ports(2)
        given = {
            "watch_namespaces": ",".join(namespaces),
            "lease_namespace": lease_namespace,
            "spark_images": json.dumps({"paimon-0.9": IMAGE, "paimon-1.4": IMAGE}),
            "health_port": str(self.health_port),
            "metrics_port": str(self.metrics_port),
            "api_rate": "500",
            "api_burst": "500",
            **settings,
        }
        own = {f"PAIMON_OPERATOR_{key.upper()}": value for key, value in given.items()}
        self._environment = {**_inherited(), **_of_the_image(), "KUBECONFIG": str(kubeconfig), "POD_NAME": name, **own}
        self.program: Sequence[str] = ("-m", "paimon_operator")
        """Arguments of Python."""
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """Starts the process; it dies with the thread that started it."""
        with self.log_file.open("ab") as log:
            command = ["setpriv", "--pdeathsig", "KILL", sys.executable, *self.program]
            self._process = subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)
        return self

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "not started"
        return self._process

    def require_running(self) -> None:
        """Raises ProcessDiedError if the process has ended by itself, as one that has lost its Lease does."""
        if (code := self.process.poll()) is not None:
            raise ProcessDiedError(f"the operator has ended with {code}:\n{self.log()[-2000:]}")

    def kill(self) -> None:
        """Kills the process, like a node that fails."""
        self.process.kill()
        self.process.wait()

    def terminate(self) -> int:
        """Sends SIGTERM and returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=TIMEOUT_S)

    def wait(self) -> int:
        """Returns the exit code of a process that ends itself."""
        return self.process.wait(timeout=TIMEOUT_S)

    def wait_until_working(self) -> Self:
        """Waits until it leads and has reconciled every object once."""
        assert wait_until(lambda: self.probe("readyz") == (200, "leading\n"), timeout=TIMEOUT_S), self.log()
        return self

    def wait_until_standby(self) -> Self:
        """Waits until it is a follower."""
        assert wait_until(lambda: self.probe("readyz") == (200, "waiting for the Lease\n"), timeout=TIMEOUT_S), (
            self.log()
        )
        return self

    def probe(self, path: str) -> tuple[int, str]:
        """Returns status and text of a health endpoint; 0 while nothing listens."""
        return _fetched(f"http://127.0.0.1:{self.health_port}/{path}")

    def metrics(self) -> dict[str, float]:
        """Returns all samples by name with labels, of a process that has started: a busy one answers late."""
        status, text = _fetched(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=TIMEOUT_S)
        if status != 200:
            self.require_running()
            raise AssertionError(f"no metrics, status {status}:\n{self.log()[-2000:]}")
        samples = (line.rpartition(" ") for line in text.splitlines() if line and not line.startswith("#"))
        return {name: float(value) for name, _, value in samples}

    def log(self) -> str:
        return self.log_file.read_text() if self.log_file.exists() else ""

    def log_records(self) -> list[dict[str, Any]]:
        """Returns every line of the log, which is one JSON object."""
        return [json.loads(line) for line in self.log().splitlines()]

    def errors(self) -> list[dict[str, Any]]:
        """Returns the records of level ERROR, without those of kopf for a request that it retries."""
        errors = [each for each in self.log_records() if each["level"] == "ERROR"]
        return [each for each in errors if not (each["logger"].startswith("kopf") and "will retry" in each["message"])]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()


def _of_the_image() -> dict[str, str]:
    """The settings of glibc's memory in the operator's image: the tests and benchmarks have them too."""
    found = dict(re.findall(r"\b(MALLOC_\w+)=(\d+)", (CHECKOUT / "Dockerfile").read_text(encoding="utf-8")))
    assert len(found) == 2, found
    return found


def _inherited() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("PAIMON_OPERATOR_")}


def _fetched(url: str, timeout: float = 5) -> tuple[int, str]:
    """Status and text; 0 without an answer. `timeout` is in seconds."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:  # noqa: S310 - a loopback address
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""
