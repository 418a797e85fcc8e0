"""DriverWatch detects two drivers of one table."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cluster.processes import wait_until
from tests.e2e.drivers import DriverWatch, drivers_of


@contextmanager
def container(run: str, **environment: str) -> Iterator[None]:
    """Runs a program in its own PID namespace, like a container, with a driver's environment."""
    command = ["unshare", "--pid", "--fork", "--kill-child", "sleep", "600"]
    process = subprocess.Popen(command, env={"PATH": os.environ["PATH"], "RUN_NAME": run, **environment})
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def table() -> str:
    return f"watched-{uuid.uuid4().hex[:8]}"


def seen(table: str) -> set[tuple[str, str]]:
    """Returns the drivers without `unshare`, which is outside the namespace that it creates."""
    return {(each.run, each.attempt) for each, programs in drivers_of(table).items() if "sleep" in programs}


def test_drivers_of_two_runs_and_of_two_attempts_are_distinguished(table: str) -> None:
    first, second = f"{table}-write-1", f"{table}-write-2"
    with (
        container(first, RUN_ATTEMPT="1"),
        container(first, RUN_ATTEMPT="2"),
        container(second, RUN_ATTEMPT="1"),
        container(f"{table}x-write-1", RUN_ATTEMPT="1"),
    ):
        assert wait_until(lambda: seen(table) == {(first, "1"), (first, "2"), (second, "1")}, timeout=30)


def test_two_containers_of_one_attempt_are_two_drivers(table: str) -> None:
    with container(f"{table}-write-1", RUN_ATTEMPT="1"), container(f"{table}-write-1", RUN_ATTEMPT="1"):
        assert wait_until(lambda: _sleeping(table) == 2, timeout=30)


def test_executors_and_ended_processes_are_not_counted(table: str) -> None:
    with container(f"{table}-write-1", RUN_ATTEMPT="1", SPARK_EXECUTOR_ID="1"), container(f"{table}-write-2"):
        assert wait_until(lambda: seen(table) == {(f"{table}-write-2", "")}, timeout=30)
    assert wait_until(lambda: not drivers_of(table), timeout=30)


def test_the_watch_reports_the_largest_number_of_drivers(table: str) -> None:
    with DriverWatch(table) as watch:
        with container(f"{table}-write-1", RUN_ATTEMPT="1"):
            assert wait_until(lambda: watch.most(0) >= 1, timeout=30)
        assert wait_until(lambda: not watch.samples[-1].drivers, timeout=30)
    assert watch.most(0) >= 1
    assert watch.last_alive(0) is not None


def _sleeping(table: str) -> int:
    return sum("sleep" in programs for programs in drivers_of(table).values())
