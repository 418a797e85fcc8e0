"""A failure in the environment of a table is reported as one sentence and ends once it is fixed."""

from __future__ import annotations

import pytest

from tests.e2e.lab import Lab, once
from tests.support.kubectl import condition

COLUMNS = {"id": "BIGINT", "v": "STRING"}
MORE_COLUMNS = {**COLUMNS, "later": "INT"}


def test_a_wrong_s3_secret_stalls_the_table_until_it_is_fixed(lab: Lab, *, by_an_edit: bool) -> None:
    lab.kubectl.apply(lab.secret(AWS_SECRET_ACCESS_KEY="wrong"), lab.table("t", COLUMNS, keys=["id"]))

    stalled = lab.kubectl.until_condition("t", "Stalled", "True")
    assert stalled["reason"] in (
        "CredentialsRefused",
        "AccessDenied",
    )  # the answer 403 to a HEAD does not distinguish them
    assert "lake-s3" in stalled["message"] or "Secret" in stalled["message"]

    lab.kubectl.apply(lab.secret())
    if by_an_edit:
        lab.kubectl.apply(lab.table("t", MORE_COLUMNS, keys=["id"]))
    lab.ready("t")


@pytest.mark.long
def test_a_missing_secret_is_reported_without_a_failed_attempt(lab: Lab) -> None:
    lab.kubectl.delete("secret", "lake-s3")
    lab.kubectl.apply(lab.table("t", COLUMNS, keys=["id"]))

    stalled = lab.kubectl.until_condition("t", "Stalled", "True")
    assert stalled["reason"] == "SecretNotFound"
    assert "lake-s3" in stalled["message"]

    lab.kubectl.apply(lab.secret())
    lab.ready("t")
    (run,) = lab.runs("t")
    assert len(run["status"]["attempts"]) == 1


@pytest.mark.long
def test_a_missing_bucket_stalls_the_table_until_it_exists(lab: Lab, *, by_an_edit: bool) -> None:
    bucket = f"late-{lab.namespace}"
    late = {"catalogRef": {"name": "late"}}
    lab.kubectl.apply(lab.catalog("late", bucket=bucket), lab.table("t", COLUMNS, keys=["id"], **late))

    stalled = lab.kubectl.until_condition("t", "Stalled", "True")
    assert stalled["reason"] == "BucketNotFound"
    assert bucket in stalled["message"]

    lab.s3.create_bucket(Bucket=bucket)
    if by_an_edit:
        lab.kubectl.apply(lab.table("t", MORE_COLUMNS, keys=["id"], **late))
    lab.ready("t")


def test_a_missing_input_is_reported_in_the_status_of_a_ready_table(lab: Lab, *, by_an_edit: bool) -> None:
    table = lab.table("t", COLUMNS, keys=["id"], writes=[once("import", "nowhere/file.json")])
    lab.kubectl.apply(table)

    unhealthy = lab.kubectl.until_condition("t", "Healthy", "False")
    assert "nowhere/file.json" in unhealthy["message"]
    assert condition(lab.kubectl.get("paimontable", "t"), "Ready")["status"] == "True"
    assert lab.rows("t") == []

    path = "somewhere/file.json" if by_an_edit else "nowhere/file.json"
    lab.land(path, [{"id": 1, "v": "came"}])
    lab.kubectl.apply(lab.table("t", COLUMNS, keys=["id"], writes=[once("import", path)]))
    lab.kubectl.until_condition("t", "Healthy", "True")
    assert lab.rows("t") == [{"id": 1, "v": "came"}]


@pytest.mark.long
def test_an_input_with_a_wrong_column_writes_nothing(lab: Lab, *, by_an_edit: bool) -> None:
    lab.land("in/1.json", [{"id": 1, "v": "right"}, {"id": 2, "v": "right", "colour": "unheard of"}])
    lab.kubectl.apply(lab.table("t", COLUMNS, keys=["id"], writes=[once("import", "in/1.json")]))

    unhealthy = lab.kubectl.until_condition("t", "Healthy", "False")
    assert "colour" in unhealthy["message"]
    assert lab.rows("t") == []

    path = "in/2.json" if by_an_edit else "in/1.json"
    lab.land(path, [{"id": 1, "v": "right"}])
    lab.kubectl.apply(lab.table("t", COLUMNS, keys=["id"], writes=[once("import", path)]))
    lab.kubectl.until_condition("t", "Healthy", "True")
    assert lab.rows("t") == [{"id": 1, "v": "right"}]
