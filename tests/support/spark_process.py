"""Spark drivers as processes on this machine: one process per job, or a worker for many jobs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.cluster.images.context import ENTRYPOINT
from tests.support.spark_home import SparkHome

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("spark_worker.py")
TESTS_PER_JVM: Final = 200
"""Each test leaves sessions and catalogs in the heap: 1 GiB was full after about 500 tests, 2 GiB after 900."""
CODE_CACHE: Final = "-XX:ReservedCodeCacheSize=240m"
"""The code of a hundred tests fills the 48 MB of a JVM without C2, which then throws away code that it needs again."""


@dataclass(frozen=True)
class Exited:
    """A driver that has ended. `result` is its termination message, None without one."""

    code: int
    result: dict[str, Any] | None
    stdout: str
    stderr: str

    @property
    def log(self) -> str:
        """Everything that it has written."""
        return self.stdout + self.stderr


def environment(home: SparkHome, message: Path, **more: str) -> dict[str, str]:
    """The environment of the entrypoint, as a Pod gives it."""
    return {**os.environ, **home.variables, "TERMINATION_LOG": str(message), "DRIVER_HEAP": "768m", **more}


def run_driver(home: SparkHome, job: Path, directory: Path, **env: str) -> Exited:
    """Runs the entrypoint to its end."""
    return _run(home, ["driver", str(job)], directory / f"{job.stem}.message", directory, **env)


def run_batch(home: SparkHome, directory: Path, **env: str) -> Exited:
    """Runs the entrypoint of a Pod that several runs share to its end. `env` has their jobs."""
    return _run(home, ["batch"], directory / "batch.message", directory, **env)


def _run(home: SparkHome, arguments: list[str], message: Path, directory: Path, **env: str) -> Exited:
    done = subprocess.run(
        [str(ENTRYPOINT), *arguments],
        env=environment(home, message, **env),
        capture_output=True,
        text=True,
        check=False,
        cwd=directory,
    )
    result = json.loads(message.read_text(encoding="utf-8")) if message.exists() else None
    return Exited(done.returncode, result, done.stdout, done.stderr)


class Worker:
    """One JVM at a time, with an engine's jars, that performs many jobs. `env` adds variables to the Pod's environment.

    The entrypoint starts `program` instead of the driver's program. It answers through worker_channel.
    """

    def __init__(self, home: SparkHome, log: Path, program: Path = WORKER, **env: str) -> None:
        self._home, self._log, self._program, self.env = home, log, program, env
        self._tests = 0
        self._start()

    def _start(self) -> None:
        own = {
            "SPARK_APPS_MAIN": str(self._program),
            "DRIVER_CORES": "2",
            "DRIVER_HEAP": "2g",
            "JAVA_TOOL_OPTIONS": CODE_CACHE,
            **self.env,
        }
        with socket.create_server(("127.0.0.1", 0)) as listener, self._log.open("a", encoding="utf-8") as stream:
            self._process = subprocess.Popen(
                [str(ENTRYPOINT), "driver", str(listener.getsockname()[1])],
                env=environment(self._home, self._log.with_suffix(".message"), **own),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
            self._connection = self._accepted(listener)
        self._stream = self._connection.makefile("rw", encoding="utf-8")

    @property
    def pid(self) -> int:
        """The process of the JVM that serves now."""
        return self._process.pid

    def begin_test(self) -> None:
        """Starts another JVM if this one has ended, or has served TESTS_PER_JVM tests."""
        self._tests += 1
        if self._tests > TESTS_PER_JVM or self._process.poll() is not None:
            self.stop()
            self._start()
            self._tests = 1

    def ask(self, **request: Any) -> Any:
        """The worker's answer to one request."""
        self._stream.write(json.dumps(request) + "\n")
        self._stream.flush()
        line = self._stream.readline()
        if not line:
            raise self._ended()
        return json.loads(line)

    def stop(self) -> None:
        """Ends the worker and its JVM."""
        with contextlib.suppress(BrokenPipeError):  # of a request that an ended JVM never read
            self._stream.close()
        self._connection.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _accepted(self, listener: socket.socket) -> socket.socket:
        """The worker's connection, once its JVM and its program have started."""
        listener.settimeout(0.5)
        while self._process.poll() is None:
            with contextlib.suppress(TimeoutError):
                connection, _ = listener.accept()
                return connection
        raise self._ended()

    def _ended(self) -> AssertionError:
        return AssertionError(f"the Spark worker ended: {self._log.read_text(encoding='utf-8')[-3000:]}")


def kill_driver_at(moment: str, home: SparkHome, job: Path, directory: Path) -> None:
    """Runs a Write until `moment` (kill_points.MOMENTS) and kills JVM and Python at once, as in a lost Pod."""
    program = Path(__file__).with_name("spark_killed.py")
    driver = subprocess.run(
        [str(ENTRYPOINT), "driver", str(job)],
        env=environment(home, directory / "killed.message", KILL_AT=moment, SPARK_APPS_MAIN=str(program)),
        capture_output=True,
        text=True,
        check=False,
        cwd=directory,
        start_new_session=True,
    )
    assert driver.returncode == -signal.SIGKILL, f"the driver was not killed {moment}: {driver.stdout}{driver.stderr}"
