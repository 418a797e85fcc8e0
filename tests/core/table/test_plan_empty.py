"""Upkeep of a table without any snapshot: no Pod for nothing, as long as it is certain that there is nothing."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, RunType
from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld

EMPTY = {"schemaId": 0, "bucketMode": "Dynamic"}
"""What a run measures of a table that has no snapshot."""
UPKEEP: dict[str, Any] = {
    "compaction": {"mode": "Dedicated", "minor": {"schedule": "*/30 * * * *"}, "full": {"schedule": "0 3 * * *"}},
    "retention": {"snapshots": {"schedule": "15 * * * *"}},
    "bucket": {"type": "Fixed", "fixed": {"count": 1}},
}


def empty(**spec: Any) -> TableWorld:
    """A table that was made a moment ago; its creation's missed ticks are answered."""
    seen = TableWorld(table=builders.table(**UPKEEP | spec))
    seen.settle()
    seen.finish(RunType.PROVISION, created=True, after=EMPTY)
    seen.settle()
    return seen


def decisions(seen: TableWorld) -> set[tuple[str, str]]:
    """Result and reason of what was decided about compaction and expiry."""
    found = [state.decision for state in (seen.table.status.compaction, seen.table.status.retention) if state]
    return {(each.result.value, each.reason) for each in found if each is not None}


def test_its_ticks_are_skipped_with_a_reason_and_the_next_ones_stand() -> None:
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


def test_a_run_a_day_looks_because_only_a_run_finds_a_writer_whom_nobody_announced() -> None:
    seen = empty()
    for _ in range(10):
        seen.wait(days=1)
        seen.settle()
        if seen.table.status.active_run:
            seen.finish(after=EMPTY)
            seen.settle()
    assert 9 <= len(seen.started) - 1 <= 10


def test_a_snapshot_that_a_run_saw_without_measuring_counts() -> None:
    """A write whose first result got lost finds nothing new the next time, and does not measure."""
    seen = empty(writes=[builders.write(schedule="5 * * * *")])
    seen.wait(hours=1)
    seen.settle()
    seen.finish(RunType.WRITE, write={"skipped": True}, seenSnapshot=1)
    seen.wait(hours=1)
    assert ("Compact", "Minor") in seen.work_off()


def test_it_begins_with_the_first_snapshot() -> None:
    seen = empty(writes=[builders.write(schedule="5 * * * *")])
    seen.wait(hours=1)
    seen.settle()
    seen.finish(RunType.WRITE, after=MEASURE)
    seen.wait(hours=1)
    assert ("Compact", "Minor") in seen.work_off()
    assert ("ExpireSnapshots", "") in seen.started


@pytest.mark.parametrize("commit_policy", ["RequireSafe", "AllowUnsafe"])
def test_what_others_may_have_written_is_looked_at_by_a_run(commit_policy: str) -> None:
    seen = empty()
    seen.catalog = builders.catalog(commitPolicy=commit_policy)
    seen.edit(externalWriters="Active")
    seen.wait(hours=2)
    if commit_policy == "AllowUnsafe":
        assert ("Compact", "Minor") in seen.work_off()
        return
    seen.settle()
    seen.edit(externalWriters="Paused")
    seen.settle()
    assert seen.active.spec.type is RunType.EXPIRE_SNAPSHOTS, "they may have written until a moment ago"
    seen.finish(after=EMPTY)
    seen.settle()
    before = len(seen.started)
    seen.wait(hours=2)
    seen.settle()
    assert len(seen.started) == before, "they are stopped, and a run has found nothing since"


def test_upkeep_that_failed_is_repeated_so_that_its_failure_can_end() -> None:
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
    assert seen.started[before:] == [failed], "the other work is spared"
    assert seen.says("Healthy")[0] == "True"


def test_a_users_compaction_runs_all_the_same() -> None:
    seen = empty()
    seen.runs.append(builders.run("mine", table=seen.table))
    seen.settle()
    assert seen.active.metadata.name == "mine"
