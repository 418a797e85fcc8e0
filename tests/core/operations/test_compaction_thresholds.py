"""What a compaction's job compares each partition with, and what is recorded when no partition needed it."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from typing import Any

import pytest

from paimon_contract.parameters.compact import CompactParameters, CompactThresholds, RecordAge
from paimon_operator.api.reasons import Reason
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.spec.context import TableContext
from tests.core.table.measured import HOURLY, decision_of, measure, measured_table
from tests.support import builders
from tests.support.table_world import TableWorld

FIRST_ROW = {"mergeEngine": {"type": "FirstRow"}}


def compaction(strategy: str, **when: Any) -> dict[str, Any]:
    return {"mode": "Dedicated", strategy: {"schedule": HOURLY, "when": when}}


def job_of_active_run(seen: TableWorld) -> CompactParameters:
    assert seen.catalog is not None
    context = TableContext.build(seen.table, seen.catalog, seen.operator, seen.now)
    parameters = OPERATIONS.of("Compact").job(context, seen.active)
    assert isinstance(parameters, CompactParameters)
    return parameters


@pytest.mark.parametrize(
    ("sentence", "block", "spec", "hours", "expected"),
    [
        ("minor's default", compaction("minor"), {}, 1, CompactThresholds(sorted_runs=5)),
        ("full's default", compaction("full"), {}, 1, CompactThresholds(sorted_runs=2)),
        ("small files without a primary key", compaction("minor"), {"schema": builders.EVENTS}, 1, CompactThresholds(small_files=5)),
        ("the manifest's", compaction("full", sortedRunsPerBucket=7, deleteRatio="20%", smallFilesPerPartition=9), {}, 1, CompactThresholds(sorted_runs=7, small_files=9, delete_percent=20)),
        ("where readers wait for level 0", compaction("minor"), FIRST_ROW, 1, CompactThresholds(sorted_runs=5, level0_files=1)),
        ("before maxDelay", compaction("minor", maxDelay="3h"), {}, 2, CompactThresholds(sorted_runs=5)),
        ("after maxDelay anything that can be merged", compaction("minor", maxDelay="3h"), {}, 3, CompactThresholds(sorted_runs=2, small_files=2)),
        ("with vectors also deleted rows", compaction("full", maxDelay="3h"), {"deletionVectors": {"enabled": True}}, 3, CompactThresholds(sorted_runs=2, level0_files=1, small_files=2, delete_percent=1)),
        ("also by the age of the last full one", compaction("full", sortedRunsPerBucket=7, fullCompactionAge="3h"), {}, 3, CompactThresholds(sorted_runs=2, small_files=2)),
    ],
)  # fmt: skip
def test_the_job_has_the_thresholds_that_hold_when_it_is_written(
    sentence: str, block: dict[str, Any], spec: dict[str, Any], hours: int, expected: CompactThresholds
) -> None:
    seen = measured_table(block, **spec)
    seen.wait(hours=hours)
    measure(seen, sortedRunsMax=9, smallFilesMax=9)
    seen.settle()
    assert job_of_active_run(seen).thresholds == expected, sentence


@pytest.mark.parametrize(
    ("strategy", "engine", "expected"),
    [
        ("minor", "paimon-1.4", None),
        ("full", "paimon-1.4", RecordAge(seconds=90 * 86_400, column="at", in_single_runs=True)),
        ("full", "paimon-0.9", RecordAge(seconds=90 * 86_400, column="at", in_single_runs=False)),
    ],
)
def test_a_full_compaction_also_takes_partitions_whose_records_expire(
    strategy: str, engine: str, expected: RecordAge | None
) -> None:
    columns = [{"name": "id", "type": "BIGINT"}, {"name": "at", "type": "INT NOT NULL"}]
    retention = {"records": {"expireTime": "90d", "timeField": "at"}}
    seen = measured_table(compaction(strategy), schema={"columns": columns, "primaryKeys": ["id"]}, retention=retention)
    seen.wait(hours=1)
    measure(seen, sortedRunsMax=9, smallFilesMax=9)
    seen.settle()
    seen.operator = builders.operator_facts(default_engine=engine)
    thresholds = job_of_active_run(seen).thresholds
    assert thresholds is not None
    assert thresholds.records == expected


@pytest.mark.parametrize("partitions", [None, [{"dt": "2026-11-21"}]])
def test_a_users_run_compacts_all_that_it_asks_for(partitions: list[dict[str, str]] | None) -> None:
    columns = [{"name": "dt", "type": "STRING"}, {"name": "id", "type": "BIGINT"}]
    schema = {"columns": columns, "primaryKeys": ["dt", "id"], "partitionKeys": ["dt"]}
    seen = measured_table(schema=schema)
    asked: dict[str, Any] = {"strategy": "Full"} | ({"partitions": partitions} if partitions else {})
    seen.runs.append(builders.run("mine", table=seen.table, compact=asked))
    seen.settle()
    assert job_of_active_run(seen).thresholds is None


def test_a_run_whose_partitions_needed_nothing_is_recorded_as_not_needed() -> None:
    seen = measured_table()
    seen.wait(hours=1)
    seen.settle()
    seen.finish("Compact", after={"snapshotId": 2}, compactedPartitions=0)
    seen.settle()
    decision = decision_of(seen)
    assert (decision.result, decision.reason) == ("Skipped", Reason.NOT_NEEDED)
