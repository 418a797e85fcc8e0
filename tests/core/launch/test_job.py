"""The job document of each type of run, compared as a whole, because the Spark side reads every field."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

import json
from typing import Any

import pytest

from paimon_contract.job import job_text
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import ProvisionState, TableStatus
from paimon_operator.core import storage
from paimon_operator.core.launch.job import build_job
from paimon_operator.core.operations.write_ledgers import write_hash
from paimon_operator.core.storage.access import SecretKey
from paimon_operator.errors import RunEnvironmentError, SpecError
from tests.support import builders

TABLE = builders.table(
    "web-orders",
    writes=[builders.write() | {"options": {"write-buffer-size": "64 mb"}}, builders.write("seed", schedule=None, path=None)],
    compaction={"mode": "Dedicated", "partitionIdleTime": "10m"},
    retention={"snapshots": {"timeRetained": "1d", "numRetainedMin": 10}},
    schema={**builders.ORDERS, "comment": "all", "columns": [{"name": "dt", "type": "string"}, *builders.ORDERS["columns"]], "primaryKeys": ["dt", "order_id"], "partitionKeys": ["dt"]},
)  # fmt: skip
HEAD: dict[str, Any] = {
    "version": 1,
    "run": {"name": "r1", "uid": "uid-of-r1", "namespace": "shop"},
    "engine": "paimon-1.4",
    "catalog": {
        "warehouse": "s3://lake/warehouse",
        "metastore": "filesystem",
        "options": {
            "s3.endpoint": "http://s3.storage:7070",
            "s3.endpoint.region": "us-east-1",
            "s3.path.style.access": "true",
        },
    },
    "hadoop": {
        "fs.s3a.endpoint": "http://s3.storage:7070",
        "fs.s3a.endpoint.region": "us-east-1",
        "fs.s3a.path.style.access": "true",
    },
    "table": {"database": "shop", "name": "web_orders"},
    "owner": "kube-system-uid/shop/web-orders",
    "commitUser": "r1-uid-of-r1",
    "runPrefix": "web-orders-",
}


def job(run: PaimonRun, table: PaimonTable = TABLE, catalog: PaimonCatalog | None = None) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        job_text(build_job(run, table, catalog or builders.catalog(), builders.operator_facts()))
    )
    return document


def run(**spec: Any) -> PaimonRun:
    return builders.run("r1", table=TABLE, **({"compact": None} | spec))


def going(policy: str = "Delete", **spec: Any) -> PaimonTable:
    """A table that is being deleted."""
    deleted = {"deletionTimestamp": builders.NOW}
    return builders.table("web-orders", metadata=deleted, deletionPolicy=policy, **spec)


def test_the_job_of_a_provision() -> None:
    document = job(run(type="Provision"))
    assert document == HEAD | {
        "operation": "Provision",
        "provision": {
            "columns": [
                {"name": "dt", "type": "STRING NOT NULL", "dataType": "STRING NOT NULL"},
                {"name": "order_id", "type": "BIGINT NOT NULL", "dataType": "BIGINT NOT NULL"},
                {"name": "amount", "type": "DECIMAL(12,2)", "dataType": "DECIMAL(12,2)"},
                {"name": "note", "type": "STRING", "dataType": "STRING"},
            ],
            "primaryKeys": ["dt", "order_id"],
            "partitionKeys": ["dt"],
            "comment": "all",
            "options": {
                "bucket": "-1",
                "snapshot.num-retained.min": "10",
                "snapshot.time-retained": "1 d",
                "write-only": "true",
            },
            "adoption": "AdoptIfIdentical",
            "unknownWrites": [
                {
                    "name": each.name,
                    "hash": write_hash(each),
                    "ledger": f"s3://lake/warehouse/.paimon-operator/shop.web_orders/{each.name}/",
                }
                for each in TABLE.spec.writes
            ],
        },
    }


def test_the_job_of_a_write() -> None:
    document = job(run(type="Write", write={"name": "import"}))
    assert document == HEAD | {
        "operation": "Write",
        "write": {
            "name": "import",
            "hash": write_hash(TABLE.spec.writes[0]),
            "mode": "Upsert",
            "format": "parquet",
            "location": "s3://landing/",
            "locationName": "landing",
            "path": "orders/",
            "select": "New",
            "once": False,
            "options": {"write-buffer-size": "64 mb"},
            "ledger": "s3://lake/warehouse/.paimon-operator/shop.web_orders/import/",
        },
    }


def test_the_job_of_a_write_once_without_a_path() -> None:
    member = job(run(type="Write", write={"name": "seed"}))["write"]
    assert (member["once"], member.get("path", ""), member["ledger"].endswith("/seed/")) == (True, "", True)


def test_the_job_of_a_scheduled_minor_compaction() -> None:
    trigger = {"type": "Schedule", "message": "due", "dueTime": builders.NOW}
    document = job(run(type="Compact", compact={"strategy": "Minor"}, trigger=trigger))
    compact = {"strategy": "Minor", "partitionIdleTime": "10 min", "thresholds": {"sortedRuns": 5}}
    assert document == HEAD | {"operation": "Compact", "compact": compact}


@pytest.mark.parametrize("strategy", ["Full", "Minor"])
def test_a_users_compaction_without_partitions_compacts_all_of_them_whatever_their_idle_time(strategy: str) -> None:
    assert job(run(type="Compact", compact={"strategy": strategy}))["compact"] == {"strategy": strategy}


def test_the_job_of_a_compaction_of_named_partitions_has_no_idle_time() -> None:
    document = job(run(type="Compact", compact={"strategy": "Full", "partitions": [{"dt": "2026-11-22"}]}))
    assert document["compact"] == {"strategy": "Full", "partitions": [{"dt": "2026-11-22"}]}


@pytest.mark.parametrize(
    ("table", "remedy"), [(TABLE, "The table's are dt."), (builders.table("web-orders"), "The table has none")]
)
def test_a_compaction_by_a_column_that_is_no_partition_key_is_refused(table: PaimonTable, remedy: str) -> None:
    partitions = [*([{"dt": "a"}] if table is TABLE else []), {"note": "b"}]
    with pytest.raises(SpecError, match=r"'note' is no partition key") as error:
        job(run(type="Compact", compact={"strategy": "Full", "partitions": partitions}), table)
    assert error.value.field == f"spec.compact.partitions[{len(partitions) - 1}]"
    assert remedy in str(error.value)


def test_the_job_of_a_snapshot_expiry() -> None:
    document = job(run(type="ExpireSnapshots"))
    assert document["expireSnapshots"] == {"timeRetained": "1 d", "numRetainedMin": 10}


def test_the_job_of_a_drop() -> None:
    document = job(run(type="Drop"), going())
    assert document == HEAD | {"operation": "Drop", "drop": {}}


@pytest.mark.parametrize("table", [TABLE, going("Retain")], ids=["not deleted", "deleted, to be retained"])
def test_a_drop_is_refused_unless_the_table_is_being_deleted_with_policy_delete(table: PaimonTable) -> None:
    with pytest.raises(SpecError, match="only while its PaimonTable is being deleted with deletionPolicy Delete"):
        job(run(type="Drop"), table)


def test_a_missing_endpoint_is_left_to_the_client() -> None:
    s3 = {"region": "eu-central-1", "credentialsSecretRef": {"name": "x"}}
    document = job(run(type="ExpireSnapshots"), catalog=builders.catalog(storage={"s3": s3}))
    assert document["catalog"]["options"] == {"s3.endpoint.region": "eu-central-1"}
    assert document["hadoop"] == {"fs.s3a.endpoint.region": "eu-central-1"}


JDBC = {"type": "Jdbc", "jdbc": {"uri": "jdbc:postgresql://pg/lake", "credentialsSecretRef": {"name": "lake-pg"}}}


def test_a_jdbc_metastore_adds_its_uri_to_the_job_and_its_secret_to_the_driver_as_files() -> None:
    catalog = builders.catalog(metastore=JDBC)
    document = job(run(type="Drop"), going(), catalog)
    assert document["catalog"]["metastore"] == "jdbc"
    assert document["catalog"]["options"] == HEAD["catalog"]["options"] | {"uri": "jdbc:postgresql://pg/lake"}
    assert "lake-pg" not in str(document)

    way = storage.access(catalog, builders.operator_facts().engines["paimon-1.4"])
    (mount,) = way.mounts
    assert (mount.name, mount.items) == ("lake-pg", {"username": "username", "password": "password"})
    added = [each for each in way.variables if each.driver_only]
    assert [each.value for each in added if each.name == "METASTORE_CREDENTIALS"] == [mount.path]
    secret = SecretKey(secret="lake-pg", key="username")
    assert [each.secret_key for each in added if each.secret_key] == [secret], (
        "a missing Secret is reported for variables only"
    )
    assert mount.driver_only


def test_a_hive_metastore_adds_only_its_uri_to_the_job() -> None:
    catalog = builders.catalog(metastore={"type": "Hive", "hive": {"uri": "thrift://hms:9083"}})
    document = job(run(type="Drop"), going(), catalog)
    assert document["catalog"]["metastore"] == "hive"
    assert document["catalog"]["options"] == HEAD["catalog"]["options"] | {"uri": "thrift://hms:9083"}
    engine = builders.operator_facts().engines["paimon-1.4"]
    way, without = storage.access(catalog, engine), storage.access(builders.catalog(), engine)
    assert (way.mounts, way.variables) == (without.mounts, without.variables)


@pytest.mark.parametrize(("wanted", "given"), [(True, {"conf": {}, "eventLog": True}), (False, None), (None, None)])
def test_the_job_says_whether_spark_writes_its_event_log(wanted: bool | None, given: dict[str, Any] | None) -> None:
    catalog = builders.catalog(spark={} if wanted is None else {"eventLog": wanted})
    assert job(builders.run("r1", table=TABLE), catalog=catalog).get("spark") == given


def test_no_job_names_the_secret() -> None:
    documents = [job(run(type=kind)) for kind in ("Provision", "ExpireSnapshots")]
    assert "lake-s3" not in str(documents)
    assert "AWS" not in str(documents)


def test_the_secret_reaches_the_pod_by_its_keys_and_the_token_may_be_missing() -> None:
    way = storage.access(builders.catalog(), builders.engines()["paimon-1.4"])
    found = {each.name: each.secret_key for each in way.variables}
    assert found == {
        "AWS_ACCESS_KEY_ID": SecretKey(secret="lake-s3", key="AWS_ACCESS_KEY_ID"),
        "AWS_SECRET_ACCESS_KEY": SecretKey(secret="lake-s3", key="AWS_SECRET_ACCESS_KEY"),
        "AWS_SESSION_TOKEN": SecretKey(secret="lake-s3", key="AWS_SESSION_TOKEN", optional=True),
    }


def decided(**trigger: Any) -> dict[str, Any]:
    return {"trigger": {"type": "Spec", **trigger}}


def test_a_run_of_the_current_manifest_is_launched() -> None:
    context = builders.context(TABLE)
    assert job(run(type="Provision", **decided(specHash=context.wanted_hash)))["provision"]


@pytest.mark.parametrize(
    "spec", [{"type": "Provision"}, {"type": "Write", "write": {"name": "seed"}}], ids=["the table", "a write's source"]
)
def test_a_run_of_an_edited_manifest_is_not_launched(spec: dict[str, Any]) -> None:
    with pytest.raises(RunEnvironmentError, match="edited after this run was decided"):
        job(run(**spec, **decided(specHash="0123456789abcdef")))


def test_after_a_switch_of_the_engine_only_the_verification_is_launched() -> None:
    verified = TableStatus.model_validate({"engine": "paimon-0.9"})
    table = TABLE.model_copy(update={"status": verified})
    with pytest.raises(RunEnvironmentError, match=r"engine was changed to paimon-1\.4") as refusal:
        job(run(type="ExpireSnapshots"), table)
    assert refusal.value.reason == Reason.SPEC_CHANGED
    assert job(run(type="Provision"), table)["engine"] == "paimon-1.4"


def test_no_run_is_launched_on_an_engine_that_is_older_than_the_one_that_verified_the_table() -> None:
    table = TABLE.model_copy(update={"status": TableStatus.model_validate({"engine": "paimon-1.5"})})
    with pytest.raises(SpecError, match=r"older than paimon-1\.5") as refusal:
        job(run(type="Provision"), table)
    assert refusal.value.reason == Reason.ENGINE_DOWNGRADE


def test_a_write_that_is_no_longer_in_the_manifest_is_not_launched() -> None:
    with pytest.raises(SpecError) as error:
        job(run(type="Write", write={"name": "gone"}))
    assert (error.value.field, error.value.reason) == ("spec.writes", Reason.WRITE_NOT_FOUND)


def test_a_users_minor_compaction_on_an_engine_without_it_is_refused() -> None:
    table = builders.table("web-orders")
    with pytest.raises(SpecError, match=r"paimon-0\.9 has no minor compaction"):
        job(run(type="Compact", compact={"strategy": "Minor"}), table, builders.catalog(engine="paimon-0.9"))


def test_an_invalid_manifest_is_not_launched_and_can_be_dropped() -> None:
    wrong = going(options={"nonsense": "1"})
    with pytest.raises(SpecError, match="nonsense"):
        job(run(type="Provision"), wrong)
    assert job(run(type="Drop"), wrong)["drop"] == {}


def test_an_invalid_catalog_launches_nothing() -> None:
    with pytest.raises(SpecError, match=r"paimon-7\.3"):
        job(run(type="Drop"), catalog=builders.catalog(engine="paimon-7.3"))


@pytest.mark.parametrize("type_", ["ExpireSnapshots", "Provision"])
def test_no_run_is_launched_at_another_place_than_it_was_decided_for(type_: str) -> None:
    active = {"name": "r", "type": type_, "trigger": "Spec"} | ({"place": "elsewhere"} if type_ == "Provision" else {})
    owned = {"ownership": {"place": "elsewhere", "since": "2026-11-21T08:00:00Z"}, "activeRun": active}
    table = TABLE.model_copy(update={"status": TableStatus.model_validate(owned)})
    with pytest.raises(RunEnvironmentError, match="moved") as refusal:
        job(run(type=type_), table)
    assert refusal.value.reason == Reason.SPEC_CHANGED


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"type": "Write", "write": {"name": "import"}}, 2),
        ({"type": "Compact", "compact": {"strategy": "Full"}}, 2),
        ({"type": "Provision"}, None),
    ],
    ids=lambda each: each["type"] if isinstance(each, dict) else "",
)
def test_the_runs_that_write_files_get_the_number_of_buckets_of_the_verified_table(
    spec: dict[str, Any], expected: int | None
) -> None:
    table = TABLE.model_copy(update={"status": TableStatus(provision=ProvisionState(bucket_count=2))})
    assert job(run(**spec), table).get("bucketCount") == expected
