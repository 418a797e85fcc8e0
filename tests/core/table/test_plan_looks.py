"""Looks of the catalog's observer: when they change the status, and when they answer a tick without a run."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.measure import Measure
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations.need import HOLDS_BESIDE_WRITERS
from paimon_operator.core.spec.look import Look
from tests.core.table.measured import decision_of, measure, measured_table
from tests.support import builders
from tests.support.table_world import TableWorld, replace_observed

HOLDS = HOLDS_BESIDE_WRITERS
USUAL: dict[str, Any] = {
    "files": 4,
    "bytes": 4096,
    "rows": 12,
    "sortedRunsMax": 1,
    "level0FilesMax": 0,
    "smallFiles": 0,
    "smallFilesMax": 0,
    "deletePercent": 0,
    "snapshots": 2,
    "snapshotId": 2,
}


def look(seen: TableWorld, *, age: timedelta = timedelta(0), **values: Any) -> None:
    """The observer has looked so long ago."""
    found = Measure.model_validate(USUAL | values)
    replace_observed(seen, look=Look(looked_at=seen.now - age, measure=found))


def unread(seen: TableWorld, why: str) -> None:
    replace_observed(seen, look=Look(looked_at=seen.now, unknown=why))


@pytest.fixture
def seen() -> TableWorld:
    """A table that a run has measured a minute ago."""
    made = measured_table()
    made.wait(minutes=1)
    return made


def test_a_look_that_is_newer_than_the_measurement_replaces_its_numbers(seen: TableWorld) -> None:
    look(seen, sortedRunsMax=9, rows=99)
    seen.reconcile()
    health, facts = seen.table.status.health, seen.table.status.table
    assert health is not None
    assert facts is not None
    assert (health.sorted_runs_max, health.observed_at, health.snapshot_id) == (9, seen.now, 2)
    assert (facts.rows, facts.size, facts.snapshot_id) == (99, "4Ki", 2)


def test_a_look_that_began_before_the_measurement_changes_nothing(seen: TableWorld) -> None:
    before = seen.table.status
    look(seen, age=timedelta(minutes=1), sortedRunsMax=9)
    seen.reconcile()
    assert (seen.table.status.health, seen.table.status.table) == (before.health, before.table)


def test_a_look_of_a_wrong_clock_changes_nothing(seen: TableWorld) -> None:
    before = seen.table.status.health
    look(seen, age=-timedelta(hours=1), sortedRunsMax=9)
    seen.reconcile()
    assert seen.table.status.health == before


def test_looks_that_find_the_same_write_no_status(seen: TableWorld) -> None:
    look(seen)
    seen.settle()
    stored = seen.table.status
    seen.wait(minutes=1)
    look(seen)
    seen.reconcile()
    assert seen.table.status == stored


def test_the_schema_and_the_bucket_count_stay_as_runs_have_found_them(seen: TableWorld) -> None:
    before = seen.table.status.table
    look(seen, schemaId=7, bucketMode="Postpone", bucketCount=64, rescaling=True)
    seen.reconcile()
    after = seen.table.status.table
    assert before is not None
    assert after is not None
    names = ("schema_id", "bucket_mode", "bucket_count", "rescaling")
    assert [getattr(after, name) for name in names] == [getattr(before, name) for name in names]


def test_what_keeps_files_stays_as_a_run_has_found_it(seen: TableWorld) -> None:
    measure(seen, pins=[{"kind": "Tag", "name": "v1", "bytes": 5}], pinsCount=1)
    seen.wait(minutes=1)
    look(seen, sortedRunsMax=9)
    seen.reconcile()
    health = seen.table.status.health
    assert health is not None
    assert (health.sorted_runs_max, health.pins_count, health.pins[0].name) == (9, 1, "v1")


def test_a_table_that_is_not_established_takes_no_look() -> None:
    seen = TableWorld()
    look(seen)
    seen.settle()
    assert (seen.table.status.health, seen.table.status.table) == (None, None)


def test_a_suspended_table_takes_looks(seen: TableWorld) -> None:
    seen.edit(suspend=True)
    seen.settle()
    look(seen, sortedRunsMax=9)
    seen.reconcile()
    assert seen.table.status.health is not None
    assert seen.table.status.health.sorted_runs_max == 9


def test_the_reason_why_a_table_cannot_be_read_is_shown_until_it_can(seen: TableWorld) -> None:
    unread(seen, "snapshot-5 is of version 9")
    seen.reconcile()
    health = seen.table.status.health
    assert health is not None
    assert (health.unread, health.sorted_runs_max) == ("snapshot-5 is of version 9", 2)
    unread(seen, "snapshot-6 is of version 9")
    seen.reconcile()
    assert seen.table.status.health == health, "other words are no news"
    seen.wait(minutes=1)
    look(seen)
    seen.reconcile()
    assert seen.table.status.health is not None
    assert seen.table.status.health.unread is None


def failed(seen: TableWorld) -> None:
    """Starts a compaction, which fails."""
    measure(seen, sortedRunsMax=9)
    seen.wait(hours=1)
    look(seen, sortedRunsMax=9)
    seen.settle()
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.STORAGE_UNREACHABLE)
    seen.settle()
    health = seen.table.status.health
    assert health is not None
    assert health.in_doubt_since == seen.now


def test_a_look_after_a_failure_ends_the_doubt_and_one_before_does_not(seen: TableWorld) -> None:
    failed(seen)
    doubted = seen.table.status.health
    look(seen, snapshotId=3)
    seen.reconcile()
    assert seen.table.status.health == doubted, "it began when the run had not ended for sure"
    seen.wait(seconds=1)
    look(seen, snapshotId=3)
    seen.reconcile()
    assert seen.table.status.health is not None
    assert seen.table.status.health.in_doubt_since is None
    assert seen.table.status.health.snapshot_id == 3


def beside_writers() -> TableWorld:
    """A table with other writers that the observer has looked at, and an operator that has started again since."""
    made = measured_table(bucket={"type": "Fixed", "fixed": {"count": 1}})
    made.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    made.edit(externalWriters="Active")
    made.wait(minutes=1)
    look(made)
    made.settle()
    replace_observed(made, look=None)
    return made


TICKS = [
    ("no look", None, {}, False),
    ("a look of now", timedelta(0), {}, True),
    ("a look of just under five minutes ago", HOLDS - timedelta(seconds=1), {}, True),
    ("a look of five minutes ago", HOLDS, {}, False),
    ("a look that found a commit which makes it needed", timedelta(0), {"snapshotId": 3, "sortedRunsMax": 9}, False),
    ("a look that found a commit which does not", timedelta(0), {"snapshotId": 3}, True),
]


@pytest.mark.parametrize(("sentence", "age", "values", "is_skipped"), TICKS, ids=[row[0] for row in TICKS])
def test_a_tick_beside_other_writers_is_answered_without_a_run_after(
    sentence: str, age: timedelta | None, values: dict[str, Any], is_skipped: bool
) -> None:
    seen = beside_writers()
    seen.wait(hours=1)
    if age is not None:
        look(seen, age=age, **values)
    seen.settle()
    assert (seen.table.status.active_run is None) == is_skipped, sentence
    if is_skipped:
        assert decision_of(seen).reason == Reason.NOT_NEEDED


def test_a_table_that_cannot_be_read_runs_by_its_schedule() -> None:
    seen = beside_writers()
    seen.wait(hours=1)
    unread(seen, "its manifests are too many")
    seen.settle()
    assert seen.table.status.active_run is not None


def test_an_operator_without_looks_decides_as_without_an_observer() -> None:
    """After a start of the operator the looks are gone, and the next ones have not come yet."""
    seen = beside_writers()
    seen.wait(minutes=4)
    look(seen)
    seen.settle()
    replace_observed(seen, look=None)
    seen.wait(hours=1)
    seen.settle()
    assert seen.table.status.active_run is not None
