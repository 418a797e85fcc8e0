"""What a compaction leaves, and what time asks for: no run without effect puts off the next one."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_contract.parameters.compact import CompactParameters, CompactThresholds, RecordAge
from paimon_operator.core.launch.job import build_job
from paimon_operator.core.operations.need import AFTER_A_COMMIT
from tests.core.table.measured import HOURLY, decision_of, measure, measured_table
from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld

MEASURED: dict[str, Any] = MEASURE | {"smallFilesMax": 0, "deletePercent": 0}
FIXED = {"type": "Fixed", "fixed": {"count": 1}}


def compaction(**blocks: Any) -> dict[str, Any]:
    return {"mode": "Dedicated", **blocks}


def starts(seen: TableWorld) -> bool:
    """Whether a compaction is active once the table is settled."""
    seen.settle()
    return seen.table.status.active_run is not None and seen.active.spec.type == "Compact"


def thresholds(seen: TableWorld) -> CompactThresholds:
    """What the active run compares each partition with, in the job that its driver gets."""
    assert seen.catalog is not None
    parameters = build_job(seen.active, seen.table, seen.catalog, seen.operator).parameters
    assert isinstance(parameters, CompactParameters)
    assert parameters.thresholds is not None
    return parameters.thresholds


def runs_threshold(seen: TableWorld) -> int | None:
    """The sorted runs from which on the active run compacts a partition."""
    return thresholds(seen).sorted_runs


def test_the_driver_gets_to_know_that_max_delay_is_over() -> None:
    seen = measured_table(compaction(minor={"schedule": HOURLY, "when": {"maxDelay": "3h"}}))
    seen.wait(hours=3)
    measure(seen, sortedRunsMax=3, level0FilesMax=3)
    assert starts(seen)
    assert runs_threshold(seen) == 2


def test_runs_that_compact_nothing_do_not_put_off_max_delay() -> None:
    """Beside other writers no measurement holds for long, so that each tick starts a run."""
    seen = measured_table(compaction(minor={"schedule": "*/15 * * * *", "when": {"maxDelay": "1h"}}), bucket=FIXED)
    seen.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    seen.edit(externalWriters="Active")
    seen.run_due()
    found = []
    for _ in range(8):
        seen.wait(minutes=15)
        seen.settle()
        while seen.table.status.active_run:
            if seen.active.spec.type == "Compact":
                found.append(runs_threshold(seen))
            seen.finish(after=MEASURED | {"sortedRunsMax": 3, "level0FilesMax": 3}, compactedPartitions=0)
            seen.settle()
    assert found[:3] == [5, 5, 5]
    assert 2 in found


def with_records(**when: object) -> TableWorld:
    """A measured table whose records expire, with an hourly full compaction."""
    columns = [{"name": "id", "type": "BIGINT"}, {"name": "at", "type": "BIGINT"}]
    return measured_table(
        compaction(full={"schedule": HOURLY, "when": {"sortedRunsPerBucket": 9, **when}}),
        schema={"columns": columns, "primaryKeys": ["id"]},
        retention={"records": {"expireTime": "30d", "timeField": "at"}},
    )


def test_records_expire_where_nothing_is_to_be_merged() -> None:
    seen = with_records()
    seen.wait(hours=1)
    measure(seen)
    assert starts(seen), "the driver finds the partitions in which a record is too old"


@pytest.mark.parametrize(("only_for_records", "expected"), [(2, 2), (1, 9)])
def test_runs_that_only_remove_records_do_not_put_off_max_delay(only_for_records: int, expected: int) -> None:
    seen = with_records(maxDelay="3h")
    for hour in range(1, 4):
        seen.wait(hours=1)
        measure(seen, snapshot=2 * hour, sortedRunsMax=3)
        assert starts(seen)
        if hour < 3:
            after = MEASURED | {"snapshotId": 2 * hour + 1, "sortedRunsMax": 3}
            seen.finish("Compact", after=after, compactedPartitions=2, onlyForRecords=only_for_records)
            seen.settle()
    assert runs_threshold(seen) == expected


def test_what_a_compaction_has_left_beyond_a_threshold_is_not_compared_again_while_it_looks_for_records() -> None:
    seen = with_records(smallFilesPerPartition=2)
    for snapshot, runs, small_files in ((2, 9, 2), (3, None, None), (4, 9, 2)):
        seen.wait(hours=1)
        measure(seen, snapshot=snapshot, smallFilesMax=5)
        assert starts(seen)
        records = RecordAge(seconds=30 * 86_400, column="at", in_single_runs=True)
        assert thresholds(seen) == CompactThresholds(sorted_runs=runs, small_files=small_files, records=records)
        seen.finish("Compact", after=MEASURED | {"snapshotId": 3, "smallFilesMax": 5}, compactedPartitions=1)
        seen.settle()


def test_a_full_compaction_by_a_higher_threshold_leaves_work_to_minor() -> None:
    full = {"schedule": "10 * * * *", "when": {"sortedRunsPerBucket": 20}}
    seen = measured_table(compaction(minor={"schedule": "45 * * * *"}, full=full))
    seen.wait(minutes=50)
    seen.run_due()
    measure(seen, snapshot=6, sortedRunsMax=25)
    seen.wait(minutes=20)
    assert starts(seen)
    seen.finish("Compact", after=MEASURED | {"snapshotId": 7, "sortedRunsMax": 8, "level0FilesMax": 8})
    seen.settle()
    seen.wait(minutes=40)
    assert starts(seen), decision_of(seen).message


def test_a_users_full_compaction_of_everything_leaves_nothing_to_minor() -> None:
    seen = measured_table()
    seen.runs.append(builders.run("mine", table=seen.table))
    seen.settle()
    seen.finish("Compact", after=MEASURED | {"snapshotId": 7, "sortedRunsMax": 8, "level0FilesMax": 8})
    seen.settle()
    seen.wait(hours=1)
    assert not starts(seen)
    assert decision_of(seen).message == f"nothing was committed since the last compaction. {AFTER_A_COMMIT}"


def test_a_lower_threshold_counts_at_once() -> None:
    high, low = ({"schedule": HOURLY, "when": {"sortedRunsPerBucket": each}} for each in (50, 5))
    seen = measured_table(compaction(minor=high))
    measure(seen, snapshot=1, sortedRunsMax=30)
    seen.edit(compaction=compaction(minor=low))
    seen.settle()
    while seen.table.status.active_run:
        seen.finish(after=MEASURED | {"snapshotId": 1, "sortedRunsMax": 30, "level0FilesMax": 30})
        seen.settle()
    seen.wait(hours=1)
    assert starts(seen), decision_of(seen).message


@pytest.mark.parametrize(
    ("sentence", "block", "spec", "health"),
    [
        (
            "deleted rows of one sorted run with vectors",
            compaction(full={"schedule": HOURLY, "when": {"deleteRatio": "20%"}}),
            {"deletionVectors": {"enabled": True}},
            {"deleteRatio": "80%"},
        ),
        (
            "rows between the levels of a FullCompaction producer, whose changelog waits",
            compaction(full={"schedule": HOURLY, "when": {"sortedRunsPerBucket": 10}}),
            {"changelogProducer": {"type": "FullCompaction"}},
            {"sortedRunsMax": 2},
        ),
    ],
)
def test_a_full_compaction_has_more_to_do_than_to_merge(
    sentence: str, block: dict[str, Any], spec: dict[str, Any], health: dict[str, Any]
) -> None:
    seen = measured_table(block, **spec)
    seen.wait(hours=1)
    measure(seen, **health)
    assert starts(seen), sentence


def test_a_foreign_commit_that_was_found_ends_the_long_life_of_a_measurement() -> None:
    """On HDFS such commits are safe, so that CommitSafe stays True."""
    seen = measured_table()
    commit = {"snapshotId": 2, "commitUser": "etl", "kind": "APPEND", "time": seen.now}
    seen.runs.append(builders.run("look", table=seen.table, type="Observe", compact=None))
    seen.settle()
    seen.finish("Observe", seenSnapshot=2, outsideCommit=commit)
    seen.settle()
    seen.wait(minutes=59)
    measure(seen, sortedRunsMax=1)
    seen.wait(minutes=6)
    assert starts(seen) or seen.says("CommitSafe")[0] == "False"


def test_an_edit_of_external_writers_ends_the_measurement() -> None:
    seen = measured_table(bucket=FIXED)
    seen.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    seen.wait(minutes=59)
    measure(seen, sortedRunsMax=1)
    seen.edit(externalWriters="Paused")
    seen.wait(minutes=1)
    assert starts(seen)
