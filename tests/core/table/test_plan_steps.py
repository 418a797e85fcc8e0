"""The steps of a table's plan: the first that applies decides, and each that starts nothing reports why."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.commits.table_claims import claim_of
from paimon_operator.core.decision import Create
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.table.active_run import BLOCKED_AFTER
from paimon_operator.core.table.observed import TableObserved
from tests.support import builders
from tests.support.table_world import TableWorld, run_named_by


def world(**spec: Any) -> TableWorld:
    return TableWorld(table=builders.table(**spec))


def test_the_finalizer_comes_before_the_first_run() -> None:
    bare = TableWorld(table=builders.table(metadata={"finalizers": []}))
    decision = bare.reconcile()
    assert (decision.finalizer, decision.status, decision.actions) == ("add", None, ())


def test_the_finalizer_comes_with_the_first_status_where_no_run_starts() -> None:
    decision = TableWorld(table=builders.table(metadata={"finalizers": []}, suspend=True)).reconcile()
    assert decision.finalizer == "add"
    assert replace(decision, finalizer="keep") == world(suspend=True).reconcile()


@pytest.mark.parametrize("finalizers", [[], [FINALIZER]])
def test_a_terminating_namespace_starts_no_run_and_adds_no_finalizer(finalizers: list[str]) -> None:
    seen = TableWorld(table=builders.table(metadata={"finalizers": finalizers}))
    seen.observed = TableObserved(namespace_terminating=True)
    decision = seen.decide()
    assert (decision.status, decision.finalizer, decision.actions) == (None, "keep", ())
    assert decision.requeue_after is not None
    assert decision.requeue_after > timedelta(0), "not at once: a create that is refused must not spin"


def test_the_run_is_named_in_the_status_by_the_decision_that_creates_it() -> None:
    (create,) = world().decide().actions
    assert isinstance(create, Create)
    assert create.body["metadata"]["name"] == run_named_by(world().decide()).name
    assert create.owner_uid == "uid-of-orders"


def test_a_repeated_decision_creates_the_same_run() -> None:
    assert world().decide() == world().decide()


@pytest.mark.parametrize(
    ("sentence", "spec", "catalog", "reason", "words"),
    [
        ("the catalog does not exist", {}, None, Reason.CATALOG_NOT_FOUND, "'lake'"),
        ("the catalog is wrong", {}, {"engine": "paimon-7.3"}, Reason.CATALOG_INVALID, "paimon-7.3"),
        ("the database is not allowed", {"database": "finance"}, {}, Reason.DATABASE_NOT_ALLOWED, "spec.database"),
        (
            "an option is unknown",
            {"options": {"write-bufer-size": "1 mb"}},
            {},
            Reason.UNKNOWN_OPTION,
            "write-buffer-size",
        ),
    ],
)
def test_an_invalid_manifest_is_stalled_and_starts_nothing(
    sentence: str, spec: dict[str, Any], catalog: dict[str, Any] | None, reason: Reason, words: str
) -> None:
    seen = world(**spec)
    seen.catalog = None if catalog is None else builders.catalog(**catalog)
    decision = seen.settle()
    assert seen.says("Stalled") == ("True", reason), sentence
    assert seen.says("Ready") == ("False", reason)
    assert words in seen.condition("Stalled").message
    assert decision.requeue_after is None, "it waits for an edit"
    assert seen.created == []


def test_the_first_of_several_errors_is_reported_with_the_number_of_the_others() -> None:
    seen = world(bucket={"type": "Unaware"}, options={"nonsense": "1"}, database="finance")
    seen.settle()
    message = seen.condition("Stalled").message
    assert message.startswith("spec.database")
    assert message.endswith("(2 more)")


def test_a_table_of_another_object_is_claimed() -> None:
    older = builders.table("first", table="orders")
    seen = world()
    seen.observed = TableObserved(claimant=claim_of(older, builders.catalog()))
    decision = seen.settle()
    assert seen.says("Stalled") == ("True", Reason.TABLE_CLAIMED)
    assert "PaimonTable first" in seen.condition("Stalled").message
    assert decision.requeue_after == timedelta(minutes=5), "the other object may be deleted"
    assert seen.created == []


def test_an_active_run_is_observed_to_its_end_even_after_an_invalid_edit() -> None:
    seen = world()
    seen.settle()
    seen.edit(options={"nonsense": "1"})
    seen.settle()
    assert seen.table.status.active_run is not None, "the run goes on"
    seen.finish("Provision", created=True)
    seen.settle()
    assert seen.table.status.active_run is None
    assert seen.table.status.provision is not None
    assert seen.table.status.provision.last_time == seen.now
    assert seen.says("Stalled") == ("True", Reason.UNKNOWN_OPTION)


def test_an_invalid_edit_keeps_the_facts_of_a_ready_table() -> None:
    seen = world().ready()
    before = seen.table.status
    seen.edit(options={"nonsense": "1"})
    seen.settle()
    assert (seen.table.status.table, seen.table.status.health) == (before.table, before.health)
    assert seen.table.status.observed_generation == 2


OUTSIDE = {"externalWriters": "Active", "bucket": {"type": "Fixed", "fixed": {"count": 2}}}


def test_external_writers_without_a_lock_make_commits_unsafe_and_nothing_starts() -> None:
    seen = world(**OUTSIDE)
    seen.settle()
    assert seen.says("CommitSafe") == ("False", Reason.COMMIT_UNSAFE)
    assert seen.says("Stalled") == ("True", Reason.COMMIT_UNSAFE)
    assert seen.created == []


def test_allow_unsafe_starts_runs_and_still_reports_unsafe_commits() -> None:
    seen = world(**OUTSIDE)
    seen.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    seen.ready()
    assert seen.says("CommitSafe") == ("False", Reason.COMMIT_UNSAFE)
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)


def test_paused_external_writers_are_safe() -> None:
    seen = world(externalWriters="Paused").ready()
    assert seen.says("CommitSafe") == ("True", Reason.SINGLE_COMMITTER)


@pytest.mark.parametrize("by", ["table", "catalog"])
def test_suspend_starts_nothing_new_and_reports_which_object_is_suspended(by: str) -> None:
    seen = world(suspend=by == "table")
    seen.catalog = builders.catalog(suspend=by == "catalog")
    seen.settle()
    assert seen.created == []
    assert seen.says("Suspended") == ("True", Reason.SUSPENDED)
    assert seen.says("Ready") == ("Unknown", Reason.SUSPENDED)
    assert ("catalog" in seen.condition("Suspended").message) is (by == "catalog")


def test_an_active_run_of_a_suspended_table_ends_and_its_end_is_reported() -> None:
    seen = world()
    seen.settle()
    seen.edit(suspend=True)
    seen.settle()
    seen.finish("Provision", created=True)
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    seen.edit(suspend=False)
    seen.settle()
    assert seen.says("Suspended") == ("False", Reason.NOT_SUSPENDED)


def test_a_run_that_was_named_and_never_created_is_created_under_the_same_name() -> None:
    """The operator was killed between the status and the create."""
    seen = world()
    decision = seen.decide()
    seen.carry_out(type(decision)(status=decision.status))
    seen.settle()
    assert [run.metadata.name for run in seen.created] == [run_named_by(decision).name]


def test_a_run_that_was_created_and_not_recorded_is_found_again() -> None:
    """The operator was killed between the create and the next status. The 409 and the LIST lead to the same run."""
    seen = world()
    seen.reconcile()
    assert seen.table.status.active_run is not None
    assert seen.table.status.active_run.uid is None
    seen.settle()
    assert seen.table.status.active_run.uid == "run-1"
    assert len(seen.created) == 1


def test_a_run_whose_uid_was_recorded_and_that_is_missing_was_cancelled_and_is_not_recreated_at_once() -> None:
    seen = world()
    seen.settle()
    seen.remove(seen.active)
    seen.settle()
    assert len(seen.created) == 1
    assert seen.says("Stalled") == ("True", Reason.CANCELLED)


def test_another_object_under_the_active_runs_name_is_not_the_active_run() -> None:
    seen = world()
    seen.settle()
    run = seen.active
    seen.runs = [run.model_copy(update={"metadata": run.metadata.model_copy(update={"uid": "stranger"})})]
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.CANCELLED)


def named_only(seen: TableWorld) -> str:
    """Stores a status that names a run which is not created, as after a crash. Returns its name."""
    decision = seen.decide()
    seen.carry_out(type(decision)(status=decision.status))
    return str(run_named_by(decision).name)


DUE_AT_NINE = {"mode": "Dedicated", "full": {"schedule": "0 9 * * *"}}
TICK = {"type": "Schedule", "dueTime": "2026-11-21T09:00:00Z"}


@pytest.mark.parametrize(
    ("sentence", "spec", "ours"),
    [
        ("a user's Drop under the name that can be worked out", {"type": "Drop", "compact": None}, False),
        ("a user's Compact", {}, False),
        ("a Drop that says it was triggered", {"type": "Drop", "compact": None, "trigger": TICK}, True),
        ("another strategy", {"compact": {"strategy": "Minor"}, "trigger": TICK}, True),
        ("another tick", {"trigger": TICK | {"dueTime": "2026-11-20T09:00:00Z"}}, True),
        ("the same run, controlled by nobody", {"trigger": TICK}, False),
    ],
)
def test_a_foreign_run_of_the_right_name_is_never_the_active_run(
    sentence: str, spec: dict[str, Any], *, ours: bool
) -> None:
    seen = world(compaction=DUE_AT_NINE).ready()
    seen.finish()
    seen.settle()
    seen.wait(hours=1)
    name = named_only(seen)
    metadata: dict[str, Any] = {} if ours else {"ownerReferences": []}
    stranger = builders.run(name, table=seen.table, metadata=metadata, **spec)
    seen.runs.append(stranger)
    decision = seen.settle()
    active = run_named_by(decision)
    assert (active.name, active.uid) == (name, None), sentence
    assert (seen.says("Stalled"), decision.actions) == (("True", Reason.NAME_TAKEN), ())
    assert name in seen.condition("Stalled").message
    seen.remove(stranger)
    seen.settle()
    assert seen.active.spec.type == "Compact", "once it is gone the run is made"


def test_an_unknown_result_blocks_all_runs_until_the_run_is_deleted() -> None:
    seen = world(writes=[builders.write()]).ready()
    assert seen.active.spec.type == "Write"
    seen.lose_result()
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.RESULT_UNKNOWN)
    assert seen.says("Healthy") == ("False", Reason.RESULT_UNKNOWN)
    seen.wait(days=2)
    seen.settle()
    assert seen.started == [("Provision", ""), ("Write", "import")], "no other run starts meanwhile"
    seen.remove(seen.active)
    seen.settle()
    assert seen.started[2:] == [("Write", "import")], "the next tick goes on"


def test_a_new_table_reports_what_blocks_its_active_run() -> None:
    seen = world()
    seen.settle()
    seen.block(Reason.SECRET_NOT_FOUND, "secret lake-s3 not found")
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.SECRET_NOT_FOUND)
    assert "lake-s3" in seen.condition("Ready").message


def test_a_ready_table_with_a_blocked_run_is_unhealthy() -> None:
    seen = world(writes=[builders.write()]).ready()
    seen.block(Reason.SECRET_NOT_FOUND, "secret lake-s3 not found")
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert seen.says("Healthy") == ("False", Reason.SECRET_NOT_FOUND)
    assert seen.says("Stalled")[0] == "False"


@pytest.mark.parametrize(("reason", "blocked"), [(Reason.SECRET_NOT_FOUND, True), (Reason.INTERNAL_ERROR, None)])
def test_a_run_that_only_a_person_gets_on_frees_its_place_but_not_after_a_bug(
    reason: Reason, blocked: bool | None
) -> None:
    seen = world(writes=[builders.write()]).ready()
    seen.block(reason, "nothing works")
    seen.settle()
    seen.now += BLOCKED_AFTER + timedelta(seconds=1)
    seen.settle()
    active = seen.table.status.active_run
    assert active is not None
    assert active.blocked is blocked, "the Pod of a run may be at work while its reconcile fails"


def test_a_settled_table_decides_the_same_status_at_every_reconcile() -> None:
    seen = world(compaction={"mode": "Inline"}).ready()
    first = seen.decide()
    seen.wait(hours=5)
    later = seen.decide()
    assert later.status == first.status == seen.table.status
    assert (later.actions, later.events) == ((), ())


def test_a_settled_table_is_requeued_for_its_next_tick() -> None:
    seen = world(retention={"snapshots": {"timeRetained": "1d", "schedule": "0 9 * * *"}}).ready()
    decision = seen.settle()
    assert decision.requeue_after == timedelta(minutes=50)


def test_a_users_compaction_becomes_the_active_run() -> None:
    seen = world().ready()
    asked = builders.run("by-hand", table=seen.table)
    seen.runs.append(asked)
    decision = seen.reconcile()
    assert run_named_by(decision).name == "by-hand"
    assert run_named_by(decision).uid == asked.metadata.uid
    assert decision.actions == (), "the user has created the run already"


def test_a_users_run_of_a_type_that_only_the_operator_starts_is_ignored() -> None:
    seen = world().ready()
    seen.runs.append(builders.run("by-hand", table=seen.table, type="Drop", compact=None))
    seen.settle()
    assert seen.table.status.active_run is None


@pytest.mark.parametrize("asked", [{}, {"type": "ExpireSnapshots", "compact": None}], ids=["compaction", "expiry"])
def test_a_users_failed_run_leaves_the_table_healthy(asked: dict[str, Any]) -> None:
    at_nine = {"schedule": "0 9 * * *"}
    seen = world(retention={"snapshots": at_nine}, compaction={"mode": "Dedicated", "full": at_nine}).ready()
    seen.runs.append(builders.run("by-hand", table=seen.table, **asked))
    seen.reconcile()
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST)
    seen.settle()
    assert seen.table.status.active_run is None
    assert seen.says("Healthy")[0] == "True"


def test_a_named_run_that_was_never_created_is_removed_from_the_status_after_an_invalid_edit() -> None:
    seen = world()
    decision = seen.decide()
    seen.carry_out(type(decision)(status=decision.status))
    seen.edit(options={"nonsense": "1"})
    seen.settle()
    assert seen.table.status.active_run is None
    assert seen.created == []


def test_a_tick_whose_run_was_never_created_is_still_due_after_an_invalid_edit_is_reverted() -> None:
    seen = world(compaction=DUE_AT_NINE).ready()
    seen.finish()
    seen.settle()
    seen.wait(hours=1)
    first = named_only(seen)
    seen.edit(options={"nonsense": "1"})
    seen.settle()
    assert (seen.table.status.active_run, seen.says("Stalled")) == (None, ("True", Reason.UNKNOWN_OPTION))
    seen.edit(options=None)
    seen.wait(minutes=2)
    seen.settle()
    assert seen.active.spec.type == "Compact"
    assert seen.active.metadata.name != first
    assert seen.active.spec.trigger is not None
    assert seen.active.spec.trigger.due_time == builders.NOW.replace(hour=9, minute=0)


def test_a_table_whose_first_run_measured_nothing_is_healthy() -> None:
    seen = world()
    seen.settle()
    seen.finish(created=True, after=None)
    seen.settle()
    assert seen.says("Healthy") == ("Unknown", Reason.NOT_MEASURED)


def test_a_failed_run_is_reported_by_one_event_on_the_table() -> None:
    seen = world()
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.STORAGE_UNREACHABLE, "no answer from s3")
    (event,) = seen.reconcile().events
    assert (event.type_, event.reason) == ("Warning", Reason.STORAGE_UNREACHABLE)
    assert "no answer from s3" in event.note


def test_the_end_of_a_run_is_an_event_with_its_result_and_why_it_was_started() -> None:
    seen = world()
    seen.reconcile()
    seen.finish("Provision", created=True)
    (note,) = [event.note for event in seen.reconcile().events if event.reason == Reason.RUN_SUCCEEDED]
    assert note.startswith("Provision: done (run orders-provision-")
    assert note.endswith(": the table has to be made, or verified, or altered)")
