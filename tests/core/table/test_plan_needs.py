"""Compaction starts at a tick only where the last measurement shows that it is needed, and each skip is explained."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations.need import AFTER_A_COMMIT, AT_A_THRESHOLD, HOLDS_BESIDE_WRITERS, HOLDS_FOR
from tests.core.table.measured import HOURLY, checks_of, decision_of, measure, measured_table, strategy_state
from tests.support import builders
from tests.support.table_world import TableWorld, delay_of

FULL = {"schedule": HOURLY}
PARTITIONED = {
    "columns": [{"name": "dt", "type": "STRING"}, {"name": "id", "type": "BIGINT"}],
    "primaryKeys": ["dt", "id"],
    "partitionKeys": ["dt"],
}


def minor(**when: Any) -> dict[str, Any]:
    return {"mode": "Dedicated", "minor": {"schedule": HOURLY, **({"when": when} if when else {})}}


def full(**when: Any) -> dict[str, Any]:
    return {"mode": "Dedicated", "full": {"schedule": HOURLY, **({"when": when} if when else {})}}


def compacts(seen: TableWorld) -> bool:
    """Whether a compaction is among the runs that start now."""
    return any(type_ == "Compact" for type_, _ in seen.run_due())


LOOKUP = {"changelogProducer": {"type": "Lookup"}}
FULL_PRODUCER = {"changelogProducer": {"type": "FullCompaction"}}
FIRST_ROW = {"mergeEngine": {"type": "FirstRow"}}
VECTORS = {"deletionVectors": {"enabled": True}}
POSTPONE = {"bucket": {"type": "Postpone"}}
APPEND = {"schema": builders.EVENTS}
AT_LEVEL_0 = {"sortedRunsMax": 1, "level0FilesMax": 1}


@pytest.mark.parametrize(
    ("sentence", "compaction", "spec", "health", "starts"),
    [
        ("fewer sorted runs than the default of minor", minor(), {}, {"sortedRunsMax": 4}, False),
        ("as many", minor(), {}, {"sortedRunsMax": 5}, True),
        ("fewer than the table's own threshold", minor(sortedRunsPerBucket=9), {}, {"sortedRunsMax": 8}, False),
        ("as many as the table's own threshold", minor(sortedRunsPerBucket=9), {}, {"sortedRunsMax": 9}, True),
        ("one sorted run is nothing to merge", full(), {}, {"sortedRunsMax": 1, "level0FilesMax": 1}, False),
        ("two are something to merge for full", full(), {}, {"sortedRunsMax": 2}, True),
        ("small files that share a bucket, without that threshold", full(), {}, {"smallFilesMax": 99}, False),
        ("small files of a keyed table by its own threshold", full(sortedRunsPerBucket=100, smallFilesPerPartition=10), {}, {"sortedRunsMax": 2, "smallFilesMax": 10}, True),
        ("fewer small files in an append table than the default of minor", minor(), APPEND, {"smallFilesMax": 4}, False),
        ("as many", minor(), APPEND, {"smallFilesMax": 5}, True),
        ("sorted runs mean nothing in an append table", minor(sortedRunsPerBucket=2), APPEND, {"sortedRunsMax": 99, "smallFilesMax": 4}, False),
        ("deleted rows below the threshold", full(deleteRatio="20%"), APPEND, {"deleteRatio": "19%"}, False),
        ("deleted rows at the threshold", full(deleteRatio="20%"), APPEND, {"deleteRatio": "20%"}, True),
        ("deleted rows without a threshold", full(), APPEND, {"deleteRatio": "99%"}, False),
        ("deleted rows of a keyed table in one sorted run are gone after it", full(deleteRatio="20%"), {}, {"sortedRunsMax": 2, "deleteRatio": "20%"}, True),
        ("a level-0 file of a Lookup producer holds back its changelog", minor(), LOOKUP, AT_LEVEL_0, True),
        ("also for full", full(), LOOKUP, AT_LEVEL_0, True),
        ("one of a FullCompaction producer waits for full", full(), FULL_PRODUCER, AT_LEVEL_0, True),
        ("and gains nothing by minor", minor(), FULL_PRODUCER, AT_LEVEL_0, False),
        ("one of FirstRow is invisible", minor(), FIRST_ROW, AT_LEVEL_0, True),
        ("one with deletion vectors is invisible", minor(), VECTORS, AT_LEVEL_0, True),
        ("one with postponed buckets is invisible", minor(), POSTPONE, AT_LEVEL_0, True),
    ],
)  # fmt: skip
def test_the_measured_files_and_the_thresholds_decide(
    sentence: str, compaction: dict[str, Any], spec: dict[str, Any], health: dict[str, Any], starts: bool
) -> None:
    seen = measured_table(compaction, **spec)
    seen.wait(hours=1)
    measure(seen, **health)
    assert compacts(seen) is starts, sentence


@pytest.mark.parametrize("missing", ["sortedRunsMax", "level0FilesMax"])
def test_a_value_that_is_not_measured_stops_no_schedule(missing: str) -> None:
    seen = measured_table()
    seen.wait(hours=1)
    unknown: dict[str, Any] = {missing: None}
    measure(seen, **unknown)
    seen.settle()
    assert seen.active.spec.type == "Compact"


@pytest.mark.parametrize(
    ("sentence", "compaction", "waited", "health", "starts"),
    [
        ("not yet", minor(maxDelay="3h"), 2, {"sortedRunsMax": 2}, False),
        ("after it", minor(maxDelay="3h"), 3, {"sortedRunsMax": 2}, True),
        ("after it, with nothing to merge", minor(maxDelay="3h"), 3, {"sortedRunsMax": 1}, False),
        ("the age of the last full compaction", full(sortedRunsPerBucket=9, fullCompactionAge="2d"), 48, {"sortedRunsMax": 2}, True),
        ("not yet that age", full(sortedRunsPerBucket=9, fullCompactionAge="2d"), 47, {"sortedRunsMax": 2}, False),
    ],
)  # fmt: skip
def test_time_makes_a_compaction_needed_while_there_is_anything_to_merge(
    sentence: str, compaction: dict[str, Any], waited: int, health: dict[str, Any], starts: bool
) -> None:
    seen = measured_table(compaction)
    seen.wait(hours=waited)
    measure(seen, **health)
    assert compacts(seen) is starts, sentence


def test_a_skip_names_what_was_measured_the_threshold_and_the_next_tick() -> None:
    seen = measured_table(minor(maxDelay="1d"))
    seen.wait(hours=1)
    measure(seen, sortedRunsMax=4)
    seen.settle()
    decision = decision_of(seen)
    assert (decision.result, decision.reason) == ("Skipped", Reason.NOT_NEEDED)
    found = "sortedRunsPerBucket is 4 (threshold 5), maxDelay is 1h (threshold 1d)"
    assert decision.message == f"{found}. {AT_A_THRESHOLD}"
    assert checks_of(decision) == {"sortedRunsPerBucket": ("4", "5", False), "maxDelay": ("1h", "1d", False)}
    assert decision.observed_at == seen.now
    next_ = strategy_state(seen).next
    assert next_ is not None
    assert next_ > seen.now


def test_a_run_names_the_thresholds_that_made_it_needed_and_no_others() -> None:
    seen = measured_table(minor(maxDelay="1d"))
    seen.wait(hours=1)
    measure(seen, sortedRunsMax=7)
    seen.settle()
    assert "sortedRunsPerBucket is 7 (threshold 5)" in decision_of(seen).message
    trigger = seen.active.spec.trigger
    assert trigger is not None
    assert trigger.message == "due at 2026-11-21T09:10:00Z, sortedRunsPerBucket is 7 (threshold 5)"


def test_the_run_is_the_same_when_its_creation_is_repeated_after_another_measurement() -> None:
    seen = measured_table()
    seen.wait(hours=1)
    measure(seen, sortedRunsMax=7)
    decision = seen.decide()
    assert decision.status is not None
    seen.table = seen.table.model_copy(update={"status": decision.status})
    measure(seen, sortedRunsMax=9)
    repeated = seen.decide()
    assert repeated.actions == decision.actions


def test_one_event_tells_that_a_compaction_is_not_needed_until_it_was_needed_again() -> None:
    seen = measured_table()
    for runs in (4, 4, 4, 7, 4):
        seen.wait(hours=1)
        measure(seen, sortedRunsMax=runs)
        seen.run_due()
    notes = [note for each in seen.decisions for note in each.events if note.reason == Reason.NOT_NEEDED]
    said = f"Compact Minor: sortedRunsPerBucket is 4 (threshold 5). {AT_A_THRESHOLD}"
    assert [note.note for note in notes] == [said] * 2


def test_a_tick_that_waits_meanwhile_brings_no_other_event() -> None:
    seen = measured_table()
    for suspended in (None, True, None):
        seen.wait(hours=1)
        measure(seen, sortedRunsMax=4)
        seen.edit(suspend=suspended)
        seen.run_due()
    assert decision_of(seen).reason == Reason.NOT_NEEDED
    assert len([note for each in seen.decisions for note in each.events if note.reason == Reason.NOT_NEEDED]) == 1


@pytest.mark.parametrize(
    ("sentence", "passed", "external_writers", "starts"),
    [
        ("for a day where only the operator commits", HOLDS_FOR - timedelta(hours=1), None, False),
        ("no longer", HOLDS_FOR, None, True),
        ("for minutes beside other writers", HOLDS_BESIDE_WRITERS - timedelta(seconds=1), "Active", False),
        ("no longer", HOLDS_BESIDE_WRITERS, "Active", True),
    ],
)  # fmt: skip
def test_a_measurement_holds(sentence: str, passed: timedelta, external_writers: str | None, starts: bool) -> None:
    seen = measured_table(bucket={"type": "Fixed", "fixed": {"count": 1}})
    seen.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    if external_writers is not None:
        seen.edit(externalWriters=external_writers)
        seen.settle()
    seen.wait(minutes=59, seconds=30)
    measure(seen, sortedRunsMax=4)
    seen.now = seen.now + passed
    assert compacts(seen) is starts, sentence


def test_a_later_snapshot_that_a_run_has_seen_ends_the_measurement() -> None:
    seen = measured_table(writes=[builders.write(schedule="5 * * * *")])
    measure(seen, snapshot=2, sortedRunsMax=1)
    seen.wait(minutes=55)
    seen.settle()
    seen.finish("Write", write={"skipped": True}, seenSnapshot=3, after=None)
    seen.wait(minutes=5)
    assert ("Compact", "Minor") in seen.run_due()


def test_a_failed_write_ends_the_measurement_because_it_may_have_committed() -> None:
    seen = measured_table(writes=[builders.write(schedule="5 * * * *")])
    seen.wait(minutes=55)
    measure(seen, sortedRunsMax=1)
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.INPUT_SCHEMA_MISMATCH)
    seen.wait(minutes=5)
    seen.settle()
    assert seen.active.spec.type == "Compact"


def test_a_failed_look_at_the_table_ends_no_measurement() -> None:
    seen = measured_table()
    seen.wait(minutes=30)
    measure(seen, sortedRunsMax=1)
    seen.runs.append(builders.run("look", table=seen.table, type="Observe", compact=None))
    seen.settle()
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST)
    seen.wait(minutes=30)
    assert ("Compact", "Minor") not in seen.run_due()


def test_what_a_compaction_leaves_beyond_a_threshold_starts_no_other_one() -> None:
    seen = measured_table()
    seen.wait(hours=1)
    measure(seen, snapshot=2, sortedRunsMax=7)
    seen.settle()
    seen.finish("Compact", after={"snapshotId": 3, "sortedRunsMax": 6})
    seen.settle()
    seen.wait(hours=1)
    measure(seen, snapshot=3, sortedRunsMax=6)
    seen.settle()
    assert decision_of(seen).message == f"nothing was committed since the last compaction. {AFTER_A_COMMIT}"
    seen.wait(hours=1)
    measure(seen, snapshot=4, sortedRunsMax=6)
    seen.settle()
    assert seen.active.spec.type == "Compact"


def test_partitions_that_become_idle_are_compacted_although_nothing_was_committed() -> None:
    seen = measured_table(minor() | {"partitionIdleTime": "1h"}, schema=PARTITIONED)
    seen.wait(hours=1)
    measure(seen, snapshot=2, sortedRunsMax=7)
    seen.settle()
    seen.finish("Compact", after={"snapshotId": 2, "sortedRunsMax": 7})
    seen.settle()
    seen.wait(hours=1)
    measure(seen, snapshot=2, sortedRunsMax=7)
    seen.settle()
    assert seen.active.spec.type == "Compact"


def test_a_compaction_that_failed_is_retried_whatever_was_measured() -> None:
    seen = measured_table()
    seen.wait(hours=1)
    measure(seen, sortedRunsMax=7)
    seen.settle()
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST)
    seen.wait(hours=1)
    measure(seen, sortedRunsMax=1)
    seen.settle()
    assert seen.active.spec.type == "Compact"


def test_a_users_compaction_runs_whatever_was_measured() -> None:
    seen = measured_table()
    measure(seen, sortedRunsMax=1)
    seen.runs.append(builders.run("mine", table=seen.table))
    seen.settle()
    assert seen.active.metadata.name == "mine"


def test_a_table_is_unhealthy_when_a_needed_compaction_has_waited_for_longer_than_an_interval() -> None:
    seen = measured_table()
    seen.wait(hours=1)
    seen.edit(suspend=True)
    measure(seen, sortedRunsMax=9)
    seen.settle()
    assert seen.says("Healthy")[0] == "True", "it is due since now"
    assert delay_of(seen.decide()) == timedelta(hours=1), "nothing else wakes a suspended table"
    seen.wait(hours=1)
    seen.settle()
    assert seen.says("Healthy") == ("False", Reason.THRESHOLD_EXCEEDED)
    message = seen.condition("Healthy").message
    assert message.startswith("compaction.minor has been due since 2026-11-21T09:10:00Z, ")
    assert "sortedRunsPerBucket is 9 (threshold 5)" in message
    seen.edit(suspend=None)
    seen.run_due()
    measure(seen, sortedRunsMax=1)
    seen.settle()
    assert seen.says("Healthy")[0] == "True"


def test_a_needed_compaction_that_waits_for_a_window_leaves_the_table_healthy_until_its_longest_delay() -> None:
    seen = measured_table(minor(maxDelay="3h"))
    seen.catalog = builders.catalog(maintenanceWindows=[{"schedule": "0 1 * * *", "duration": "4h"}])
    seen.wait(hours=1)
    measure(seen, sortedRunsMax=9)
    seen.settle()
    seen.wait(hours=2)
    seen.settle()
    assert decision_of(seen).reason == Reason.WAITING_FOR_WINDOW
    assert seen.says("Healthy")[0] == "True"
    seen.wait(hours=1)
    seen.settle()
    assert seen.active.spec.type == "Compact"
    assert "longer than maxDelay (3h)" in decision_of(seen).message


def test_a_table_within_its_thresholds_stays_healthy_however_long_its_compaction_waits() -> None:
    seen = measured_table()
    seen.wait(hours=1)
    seen.edit(suspend=True)
    measure(seen, sortedRunsMax=4)
    seen.settle()
    seen.wait(hours=5)
    seen.settle()
    assert seen.says("Healthy")[0] == "True"
