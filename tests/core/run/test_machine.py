"""The state machine of a run: every reconcile gives the status to store and the actions that follow."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paimon_operator.api.conditions import Condition, ConditionStatus, ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import AttemptState, FailureClass, Phase
from paimon_operator.api.table.status import ActiveRun, TableStatus
from paimon_operator.core.commits.table_claims import claim_of
from paimon_operator.core.decision import Decision, Refusal
from paimon_operator.core.run import machine
from paimon_operator.core.run.attempt import observe_pod
from paimon_operator.core.run.machine import PodState, RunState
from paimon_operator.core.run.observed import RunObserved
from tests.support import builders, pods
from tests.support.pods import Json
from tests.support.run_story import (
    MINUTES,
    NOT_THERE,
    POD_UID,
    RUN_NAME,
    Story,
    at_work,
    created,
    deleted,
    launched,
    over,
    released,
    told,
)


def test_every_state_of_a_run_and_of_its_pod_is_handled() -> None:
    assert set(machine.ON_RUN) == set(RunState)
    assert set(machine.WITHOUT_POD) | set(machine.ON_POD) == set(PodState)
    assert not set(machine.WITHOUT_POD) & set(machine.ON_POD)


LONG_AGO = pods.MADE - 5 * MINUTES


@pytest.mark.parametrize(
    ("status", "how", "state"),
    [
        (NOT_THERE, {}, PodState.MISSING),
        (pods.running(), {"owner_uid": "another"}, PodState.FOREIGN),
        (pods.ended(137), {}, PodState.STOPPED),
        (pods.unschedulable(), {"deleting": True}, PodState.STOPPED),
        (pods.running(), {"deleting": LONG_AGO}, PodState.UNREACHABLE),
        (pods.waiting(), {}, PodState.PENDING),
        (pods.unschedulable(), {}, PodState.PENDING),
        (pods.running(), {}, PodState.RUNNING),
    ],
)
def test_the_state_of_a_pod_follows_from_what_it_reports(status: Json | None, how: Json, state: PodState) -> None:
    story = launched()
    pod = None if status is None else pods.observed(story.run, status=status, **how)
    observed = RunObserved(run=story.run, table=story.table, pod=pod, limits=story.limits, launch=story.launch)
    attempt = story.attempt if pod is None else observe_pod(story.attempt, pod)
    assert machine.pod_state(observed, attempt, story.now) is state


def test_a_pod_that_may_run_is_stopping_once_the_intent_is_stored() -> None:
    story = launched()
    pod = pods.observed(story.run, status=pods.running())
    observed = RunObserved(run=story.run, table=story.table, pod=pod, limits=story.limits, launch=story.launch)
    attempt = story.attempt.model_copy(update={"state": AttemptState.STOPPING})
    assert machine.pod_state(observed, attempt, story.now) is PodState.STOPPING


# The good path


def test_the_attempt_is_written_down_and_then_its_config_map_and_pod_are_made() -> None:
    story = Story()
    decision = story.reconcile()
    assert created(decision) == [f"ConfigMap {RUN_NAME}", f"Pod {RUN_NAME}-1"]
    assert (story.run.status.phase, story.attempt.number, story.attempt.state) == (Phase.LAUNCHING, 1, "Launching")
    assert (story.attempt.pod, story.attempt.pod_uid) == (f"{RUN_NAME}-1", None)
    assert story.condition(ConditionType.RECONCILING) == "True Launching"
    assert told(decision) == ["Normal Launching"]


def test_a_run_goes_from_pending_to_succeeded() -> None:
    story = launched()
    story.reconcile(pods.waiting())
    assert (story.run.status.phase, story.attempt.reason) == (Phase.LAUNCHING, "PodPending")
    story.reconcile(pods.running(), later=timedelta(seconds=10))
    assert (story.run.status.phase, story.attempt.state, story.attempt.reason) == (Phase.RUNNING, "Running", None)
    result = pods.result(story.run, before={"files": 214}, after={"files": 18}, table={"sizeBytes": 73, "schemaId": 3})
    decision = story.reconcile(pods.ended(0, result), later=MINUTES)
    status = story.run.status
    assert (status.phase, story.attempt.state, story.attempt.exit_code) == (Phase.SUCCEEDED, "Ended", 0)
    assert story.condition(ConditionType.SUCCEEDED) == "True RunSucceeded"
    assert story.condition(ConditionType.RECONCILING) == "False RunSucceeded"
    assert story.condition(ConditionType.STALLED) == "False NoActionNeeded"
    assert story.message() == "compacted from 214 files to 18 files"
    assert status.before is not None
    assert status.before.files == 214
    assert status.after is not None
    assert (status.after.files, status.after.bytes, status.after.schema_id) == (18, 73, 3)
    assert told(decision) == ["Normal RunSucceeded"]


def test_the_cost_is_what_the_containers_used_over_all_attempts() -> None:
    story = at_work()
    story.reconcile(pods.ended(1))  # 41 s
    story.reconcile(NOT_THERE, later=MINUTES)
    story.reconcile(pods.ended(0, pods.result(story.run)), later=MINUTES)  # 41 s again
    cost = story.run.status.cost
    assert cost is not None
    assert (cost.pod_seconds, cost.core_seconds, cost.gib_seconds) == (82, 164, 164)


def test_the_finalizer_of_an_ended_run_goes_once_its_last_status_is_stored() -> None:
    story = at_work()
    ended = story.reconcile(pods.ended(0, pods.result(story.run)))
    assert (ended.finalizer, released(ended)) == ("keep", [POD_UID])
    assert ended.requeue_after == timedelta(0)
    decision = story.reconcile(pods.ended(0, pods.result(story.run)))
    assert (decision.finalizer, decision.actions) == ("remove", ())


def test_a_run_without_our_finalizer_gets_it_before_anything_is_made() -> None:
    story = Story()
    story.run = story.run.model_copy(update={"metadata": story.run.metadata.model_copy(update={"finalizers": ()})})
    decision = story.reconcile()
    assert (decision.finalizer, decision.actions, story.run.status.attempts) == ("add", (), ())
    assert created(story.reconcile()) != []


@pytest.mark.parametrize("phase", [Phase.SUCCEEDED, Phase.FAILED, Phase.UNKNOWN])
@pytest.mark.parametrize("pod_status", [NOT_THERE, pods.running(), pods.ended(0)])
def test_an_ended_run_never_changes_again(phase: Phase, pod_status: Json | None) -> None:
    story = over(at_work(), phase)
    before = story.run.status
    for _ in range(2):
        decision = story.reconcile(pod_status, later=60 * MINUTES)
        assert (decision.status, decision.events) == (before, ())


# One mutating run per table


@pytest.mark.parametrize(
    ("other", "uid"),
    [(None, None), ("orders-write-00000000", None), (RUN_NAME, "uid-of-an-earlier-run-of-this-name")],
    ids=["the table runs nothing", "the table runs something else", "another run of this name"],
)
def test_a_run_that_its_table_does_not_name_makes_nothing(other: str | None, uid: str | None) -> None:
    story = Story(named=False)
    story.name(other, uid)
    decision = story.reconcile()
    assert (decision.actions, story.run.status.attempts, story.run.status.phase) == ((), (), Phase.PENDING)
    assert story.condition(ConditionType.RECONCILING) == "True WaitingForTable"


@pytest.mark.parametrize("uid", [f"uid-of-{RUN_NAME}", None])
def test_a_run_of_another_type_than_the_table_started_makes_nothing(uid: str | None) -> None:
    story = Story(type="Drop", compact=None)
    story.table = builders.table(
        status=TableStatus(active_run=ActiveRun(name=RUN_NAME, uid=uid, type="Compact", trigger="Schedule"))
    )
    assert story.reconcile().actions == ()
    assert (story.run.status.phase, story.run.status.attempts) == (Phase.PENDING, ())


@pytest.mark.parametrize("type_", ["Provision", "Write", "Drop"])
def test_a_users_run_of_a_type_that_only_the_operator_starts_fails_with_the_reason(type_: str) -> None:
    """One that an older CRD let in: the rule of the CRD refuses it today."""
    write = {"name": "import"} if type_ == "Write" else None
    story = Story(named=False, type=type_, compact=None, write=write, trigger=None)
    story.carry_out(Decision(status=None, finalizer="add"))
    assert story.reconcile().actions == ()
    assert (story.run.status.phase, story.run.status.failure_class) == (Phase.FAILED, FailureClass.SPEC)
    assert story.condition(ConditionType.SUCCEEDED) == "False InvalidSpec"
    assert f"only the operator starts runs of type {type_}; delete this run" in story.message()


def test_a_run_waits_until_its_table_has_written_down_its_uid_because_then_a_run_without_uid_has_no_pod() -> None:
    story = Story(named=False)
    story.name(RUN_NAME, uid=None)
    decision = story.reconcile()
    assert (decision.actions, decision.events, decision.status) == ((), (), story.run.status)
    assert decision.requeue_after is not None
    story.name(RUN_NAME, story.run.metadata.uid)
    assert created(story.reconcile()) != []


def found(type_: ConditionType, status: ConditionStatus, reason: Reason, message: str) -> tuple[Condition, ...]:
    return (Condition.of(type_, status, reason, message, now=builders.NOW, generation=1),)


OTHER = ActiveRun(name="orders-write-1", uid="u", type="Write", trigger="Schedule")
UNSAFE = found(ConditionType.STALLED, ConditionStatus.TRUE, Reason.COMMIT_UNSAFE, "commits can get lost")
PAUSED = found(ConditionType.SUSPENDED, ConditionStatus.TRUE, Reason.SUSPENDED, "spec.suspend is true")
MAKING = found(ConditionType.READY, ConditionStatus.UNKNOWN, Reason.PROVISIONING, "the table is being made")


@pytest.mark.parametrize(
    ("status", "deleted", "words"),
    [
        (
            TableStatus(active_run=OTHER),
            False,
            "the run waits until run orders-write-1 of PaimonTable orders has ended",
        ),
        (TableStatus(conditions=UNSAFE), False, "orders is Stalled (CommitUnsafe): commits can get lost"),
        (TableStatus(conditions=PAUSED), False, "orders is Suspended (Suspended): spec.suspend is true"),
        (TableStatus(conditions=MAKING), False, "names it; its condition Ready: the table is being made"),
        (TableStatus(), True, "PaimonTable orders is being deleted"),
    ],
)
def test_a_users_run_reports_what_it_waits_for(status: TableStatus, words: str, *, deleted: bool) -> None:
    story = Story(named=False, trigger=None)
    story.carry_out(Decision(status=None, finalizer="add"))
    story.table = builders.table(status=status, metadata={"deletionTimestamp": builders.NOW} if deleted else None)
    story.reconcile()
    assert story.condition(ConditionType.RECONCILING) == "True WaitingForTable"
    assert words in story.message()


def test_a_run_without_a_table_reports_it() -> None:
    story = Story()
    story.table = None
    assert story.reconcile().actions == ()
    assert story.condition(ConditionType.STALLED) == "True TableNotFound"


def test_a_run_makes_no_pod_while_another_object_has_a_run_on_the_same_physical_table() -> None:
    story = Story()
    story.claimant = claim_of(builders.table("orders", "yard"), builders.catalog())
    assert story.reconcile().actions == ()
    assert story.condition(ConditionType.STALLED) == "True TableClaimed"
    assert "yard/orders has a run on the same table" in story.message()
    story.claimant = None
    assert created(story.reconcile()) != []


def test_a_run_that_lost_its_place_makes_no_second_attempt() -> None:
    story = at_work()
    story.reconcile(pods.ended(1))
    story.name("orders-write-00000000")
    assert story.reconcile(NOT_THERE, later=60 * MINUTES).actions == ()
    story.name(RUN_NAME, story.run.metadata.uid)
    assert created(story.reconcile(NOT_THERE)) == [f"ConfigMap {RUN_NAME}", f"Pod {RUN_NAME}-2"]


# Killed at any moment


def test_an_attempt_whose_pod_was_never_made_is_made_under_the_same_name() -> None:
    story = launched()
    again = story.reconcile(NOT_THERE)
    assert created(again) == [f"ConfigMap {RUN_NAME}", f"Pod {RUN_NAME}-1"]
    assert len(story.run.status.attempts) == 1


def test_a_pod_that_was_made_before_the_operator_died_is_found_and_not_made_twice() -> None:
    story = launched()
    decision = story.reconcile(pods.running())
    assert decision.actions == ()
    assert story.attempt.pod_uid == f"uid-of-{RUN_NAME}-1"


def test_a_pod_that_ended_while_the_operator_was_away_is_read() -> None:
    story = launched()
    story.reconcile(pods.ended(0, pods.result(story.run)))
    assert (story.run.status.phase, story.attempt.started) == (Phase.SUCCEEDED, pods.STARTED)


def test_a_pod_that_was_seen_and_is_gone_is_lost_and_the_next_attempt_asks_paimon() -> None:
    story = at_work()
    decision = story.reconcile(NOT_THERE)
    assert decision.actions == ()
    assert (story.attempt.state, story.attempt.reason) == ("Ended", "PodLost")
    assert story.run.status.phase is Phase.PENDING
    assert created(story.reconcile(NOT_THERE, later=MINUTES)) == [f"ConfigMap {RUN_NAME}", f"Pod {RUN_NAME}-2"]


def test_equal_observations_give_an_equal_status() -> None:
    stages: list[tuple[Story, Json | None]] = [
        (Story(named=False), None),
        (launched(), None),
        (launched(), pods.waiting()),
        (launched(), pods.unschedulable()),
        (launched(), pods.waiting("CreateContainerConfigError", 'secret "lake-s3" not found')),
        (at_work(), pods.running()),
    ]
    for story, status in stages:
        first = story.reconcile(status).status
        second = story.reconcile(status, later=timedelta(seconds=7))
        assert second.status is not None
        assert second.status.to_json() == (first and first.to_json())
        assert second.events == ()


def test_a_pod_of_another_object_under_our_name_is_neither_adopted_nor_deleted() -> None:
    story = launched()
    decision = story.reconcile(pods.running(), owner_uid="uid-of-somebody-else")
    assert decision.actions == ()
    assert story.attempt.pod_uid is None
    assert story.condition(ConditionType.STALLED) == "True NameTaken"


@pytest.mark.parametrize("reason", [Reason.NOT_PERMITTED, Reason.NAME_TAKEN])
def test_a_create_that_the_api_server_refuses_is_reported_and_tried_again(reason: Reason) -> None:
    story = launched()
    story.refusal = Refusal(reason=reason, message='exceeded quota: requests.memory "2Gi"')
    decision = story.reconcile(NOT_THERE)
    assert created(decision) != []
    assert story.condition(ConditionType.STALLED) == f"True {reason}"
    assert "exceeded quota" in story.message()
    story.refusal = None
    story.reconcile(pods.running())
    assert story.condition(ConditionType.STALLED) == "False NoActionNeeded"


# Cancelling


def test_a_cancelled_run_goes_only_after_its_pod_is_gone() -> None:
    story = at_work()
    story.cancel()
    first = story.reconcile(pods.running())
    assert (deleted(first), first.finalizer) == ([f"uid-of-{RUN_NAME}-1"], "keep")
    assert story.condition(ConditionType.RECONCILING) == "True WaitingForPod"
    second = story.reconcile(pods.running(), deleting=True)
    assert (second.actions, second.finalizer) == ((), "keep")
    assert story.reconcile(NOT_THERE).finalizer == "remove"


@pytest.mark.parametrize("story", [Story(named=False), launched()], ids=["never launched", "its pod never made"])
def test_a_run_that_has_no_pod_goes_at_once(story: Story) -> None:
    story.cancel()
    decision = story.reconcile(NOT_THERE)
    assert (decision.actions, decision.finalizer) == ((), "remove")


def test_a_cancelled_run_leaves_a_stranger_s_pod_alone() -> None:
    story = launched()
    story.cancel()
    decision = story.reconcile(pods.running(), owner_uid="uid-of-somebody-else")
    assert (decision.actions, decision.finalizer) == ((), "remove")


def test_a_cancelled_run_makes_no_pod() -> None:
    story = Story()
    story.cancel()
    assert created(story.reconcile()) == []


def test_once_our_finalizer_is_gone_a_deleted_run_is_not_touched() -> None:
    story = Story()
    story.cancel()
    story.reconcile()
    decision = story.reconcile()
    assert (decision.status, decision.finalizer, decision.actions) == (None, "keep", ())
