"""Tables in a Hive metastore: the life cycle, and outages of the metastore."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cluster.ports import free_ports
from tests.cluster.processes import wait_until
from tests.spark.hive_lake import HiveLake
from tests.spark.metastore_lake import check_maintenance

SOCKET_TIMEOUT, TRIES = "hive.metastore.client.socket.timeout", 4
METASTORE = "Hive"


@pytest.fixture
def lake(hive_lake: HiveLake) -> HiveLake:
    return hive_lake


def test_a_table_is_created_written_compacted_expired_and_dropped(lake: HiveLake) -> None:
    assert lake.orders().ok()["created"] is True
    assert lake.listed() == "orders"
    assert lake.orders().ok()["created"] is False
    changed = lake.provision(
        {"id": "BIGINT", "v": "STRING"}, keys=["id"], options={"bucket": "1", "target-file-size": "64 mb"}
    )
    assert "target-file-size" in str(changed.ok()["differences"])

    check_maintenance(lake)

    assert lake.drop().ok()["dropped"] is True
    assert lake.listed() == ""
    assert lake.files_of_table() == []
    assert lake.drop().ok()["dropped"] is False


@pytest.mark.newest_engine
def test_a_driver_started_as_in_the_image_writes_the_table(lake: HiveLake) -> None:
    lake.orders_with_file()

    done = lake.drive(lake.write_job(), **lake.servers.s3.keys)

    assert done.code == 0, done.log
    assert lake.rows() == [{"id": 1, "v": "a"}]


def no_server(lake: HiveLake) -> None:
    lake.uri = f"thrift://127.0.0.1:{free_ports(1)[0]}"


def no_host(lake: HiveLake) -> None:
    lake.uri = "thrift://metastore.invalid:9083"


@pytest.mark.newest_engine
@pytest.mark.parametrize("break_setting", [no_server, no_host])
def test_an_unreachable_metastore_is_reported_with_its_field(
    lake: HiveLake, break_setting: Callable[[HiveLake], None]
) -> None:
    break_setting(lake)
    ended = lake.orders()
    assert (ended.code, ended.error["class"], ended.error["reason"]) == (30, "Infrastructure", "MetastoreUnreachable")
    assert ended.error["field"] == "spec.metastore.hive.uri"
    lake.uri = lake.servers.hive.uri
    lake.orders().ok()


@pytest.mark.newest_engine
def test_a_server_that_does_not_answer_ends_the_run_in_time(lake: HiveLake) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        lake.uri = f"thrift://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        columns = [{"name": "id", "type": "BIGINT"}]
        job = lake.job("Provision", provision={"columns": columns, "adoption": "Fail"})
        ended = lake.perform(job, hive={SOCKET_TIMEOUT: "3s"})
    assert ended.error["reason"] == "MetastoreUnreachable", ended.result
    assert TRIES * 3 - 1 < time.monotonic() - began < TRIES * 3 + 25, "TRIES times the time-out of the socket"
    assert lake.engine.hive_catalog_options[SOCKET_TIMEOUT] == "30s", "two minutes with the options of drivers"


@pytest.mark.long
@pytest.mark.newest_engine
def test_a_run_after_an_outage_of_the_server_succeeds(lake: HiveLake) -> None:
    lake.orders_with_row()
    lake.land("orders/2.csv", "id,v\n2,b\n")
    lake.servers.hive.stop()
    try:
        assert lake.write().error["reason"] == "MetastoreUnreachable"
    finally:
        lake.servers.hive.start()
    assert lake.write().ok()["write"]["files"] == 1
    assert lake.rows() == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]


@pytest.mark.newest_engine
def test_an_outage_during_a_commit_loses_no_row_and_loads_none_twice(lake: HiveLake) -> None:
    """The server stops before the driver releases the lock. The snapshot exists, and the next attempt finds it."""
    lake.orders_with_row()
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
