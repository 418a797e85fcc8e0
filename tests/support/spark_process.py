"""Spark drivers as processes on this machine: started as the image starts them, or kept as a worker; ended by pid."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paimon_engines.engine import Engine

ROOT = Path(__file__).parents[2]
ENTRYPOINT = ROOT / "spark_apps" / "entrypoint.sh"
JAVA_OPTIONS = "-Duser.timezone=UTC -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass(frozen=True)
class Exited:
    """A driver that has ended. `result` is what it left as its termination message, None if nothing."""

    code: int
    result: dict[str, Any] | None
    log: str


def image_home(engine: Engine, jars: Path, directory: Path) -> Path:
    """A directory like the image's /opt/paimon-operator, without an archive."""
    home = directory / f"image-{engine.id}"
    home.mkdir(exist_ok=True)
    link = home / "jars"
    if not link.exists():
        link.symlink_to(jars)
    return home


def environment(home: Path, message: Path, **more: str) -> dict[str, str]:
    """What the pod's environment is to the entrypoint."""
    own = {
        "PAIMON_OPERATOR_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "TERMINATION_LOG": str(message),
        "DRIVER_HEAP": "768m",
    }
    return {**os.environ, **own, **more}


def run_driver(home: Path, job: Path, directory: Path, **env: str) -> Exited:
    """Runs the entrypoint to its end."""
    message = directory / f"{job.stem}.message"
    done = subprocess.run(
        [str(ENTRYPOINT), "driver", str(job)],
        env=environment(home, message, **env),
        capture_output=True,
        text=True,
        check=False,
        cwd=directory,
    )
    result = json.loads(message.read_text(encoding="utf-8")) if message.exists() else None
    return Exited(done.returncode, result, done.stdout + done.stderr)


class Worker:
    """One JVM with an engine's jars that performs job after job; `env` is what a Pod's environment would have.

    `program` answers: a module that reads requests from standard input, as spark_worker does.
    """

    def __init__(self, jars: Path, log: Path, program: str = "tests.support.spark_worker", **env: str) -> None:
        krb5 = f" -Djava.security.krb5.conf={env['KRB5_CONFIG']}" if "KRB5_CONFIG" in env else ""
        class_path = ":".join(str(path) for path in sorted(jars.glob("*.jar")))
        arguments = [
            *("--master", "local[2]", "--driver-memory", "1g", "--driver-class-path", class_path),
            *("--driver-java-options", f"'{JAVA_OPTIONS}{krb5}'", "pyspark-shell"),
        ]
        reading, writing = os.pipe()
        with log.open("w", encoding="utf-8") as stream:
            self._process = subprocess.Popen(
                [sys.executable, "-m", program, str(writing)],
                env={**os.environ, "PYSPARK_SUBMIT_ARGS": " ".join(arguments), "SPARK_LOCAL_IP": "127.0.0.1", **env},
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=stream,
                stderr=stream,
                text=True,
                pass_fds=(writing,),
                start_new_session=True,
            )
        os.close(writing)
        self._answers = os.fdopen(reading, encoding="utf-8")
        self._log = log
        self.env = env

    def ask(self, **request: Any) -> Any:
        """The worker's answer to one request."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._answers.readline()
        if not line:
            raise AssertionError(f"the Spark worker ended: {self._log.read_text(encoding='utf-8')[-3000:]}")
        return json.loads(line)

    def stop(self) -> None:
        """Ends the worker and its JVM."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._answers.close()


def kill_driver_at(moment: str, home: Path, job: Path, directory: Path) -> None:
    """Runs a Write until `moment` (spark_killed.MOMENTS), when JVM and Python die at once, as in a lost pod."""
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
