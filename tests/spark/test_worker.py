"""The JVM that Spark tests share: what one test breaks in it does not fail the next one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.spark.lake import Lake, RefusedBySparkError
from tests.support import spark_process
from tests.support.spark_home import SparkHome
from tests.support.spark_process import Worker

pytestmark = pytest.mark.newest_engine


def test_a_refused_statement_fails_alone_and_ends_its_list(lake: Lake) -> None:
    served_by = lake.jvm.pid
    with pytest.raises(RefusedBySparkError, match="nonsense"):
        lake.outside("CREATE DATABASE outside.made", "nonsense", "DROP DATABASE outside.made")
    assert lake.select("SHOW DATABASES IN outside LIKE 'made'") == [{"namespace": "made"}]
    assert lake.jvm.pid == served_by


@pytest.mark.long
def test_a_jvm_is_replaced_when_it_has_ended_or_has_served_its_tests(
    home: SparkHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_process, "TESTS_PER_JVM", 2)
    worker = Worker(home, tmp_path / "worker.log")
    try:
        pids = [began(worker)]
        os.kill(worker.pid, signal.SIGKILL)
        os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
        pids += [began(worker) for _ in range(3)]
    finally:
        worker.stop()
    ended, second, again, third = pids
    assert second == again
    assert len({ended, second, third}) == 3


def began(worker: Worker) -> int:
    """Begins a test in which the worker answers. Returns the process that did."""
    worker.begin_test()
    assert worker.ask(literal="'x'") == "x"
    return worker.pid
