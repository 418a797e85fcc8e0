"""Tables in a jdbc metastore: the same runs as elsewhere, a lock around each commit, a password that nobody sees."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from paimon_contract.job import JobCatalog
from paimon_engines.engine import Engine
from paimon_engines.loader import load_engine
from spark_apps.catalog.metastores.jdbc import Jdbc
from spark_apps.failures.errors import RunError
from spark_apps.operations import drop
from tests.cluster import postgres
from tests.cluster.ports import free_ports
from tests.cluster.processes import wait_until
from tests.spark import with_metastore
from tests.spark.lake import OWNER
from tests.spark.with_metastore import MetastoreLake, Servers
from tests.support.spark_home import SparkHome
from tests.support.spark_process import Worker

METASTORE = "Jdbc"
CONFESSING = Path(__file__).parents[1] / "support" / "spark_confessing.py"
numbers = itertools.count(1)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with with_metastore.servers(tmp_path_factory.mktemp("s3")) as started:
        yield started


@pytest.fixture
def lake(engine: Engine, worker: Worker, home: SparkHome, tmp_path: Path, servers: Servers) -> MetastoreLake:
    """An empty database and an empty warehouse of the test's own."""
    login = servers.postgres.login(f"lake_{next(numbers)}")
    made = MetastoreLake(
        engine,
        worker,
        home,
        tmp_path,
        servers=servers,
        login=login,
        uri=login.uri,
        root=login.user,
    )
    made.give()
    return made


def test_a_table_lives_in_it(lake: MetastoreLake) -> None:
    assert lake.orders().ok()["created"] is True
    assert lake.sql("SELECT catalog_key, database_name, table_name FROM paimon_tables") == "jdbc|shop|orders"
    assert lake.orders().ok()["created"] is False

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
    assert lake.sql("SELECT count(*) FROM paimon_tables") == "0"
    assert lake.drop().ok()["dropped"] is False


def test_no_user_and_no_password_is_anywhere_that_can_be_read(lake: MetastoreLake) -> None:
    """The user is called like nothing else here, so that it can be searched for."""
    lake.login = lake.servers.postgres.login("who_may_that_be")
    lake.give()
    lake.servers.postgres.execute(f'ALTER DATABASE "{lake.login.user}" RENAME TO metastore')
    lake.uri = f"{lake.uri.rpartition('/')[0]}/metastore"
    lake.root = "secretive"
    lake.land("orders/1.csv", "id\n1\n")
    columns = [{"name": "id", "type": "BIGINT"}]
    provision = lake.job("Provision", provision={"columns": columns, "adoption": "Fail"})

    for job in (provision, lake.write_job(mode="Append")):
        done = lake.drive(job, **lake.worker.env, SPARK_APPS_MAIN=str(CONFESSING))
        assert done.code == 0, done.log
        assert "conf spark.sql.catalog" in done.log
        assert "property org.postgresql.pgservicefile=" in done.log
        for text in (done.log, str(done.result), lake.save(job).read_text()):
            assert lake.login.password[:12] not in text
            assert lake.login.user not in text


def loaded(lake: MetastoreLake) -> None:
    """The usual table, with a row in it."""
    lake.orders().ok()
    lake.land("orders/1.csv", "id,v\n1,a\n")
    assert lake.write().ok()["write"]["files"] == 1


def keys(lake: MetastoreLake) -> list[str]:
    """Files of the warehouse."""
    listed = lake.servers.s3.client().list_objects_v2(Bucket=lake.bucket, Prefix=f"{lake.root}/")
    return [each["Key"] for each in listed.get("Contents", []) if not each["Key"].endswith("/")]


def locks_taken(lake: MetastoreLake) -> None:
    """From now on the table `taken` tells of each lock when it was got."""
    lake.sql(
        "CREATE TABLE taken AS SELECT lock_id, now() AS at FROM paimon_distributed_locks WHERE false;"
        "CREATE FUNCTION note() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS "
        "'BEGIN INSERT INTO public.taken VALUES (NEW.lock_id, clock_timestamp()); RETURN NEW; END';"
        "CREATE TRIGGER note AFTER INSERT ON paimon_distributed_locks FOR EACH ROW EXECUTE FUNCTION note();"
    )


def locked_in_new_york(lake: MetastoreLake) -> None:
    """Another writer, whose JVM is in New York, has just got the table's lock, for eight minutes at most."""
    lake.sql(
        "SET TIME ZONE 'America/New_York';"
        "INSERT INTO paimon_distributed_locks (lock_id, expire_time_seconds) VALUES ('jdbc.shop.orders', 480);"
    )


def tries_are_counted(lake: MetastoreLake) -> None:
    """From now on the sequence `tries` tells how often a lock was asked for: no failure takes its numbers back."""
    lake.sql(
        "CREATE SEQUENCE tries;"
        "CREATE FUNCTION count_try() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS "
        "'BEGIN PERFORM nextval(''public.tries''); RETURN NEW; END';"
        "CREATE TRIGGER count_try BEFORE INSERT ON paimon_distributed_locks FOR EACH ROW EXECUTE FUNCTION count_try();"
    )


def test_every_commit_holds_the_lock_and_gives_it_back(lake: MetastoreLake) -> None:
    lake.orders().ok()
    lake.land("orders/1.csv", "id,v\n1,a\n")
    locks_taken(lake)

    lake.write().ok()
    assert lake.sql("SELECT lock_id FROM taken") == "jdbc.shop.orders"
    lake.compact().ok()
    assert lake.sql("SELECT lock_id FROM taken").split() == ["jdbc.shop.orders"] * 2
    assert lake.sql("SELECT count(*) FROM paimon_distributed_locks") == "0"


def test_a_commit_waits_for_the_lock_of_a_writer_in_another_time_zone(lake: MetastoreLake) -> None:
    """Paimon's own table of locks has times without zone: by the clock of another zone this lock is five hours old."""
    lake.orders().ok()
    lake.land("orders/1.csv", "id,v\n1,a\n")
    locked_in_new_york(lake)
    tries_are_counted(lake)

    with ThreadPoolExecutor(1) as thread:
        written = thread.submit(lake.write)
        wait_until(lambda: written.done() or int(lake.sql("SELECT last_value FROM tries")) >= 3, timeout=120)
        held = lake.sql("SELECT count(*) FROM paimon_distributed_locks"), written.done()
        lake.sql("DELETE FROM paimon_distributed_locks")

    assert held == ("1", False)
    written.result().ok()
    assert lake.rows() == [{"id": 1, "v": "a"}]


def test_no_run_starts_where_paimons_own_table_of_locks_keeps_times_without_a_zone(lake: MetastoreLake) -> None:
    lake.sql(
        f'SET ROLE "{lake.login.user}"; CREATE TABLE paimon_distributed_locks (lock_id VARCHAR(255) NOT NULL,'
        " acquired_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, expire_time_seconds BIGINT NOT NULL DEFAULT 0,"
        " PRIMARY KEY (lock_id))"
    )

    ended = lake.orders()

    assert "times without a zone" in ended.held_up("CommitLockUnreliable")
    assert ended.error["field"] == "spec.metastore.jdbc.uri"
    assert lake.sql("SELECT to_regclass('paimon_tables') IS NULL") == "t", "nothing was done"
    lake.sql(str(ended.error["remedy"]).partition(": ")[2])
    lake.orders().ok()


def test_a_run_ends_when_the_metastore_goes_away_under_its_commit(lake: MetastoreLake) -> None:
    with ThreadPoolExecutor(1) as thread:
        with postgres.on_loopback() as fleeting:
            lake.servers = replace(lake.servers, postgres=fleeting)
            lake.login = fleeting.login(lake.login.user)
            lake.uri = lake.login.uri
            lake.give()
            lake.orders().ok()
            lake.land("orders/1.csv", "id,v\n1,a\n")
            locked_in_new_york(lake)
            tries_are_counted(lake)
            written = thread.submit(lake.write)
            wait_until(lambda: written.done() or int(lake.sql("SELECT last_value FROM tries")) >= 2, timeout=120)
            assert not written.done()
        ended = written.result()

    assert (ended.code, ended.error["reason"]) == (30, "MetastoreUnreachable"), ended.result
    assert ended.error["field"] == "spec.metastore.jdbc.uri"


def wrong_password(lake: MetastoreLake) -> None:
    lake.give(username=lake.login.user, password="no such password")


def unknown_user(lake: MetastoreLake) -> None:
    lake.give(username="nobody", password=lake.login.password)


def no_password(lake: MetastoreLake) -> None:
    lake.give(username=lake.login.user)


def two_lines(lake: MetastoreLake) -> None:
    lake.give(username=lake.login.user, password="one\nuser=postgres")


def no_database(lake: MetastoreLake) -> None:
    lake.uri += "_of_somebody"


def no_server(lake: MetastoreLake) -> None:
    lake.uri = f"jdbc:postgresql://127.0.0.1:{free_ports(1)[0]}/lake"


def no_host(lake: MetastoreLake) -> None:
    lake.uri = "jdbc:postgresql://metastore.invalid/lake"


def no_right(lake: MetastoreLake) -> None:
    lake.servers.postgres.execute(f'ALTER DATABASE "{lake.login.user}" OWNER TO postgres')


@pytest.mark.parametrize(
    ("spoil", "class_", "reason", "field"),
    [
        (wrong_password, "Environment", "CredentialsRefused", "credentialsSecretRef"),
        (unknown_user, "Environment", "CredentialsRefused", "credentialsSecretRef"),
        (no_password, "Environment", "SecretNotFound", "credentialsSecretRef"),
        (two_lines, "Environment", "CredentialsRefused", "credentialsSecretRef"),
        (no_database, "Environment", "MetastoreNotFound", "uri"),
        (no_server, "Infrastructure", "MetastoreUnreachable", "uri"),
        (no_host, "Infrastructure", "MetastoreUnreachable", "uri"),
        (no_right, "Environment", "AccessDenied", "credentialsSecretRef"),
    ],
)
def test_what_is_wrong_with_the_metastore_is_told_and_mended(
    lake: MetastoreLake, spoil: Callable[[MetastoreLake], None], class_: str, reason: str, field: str
) -> None:
    right = lake.uri
    spoil(lake)
    error = lake.orders().error
    told = (error["class"], error["reason"], error["field"])
    assert told == (class_, reason, f"spec.metastore.jdbc.{field}"), error
    assert error["remedy"]
    assert lake.login.password not in str(error)

    lake.give()
    lake.uri = right
    lake.servers.postgres.execute(f'ALTER DATABASE "{lake.login.user}" OWNER TO "{lake.login.user}"')
    lake.orders().ok()


def test_a_user_who_may_only_use_paimons_tables_is_enough(lake: MetastoreLake) -> None:
    lake.orders().ok()
    lake.land("orders/1.csv", "id,v\n1,a\n")
    user = lake.servers.postgres.login(f"user_of_{lake.login.user}")
    lake.sql(f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "{user.user}"')
    lake.give(username=user.user, password=user.password)

    lake.write().ok()

    assert lake.rows() == [{"id": 1, "v": "a"}]


def test_a_table_whose_making_was_cut_off_before_the_metastore_knew_it_is_taken_up(lake: MetastoreLake) -> None:
    lake.orders().ok()
    lake.sql("DELETE FROM paimon_tables")

    assert lake.orders().ok()["created"] is False
    assert lake.sql("SELECT table_name FROM paimon_tables") == "orders"


def test_files_of_somebody_elses_table_are_not_taken_up(lake: MetastoreLake) -> None:
    other = replace(lake, owner="other-cluster/shop/orders")
    other.orders().ok()
    lake.sql("DELETE FROM paimon_tables")

    assert "does not list" in lake.orders().refused("TableExists")
    assert lake.sql("SELECT count(*) FROM paimon_tables") == "0"


def test_files_of_somebody_elses_table_are_not_dropped(lake: MetastoreLake) -> None:
    """Not even by a note of our own: the table may have come after the drop that wrote it had died."""
    other = replace(lake, owner="other-cluster/shop/orders")
    loaded(other)
    lake.sql("DELETE FROM paimon_tables")
    before = keys(lake)
    assert lake.drop().ok()["dropped"] is False
    assert [key for key in before if "/shop.db/" in key] == keys(lake)

    lake.servers.s3.client().put_object(
        Bucket="lake", Key=f"{lake.root}/.paimon-operator/shop.orders/dropping", Body=b""
    )
    before = keys(lake)
    assert "other-cluster/shop/orders" in lake.drop().refused("Conflict")
    assert keys(lake) == before


def test_a_drop_takes_the_files_of_a_table_whose_row_was_lost(lake: MetastoreLake) -> None:
    """A database that is restored or made anew lists less than there is."""
    loaded(lake)
    lake.sql("DELETE FROM paimon_tables; DELETE FROM paimon_database_properties")

    assert lake.drop().ok()["dropped"] is True

    assert not [key for key in keys(lake) if "/orders/" in key or ".paimon-operator/shop.orders" in key]
    loaded(lake)
    assert lake.rows() == [{"id": 1, "v": "a"}]
    assert len(lake.snapshots()) == 1, "it is a new table, with nothing of the old one"


@pytest.mark.parametrize("kept", ["schema/schema-0", "snapshot/snapshot-1"])
def test_a_drop_ends_only_when_the_files_are_gone(lake: MetastoreLake, kept: str) -> None:
    """Paimon takes the row out first, and only logs that a file could not be deleted. A legal hold binds root too."""
    lake.bucket = f"held-{lake.root.replace('_', '-')}"
    s3 = lake.servers.s3.client()
    s3.create_bucket(Bucket=lake.bucket, ObjectLockEnabledForBucket=True)
    loaded(lake)
    held = {"Bucket": lake.bucket, "Key": f"{lake.root}/shop.db/orders/{kept}"}
    s3.put_object_legal_hold(**held, LegalHold={"Status": "ON"})

    for _ in range(2):
        ended = lake.drop()
        assert (ended.code, ended.error["reason"]) == (25, "AccessDenied"), ended.result
        assert {f"{lake.root}/.paimon-operator/shop.orders/dropping", held["Key"]} <= {*keys(lake)}
        assert [key for key in keys(lake) if ".paimon-operator/shop.orders/import" in key], "the ledger is needed yet"

    s3.put_object_legal_hold(**held, LegalHold={"Status": "OFF"})
    lake.drop().ok()
    assert not [key for key in keys(lake) if "/orders/" in key or ".paimon-operator/shop.orders" in key]
    assert lake.sql("SELECT count(*) FROM paimon_tables") == "0"
    loaded(lake)
    assert len(lake.snapshots()) == 1


class FilesThatStay:
    """Stands in for a storage on which deleting does nothing and says nothing; S3 and HDFS do not on demand."""

    own_location = "s3://lake/root/shop.db/orders"

    def __init__(self) -> None:
        self.asked = list[str]()
        self.metastore = Jdbc(JobCatalog("s3://lake/root", "jdbc"), load_engine("paimon-1.4"))
        schemas = SimpleNamespace(latest=lambda: SimpleNamespace(orElse=lambda nothing: nothing))
        package = SimpleNamespace(SchemaManager=lambda *_: schemas)
        self.jvm = SimpleNamespace(org=SimpleNamespace(apache=SimpleNamespace(paimon=SimpleNamespace(schema=package))))

    def find_table(self) -> None:
        return None

    def path(self, uri: str) -> Any:
        return SimpleNamespace(toString=lambda: uri)

    def file_io(self, _path: Any) -> FilesThatStay:
        return self

    def exists(self, _path: Any) -> bool:
        return True

    def delete(self, path: Any, _recursive: bool) -> bool:
        self.asked.append(path.toString())
        return False


def test_a_drop_whose_files_stay_without_an_error_has_failed_and_keeps_its_note_and_the_ledgers() -> None:
    storage = FilesThatStay()
    catalog = JobCatalog("s3://lake/root", "jdbc")
    table = SimpleNamespace(database="shop", name="orders")

    with pytest.raises(RunError, match="still there") as failed:
        drop.run(cast(Any, SimpleNamespace(catalog=catalog, table=table, owner=OWNER)), cast(Any, storage))

    assert (failed.value.kind, failed.value.reason) == ("Infrastructure", "StorageUnreachable")
    assert storage.asked == ["s3://lake/root/shop.db/orders"]


def test_a_table_of_another_warehouse_in_the_same_metastore_is_a_conflict(lake: MetastoreLake) -> None:
    replace(lake, root="elsewhere").orders().ok()

    ended = lake.orders()

    assert f"s3://lake/{lake.root}/shop.db/orders holds no files of it" in ended.held_up("Conflict")
    assert ended.error["field"] == "spec.table"
    assert lake.sql("SELECT count(*) FROM paimon_tables") == "1"
