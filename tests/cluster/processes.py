"""Long-running processes of the node: started detached, remembered by pid and start time, stopped one by one.

The start time distinguishes a process from a later one with the same pid.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LISTENING = "0A"
"""TCP_LISTEN in /proc/net/tcp."""
GO_ENVIRONMENT: Mapping[str, str] = {"GOGC": "400", "GOMEMLIMIT": "4GiB"}
"""The environment of servers written in Go. They share the cores of this machine with what is tested, and collect
garbage for a quarter of their CPU time by default. They need more memory for it.
"""


class ProcessDiedError(RuntimeError):
    """A process that should be running ended by itself; the message ends with the tail of its log."""


def start_time(pid: int) -> str | None:
    """Returns field 22 of /proc/PID/stat (clock ticks since boot); None: no such process, or a zombie.

    While a process has other threads than a main thread that is a zombie, it has not ended: they hold its ports.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        has_ended = fields[0] in "ZX" and os.listdir(f"/proc/{pid}/task") == [str(pid)]
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if has_ended else fields[19]


@dataclass(frozen=True)
class Daemon:
    """One named process: its pid file and its log file."""

    name: str
    pid_file: Path
    log_file: Path

    def pid(self) -> int | None:
        """Returns the pid of the running process, or None."""
        try:
            pid, _, started = self.pid_file.read_text().partition(" ")
        except FileNotFoundError:
            return None
        return int(pid) if started and start_time(int(pid)) == started else None

    def listens(self, port: int) -> bool:
        """Returns whether the port is listened on in the process's network namespace, which can differ from ours."""
        pid = self.pid()
        if pid is None:
            return False
        try:
            told = [Path(f"/proc/{pid}/net/{kind}").read_text() for kind in ("tcp", "tcp6")]
        except (FileNotFoundError, ProcessLookupError):
            return False  # it has just ended
        sockets = [line.split() for text in told for line in text.splitlines()[1:]]
        return any(each[1].endswith(f":{port:04X}") and each[3] == _LISTENING for each in sockets)

    def start(self, command: Sequence[str], *, env: Mapping[str, str] | None = None) -> None:
        """Starts the process in a session of its own, so that Ctrl-C in the terminal does not reach it."""
        for file in (self.pid_file, self.log_file):
            file.parent.mkdir(parents=True, exist_ok=True)
        own = {**GO_ENVIRONMENT, **(os.environ if env is None else env)}
        with self.log_file.open("ab") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=own, start_new_session=True
            )
        self.pid_file.write_text(f"{process.pid} {start_time(process.pid)}")

    def stop(self, first: signal.Signals = signal.SIGTERM, *, grace: float = 10.0) -> None:
        """Stops the process and waits until it is gone; SIGKILL follows `first` after `grace` seconds."""
        pid = self.pid()
        if pid is not None:
            for sign in (first, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):  # it ended by itself
                    os.kill(pid, sign)
                if wait_until(lambda: self._gone(pid), timeout=grace):
                    break
            else:
                raise TimeoutError(f"{self.name} (pid {pid}) does not end, not even by SIGKILL")
        self.pid_file.unlink(missing_ok=True)

    def check_alive(self) -> None:
        """Raises ProcessDiedError when the process has ended."""
        if self.pid() is None:
            raise ProcessDiedError(f"{self.name} ended by itself. The end of {self.log_file}:\n{self.log_tail()}")

    def log_tail(self) -> str:
        return self.log_file.read_bytes()[-3000:].decode(errors="replace") if self.log_file.exists() else "(no log)"

    def _gone(self, pid: int) -> bool:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)  # reaps it if it is our child: a zombie keeps its pid
        return self.pid() is None


def wait_until(condition: Callable[[], bool], *, timeout: float, interval: float = 0.05) -> bool:
    """Asks `condition` every `interval` seconds and returns its last answer: False means `timeout` seconds passed."""
    deadline = time.monotonic() + timeout
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(interval)  # polling another process: there is nothing to wait on
    return met
