"""Tables in a Hive metastore: the same runs as elsewhere, a lock around each commit, nothing but our own is touched."""

# ruff: noqa: S608 - the only names in SQL are those that the tests give

from __future__ import annotations

import itertools
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from paimon_engines.engine import Engine
from tests.cluster.hive.metastore import Metastore
from tests.cluster.ports import free_ports
from tests.cluster.processes import wait_until
from tests.spark import with_hive
from tests.spark.with_hive import HiveLake, HiveServers
from tests.support.spark_home import SparkHome
from tests.support.spark_process import Worker

METASTORE = "Hive"
SOCKET_TIMEOUT, TRIES = "hive.metastore.client.socket.timeout", 4
numbers = itertools.count(1)


@pytest.fixture(scope="module")
def servers(hive: Metastore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveServers]:
    with with_hive.servers(hive, tmp_path_factory.mktemp("s3")) as started:
        yield started


@pytest.fixture
def lake(engine: Engine, worker: Worker, home: SparkHome, tmp_path: Path, servers: HiveServers) -> HiveLake:
    """A database and a warehouse of the test's own."""
    name = f"shop_{next(numbers)}"
    return HiveLake(
        engine, worker, home, tmp_path, database=name, servers=servers, uri=servers.hive.uri, root=f"root_{name}"
    )


def loaded(lake: HiveLake) -> None:
    """The usual table, with a row in it."""
    lake.orders().ok()
    lake.land("orders/1.csv", "id,v\n1,a\n")
    assert lake.write().ok()["write"]["files"] == 1


def test_a_table_lives_in_it(lake: HiveLake) -> None:
    assert lake.orders().ok()["created"] is True
    assert lake.listed() == "orders"
    assert lake.orders().ok()["created"] is False
    changed = lake.provision(
        {"id": "BIGINT", "v": "STRING"}, keys=["id"], options={"bucket": "1", "target-file-size": "64 mb"}
    )
    assert "target-file-size" in str(changed.ok()["differences"])

    for number, rows in enumerate(["1,a\n2,b\n", "1,c\n"]):
        lake.land(f"orders/{number}.csv", f"id,v\n{rows}")
        assert lake.write().ok()["write"]["files"] == 1
    assert lake.write().ok()["write"]["files"] == 0
    assert lake.rows() == [{"id": 1, "v": "c"}, {"id": 2, "v": "b"}]
    assert lake.compact().ok()["after"]["sortedRunsMax"] == 1
    assert lake.expire(numRetainedMin=1, numRetainedMax=1).ok()["expired"] == 2
    assert [each["commit_kind"] for each in lake.snapshots()] == ["COMPACT"]
    assert lake.rows() == [{"id": 1, "v": "c"}, {"id": 2, "v": "b"}]

    assert lake.drop().ok()["dropped"] is True
    assert lake.listed() == ""
    assert [key for key in lake.files() if "/orders/" in key or ".paimon-operator/" in key] == []
    assert lake.drop().ok()["dropped"] is False


@pytest.mark.newest_engine
def test_it_works_as_the_image_starts_it(lake: HiveLake) -> None:
    lake.orders().ok()
    lake.land("orders/1.csv", "id,v\n1,a\n")

    done = lake.drive(lake.write_job(), **lake.servers.s3.keys)

    assert done.code == 0, done.log
    assert lake.rows() == [{"id": 1, "v": "a"}]


def test_every_commit_holds_the_lock_and_gives_it_back(lake: HiveLake) -> None:
    lake.orders().ok()
    lake.land("orders/1.csv", "id,v\n1,a\n")
    with lake.servers.hive.noting_locks() as taken:
        lake.write().ok()
        lake.compact().ok()
        assert set(taken()) == {f"{lake.database}|orders|e|{socket.gethostname()}"}, "by the host, it is known later"
        assert len(taken()) >= 2
    assert lake.locks() == ""


def test_a_commit_waits_for_the_lock_of_another_writer(lake: HiveLake) -> None:
    loaded(lake)
    lake.land("orders/2.csv", "id,v\n2,b\n")
    lake.held_lock()
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


def test_a_lock_that_nobody_gives_back_is_told_and_the_table_is_as_it_was(lake: HiveLake) -> None:
    """A server whose compactor is off, as here, leaves the lock of a writer that died where it is.

    The write waits for it once, for 3 s.
    """
    loaded(lake)
    lake.land("orders/2.csv", "id,v\n2,b\n")
    lake.held_lock(silent_s=3600)
    job = lake.write_job(options={"commit.max-retries": "0"})
    ended = lake.perform(job, hive={"lock-acquire-timeout": "3 s"})
    assert (ended.code, ended.error["reason"], ended.error["field"]) == (30, "CommitLockHeld", "spec.metastore")
    assert lake.locks() == "afar", "not a driver of ours: who knows whether it lives"
    assert lake.rows() == [{"id": 1, "v": "a"}]

    lake.servers.hive.unlock(lake.database)
    assert lake.write().ok()["write"]["files"] == 1
    assert lake.servers.hive.sql("SELECT count(*) FROM hive_locks") == "0"


@pytest.mark.newest_engine
def test_a_lock_that_a_dead_driver_of_the_table_has_left_is_taken_away_in_time(lake: HiveLake) -> None:
    """A table's drivers have one host name. What is 300 s of silence for them is 10 s here."""
    loaded(lake)
    lake.land("orders/2.csv", "id,v\n2,b\n")
    lake.held_lock(host=socket.gethostname())
    before = time.monotonic()
    assert lake.write().ok()["write"]["files"] == 1
    assert time.monotonic() - before > 10
    assert lake.rows() == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]
    assert lake.locks() == ""


@pytest.mark.newest_engine
def test_a_drop_needs_no_lock_and_waits_for_none(lake: HiveLake) -> None:
    loaded(lake)
    lake.held_lock(host=socket.gethostname())
    assert lake.drop().ok()["dropped"] is True
    assert lake.locks() == socket.gethostname(), "whoever makes the table anew sees to it"
    lake.servers.hive.unlock(lake.database)


def no_server(lake: HiveLake) -> None:
    lake.uri = f"thrift://127.0.0.1:{free_ports(1)[0]}"


def no_host(lake: HiveLake) -> None:
    lake.uri = "thrift://metastore.invalid:9083"


@pytest.mark.newest_engine
@pytest.mark.parametrize("spoil", [no_server, no_host])
def test_a_metastore_that_nobody_reaches_is_told(lake: HiveLake, spoil: Callable[[HiveLake], None]) -> None:
    spoil(lake)
    ended = lake.orders()
    assert (ended.code, ended.error["class"], ended.error["reason"]) == (30, "Infrastructure", "MetastoreUnreachable")
    assert ended.error["field"] == "spec.metastore.hive.uri"
    lake.uri = lake.servers.hive.uri
    lake.orders().ok()


@pytest.mark.newest_engine
def test_a_server_that_says_nothing_is_given_up(lake: HiveLake) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        lake.uri = f"thrift://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        columns = [{"name": "id", "type": "BIGINT"}]
        job = lake.job("Provision", provision={"columns": columns, "adoption": "Fail"})
        ended = lake.perform(job, hive={SOCKET_TIMEOUT: "3s"})
    assert ended.error["reason"] == "MetastoreUnreachable", ended.result
    assert TRIES * 3 - 1 < time.monotonic() - began < TRIES * 3 + 25, "as often as it is tried, and no longer each time"
    assert lake.engine.hive_catalog_options[SOCKET_TIMEOUT] == "30s", "so two minutes with what drivers are given"


@pytest.mark.newest_engine
def test_a_server_that_was_away_is_met_again(lake: HiveLake) -> None:
    loaded(lake)
    lake.land("orders/2.csv", "id,v\n2,b\n")
    lake.servers.hive.stop()
    try:
        assert lake.write().error["reason"] == "MetastoreUnreachable"
    finally:
        lake.servers.hive.start()
    assert lake.write().ok()["write"]["files"] == 1
    assert lake.rows() == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]


@pytest.mark.newest_engine
def test_a_server_that_goes_away_under_a_commit_costs_no_row_and_no_second_load(lake: HiveLake) -> None:
    """It is gone when the lock is to be given back. The snapshot is there by then, and the run finds it."""
    loaded(lake)
    lake.land("orders/2.csv", "id,v\n2,b\n")
    hive, run = lake.servers.hive, lake.write_job()
    with hive.noting_locks() as taken, ThreadPoolExecutor(1) as thread:
        written = thread.submit(lake.perform, run)
        assert wait_until(lambda: len(taken()) > 0 and len(lake.snapshots()) > 1, timeout=180, interval=0.02)
        hive.stop(signal.SIGKILL)
        written.result()
        hive.start()
    lake.perform(run).ok()
    assert lake.rows() == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]
    assert len(lake.snapshots()) == 2
    assert lake.locks() == ""


def unlisted(lake: HiveLake) -> None:
    """The metastore was restored, or made anew: it lists neither table nor database."""
    lake.servers.hive.sql(
        'DELETE FROM "TABLE_PARAMS"; DELETE FROM "PARTITION_KEYS"; DELETE FROM "TAB_COL_STATS";'
        'DELETE FROM "TBL_PRIVS";'
        f'DELETE FROM "TBLS" WHERE "DB_ID" IN (SELECT "DB_ID" FROM "DBS" WHERE "NAME" = \'{lake.database}\');'
        f'DELETE FROM "DATABASE_PARAMS"; DELETE FROM "DBS" WHERE "NAME" = \'{lake.database}\''
    )


@pytest.mark.newest_engine
def test_a_table_that_the_metastore_has_lost_is_taken_up(lake: HiveLake) -> None:
    loaded(lake)
    unlisted(lake)
    assert lake.orders().ok()["created"] is False
    assert lake.listed() == "orders"
    assert lake.rows() == [{"id": 1, "v": "a"}]


@pytest.mark.newest_engine
def test_a_drop_takes_the_files_of_a_table_that_the_metastore_has_lost(lake: HiveLake) -> None:
    loaded(lake)
    unlisted(lake)
    assert lake.drop().ok()["dropped"] is True
    assert [key for key in lake.files() if "/orders/" in key] == []


def files_gone(lake: HiveLake) -> None:
    """Somebody has removed the table's directory; the metastore lists the table."""
    for key in lake.files():
        if "/orders/" in key and ".paimon-operator/" not in key:
            lake.servers.s3.client().delete_object(Bucket="lake", Key=key)


@pytest.mark.newest_engine
def test_a_table_whose_files_are_gone_is_made_anew(lake: HiveLake) -> None:
    """As with any other metastore; a list that still has it is in nobody's way."""
    loaded(lake)
    files_gone(lake)
    assert lake.listed() == "orders"
    assert lake.orders().ok()["created"] is True
    assert lake.rows() == []


@pytest.mark.newest_engine
def test_a_drop_takes_a_table_whose_files_are_gone_off_the_list(lake: HiveLake) -> None:
    loaded(lake)
    files_gone(lake)
    lake.drop().ok()
    assert lake.listed() == ""


@pytest.mark.newest_engine
def test_a_drop_leaves_the_directory_that_the_server_has_chosen_as_it_is(lake: HiveLake) -> None:
    """Who knows what it holds: another table may lie where the server would put this one."""
    precious = lake.servers.hive.warehouse / f"{lake.database}.db" / "orders" / "precious.txt"
    precious.parent.mkdir(parents=True, exist_ok=True)
    precious.write_text("1")
    loaded(lake)
    assert lake.drop().ok()["dropped"] is True
    assert lake.listed() == ""
    assert [key for key in lake.files() if "/orders/" in key] == []
    assert precious.read_text() == "1"


@pytest.mark.newest_engine
def test_a_drop_does_not_follow_a_database_that_has_been_moved(lake: HiveLake) -> None:
    """Paimon would look for the table where its database is once the table is off the list."""
    loaded(lake)
    archive = f"archive_{lake.database}/orders/precious"
    lake.servers.s3.client().put_object(Bucket="lake", Key=archive, Body=b"1")
    moved = f"s3://lake/archive_{lake.database}"
    lake.servers.hive.sql(
        f'UPDATE "DBS" SET "DB_LOCATION_URI" = \'{moved}\' WHERE "NAME" = \'{lake.database}\';'
        f'UPDATE "DATABASE_PARAMS" SET "PARAM_VALUE" = \'{moved}\' WHERE "DB_ID" ='
        f' (SELECT "DB_ID" FROM "DBS" WHERE "NAME" = \'{lake.database}\') AND "PARAM_KEY" LIKE \'%location%\''
    )
    assert lake.drop().ok()["dropped"] is True
    assert [key for key in lake.files() if "/orders/" in key] == []
    assert lake.servers.s3.client().head_object(Bucket="lake", Key=archive)


@pytest.mark.newest_engine
def test_files_of_somebody_elses_table_are_neither_taken_up_nor_dropped(lake: HiveLake) -> None:
    other = replace(lake, owner="other-cluster/shop/orders")
    loaded(other)
    unlisted(lake)
    before = lake.files()
    assert "does not list" in lake.orders().refused("TableExists")
    assert lake.drop().ok()["dropped"] is False
    assert lake.files() == [key for key in before if "/.paimon-operator/" not in key]


@pytest.mark.newest_engine
def test_a_table_of_another_warehouse_in_the_same_metastore_is_a_conflict(lake: HiveLake) -> None:
    elsewhere = replace(lake, root=f"{lake.root}_elsewhere")
    loaded(elsewhere)
    for ended in (lake.orders(), lake.write(), lake.drop()):
        assert f"lies in s3://lake/{lake.root}_elsewhere" in ended.held_up("Conflict")
        assert ended.error["field"] == "spec.table"
    assert elsewhere.rows() == [{"id": 1, "v": "a"}]


@pytest.mark.newest_engine
def test_a_table_in_a_place_that_nobody_reaches_is_a_conflict_and_not_opened(lake: HiveLake) -> None:
    """What the metastore says of it is enough: a look at another storage would take its time, and other keys."""
    loaded(lake)
    tables = f'SELECT "TBL_ID" FROM "TBLS" JOIN "DBS" USING ("DB_ID") WHERE "NAME" = \'{lake.database}\''
    lake.servers.hive.sql(
        'UPDATE "TABLE_PARAMS" SET "PARAM_VALUE" = \'hdfs://nowhere.invalid:8020/lake/orders\''
        f' WHERE "PARAM_KEY" = \'paimon_location\' AND "TBL_ID" IN ({tables})'
    )
    for ended in (lake.orders(), lake.write(), lake.drop()):
        assert "lies in hdfs://nowhere.invalid:8020/lake/orders" in ended.held_up("Conflict")


@pytest.mark.newest_engine
def test_no_table_is_made_in_a_database_of_another_place(lake: HiveLake) -> None:
    replace(lake, root=f"{lake.root}_elsewhere").orders().ok()
    other = replace(lake, owner="cluster-uid/shop/others")
    job = other.job("Provision", provision={"columns": [{"name": "id", "type": "BIGINT"}], "adoption": "Fail"})
    job["table"]["name"] = "others"
    ended = lake.perform(job)
    assert f"lies in s3://lake/{lake.root}_elsewhere" in ended.held_up("Conflict")
    assert ended.error["field"] == "spec.database"
    assert lake.files() == []


def test_a_table_of_another_kind_under_the_name_is_a_conflict(lake: HiveLake) -> None:
    """Paimon 0.9 makes its schema in that table's directory, and then deletes the directory: so it is not asked."""
    loaded(lake)
    lake.drop().ok()
    lake.foreign_table()
    precious = lake.servers.hive.warehouse / "foreign" / "precious.txt"
    precious.parent.mkdir(parents=True, exist_ok=True)
    precious.write_text("1")

    ended = lake.orders()

    assert "is no table of Paimon" in ended.held_up("Conflict")
    assert ended.error["field"] == "spec.table"
    assert lake.listed() == "orders"
    assert precious.read_text() == "1"
