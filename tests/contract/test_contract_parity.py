"""The operator and the Spark side, which never import each other, have the same two documents."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from pydantic import BaseModel

from paimon_operator.api import contract as ours
from paimon_operator.api.run.status import Measure, OutsideCommit, RunType, WriteResult
from spark_apps import contract as theirs

JOB_FORMS = [
    (ours.Job, theirs.Job),
    (ours.JobRun, theirs.JobRun),
    (ours.JobCatalog, theirs.JobCatalog),
    (ours.JobTable, theirs.JobTable),
    (ours.JobColumn, theirs.JobColumn),
    (ours.ProvisionJob, theirs.ProvisionJob),
    (ours.WriteJob, theirs.WriteJob),
    (ours.CompactJob, theirs.CompactJob),
    (ours.ExpireSnapshotsJob, theirs.ExpireSnapshotsJob),
    (ours.DropJob, theirs.DropJob),
    (ours.JobSpark, theirs.JobSpark),
    (ours.JobExecutors, theirs.JobExecutors),
]
RESULT_FORMS = [
    (ours.ResultError, theirs.ResultError),
    (ours.ResultTable, theirs.ResultTable),
    (Measure, theirs.Measure),
    (WriteResult, theirs.WriteResult),
    (OutsideCommit, theirs.OutsideCommit),
]


def keys(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def json_keys(form: type[Any]) -> set[str]:
    return {theirs.json_name(field.name) for field in dataclasses.fields(form)}


@pytest.mark.parametrize(("model", "form"), JOB_FORMS, ids=lambda each: each.__name__)
def test_a_job_has_the_same_keys_on_both_sides(model: type[BaseModel], form: type[Any]) -> None:
    assert keys(model) == json_keys(form)


@pytest.mark.parametrize(("model", "form"), JOB_FORMS[1:], ids=lambda each: each.__name__)
def test_a_job_has_the_same_required_keys_on_both_sides(model: type[BaseModel], form: type[Any]) -> None:
    required = {field.alias for field in model.model_fields.values() if field.is_required()}
    missing = dataclasses.MISSING
    assert required == {
        theirs.json_name(field.name)
        for field in dataclasses.fields(form)
        if field.default is missing and field.default_factory is missing
    }


@pytest.mark.parametrize(("model", "form"), RESULT_FORMS, ids=lambda each: each.__name__)
def test_the_operator_reads_all_that_spark_says(model: type[BaseModel], form: type[Any]) -> None:
    assert json_keys(form) <= keys(model)


@pytest.mark.parametrize("form", [theirs.Outcome, theirs.Seen])
def test_the_operator_reads_every_member_of_what_a_run_reports(form: type[Any]) -> None:
    assert json_keys(form) <= keys(ours.Result)


def test_versions_limits_and_exit_codes_are_the_same() -> None:
    assert (ours.VERSION, ours.MAX_RESULT_BYTES) == (theirs.VERSION, theirs.MAX_RESULT_BYTES)
    assert {each.value: int(each.exit_code) for each in ours.ErrorClass} == theirs.EXIT_CODES
    assert set(theirs.MEMBERS) == {each.value for each in RunType}


PROVISION = {
    "columns": [{"name": "id", "type": "BIGINT"}, {"name": "n", "type": "ROW<a INT>", "comment": "c"}],
    "primaryKeys": ["id"],
    "partitionKeys": ["dt"],
    "options": {"bucket": "4"},
    "adoption": "AdoptIfIdentical",
}
WRITE = {
    "name": "import",
    "hash": "8f3a91c2",
    "mode": "Upsert",
    "format": "parquet",
    "location": "s3://landing/",
    "path": "orders/",
    "select": "New",
    "once": False,
    "ledger": "s3://lake/warehouse/.paimon-operator/shop.orders/import/",
}
MEMBERS = [
    ("Provision", {"provision": PROVISION}),
    ("Write", {"write": WRITE}),
    ("Compact", {"compact": {"strategy": "Minor", "partitionIdleTime": "10 min"}}),
    ("Compact", {"compact": {"strategy": "Full"}}),
    ("Compact", {"compact": {"strategy": "Full", "partitions": [{"dt": "a", "hh": "1"}, {"dt": "b"}]}}),
    ("ExpireSnapshots", {"expireSnapshots": {"timeRetained": "1 d", "numRetainedMin": 10}}),
    ("Drop", {"drop": {}}),
]


@pytest.mark.parametrize(("operation", "member"), MEMBERS, ids=[operation for operation, _ in MEMBERS])
def test_spark_reads_every_job_that_the_operator_writes(operation: str, member: dict[str, Any]) -> None:
    document = {
        "run": {"name": "r", "uid": "u", "namespace": "shop"},
        "operation": operation,
        "engine": "paimon-1.4",
        "catalog": {"warehouse": "s3://lake/warehouse", "metastore": "filesystem", "options": {"s3.endpoint": "e"}},
        "table": {"database": "shop", "name": "orders"},
        "owner": "cluster/shop/orders",
        "commitUser": "r-u",
        "sinceSnapshot": 812,
    }
    text = ours.job_text(ours.Job.model_validate(document | member))
    assert theirs.to_json(theirs.read_job(text)) == json.loads(text)


def test_the_operator_reads_a_whole_result() -> None:
    measure = theirs.Measure(files=9, bytes=1, rows=2, sorted_runs_max=3, snapshot_id=4)
    outcome = theirs.Outcome(
        table=theirs.ResultTable(schema_id=0, bucket_mode="Fixed", oldest_snapshot="2026-11-21T08:00:00Z"),
        created=True,
        differences=("column a: INT here, BIGINT there",),
        before=measure,
        after=measure,
        write=theirs.WriteResult(files=1, rows=2, committed_snapshot=3),
        expired=4,
        dropped=False,
    )
    head = {"version": 1, "run": "r", "operation": "Write", "ok": True, "ms": {"session": 1, "total": 2}}
    foreign = theirs.OutsideCommit(813, "somebody", "APPEND", "2026-11-21T08:00:00Z")
    told = theirs.to_json(outcome) | theirs.to_json(theirs.Seen(814, foreign))
    result = ours.read_result(json.dumps(head | told))
    read = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert {key: read[key] for key in told} == told
