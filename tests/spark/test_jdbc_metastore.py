"""Tables in a jdbc metastore: the life cycle, the credentials, and what is wrong with the metastore."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.ports import free_ports
from tests.spark.jdbc_lake import JdbcLake
from tests.spark.metastore_lake import check_maintenance

CONFESSING = Path(__file__).parents[1] / "support" / "spark_settings_dump.py"
METASTORE = "Jdbc"


@pytest.fixture
def lake(jdbc_lake: JdbcLake) -> JdbcLake:
    return jdbc_lake


def test_a_table_is_created_written_compacted_expired_and_dropped(lake: JdbcLake) -> None:
    assert lake.orders().ok()["created"] is True
    assert lake.sql("SELECT catalog_key, database_name, table_name FROM paimon_tables") == "jdbc|shop|orders"
    assert lake.orders().ok()["created"] is False

    check_maintenance(lake)

    assert lake.drop().ok()["dropped"] is True
    assert lake.sql("SELECT count(*) FROM paimon_tables") == "0"
    assert lake.drop().ok()["dropped"] is False


@pytest.mark.long
def test_user_and_password_are_in_no_log_result_or_job(lake: JdbcLake) -> None:
    """The user has a unique name, so that the test can search for it."""
    lake.login = lake.servers.postgres.login("who_may_that_be")
    lake.mount_secret()
    lake.servers.postgres.execute(f'ALTER DATABASE "{lake.login.user}" RENAME TO metastore')
    lake.uri = f"{lake.uri.rpartition('/')[0]}/metastore"
    lake.root = "secretive"
    lake.land("orders/1.csv", "id\n1\n")
    columns = [{"name": "id", "type": "BIGINT"}]
    provision = lake.job("Provision", provision={"columns": columns, "adoption": "Fail"})

    for job in (provision, lake.write_job(mode="Append")):
        done = lake.drive(job, **lake.jvm.env, SPARK_APPS_MAIN=str(CONFESSING))
        assert done.code == 0, done.log
        assert "conf spark.sql.catalog" in done.log
        assert "property org.postgresql.pgservicefile=" in done.log
        for text in (done.log, str(done.result), lake.save(job).read_text()):
            assert lake.login.password[:12] not in text
            assert lake.login.user not in text


def wrong_password(lake: JdbcLake) -> None:
    lake.mount_secret(username=lake.login.user, password="no such password")


def unknown_user(lake: JdbcLake) -> None:
    lake.mount_secret(username="nobody", password=lake.login.password)


def no_password(lake: JdbcLake) -> None:
    lake.mount_secret(username=lake.login.user)


def two_lines(lake: JdbcLake) -> None:
    lake.mount_secret(username=lake.login.user, password="one\nuser=postgres")


def no_database(lake: JdbcLake) -> None:
    lake.uri += "_of_another"


def no_server(lake: JdbcLake) -> None:
    lake.uri = f"jdbc:postgresql://127.0.0.1:{free_ports(1)[0]}/lake"


def no_host(lake: JdbcLake) -> None:
    lake.uri = "jdbc:postgresql://metastore.invalid/lake"


def no_right(lake: JdbcLake) -> None:
    lake.servers.postgres.execute(f'ALTER DATABASE "{lake.login.user}" OWNER TO postgres')


@pytest.mark.parametrize(
    ("break_setting", "class_", "reason", "field"),
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
def test_a_wrong_setting_of_the_metastore_is_reported_and_fixed(
    lake: JdbcLake, break_setting: Callable[[JdbcLake], None], class_: str, reason: str, field: str
) -> None:
    correct = lake.uri
    break_setting(lake)
    error = lake.orders().error
    reported = (error["class"], error["reason"], error["field"])
    assert reported == (class_, reason, f"spec.metastore.jdbc.{field}"), error
    assert error["remedy"]
    assert lake.login.password not in str(error)

    lake.mount_secret()
    lake.uri = correct
    lake.servers.postgres.execute(f'ALTER DATABASE "{lake.login.user}" OWNER TO "{lake.login.user}"')
    lake.orders().ok()


def test_a_user_with_rights_only_on_paimons_tables_is_sufficient(lake: JdbcLake) -> None:
    lake.orders_with_file()
    user = lake.servers.postgres.login(f"user_of_{lake.login.user}")
    lake.sql(f'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "{user.user}"')
    lake.mount_secret(username=user.user, password=user.password)

    lake.write().ok()

    assert lake.rows() == [{"id": 1, "v": "a"}]


def test_a_table_of_another_warehouse_in_the_same_metastore_is_a_conflict(lake: JdbcLake) -> None:
    replace(lake, root="elsewhere").orders().ok()

    ended = lake.orders()

    assert f"s3://lake/{lake.root}/shop.db/orders holds no files of it" in ended.blocked("Conflict")
    assert ended.error["field"] == "spec.table"
    assert lake.sql("SELECT count(*) FROM paimon_tables") == "1"
