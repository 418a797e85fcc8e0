"""One Spark context serves the jobs of several threads one after the other, and no job gets that of another one."""

from __future__ import annotations

import threading

import pytest

from spark_apps.catalog import spark_use

WAIT_S = 20


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_use, "_BROKEN", threading.Event())
    monkeypatch.setattr(spark_use, "_USE", threading.Lock())


def stop() -> None:
    pass


def fail() -> None:
    raise OSError("no answer")


def use_in_another_thread() -> tuple[threading.Thread, threading.Event]:
    """A thread that uses Spark once it may, and the event that it did."""
    used = threading.Event()

    def use() -> None:
        spark_use.take()
        used.set()
        spark_use.give_back(stop)

    thread = threading.Thread(target=use)
    thread.start()
    return thread, used


def test_another_thread_uses_spark_once_it_is_given_back() -> None:
    spark_use.take()
    thread, used = use_in_another_thread()
    assert not used.wait(0.05)
    assert not spark_use.is_broken()
    spark_use.give_back(stop)
    assert used.wait(WAIT_S)
    thread.join(WAIT_S)


def test_spark_that_could_not_be_stopped_serves_no_other_job() -> None:
    spark_use.take()
    with pytest.raises(OSError, match="no answer"):
        spark_use.give_back(fail)
    assert spark_use.is_broken()
    with pytest.raises(RuntimeError, match="could not stop Spark"):
        spark_use.take()


def test_a_job_waits_no_longer_than_the_patience_for_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_use, "PATIENCE_S", 0.01)
    spark_use.take()
    with pytest.raises(RuntimeError, match="has not ended its part"):
        spark_use.take()
    assert spark_use.is_broken(), "no other job waits as long"
    opening = threading.Lock()
    with (
        spark_use.within_patience(opening),
        pytest.raises(RuntimeError, match="has not ended its part"),
        spark_use.within_patience(opening),
    ):
        pytest.fail("two have the lock")
    assert not opening.locked()


def test_a_job_that_was_refused_keeps_spark_from_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    spark_use._BROKEN.set()
    with pytest.raises(RuntimeError):
        spark_use.take()
    monkeypatch.setattr(spark_use, "_BROKEN", threading.Event())
    thread, used = use_in_another_thread()
    assert used.wait(WAIT_S)
    thread.join(WAIT_S)
