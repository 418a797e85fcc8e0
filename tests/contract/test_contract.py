"""Job and result: each side reads what the other side writes, and texts of the first release."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from paimon_contract.documents import to_json
from paimon_contract.exit_codes import EXIT_CODES, ErrorClass, ExitCode
from paimon_contract.job import Job, JobCatalog, JobError, JobHead, JobRun, JobTable, job_text
from paimon_contract.parameters.write import WriteParameters
from paimon_contract.result import (
    Elapsed,
    ForeignCommit,
    LoadSummary,
    Outcome,
    RescaleSummary,
    Result,
    ResultMeasure,
    ResultTable,
    Seen,
)
from paimon_operator.api.run.result import measure_after, outside_commit, read_result
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.errors import ContractError
from spark_apps.driver.dispatch import operation_of, read_job
from spark_apps.driver.report import document_of

SAMPLES = Path(__file__).parent / "samples"
JOBS = sorted(SAMPLES.glob("job-*.json"))
RESULTS = sorted(SAMPLES.glob("result-*.json"))

WRITE = WriteParameters(
    name="import",
    hash="8f3a91c2",
    mode="Upsert",
    format="parquet",
    location="s3://landing/",
    path="orders/",
    select="New",
    once=False,
    ledger="s3://lake/warehouse/.paimon-operator/shop.orders/import/",
)
JOB = Job(
    run=JobRun(name="orders-write-8f3a91c2", uid="u", namespace="shop"),
    operation="Write",
    engine="paimon-1.4",
    catalog=JobCatalog(warehouse="s3://lake/warehouse", metastore="filesystem"),
    table=JobTable(database="shop", name="orders"),
    owner="cluster/shop/orders",
    commit_user="orders-write-8f3a91c2-u",
    parameters=WRITE,
)
FAILED: dict[str, Any] = {
    "version": 1,
    "run": "orders-write-8f3a91c2",
    "operation": "Write",
    "ok": False,
    "error": {
        "class": "Environment",
        "reason": "InputNotFound",
        "message": "no such path",
        "remedy": "Put files there.",
    },
}


def changed(change: dict[str, Any], without: str = "") -> str:
    """The job's text with other members."""
    document = {key: value for key, value in json.loads(job_text(JOB)).items() if key != without}
    return json.dumps(document | change)


@pytest.mark.parametrize("file", JOBS, ids=lambda file: file.stem)
def test_a_job_of_the_first_release_is_read_and_written_unchanged(file: Path) -> None:
    text = file.read_text(encoding="utf-8").rstrip("\n")
    assert job_text(read_job(text)) == text


@pytest.mark.parametrize("file", RESULTS, ids=lambda file: file.stem)
def test_a_result_of_the_first_release_is_read_with_every_value(file: Path) -> None:
    document = json.loads(file.read_text(encoding="utf-8"))
    assert {key: value for key, value in to_json(read_result(json.dumps(document))).items() if value != []} == document


def test_every_operation_has_a_job_of_the_first_release_among_the_samples() -> None:
    assert {json.loads(file.read_text(encoding="utf-8"))["operation"] for file in JOBS} == set(OPERATIONS.types)


@pytest.mark.parametrize("file", JOBS, ids=lambda file: file.stem)
def test_pydantic_accepts_the_same_jobs_as_the_reader_of_the_spark_side(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    job, document = read_job(text), json.loads(text)
    assert TypeAdapter(JobHead).validate_python(document) == JobHead(
        **{name: value for name, value in vars(job).items() if name != "parameters"}
    )
    key = job.operation[0].lower() + job.operation[1:]
    assert TypeAdapter(type(job.parameters)).validate_python(document[key]) == job.parameters


@pytest.mark.parametrize("operation", OPERATIONS.types)
def test_every_operation_of_the_operator_has_a_module_on_the_spark_side(operation: str) -> None:
    assert callable(operation_of(operation).run)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed({"operation": "Compact"}), "operation Compact without the member compact"),
        (changed({"drop": {}}), "job has an unknown key drop"),
        (changed({}, without="write"), "operation Write without the member write"),
        (changed({}, without="owner"), "job lacks a key"),
        (changed({"sql": "DROP TABLE t"}), "job has an unknown key sql"),
        (changed({"parameters": {}}), "job has an unknown key parameters"),
        (changed({"sinceSnapshot": "4"}), "job.sinceSnapshot must be a int, not str"),
        (changed({"sinceSnapshot": True}), "job.sinceSnapshot must be a int, not bool"),
        (changed({"catalog": {"warehouse": "w", "metastore": "m", "options": {"a": 1}}}), "job.catalog.options.a must"),
        (changed({"write": {"name": "import"}}), "job.write lacks a key"),
        (changed({"table": {"database": "shop", "name": "../orders"}}), "cannot be the name of a database or table"),
        (changed({"spark": {"conf": {"spark.plugins": "x.Y"}}}), "job.spark.conf: 'spark.plugins' cannot be 'x.Y'"),
        (changed({"spark": {"conf": {"spark.speculation": "${env:KEY}"}}}), "job.spark.conf: 'spark.speculation'"),
        (changed({"operation": "Frobnicate", "frobnicate": {}}), "operation Frobnicate is unknown to this image"),
        (changed({"operation": "../write", "../write": {}}), "is no operation"),
        (changed({"version": 2}), "not of version 1"),
        ("[]", "not of version 1"),
        ("{", "not JSON"),
    ],
)
def test_an_invalid_job_is_refused_with_the_path_of_the_error(text: str, message: str) -> None:
    with pytest.raises(JobError, match=message):
        read_job(text)


def test_a_job_refuses_the_parameters_of_another_operation() -> None:
    with pytest.raises(TypeError, match="a job of Write has no JobRun"):
        JOB.parameters_as(JobRun)


def test_the_operator_reads_every_value_that_the_spark_side_reports() -> None:
    measure = ResultMeasure(files=9, bytes=1, rows=2, sorted_runs_max=3, snapshot_id=4)
    outcome = Outcome(
        table=ResultTable(schema_id=0, bucket_mode="Fixed", oldest_snapshot="2026-11-21T08:00:00Z"),
        created=True,
        differences=("column a: INT here, BIGINT there",),
        before=measure,
        after=measure,
        write=LoadSummary(files=1, rows=2, committed_snapshot=3),
        expired=4,
        described=500,
        dropped=False,
        rescale=RescaleSummary(done=12, total=40, finished=False),
    )
    seen = Seen(seen_snapshot=814, outside_commit=ForeignCommit(813, "somebody", "APPEND", "2026-11-21T08:00:00Z"))
    result = read_result(json.dumps(document_of(JOB, seen, outcome, None, Elapsed(1, 2))))
    assert result == Result(
        run=JOB.run.name, operation="Write", ok=True, **vars(seen), **vars(outcome), ms=Elapsed(1, 2)
    )


def test_the_measure_after_the_run_overrides_the_table_in_the_status() -> None:
    result = Result(
        run="r",
        operation="Compact",
        ok=True,
        table=ResultTable(schema_id=3, files=9, size_bytes=100),
        after=ResultMeasure(files=2),
    )
    after = measure_after(result)
    assert after is not None
    assert (after.schema_id, after.files, after.bytes, after.rows) == (3, 2, 100, None)
    assert measure_after(replace(result, table=None, after=None)) is None
    assert outside_commit(result) is None


def test_a_failed_result_is_read_with_its_class_reason_message_and_remedy() -> None:
    result = read_result(json.dumps(FAILED))
    assert result.error is not None
    assert (result.error.class_, result.error.reason) == (ErrorClass.ENVIRONMENT, "InputNotFound")
    assert (result.error.message, result.error.remedy) == ("no such path", "Put files there.")


def test_the_error_class_surroundings_of_the_first_release_is_read_as_environment() -> None:
    result = read_result(json.dumps(FAILED | {"error": FAILED["error"] | {"class": "Surroundings"}}))
    assert result.error is not None
    assert result.error.class_ is ErrorClass.ENVIRONMENT


def test_unknown_keys_in_the_result_of_a_newer_image_are_ignored() -> None:
    assert read_result(json.dumps(FAILED | {"mood": "sad"})) == read_result(json.dumps(FAILED))


FOREIGN = {"snapshotId": 1, "commitUser": "u", "kind": "APPEND", "time": "2026-11-21T08:00:00Z"}


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"ok": True},
        {"ok": None},
        {"error": None},
        {"error": FAILED["error"] | {"class": "Bad"}},
        {"error": FAILED["error"] | {"reason": "not a reason"}},
        {"error": FAILED["error"] | {"reason": "R" * 65}},
        {"seenSnapshot": "many"},
        {"before": {"files": -2}},
        {"after": {"rows": -2}},
        {"table": {"bucketMode": "m" * 33}},
        {"table": {"oldestSnapshot": "yesterday"}},
        {"write": {"rows": -2}},
        {"outsideCommit": FOREIGN | {"commitUser": "u" * 129}},
        {"outsideCommit": FOREIGN | {"kind": "k" * 33}},
        {"outsideCommit": FOREIGN | {"time": "2026-11-21T08:00:00"}},
    ],
    ids=str,
)
def test_a_result_with_a_value_that_no_status_can_hold_is_a_contract_error(change: dict[str, Any]) -> None:
    with pytest.raises(ContractError, match="not a result of version 1"):
        read_result(json.dumps(FAILED | change))


@pytest.mark.parametrize("text", ["", "Exception in thread main", json.dumps(FAILED)[:-20], "[]", "null"])
def test_a_text_that_is_no_result_is_a_contract_error(text: str) -> None:
    with pytest.raises(ContractError, match="not a result of version 1"):
        read_result(text)


def test_every_error_class_has_an_exit_code_of_its_own() -> None:
    codes = set(EXIT_CODES.values())
    assert len(codes) == len(ErrorClass)
    assert ExitCode.OK not in codes
