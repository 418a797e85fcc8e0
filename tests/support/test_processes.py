"""A process has ended when nothing of it is left: also its ports are free then."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cluster.processes import Daemon, start_time, wait_until

MAIN_THREAD_ENDS: Final = """
import ctypes, platform, socket, threading, time
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
threading.Thread(target=time.sleep, args=(60,)).start()
EXIT = {"x86_64": 60, "aarch64": 93}[platform.machine()]
ctypes.CDLL(None).syscall(EXIT, 0)  # of this thread only, unlike exit_group
"""


@pytest.fixture
def daemon(tmp_path: Path) -> Daemon:
    return Daemon("listener", tmp_path / "pid", tmp_path / "log")


def started_pid(daemon: Daemon) -> int:
    return int(daemon.pid_file.read_text().partition(" ")[0])


def main_thread_is_a_zombie(daemon: Daemon) -> bool:
    return Path(f"/proc/{started_pid(daemon)}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_process_whose_main_thread_has_ended_is_running_until_its_last_thread_ends(daemon: Daemon) -> None:
    daemon.start([sys.executable, "-c", MAIN_THREAD_ENDS])
    try:
        assert wait_until(lambda: main_thread_is_a_zombie(daemon), timeout=30)
        port = int(daemon.log_file.read_text())
        assert daemon.pid() is not None
        with socket.socket() as another, pytest.raises(OSError, match="Address already in use"):
            another.bind(("127.0.0.1", port))
    finally:
        daemon.stop(signal.SIGKILL)
    with socket.socket() as another:
        another.bind(("127.0.0.1", port))


def test_a_zombie_that_nobody_has_reaped_has_ended(daemon: Daemon) -> None:
    daemon.start([sys.executable, "-c", ""])
    pid = started_pid(daemon)
    assert wait_until(lambda: start_time(pid) is None, timeout=30)
    assert main_thread_is_a_zombie(daemon)
    os.waitpid(pid, 0)
    assert start_time(pid) is None
