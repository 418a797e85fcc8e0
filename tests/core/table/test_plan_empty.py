"""Maintenance of a table without a snapshot: no run starts while it is certain that the table is empty."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld

EMPTY = {"schemaId": 0, "bucketMode": "Dynamic", "files": 0}
"""What a run measures of a table that has no snapshot."""
MAINTENANCE: dict[str, Any] = {
    "compaction": {"mode": "Dedicated", "minor": {"schedule": "*/30 * * * *"}, "full": {"schedule": "0 3 * * *"}},
    "retention": {"snapshots": {"schedule": "15 * * * *"}},
    "bucket": {"type": "Fixed", "fixed": {"count": 1}},
}


def empty(**spec: Any) -> TableWorld:
    """A table that was created just now. The ticks missed before its creation are answered."""
    seen = TableWorld(table=builders.table(**MAINTENANCE | spec))
    seen.settle()
    seen.finish("Provision", created=True, after=EMPTY)
    seen.settle()
    return seen


def decisions(seen: TableWorld) -> set[tuple[str, str]]:
    """Result and reason of the last decisions about compaction and expiry."""
    found = [state.decision for state in (seen.table.status.compaction, seen.table.status.retention) if state]
    return {(each.result.value, each.reason) for each in found if each is not None}


def test_ticks_of_an_empty_table_are_skipped_with_a_reason_and_a_next_tick() -> None:
    seen = empty()
    seen.wait(hours=22)
    decision = seen.settle()
    assert seen.started == [("Provision", "")]
    assert decisions(seen) == {("Skipped", Reason.NOT_NEEDED)}
    compaction = seen.table.status.compaction
    assert compaction is not None
    assert compaction.next is not None
    assert compaction.next > seen.now
    assert decision.requeue_after is not None
    assert decision.requeue_after.total_seconds() <= 30 * 60


def test_a_table_that_a_clock_ahead_has_found_empty_is_checked_by_the_next_tick() -> None:
    seen = TableWorld(table=builders.table(**MAINTENANCE))
    right = seen.now
    seen.now += timedelta(days=365)
    seen.settle()
    seen.finish("Provision", created=True, after=EMPTY)
    seen.settle()
    seen.now = right
    seen.settle()
    seen.wait(days=1)
    assert seen.run_due() != []


def test_one_run_a_day_checks_an_empty_table_for_undeclared_writers() -> None:
    seen = empty()
    for _ in range(10):
        seen.wait(days=1)
        seen.settle()
        if seen.table.status.active_run:
            seen.finish(after=EMPTY)
            seen.settle()
    assert 9 <= len(seen.started) - 1 <= 10


def test_maintenance_starts_after_a_run_that_observed_a_snapshot_and_measured_nothing() -> None:
    """A write whose first result was lost finds no new files the next time and measures nothing."""
    seen = empty(writes=[builders.write(schedule="5 * * * *")])
    seen.wait(hours=1)
    seen.settle()
    seen.finish("Write", write={"skipped": True}, seenSnapshot=1)
    seen.wait(hours=1)
    assert ("Compact", "Minor") in seen.run_due()


def test_maintenance_starts_with_the_first_snapshot() -> None:
    seen = empty(writes=[builders.write(schedule="5 * * * *")])
    seen.wait(hours=1)
    seen.settle()
    seen.finish("Write", after=MEASURE)
    seen.wait(hours=1)
    assert ("Compact", "Minor") in seen.run_due()
    assert ("ExpireSnapshots", "") in seen.started


@pytest.mark.parametrize("commit_policy", ["RequireSafe", "AllowUnsafe"])
def test_a_run_checks_a_table_that_external_writers_may_have_changed(commit_policy: str) -> None:
    seen = empty()
    seen.catalog = builders.catalog(commitPolicy=commit_policy)
    seen.edit(externalWriters="Active")
    seen.wait(hours=2)
    if commit_policy == "AllowUnsafe":
        assert ("Compact", "Minor") in seen.run_due()
        return
    seen.settle()
    seen.edit(externalWriters="Paused")
    seen.settle()
    assert seen.active.spec.type == "ExpireSnapshots", "they may have written until now"
    seen.finish(after=EMPTY)
    seen.settle()
    before = len(seen.started)
    seen.wait(hours=2)
    seen.settle()
    assert len(seen.started) == before, "they are paused, and a later run has found nothing"


def test_failed_maintenance_is_retried_on_an_empty_table_so_that_its_failure_can_be_cleared() -> None:
    seen = empty()
    seen.edit(externalWriters="Active")
    seen.settle()
    seen.edit(externalWriters=None)
    seen.wait(hours=1)
    seen.settle()
    failed = seen.started[-1]
    seen.fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED)
    seen.settle()
    seen.finish(after=EMPTY)
    seen.settle()
    assert seen.says("Healthy") == ("False", Reason.ACCESS_DENIED)
    before = len(seen.started)
    seen.wait(hours=1)
    seen.settle()
    seen.finish(after=EMPTY)
    seen.settle()
    assert seen.started[before:] == [failed], "no other operation starts"
    assert seen.says("Healthy")[0] == "True"


def test_a_users_compaction_of_an_empty_table_runs() -> None:
    seen = empty()
    seen.runs.append(builders.run("mine", table=seen.table))
    seen.settle()
    assert seen.active.metadata.name == "mine"
