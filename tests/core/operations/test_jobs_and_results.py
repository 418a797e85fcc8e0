"""What the runs of schema operations are given, and what their results look like in the status of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.parameters.describe import DescribeParameters
from paimon_contract.parameters.observe import ObserveParameters
from paimon_contract.parameters.rescale import RescaleParameters
from paimon_operator.api.run.result import read_result
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.operations.schema.rescale import BYTES_PER_RUN, PARTITIONS_PER_RUN
from paimon_operator.errors import SpecError
from tests.support import builders

SAMPLES = Path(__file__).parents[2] / "contract" / "samples"
RESCALED: dict[str, Any] = {"type": "Fixed", "fixed": {"count": 8, "onCountChange": "Rescale"}}


def result(type_: str, **changed: Any) -> Any:
    """The sample of a result, with some of its fields changed."""
    document = json.loads((SAMPLES / f"result-{type_.lower()}.json").read_text())
    return read_result(json.dumps(document | changed))


def seen(**facts: Any) -> TableStatus:
    """The status of a table that was verified with two buckets."""
    table = {"identifier": "shop.orders", "bucketMode": "Fixed", "bucketCount": 2} | facts
    two = RESCALED | {"fixed": RESCALED["fixed"] | {"count": 2}}
    verified = {"hash": builders.context(builders.table(bucket=two)).wanted_hash}
    return TableStatus.model_validate({"table": table, "provision": verified, "engine": "paimon-1.4"})


@pytest.mark.parametrize(
    ("type_", "changed", "sentence"),
    [
        ("Describe", {}, "the log describes 500 tables"),
        ("Describe", {"described": None}, "the log describes 0 tables"),
        ("Observe", {}, "schema 4 was compared: 1 change by others"),
        ("Observe", {"drift": None}, "nothing was reported"),
        ("Rescale", {}, "12 of 40 partitions have the new number of buckets"),
        (
            "Rescale",
            {"rescale": {"done": 40, "total": 40, "finished": True}},
            "40 of 40 partitions have the new number of buckets, and all are verified",
        ),
        ("Rescale", {"rescale": None}, "nothing was reported"),
        (
            "Expire-Partitions",
            {},
            "249 of 260 partitions expired; 3 more are due, and the next run drops them; 1 without a time that can be"
            " read, such as dt=someday",
        ),
        (
            "Expire-Partitions",
            {"partitions": {"expired": 0, "total": 2, "remaining": 0, "unreadable": 0}},
            "0 of 2 partitions expired",
        ),
        ("Expire-Partitions", {"partitions": None}, "nothing was reported"),
        (
            "Mark-Partitions-Done",
            {},
            "2 partitions marked as done, 255 were before, 1 are not done yet; 3 more are done, and the next run marks"
            " them; 1 without a time that can be read, such as dt=someday",
        ),
        (
            "Mark-Partitions-Done",
            {"partitionsDone": {"marked": 0, "alreadyMarked": 2, "notYetDone": 0, "remaining": 0, "unreadable": 0}},
            "0 partitions marked as done, 2 were before, 0 are not done yet",
        ),
        ("Mark-Partitions-Done", {"partitionsDone": None}, "nothing was reported"),
        ("Compact-Manifests", {"table": {"manifests": 1}}, "manifests were compacted, the latest snapshot has 1 now"),
        ("Compact-Manifests", {"table": None}, "manifests were compacted"),
        ("Analyze", {"table": {"snapshotId": 4}}, "statistics were computed in snapshot 4"),
        ("Analyze", {"table": {"schemaId": 0}}, "there are no rows to analyze"),
        (
            "Remove-Orphan-Files",
            {},
            "50 of 900 files are orphans (50Mi); 2 are none of Paimon's and stay; 48 were moved away, 7 removed for"
            " good",
        ),
        (
            "Remove-Orphan-Files",
            {"orphanFiles": {"files": 9, "orphans": 1, "orphanBytes": 1, "moved": 0}},
            "1 of 9 files are orphans (1); nothing was moved away, because no earlier report is old enough",
        ),
        (
            "Remove-Orphan-Files",
            {"orphanFiles": {"files": 9, "orphans": 0, "orphanBytes": 0}},
            "0 of 9 files are orphans (0)",
        ),
        ("Remove-Orphan-Files", {"orphanFiles": {"restored": 3}}, "3 files were moved back"),
        ("Remove-Orphan-Files", {"orphanFiles": None}, "nothing was reported"),
        ("Compact", {"compactedPartitions": 0}, "no partition reaches a threshold, so nothing was compacted"),
        ("Compact", {"compactedPartitions": 1}, "compacted from 9 files to 9 files in 1 partition"),
        (
            "Compact",
            {"compactedPartitions": 3, "onlyForRecords": 2},
            "compacted from 9 files to 9 files in 3 partitions, 2 of them only to remove records",
        ),
    ],
)
def test_a_result_is_one_sentence(type_: str, changed: dict[str, Any], sentence: str) -> None:
    assert OPERATIONS.of(type_.replace("-", "")).summary(result(type_, **changed)) == sentence


def test_the_status_of_a_run_has_what_only_its_operation_finds() -> None:
    assert OPERATIONS.of("Describe").status_fields(result("Describe")) == {"described": 500}
    observed = OPERATIONS.of("Observe").status_fields(result("Observe"))["drift"]
    assert (observed.schema_id, observed.changes[0].field) == (4, "snapshot.num-retained.min")
    expired = OPERATIONS.of("ExpirePartitions").status_fields(result("Expire-Partitions"))["partitions"]
    assert (expired.expired, expired.remaining, expired.example) == (249, 3, "dt=someday")
    marked = OPERATIONS.of("MarkPartitionsDone").status_fields(result("Mark-Partitions-Done"))["partitions_done"]
    assert (marked.marked, marked.already_marked, marked.not_yet_done, marked.remaining) == (2, 255, 1, 3)
    taken = result("Compact", compactedPartitions=3, onlyForRecords=2)
    compacted = OPERATIONS.of("Compact").status_fields(taken)
    assert (compacted["compacted_partitions"], compacted["only_for_records"]) == (3, 2)
    rescaled = OPERATIONS.of("Rescale").status_fields(result("Rescale"))["rescale"]
    assert (rescaled.done, rescaled.total, rescaled.finished) == (12, 40, False)


def test_a_description_reads_the_databases_that_the_catalog_allows() -> None:
    table = builders.table()
    catalog = builders.catalog(allowedDatabases=["shop", "web"])
    run = builders.run("describe-lake", table=table, type="Describe")
    parameters = OPERATIONS.of("Describe").job(builders.context(table, catalog), run)
    assert isinstance(parameters, DescribeParameters)
    assert parameters.databases == ("shop", "web")
    assert json.loads(parameters.catalog)["spec"]["warehouse"] == "s3://lake/warehouse"


def test_a_look_has_the_manifest_and_without_a_recorded_schema_nothing_to_compare_with() -> None:
    table = builders.table()
    run = builders.run("look", table=table, type="Observe")
    parameters = OPERATIONS.of("Observe").job(builders.context(table), run)
    assert isinstance(parameters, ObserveParameters)
    assert [each.name for each in parameters.table.columns] == ["order_id", "amount", "note"]
    assert parameters.drift is None


def test_a_rescale_has_the_number_and_is_bounded() -> None:
    table = builders.table(bucket=RESCALED)
    run = builders.run("r", table=table, type="Rescale")
    parameters = OPERATIONS.of("Rescale").job(builders.context(table), run)
    assert parameters == RescaleParameters(count=8, most_partitions=PARTITIONS_PER_RUN, most_bytes=BYTES_PER_RUN)


def test_a_rescale_without_a_number_is_refused() -> None:
    table = builders.table()
    run = builders.run("r", table=table, type="Rescale")
    with pytest.raises(SpecError, match="states no number of buckets"):
        OPERATIONS.of("Rescale").job(builders.context(table), run)


@pytest.mark.parametrize(
    ("count", "others", "is_asked"), [(8, None, True), (16, None, False), (8, "Active", False), (None, None, False)]
)
def test_a_rescale_is_given_up_when_the_number_or_the_other_writers_change(
    count: int | None, others: str | None, *, is_asked: bool
) -> None:
    operation = OPERATIONS.of("Rescale")
    decided = builders.context(builders.table(bucket=RESCALED, status=seen()))
    work = next(operation.scheduled.due(decided, decided.table.status)) if operation.scheduled else None
    assert work is not None
    assert work.spec_hash is not None
    bucket = None if count is None else {"type": "Fixed", "fixed": {"count": count, "onCountChange": "Rescale"}}
    now = builders.table(bucket=bucket, externalWriters=others)
    run = builders.run("r", table=now, type="Rescale")
    assert operation.is_still_asked_for(builders.context(now), run, work.spec_hash) is is_asked


def test_the_size_of_a_rescale_is_that_of_the_table() -> None:
    table = builders.table(bucket=RESCALED, status=seen(rows=7, sizeBytes=900))
    run = builders.run("r", table=table, type="Rescale")
    input_size = OPERATIONS.of("Rescale").input_size
    assert input_size is not None
    found = input_size(run, table)
    assert (found.rows, found.size_bytes) == (7, 900)
