"""Job and result: what is written is read back, and what is no result is said to be none."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from paimon_operator.api.contract import (
    ErrorClass,
    ExitCode,
    Job,
    JobCatalog,
    JobRun,
    JobTable,
    Result,
    WriteJob,
    job_text,
    read_result,
)
from paimon_operator.api.run.status import RunType
from paimon_operator.errors import ContractError

WRITE = WriteJob.model_validate(
    {
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
)
JOB = Job(
    run=JobRun(name="orders-write-8f3a91c2", uid="u", namespace="shop"),
    operation=RunType.WRITE,
    engine="paimon-1.4",
    catalog=JobCatalog(warehouse="s3://lake/warehouse", metastore="filesystem"),
    table=JobTable(database="shop", name="orders"),
    owner="cluster/shop/orders",
    commit_user="orders-write-8f3a91c2-u",
    write=WRITE,
)
FAILED = {
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


def test_a_job_is_the_same_text_every_time_and_reads_back() -> None:
    assert job_text(JOB) == job_text(Job.model_validate_json(job_text(JOB)))
    assert json.loads(job_text(JOB))["commitUser"] == "orders-write-8f3a91c2-u"


@pytest.mark.parametrize("change", [{"operation": "Compact"}, {"drop": {}}, {"write": None}])
def test_a_job_has_the_member_of_its_operation_and_no_other(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="with members for"):
        Job.model_validate(JOB.model_dump(by_alias=True) | change)


def test_a_field_that_a_job_does_not_have_is_an_error() -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        Job.model_validate(JOB.model_dump(by_alias=True) | {"sql": "DROP TABLE t"})


def test_a_failed_result_says_what_where_and_what_to_do() -> None:
    result = read_result(json.dumps(FAILED))
    assert result.error is not None
    assert (result.error.error_class, result.error.reason) == (ErrorClass.ENVIRONMENT, "InputNotFound")


def test_a_newer_image_may_say_more_than_this_operator_knows() -> None:
    assert read_result(json.dumps(FAILED | {"mood": "sad"})) == read_result(json.dumps(FAILED))


@pytest.mark.parametrize(
    "text",
    ["", "Exception in thread main", json.dumps(FAILED)[:-20], json.dumps(FAILED | {"version": 2}), "[]", "null"],
)
def test_what_is_no_result_is_a_contract_error(text: str) -> None:
    with pytest.raises(ContractError, match="not a result of version 1"):
        read_result(text)


@pytest.mark.parametrize("contradiction", [{"ok": True}, {"error": None}])
def test_success_and_error_exclude_each_other(contradiction: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="contradict"):
        Result.model_validate(FAILED | contradiction)


def test_every_error_class_has_an_exit_code_of_its_own() -> None:
    codes = [error_class.exit_code for error_class in ErrorClass]
    assert len(set(codes)) == len(codes)
    assert ExitCode.OK not in codes
