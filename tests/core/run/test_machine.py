"""The state machine of a run: every reconcile gives the status to store and the actions that follow."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import AttemptState, Phase
from paimon_operator.core.decision import Refusal
from paimon_operator.core.run import machine
from paimon_operator.core.run.attempt import observe_pod
from paimon_operator.core.run.machine import PodState, RunState
from tests.support import pods
from tests.support.pods import Json
from tests.support.run_story import (
    FIRST_POD,
    MINUTES,
    NO_POD,
    POD_UID,
    RUN_NAME,
    SECOND_POD,
    Story,
    created,
    event_reasons,
    finished_story,
    launched_story,
    released,
    running_story,
)


def test_every_state_of_a_run_and_of_its_pod_is_handled() -> None:
    assert set(machine.ON_RUN) == set(RunState)
    assert set(machine.WITHOUT_POD) | set(machine.ON_POD) == set(PodState)
    assert not set(machine.WITHOUT_POD) & set(machine.ON_POD)


LONG_AGO = pods.MADE - 5 * MINUTES


@pytest.mark.parametrize(
    ("status", "how", "state"),
    [
        (NO_POD, {}, PodState.MISSING),
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
    story = launched_story()
    pod = None if status is None else pods.observed(story.run, status=status, **how)
    attempt = story.attempt if pod is None else observe_pod(story.attempt, pod)
    assert machine.pod_state(story.observe(pod), attempt, story.now) is state


def test_a_pod_that_may_run_is_stopping_once_the_intent_is_stored() -> None:
    story = launched_story()
    pod = pods.observed(story.run, status=pods.running())
    attempt = story.attempt.model_copy(update={"state": AttemptState.STOPPING})
    assert machine.pod_state(story.observe(pod), attempt, story.now) is PodState.STOPPING


# The usual course


def test_the_attempt_is_stored_and_then_its_config_map_and_pod_are_created() -> None:
    story = Story()
    decision = story.reconcile()
    assert created(decision) == FIRST_POD
    assert (story.run.status.phase, story.attempt.number, story.attempt.state) == (Phase.LAUNCHING, 1, "Launching")
    assert (story.attempt.pod, story.attempt.pod_uid) == (f"{RUN_NAME}-1", None)
    assert story.condition(ConditionType.RECONCILING) == "True Launching"
    assert event_reasons(decision) == [], "the progress of a run is in its status"


def test_a_run_goes_from_pending_to_succeeded() -> None:
    story = launched_story()
    story.reconcile(pods.waiting(), later=timedelta(seconds=6))
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
    assert event_reasons(decision) == [], "the table reports the end"


def test_a_pod_that_waits_for_less_than_five_seconds_changes_nothing() -> None:
    story = launched_story()
    before = story.run.status
    decision = story.reconcile(pods.waiting(), later=timedelta(seconds=2))
    assert (decision.status, decision.events, decision.requeue_after) == (before, (), timedelta(seconds=3))
    story.reconcile(pods.unschedulable(), later=timedelta(seconds=1))
    assert story.attempt.reason == "Unschedulable", "what is unusual is reported at once"


def test_the_cost_is_what_the_containers_used_over_all_attempts() -> None:
    story = running_story()
    story.reconcile(pods.ended(1))  # 41 s
    story.reconcile(NO_POD, later=MINUTES)
    story.reconcile(pods.ended(0, pods.result(story.run)), later=MINUTES)  # 41 s again
    cost = story.run.status.cost
    assert cost is not None
    assert (cost.pod_seconds, cost.core_seconds, cost.gib_seconds) == (82, 164, 164)


def test_the_finalizer_of_an_ended_run_is_removed_once_its_last_status_is_stored() -> None:
    story = running_story()
    ended = story.reconcile(pods.ended(0, pods.result(story.run)))
    assert (ended.finalizer, released(ended)) == ("keep", [POD_UID])
    assert ended.requeue_after == timedelta(0)
    decision = story.reconcile(pods.ended(0, pods.result(story.run)))
    assert (decision.finalizer, decision.actions) == ("remove", ())


def test_a_run_without_our_finalizer_gets_it_before_anything_is_created() -> None:
    story = Story()
    story.run = story.run.model_copy(update={"metadata": story.run.metadata.model_copy(update={"finalizers": ()})})
    decision = story.reconcile()
    assert (decision.finalizer, decision.actions, story.run.status.attempts) == ("add", (), ())
    assert created(story.reconcile()) != []


@pytest.mark.parametrize("phase", [Phase.SUCCEEDED, Phase.FAILED, Phase.UNKNOWN])
@pytest.mark.parametrize("pod_status", [NO_POD, pods.running(), pods.ended(0)])
def test_an_ended_run_never_changes_again(phase: Phase, pod_status: Json | None) -> None:
    story = finished_story(running_story(), phase)
    before = story.run.status
    for _ in range(2):
        decision = story.reconcile(pod_status, later=60 * MINUTES)
        assert (decision.status, decision.events) == (before, ())


# The operator is killed


def test_the_missing_pod_of_an_attempt_is_created_under_the_same_name() -> None:
    story = launched_story()
    again = story.reconcile(NO_POD)
    assert created(again) == FIRST_POD
    assert len(story.run.status.attempts) == 1


def test_a_pod_that_a_killed_operator_created_is_found_and_not_created_again() -> None:
    story = launched_story()
    decision = story.reconcile(pods.running())
    assert decision.actions == ()
    assert story.attempt.pod_uid == f"uid-of-{RUN_NAME}-1"


def test_the_result_of_a_pod_that_ended_while_no_operator_ran_is_applied() -> None:
    story = launched_story()
    story.reconcile(pods.ended(0, pods.result(story.run)))
    assert (story.run.status.phase, story.attempt.started) == (Phase.SUCCEEDED, pods.STARTED)


def test_a_pod_that_was_observed_and_is_missing_is_lost_and_the_next_attempt_starts() -> None:
    story = running_story()
    decision = story.reconcile(NO_POD)
    assert decision.actions == ()
    assert (story.attempt.state, story.attempt.reason) == ("Ended", "PodLost")
    assert story.run.status.phase is Phase.PENDING
    assert created(story.reconcile(NO_POD, later=MINUTES)) == SECOND_POD


def test_equal_observations_give_an_equal_status() -> None:
    stages: list[tuple[Story, Json | None]] = [
        (Story(named=False), None),
        (launched_story(), None),
        (launched_story(), pods.waiting()),
        (launched_story(), pods.unschedulable()),
        (launched_story(), pods.waiting("CreateContainerConfigError", 'secret "lake-s3" not found')),
        (running_story(), pods.running()),
    ]
    for story, status in stages:
        first = story.reconcile(status, later=timedelta(seconds=6)).status
        second = story.reconcile(status, later=timedelta(seconds=7))
        assert second.status is not None
        assert second.status.to_json() == (first and first.to_json())
        assert second.events == ()


def test_a_pod_of_another_object_under_our_name_is_neither_adopted_nor_deleted() -> None:
    story = launched_story()
    decision = story.reconcile(pods.running(), owner_uid="uid-of-another-object")
    assert decision.actions == ()
    assert story.attempt.pod_uid is None
    assert story.condition(ConditionType.STALLED) == "True NameTaken"


@pytest.mark.parametrize("reason", [Reason.NOT_PERMITTED, Reason.NAME_TAKEN])
def test_a_create_that_the_api_server_refuses_is_reported_and_tried_again(reason: Reason) -> None:
    story = launched_story()
    story.refusal = Refusal(reason=reason, message='exceeded quota: requests.memory "2Gi"')
    decision = story.reconcile(NO_POD)
    assert created(decision) != []
    assert story.condition(ConditionType.STALLED) == f"True {reason}"
    assert "exceeded quota" in story.message()
    story.refusal = None
    story.reconcile(pods.running())
    assert story.condition(ConditionType.STALLED) == "False NoActionNeeded"
