"""Failures of a storage or a metastore: their reason, their address and the field of the catalog."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from paimon_contract.job import JobCatalog
from paimon_contract.parameters.write import WriteParameters
from paimon_engines.loader import supported_engines
from spark_apps.catalog.metastores import metastore_of
from spark_apps.catalog.metastores.base import Metastore
from spark_apps.failures.classify import classify
from spark_apps.failures.errors import RunError
from spark_apps.storage import storage_of
from spark_apps.storage.hdfs import Hdfs
from spark_apps.storage.s3 import S3
from spark_apps.storage.volume import Volume
from tests.spark_apps.jobs import job

WRITE = WriteParameters(
    name="import",
    hash="h1",
    mode="Upsert",
    format="csv",
    location="s3://landing/",
    select="New",
    once=False,
    ledger="s3://lake/ledger",
)
ON_THE_WAREHOUSE = {"s3.endpoint": "http://s3.storage:7070"}
ON_INPUTS = {"fs.s3a.endpoint": "http://s3.storage:7070"}


def classified(
    message: str,
    *,
    engine: str = "paimon-1.4",
    warehouse: str = "s3://lake/warehouse",
    options: dict[str, str] = ON_THE_WAREHOUSE,
    hadoop: dict[str, str] | None = None,
) -> RunError:
    """The failure of a Write whose exception has this message."""
    catalog = JobCatalog(warehouse, "filesystem", options)
    write = job(operation="Write", engine=engine, catalog=catalog, hadoop=hadoop or {}, parameters=WRITE)
    return classify(RuntimeError(message), storage=S3.of(write, supported_engines()[engine]))


@pytest.mark.parametrize("engine", supported_engines())
@pytest.mark.parametrize(
    ("message", "reason", "field"),
    [
        ("Connection refused", "StorageUnreachable", "spec.storage.s3.endpoint"),
        ("java.net.UnknownHostException: s3.storage", "StorageUnreachable", "spec.storage.s3.endpoint"),
        ("No AWS Credentials provided", "SecretNotFound", "spec.storage.s3.credentialsSecretRef"),
        ("SignatureDoesNotMatch", "CredentialsRefused", "spec.storage.s3.credentialsSecretRef"),
        # S3A reports a 403 by the exception of Java's file systems
        (
            "java.nio.file.AccessDeniedException: s3a://lake/x: getFileStatus",
            "CredentialsRefused",
            "spec.storage.s3.credentialsSecretRef",
        ),
        ("Access Denied", "AccessDenied", "spec.storage.s3.credentialsSecretRef"),
        ("ExpiredToken: the security token is expired", "CredentialsRefused", "spec.storage.s3.credentialsSecretRef"),
        ("Bad Request (Service: S3, Status Code: 400)", "CredentialsRefused", "spec.storage.s3.credentialsSecretRef"),
        ("SSLHandshakeException: PKIX path building failed", "CertificateNotTrusted", "spec.storage.s3.caConfigMapRef"),
        ("Bucket lake does not exist", "BucketNotFound", "spec.warehouse"),
        ("Bucket landing does not exist", "BucketNotFound", "spec.writes[import].from.files.location"),
        ("NoSuchBucket", "BucketNotFound", "spec.warehouse"),
    ],
)
def test_a_failure_of_the_storage_names_its_endpoint_and_field(
    engine: str, message: str, reason: str, field: str
) -> None:
    failure = classified(message, engine=engine)
    assert (failure.reason, failure.field) == (reason, field)
    assert "(endpoint http://s3.storage:7070): " in str(failure)


def test_the_endpoint_of_the_input_files_is_reported_when_the_warehouse_has_none() -> None:
    failure = classified("Connection refused", warehouse="file:///lake", options={}, hadoop=ON_INPUTS)
    assert "(endpoint http://s3.storage:7070)" in str(failure)


def test_without_an_endpoint_the_failure_names_aws_and_the_region() -> None:
    assert "(AWS, region eu-central-1)" in str(
        classified("Connection refused", options={"s3.endpoint.region": "eu-central-1"})
    )


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Forbidden (Service: Amazon S3; Status Code: 403; Error Code: 403 Forbidden)", "CredentialsRefused"),
        ("(Service: S3, Status Code: 503, Request ID: null)", "StorageUnreachable"),
        ("Server returned HTTP response code: 503 for URL: http://s3/", "StorageUnreachable"),
        ("503 Slow Down", "StorageUnreachable"),
        ("Task 403 in stage 7.0 failed 4 times: java.io.IOException: No space left on device", "DiskFull"),
        ("Lost task 503.0 in stage 1.0 (TID 503): NullPointerException", "DriverFailed"),
        ("snapshot/snapshot-403 not found", "DriverFailed"),
        (
            "Lost task 17.3 in stage 2.0 (TID 403): ExecutorLostFailure (executor 1 exited)"
            " java.net.ConnectException: Connection refused",
            "NoExecutors",
        ),
        ("FetchFailedException: Failed to connect to /10.42.0.9:7079 Connection refused", "NoExecutors"),
    ],
)
def test_a_number_in_a_message_is_no_status_code_and_a_lost_executor_is_no_storage_failure(
    message: str, reason: str
) -> None:
    assert classified(message).reason == reason


@pytest.mark.parametrize(
    "message",
    [
        "No space left on device",
        "/tmp/x: Permission denied",
        "MALFORMED_RECORD",
        "commit conflicts between multiple jobs",
    ],
)
def test_a_failure_outside_the_storage_names_no_endpoint(message: str) -> None:
    failure = classified(message)
    assert "endpoint" not in str(failure)
    assert failure.field is None


SECRET = "credentialsSecretRef"


URI = "spec.metastore.hive.uri"


def metastore(kind: str) -> Metastore:
    return metastore_of(JobCatalog("s3://lake/warehouse", kind), supported_engines()["paimon-1.4"])


class DriverError(Exception):
    """A JDBC driver's error as py4j wraps it. Its message may be in any language."""

    def __init__(self, state: str, message: str) -> None:
        super().__init__("an error occurred while calling o1.load")
        java = {"getName": "org.postgresql.util.PSQLException", "getSQLState": state, "getMessage": message}
        self.java_exception = SimpleNamespace(
            getClass=lambda: SimpleNamespace(getName=lambda: java["getName"]),
            getSQLState=lambda: java["getSQLState"],
            getMessage=lambda: java["getMessage"],
            getCause=lambda: None,
        )


@pytest.mark.parametrize(
    "message",
    [
        "File 's3://lake/w/shop.db/orders/dt=a b/bucket-3/data-1-0.parquet' not found, Possible causes: 1.snapshot",
        "File 'hdfs://nn/w/shop.db/orders/bucket-postpone/data-1-0.avro' not found, Possible causes: 1.snapshot",
        "File 's3://lake/w/shop.db/orders/bucket-0/changelog-1-0.parquet' not found, Possible causes: 1.snapshot",
        "File 's3://lake/w/shop.db/orders/manifest/index-manifest-1-0' not found, Possible causes: 1.snapshot",
        "File 's3://lake/w/shop.db/orders/index/index-1-0' not found, Possible causes: 1.snapshot",
        "s3://lake/w/shop.db/orders/bucket-0/data-1-0.parquet is not a Parquet file (length is too low: 0)",
        "Malformed ORC file s3://lake/w/shop.db/orders/bucket-0/data-1-0.orc. Invalid postscript.",
    ],
)
def test_a_file_that_paimon_has_named_is_one_of_the_table(message: str) -> None:
    assert classified(message).reason == "TableFileUnreadable"


@pytest.mark.parametrize(
    "path", ["s3://in/manifest/a.orc", "s3://in/bucket-0/a.orc", "s3://in/data-1.orc", "s3://in/index/a.orc"]
)
def test_a_file_with_a_similar_path_is_one_of_the_input(path: str) -> None:
    assert classified(f"Malformed ORC file {path}. Invalid postscript.").reason == "InputMalformed"


def java_error(*chain: tuple[str, str | None]) -> Exception:
    """An error of Java as py4j wraps it: class and message of each cause, outermost first."""
    cause = None
    for name, message in reversed(chain):
        cause = SimpleNamespace(
            getClass=lambda name=name: SimpleNamespace(getName=lambda: name),
            getMessage=lambda message=message: message,
            getCause=lambda cause=cause: cause,
        )
    error = Exception("an error occurred while calling o1.load")
    error.java_exception = cause  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("chain", "told"),
    [
        ([("a.SparkException", "Job aborted"), ("b.Odd", "the cause")], "b.Odd: the cause"),
        ([("a.SparkException", "Failed in x.orc"), ("b.Eof", None)], "a.SparkException: Failed in x.orc: b.Eof"),
        ([("a.SparkException", None), ("b.Eof", None)], "b.Eof"),
    ],
)
def test_an_unknown_failure_is_told_by_the_innermost_cause_and_never_as_none(
    chain: list[tuple[str, str | None]], told: str
) -> None:
    failure = classify(java_error(*chain))
    assert (failure.kind, failure.reason, str(failure)) == ("Infrastructure", "DriverFailed", told)


@pytest.mark.parametrize(
    ("state", "message", "class_", "reason", "field"),
    [
        ("28P01", "Passwort-Authentifizierung fehlgeschlagen", "Environment", "CredentialsRefused", SECRET),
        ("08004", "no password was provided", "Environment", "CredentialsRefused", SECRET),
        ("3D000", "database does not exist", "Environment", "MetastoreNotFound", "uri"),
        ("42P01", 'relation "paimon_tables" does not exist', "Environment", "MetastoreNotFound", "uri"),
        ("42501", "permission denied for schema public\n  Position: 14", "Environment", "AccessDenied", SECRET),
        ("42P07", 'relation "paimon_tables" already exists', "Conflict", "CommitConflict", "uri"),
        ("23505", "duplicate key", "Conflict", "CommitConflict", "uri"),
        ("08001", "Connection to pg:5432 refused", "Infrastructure", "MetastoreUnreachable", "uri"),
        ("57P01", "terminating connection", "Infrastructure", "MetastoreUnreachable", "uri"),
        ("53300", "too many clients", "Infrastructure", "MetastoreUnreachable", "uri"),
    ],
)  # fmt: skip
def test_a_failure_of_a_jdbc_metastore_is_classified_by_its_sql_state(
    state: str, message: str, class_: str, reason: str, field: str
) -> None:
    failure = classify(DriverError(state, message), metastore=metastore("jdbc"))
    assert (failure.kind, failure.reason, failure.field) == (class_, reason, f"spec.metastore.jdbc.{field}")
    assert message.split("\n", maxsplit=1)[0] in str(failure)


DOWN = ("Infrastructure", "MetastoreUnreachable", URI)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Failed to create the desired metastore client (class name: x)", DOWN),
        ("org.apache.thrift.transport.TTransportException: null", DOWN),
        ("org.apache.thrift.TApplicationException: Internal error processing lock", DOWN),
        ("x.AlreadyExistsException: Table hive.shop.orders already exists", ("Environment", "Conflict", "spec.table")),
        ("x.api.MetaException: Unable to create database path file:/x", ("Environment", "AccessDenied", URI)),
        (
            "x.api.MetaException: java.security.AccessControlException: Permission denied",
            ("Environment", "AccessDenied", URI),
        ),
        ("x.api.MetaException: Got exception: java.net.ConnectException to a NameNode of the server's", DOWN),
    ],
)
def test_a_failure_of_a_hive_metastore_is_classified_by_its_message(
    message: str, expected: tuple[str, str, str]
) -> None:
    failure = classify(RuntimeError(message), metastore=metastore("hive"))
    assert (failure.kind, failure.reason, failure.field) == expected


@pytest.mark.parametrize(("kind", "source"), [("jdbc", "paimon_distributed_locks"), ("hive", "SHOW LOCKS")])
def test_a_commit_lock_that_is_held_too_long_is_reported_with_the_list_of_holders(kind: str, source: str) -> None:
    failure = classify(RuntimeError("Acquire lock failed with time: PT8M2S"), metastore=metastore(kind))
    assert (failure.kind, failure.reason, failure.field) == ("Infrastructure", "CommitLockHeld", "spec.metastore")
    assert source in failure.remedy


@pytest.mark.parametrize(
    "message",
    [
        "java.nio.file.AccessDeniedException: /data/warehouse/shop.db",
        "java.lang.RuntimeException: Create database location failed, path: file:/data/warehouse/shop.db",
    ],
)
def test_a_volume_that_cannot_be_written_is_reported_with_its_claim_and_not_with_credentials(message: str) -> None:
    failure = classify(RuntimeError(message), storage=Volume())
    assert (failure.kind, failure.reason, failure.field) == ("Environment", "AccessDenied", "spec.storage.claim")


@pytest.mark.parametrize(
    ("warehouse", "kind"),
    [("s3://lake/warehouse", S3), ("hdfs://nn:8020/lake", Hdfs), ("file:///data/warehouse", Volume)],
)
def test_the_warehouse_decides_the_kind_of_storage(warehouse: str, kind: type) -> None:
    compact = job(catalog=JobCatalog(warehouse, "filesystem"))
    assert isinstance(storage_of(compact, supported_engines()["paimon-1.4"]), kind)


def test_a_failure_of_an_unknown_storage_names_no_endpoint() -> None:
    failure = classify(RuntimeError("Connection refused"))
    assert (str(failure), failure.field) == ("The storage does not answer: Connection refused", None)


ON_HDFS = Hdfs.of("hdfs://lake/warehouse", {}, {})
WITH_KERBEROS = Hdfs.of(
    "hdfs://nn:8020/lake", {"hadoop.security.authentication": "kerberos"}, {"KRB5PRINCIPAL": "paimon@EXAMPLE.COM"}
)


@pytest.mark.parametrize(
    ("message", "reason", "field"),
    [
        ("java.net.ConnectException: Connection refused", "StorageUnreachable", "spec.warehouse"),
        ("Permission denied: user=x, access=WRITE", "AccessDenied", "spec.storage.hdfs.user"),
        ("Name node is in safe mode.", "StorageUnreachable", "spec.warehouse"),
        ("BlockMissingException: Could not obtain block: BP-1", "StorageUnreachable", "spec.warehouse"),
        ("could only be written to 0 of the 1 minReplication nodes", "StorageUnreachable", "spec.warehouse"),
        ("SIMPLE authentication is not enabled.", "CredentialsRefused", "spec.storage.hdfs.kerberos"),
        ("is not supported in state standby", "DriverFailed", None),
        (
            "Operation category WRITE is not supported in state standby",
            "StorageUnreachable",
            "spec.storage.hdfs.configMapRef",
        ),
    ],
)
def test_a_failure_of_hdfs_names_its_address_and_field(message: str, reason: str, field: str | None) -> None:
    failure = classify(RuntimeError(message), storage=ON_HDFS)
    assert (failure.reason, failure.field) == (reason, field)
    assert ("(HDFS lake): " in str(failure)) is (field is not None)


def test_a_failure_of_hdfs_with_kerberos_names_the_principal() -> None:
    refused = classify(RuntimeError("LoginException: Unable to obtain password from user"), storage=WITH_KERBEROS)
    assert (refused.kind, refused.reason) == ("Environment", "CredentialsRefused")
    assert "(NameNode nn:8020, as paimon@EXAMPLE.COM): " in str(refused)
    denied = classify(RuntimeError("Permission denied: user=paimon"), storage=WITH_KERBEROS)
    assert denied.field == "spec.storage.hdfs.kerberos.principal"


@pytest.mark.parametrize("message", ["MALFORMED_RECORD", "commit conflicts between multiple jobs"])
def test_a_failure_outside_hdfs_names_no_field(message: str) -> None:
    assert classify(RuntimeError(message), storage=ON_HDFS).field is None
