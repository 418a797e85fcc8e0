"""Runs that users create: what they wait for, what their result affects, and when they are deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, Phase, RunTrigger
from paimon_operator.core.decision import Decision
from tests.support import builders, pods
from tests.support.run_story import NO_POD, Story, deleted, running_story
from tests.support.table_world import TableWorld, status_of

BY_HAND: dict[str, Any] = {"trigger": None}
EXPIRY: dict[str, Any] = {"type": "ExpireSnapshots", "compact": None}
SOME = {"strategy": "Full", "partitions": [{"dt": "2026-11-22"}]}
EVERY_NIGHT = {"mode": "Dedicated", "full": {"schedule": "0 3 * * *"}}
DAILY = {
    "columns": [{"name": "dt", "type": "STRING"}, *builders.ORDERS["columns"]],
    "primaryKeys": ["dt", "order_id"],
    "partitionKeys": ["dt"],
}


def ready(**spec: Any) -> TableWorld:
    """A Ready table with nothing due."""
    seen = TableWorld(table=builders.table(compaction=EVERY_NIGHT, schema=DAILY, **spec)).ready()
    seen.run_due()
    return seen


# Waiting


@pytest.mark.parametrize("edit", [{"suspend": True}, {"options": {"nonsense": "1"}}], ids=["suspended", "stalled"])
def test_a_suspended_or_stalled_table_starts_no_run_of_a_user(edit: dict[str, Any]) -> None:
    seen = ready()
    seen.edit(**edit)
    seen.runs.append(builders.run("by-hand", table=seen.table))
    seen.settle()
    assert seen.table.status.active_run is None


def test_a_deleted_table_does_not_wait_for_runs_without_an_attempt() -> None:
    seen = ready()
    seen.runs.append(builders.run("by-hand", table=seen.table))
    seen.delete()
    decision = seen.decide()
    assert (decision.finalizer, decision.actions) == ("remove", ())


def test_users_runs_and_due_operations_start_by_age() -> None:
    seen = ready()
    asked = [builders.run(name, table=seen.table, metadata=_made(seen, hours)) for name, hours in [("b", 2), ("a", 1)]]
    seen.runs += asked
    seen.wait(days=1)
    order = []
    while status_of(seen.reconcile()).active_run:
        if seen.active.status.phase is None:
            order.append(seen.active.metadata.name)
            seen.finish()
    assert order[:2] == ["a", "b"]
    assert {seen.started[-1][0], seen.started[-2][0]} == {"Compact", "ExpireSnapshots"}, "the ticks came due later"


def test_a_run_that_is_deleted_before_its_turn_never_starts() -> None:
    seen = ready()
    seen.runs.append(builders.run("by-hand", table=seen.table, metadata={"deletionTimestamp": builders.NOW}))
    assert status_of(seen.settle()).active_run is None


@pytest.mark.parametrize("asked", [{}, EXPIRY], ids=["compaction", "expiry"])
def test_the_trigger_in_the_status_is_the_user(asked: dict[str, Any]) -> None:
    story = running_story(Story(**BY_HAND, **asked))
    assert story.run.status.reason is not None
    assert story.run.status.reason.trigger is RunTrigger.USER


def test_the_deadline_and_the_attempts_of_a_users_run_apply() -> None:
    story = running_story(Story(**BY_HAND, activeDeadline="90s", backoffLimit=0))
    assert deleted(story.reconcile(pods.running(), later=timedelta(seconds=90))) != []
    story = running_story(Story(**BY_HAND, backoffLimit=0))
    story.reconcile(pods.ended(137))
    assert story.run.status.phase is Phase.FAILED


# What its result counts for


def test_a_compaction_of_named_partitions_answers_no_schedule_and_clears_no_failure() -> None:
    seen = ready()
    seen.wait(days=1)
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.INVALID_SPEC)
    seen.run_due()
    before = seen.table.status.compaction
    assert before is not None
    assert before.failure is not None

    seen.runs.append(builders.run("by-hand", table=seen.table, compact=SOME))
    seen.reconcile()
    named = seen.table.status.active_run
    assert named is not None
    assert (named.name, named.partial) == ("by-hand", True)
    seen.finish("Compact")
    seen.settle()
    assert seen.table.status.compaction == before
    assert seen.table.status.table is not None, "what it measured is taken all the same"


def test_a_compaction_of_the_whole_table_clears_the_failure() -> None:
    seen = ready()
    seen.wait(days=1)
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.INVALID_SPEC)
    seen.run_due()
    seen.runs.append(builders.run("by-hand", table=seen.table))
    seen.reconcile()
    seen.finish("Compact")
    seen.settle()
    assert seen.table.status.compaction is not None
    assert (seen.table.status.compaction.failure, seen.table.status.compaction.last_run) == (None, "by-hand")


# How long it stays


def ended(story: Story, status: pods.Json) -> Story:
    """Returns a story whose run has ended, has no finalizer, and whose result is in the table's status."""
    running_story(story).reconcile(status)
    story.reconcile(NO_POD)
    story.set_active_run(None)
    return story


def test_a_finished_run_is_deleted_after_its_ttl() -> None:
    story = Story(**BY_HAND, ttlAfterFinished="1h", backoffLimit=0)
    running_story(story).reconcile(pods.ended(0, pods.result(story.run)))
    letting_go = story.reconcile(NO_POD)
    assert (letting_go.finalizer, letting_go.requeue_after) == ("remove", timedelta(0))
    assert not deleted(story.reconcile(NO_POD, later=timedelta(hours=2))), "the table has not taken the result yet"
    story.set_active_run(None)
    assert deleted(story.reconcile(NO_POD)) == [story.run.metadata.uid]


def test_a_finished_run_is_kept_and_requeued_until_its_ttl_has_passed() -> None:
    story = ended(Story(**BY_HAND, ttlAfterFinished="1h", backoffLimit=0), pods.ended(137))
    assert story.run.status.phase is Phase.FAILED
    decision = story.reconcile(NO_POD, later=timedelta(minutes=20))
    assert (decision.actions, decision.requeue_after) == ((), timedelta(minutes=40))
    assert _is_deleted(story.reconcile(NO_POD, later=timedelta(minutes=40)), story)


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        pytest.param({}, pods.ended(137), id="no ttl"),
        pytest.param({"ttlAfterFinished": "1s"}, pods.ended(40), id="unknown result"),
    ],
)
def test_runs_without_a_ttl_and_runs_with_an_unknown_result_are_kept(spec: dict[str, Any], status: pods.Json) -> None:
    story = ended(Story(**BY_HAND, backoffLimit=0, **spec), status)
    decision = story.reconcile(NO_POD, later=timedelta(days=99))
    assert (decision.actions, decision.requeue_after) == ((), None)


def test_a_finished_run_of_a_missing_table_is_deleted_after_its_ttl() -> None:
    story = ended(Story(**BY_HAND, ttlAfterFinished="1s", backoffLimit=0), pods.ended(137))
    story.table = None
    assert _is_deleted(story.reconcile(NO_POD, later=timedelta(seconds=1)), story)


def _is_deleted(decision: Decision[Any], story: Story) -> bool:
    return deleted(decision) == [story.run.metadata.uid]


def _made(seen: TableWorld, hours: int) -> dict[str, Any]:
    return {"creationTimestamp": seen.now + timedelta(hours=hours)}
