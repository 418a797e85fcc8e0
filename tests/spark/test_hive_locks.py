"""The lock around each commit to a table in a Hive metastore."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cluster.processes import wait_until
from tests.spark.hive_lake import HiveLake

METASTORE = "Hive"


@pytest.fixture
def lake(hive_lake: HiveLake) -> HiveLake:
    return hive_lake


def test_every_commit_acquires_the_lock_and_releases_it(lake: HiveLake) -> None:
    lake.orders_with_file()
    with lake.servers.hive.noting_locks() as taken:
        lake.write().ok()
        lake.compact().ok()
        assert set(taken()) == {f"{lake.database}|orders|e|{socket.gethostname()}"}, (
            "the host identifies the driver later"
        )
        assert len(taken()) >= 2
    assert lake.locks() == ""


def test_a_commit_waits_for_the_lock_of_another_writer(lake: HiveLake) -> None:
    lake.orders_with_row()
    lake.land("orders/2.csv", "id,v\n2,b\n")
    lake.lock()
    with ThreadPoolExecutor(1) as thread:
        written = thread.submit(lake.write)
        waits = "SELECT count(*) FROM hive_locks WHERE hl_lock_state = 'w'"
        try:
            assert wait_until(lambda: lake.servers.hive.sql(waits) == "1", timeout=180)
            assert len(lake.snapshots()) == 1
            assert not written.done()
        finally:
            lake.servers.hive.unlock(lake.database)
        written.result().ok()
    assert lake.rows() == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]


def test_a_lock_that_is_never_released_is_reported_and_the_table_does_not_change(lake: HiveLake) -> None:
    """A server whose compactor is off, as here, keeps the lock of a dead writer. The write waits for it for 3 s."""
    lake.orders_with_row()
    lake.land("orders/2.csv", "id,v\n2,b\n")
    lake.lock(silent_s=3600)
    job = lake.write_job(options={"commit.max-retries": "0"})
    ended = lake.perform(job, hive={"lock-acquire-timeout": "3 s"})
    assert (ended.code, ended.error["reason"], ended.error["field"]) == (30, "CommitLockHeld", "spec.metastore")
    assert lake.locks() == "afar", "it is unknown whether another writer is alive"
    assert lake.rows() == [{"id": 1, "v": "a"}]

    lake.servers.hive.unlock(lake.database)
    assert lake.write().ok()["write"]["files"] == 1
    assert lake.servers.hive.sql("SELECT count(*) FROM hive_locks") == "0"


@pytest.mark.long
@pytest.mark.newest_engine
def test_the_lock_of_a_dead_driver_of_the_table_is_removed_in_time(lake: HiveLake) -> None:
    """The drivers of a table share one host name. Their lock is stale after 300 s of silence, here after 10 s."""
    lake.orders_with_row()
    lake.land("orders/2.csv", "id,v\n2,b\n")
    lake.lock(host=socket.gethostname())
    before = time.monotonic()
    assert lake.write().ok()["write"]["files"] == 1
    assert time.monotonic() - before > 10
    assert lake.rows() == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]
    assert lake.locks() == ""


@pytest.mark.newest_engine
def test_a_drop_does_not_wait_for_a_lock(lake: HiveLake) -> None:
    lake.orders_with_row()
    lake.lock(host=socket.gethostname())
    assert lake.drop().ok()["dropped"] is True
    assert lake.locks() == socket.gethostname(), "the drop leaves the lock"
    lake.servers.hive.unlock(lake.database)
