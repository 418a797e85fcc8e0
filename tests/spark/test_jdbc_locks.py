"""The lock around each commit to a table in a jdbc metastore."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.cluster import postgres
from tests.cluster.processes import wait_until
from tests.spark.jdbc_lake import JdbcLake

METASTORE = "Jdbc"


@pytest.fixture
def lake(jdbc_lake: JdbcLake) -> JdbcLake:
    return jdbc_lake


def record_locks(lake: JdbcLake) -> None:
    """Records each lock in the table `taken` with the time of its acquisition."""
    lake.sql(
        "CREATE TABLE taken AS SELECT lock_id, now() AS at FROM paimon_distributed_locks WHERE false;"
        "CREATE FUNCTION note() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS "
        "'BEGIN INSERT INTO public.taken VALUES (NEW.lock_id, clock_timestamp()); RETURN NEW; END';"
        "CREATE TRIGGER note AFTER INSERT ON paimon_distributed_locks FOR EACH ROW EXECUTE FUNCTION note();"
    )


def lock_from_new_york(lake: JdbcLake) -> None:
    """Locks the table for eight minutes, for a writer whose JVM has the time zone of New York."""
    lake.sql(
        "SET TIME ZONE 'America/New_York';"
        "INSERT INTO paimon_distributed_locks (lock_id, expire_time_seconds) VALUES ('jdbc.shop.orders', 480);"
    )


def count_attempts(lake: JdbcLake) -> None:
    """Counts requests of a lock in the sequence `attempts`, which no rollback resets."""
    lake.sql(
        "CREATE SEQUENCE attempts;"
        "CREATE FUNCTION count_attempt() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS "
        "'BEGIN PERFORM nextval(''public.attempts''); RETURN NEW; END';"
        "CREATE TRIGGER count_attempt BEFORE INSERT ON paimon_distributed_locks"
        " FOR EACH ROW EXECUTE FUNCTION count_attempt();"
    )


def test_every_commit_acquires_the_lock_and_releases_it(lake: JdbcLake) -> None:
    lake.orders_with_file()
    record_locks(lake)

    lake.write().ok()
    assert lake.sql("SELECT lock_id FROM taken") == "jdbc.shop.orders"
    lake.compact().ok()
    assert lake.sql("SELECT lock_id FROM taken").split() == ["jdbc.shop.orders"] * 2
    assert lake.sql("SELECT count(*) FROM paimon_distributed_locks") == "0"


def test_a_commit_waits_for_the_lock_of_a_writer_in_another_time_zone(lake: JdbcLake) -> None:
    """Paimon's own table of locks has times without a time zone. In the driver's zone this lock is five hours old."""
    lake.orders_with_file()
    lock_from_new_york(lake)
    count_attempts(lake)

    with ThreadPoolExecutor(1) as thread:
        written = thread.submit(lake.write)
        wait_until(lambda: written.done() or int(lake.sql("SELECT last_value FROM attempts")) >= 3, timeout=120)
        held = lake.sql("SELECT count(*) FROM paimon_distributed_locks"), written.done()
        lake.sql("DELETE FROM paimon_distributed_locks")

    assert held == ("1", False)
    written.result().ok()
    assert lake.rows() == [{"id": 1, "v": "a"}]


def test_no_run_starts_where_the_table_of_locks_has_times_without_a_time_zone(lake: JdbcLake) -> None:
    lake.sql(
        f'SET ROLE "{lake.login.user}"; CREATE TABLE paimon_distributed_locks (lock_id VARCHAR(255) NOT NULL,'
        " acquired_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, expire_time_seconds BIGINT NOT NULL DEFAULT 0,"
        " PRIMARY KEY (lock_id))"
    )

    ended = lake.orders()

    assert "times without a zone" in ended.blocked("CommitLockUnreliable")
    assert ended.error["field"] == "spec.metastore.jdbc.uri"
    assert lake.sql("SELECT to_regclass('paimon_tables') IS NULL") == "t", "nothing was created"
    lake.sql(str(ended.error["remedy"]).partition(": ")[2])
    lake.orders().ok()


def test_a_run_ends_when_the_metastore_stops_during_its_commit(lake: JdbcLake) -> None:
    with ThreadPoolExecutor(1) as thread:
        with postgres.on_loopback() as fleeting:
            lake.servers = replace(lake.servers, postgres=fleeting)
            lake.login = fleeting.login(lake.login.user)
            lake.uri = lake.login.uri
            lake.mount_secret()
            lake.orders().ok()
            lake.land("orders/1.csv", "id,v\n1,a\n")
            lock_from_new_york(lake)
            count_attempts(lake)
            written = thread.submit(lake.write)
            wait_until(lambda: written.done() or int(lake.sql("SELECT last_value FROM attempts")) >= 2, timeout=120)
            assert not written.done()
        ended = written.result()

    assert (ended.code, ended.error["reason"]) == (30, "MetastoreUnreachable"), ended.result
    assert ended.error["field"] == "spec.metastore.jdbc.uri"
