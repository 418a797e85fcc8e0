"""How a run lets its Pods go: never two drivers, no result lost, nothing left behind."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import Phase
from paimon_operator.core.decision import Refusal
from paimon_operator.errors import SpecError
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

SECOND_POD = [f"ConfigMap {RUN_NAME}", f"Pod {RUN_NAME}-2"]
KILLED: Json = {"deleting": pods.STARTED}
"""Deleted by force: its grace period ended at once."""
UNTIL_GIVEN_UP = timedelta(seconds=pods.DEADLINE_S) + 2 * MINUTES
LAST_SEEN = [pods.running(), pods.collected(pods.running()), pods.waiting(), pods.collected(pods.waiting())]

# A Pod that was deleted by somebody


@pytest.mark.parametrize("status", [pods.ended(143), pods.ended(137, reason="ContainerStatusUnknown")])
def test_a_deleted_pod_s_attempt_ends_by_its_kubelet_s_word_and_the_next_one_follows(status: Json) -> None:
    story = at_work()
    assert story.reconcile(pods.running(), deleting=True).actions == ()
    assert story.run.status.phase is Phase.RUNNING
    end = story.reconcile(status, deleting=True)
    assert (released(end), story.attempt.state, story.attempt.reason) == ([POD_UID], "Ended", "PodLost")
    assert created(story.reconcile(NOT_THERE, later=MINUTES)) == SECOND_POD


def test_the_result_of_a_deleted_pod_is_read() -> None:
    story = at_work()
    story.reconcile(pods.ended(0, pods.result(story.run)), deleting=True)
    assert (story.run.status.phase, len(story.run.status.attempts)) == (Phase.SUCCEEDED, 1)


def test_a_deleted_pod_is_requeued_soon_because_no_event_reports_an_unreachable_node() -> None:
    for story, status in [(at_work(), pods.running()), (launched(), pods.waiting())]:
        decision = story.reconcile(status, deleting=True)
        assert decision.requeue_after == timedelta(seconds=30)


def test_a_pod_that_is_deleted_before_it_was_bound_is_released_at_once() -> None:
    story = launched()
    end = story.reconcile(pods.unschedulable(), deleting=True)
    assert (released(end), story.attempt.reason) == ([POD_UID], "PodLost")
    assert "before it was bound to a node" in (story.attempt.message or "")


# A node that says nothing


@pytest.mark.parametrize("status", LAST_SEEN)
def test_while_the_node_of_a_lost_pod_is_unreachable_nothing_starts_and_the_run_reports_the_override(
    status: Json,
) -> None:
    story = at_work()
    decision = story.reconcile(status, later=2 * MINUTES, **KILLED)
    assert (decision.actions, story.run.status.phase, story.attempt.state) == ((), Phase.RUNNING, "Running")
    assert story.condition(ConditionType.STALLED) == "True NodeSilent"
    assert told(decision) == ["Warning NodeSilent"]
    assert story.message() == (
        f"the node of pod {RUN_NAME}-1 is silent; a driver may still be running there. The run waits until "
        "2026-11-21T09:27:00Z, when its kubelet's own deadline has passed. Do not remove the finalizer of the run: "
        "that stops no driver. If you know that the node is down, do not "
        f"wait: kubectl delete pod {RUN_NAME}-1 -n shop --force --wait=false; "
        f'kubectl patch pod {RUN_NAME}-1 -n shop --type merge -p \'{{"metadata":{{"finalizers":null}}}}\''
    )
    again = story.reconcile(status, later=MINUTES, **KILLED)
    assert (again.actions, again.events) == ((), ())


@pytest.mark.parametrize("status", LAST_SEEN)
def test_a_pod_on_an_unreachable_node_is_abandoned_once_its_kubelets_deadline_has_passed(status: Json) -> None:
    story = at_work()
    story.now = pods.MADE + UNTIL_GIVEN_UP - timedelta(seconds=1)
    assert story.reconcile(status, **KILLED).actions == ()
    end = story.reconcile(status, later=timedelta(seconds=1), **KILLED)
    assert (released(end), story.attempt.reason) == ([POD_UID], "PodLost")
    assert created(story.reconcile(status, later=MINUTES, **KILLED)) == SECOND_POD, "the object may linger, let go"


def test_a_node_that_comes_back_is_believed() -> None:
    story = at_work()
    story.reconcile(pods.running(), later=2 * MINUTES, **KILLED)
    story.reconcile(pods.ended(0, pods.result(story.run)), **KILLED)
    assert story.run.status.phase is Phase.SUCCEEDED
    assert story.condition(ConditionType.STALLED) == "False NoActionNeeded"


def test_somebody_who_knows_that_the_node_is_dead_takes_the_pod_away_and_the_next_attempt_comes() -> None:
    story = at_work()
    story.reconcile(pods.running(), later=2 * MINUTES, **KILLED)
    story.reconcile(NOT_THERE)
    assert story.attempt.reason == "PodLost"
    assert created(story.reconcile(NOT_THERE, later=MINUTES)) == SECOND_POD


def test_a_stopped_pod_on_an_unreachable_node_ends_with_its_recorded_failure_once_it_is_abandoned() -> None:
    story = at_work()
    assert deleted(story.reconcile(pods.running(), later=60 * MINUTES)) == [POD_UID]
    deletion_deadline = story.now + timedelta(seconds=30)
    story.reconcile(pods.running(), later=2 * MINUTES, deleting=deletion_deadline)
    assert (story.run.status.phase, story.condition(ConditionType.STALLED)) == (Phase.RUNNING, "True NodeSilent")
    story.now = pods.MADE + UNTIL_GIVEN_UP
    story.reconcile(pods.running(), deleting=deletion_deadline)
    assert story.condition(ConditionType.SUCCEEDED) == "False DeadlineExceeded"


# Killed between the stored end and the release


@pytest.mark.parametrize("deleting", [False, True])
def test_the_next_attempt_begins_only_after_the_last_pod_was_released(*, deleting: bool) -> None:
    story = at_work()
    story.reconcile(pods.ended(1), deleting=deleting)
    story.released.clear()
    again = story.reconcile(pods.ended(1), later=60 * MINUTES, deleting=deleting)
    assert (released(again), created(again)) == ([POD_UID], [])
    assert created(story.reconcile(pods.ended(1), deleting=deleting)) == SECOND_POD


@pytest.mark.parametrize("phase", [Phase.SUCCEEDED, Phase.FAILED, Phase.UNKNOWN])
def test_an_ended_run_lets_its_pod_go_before_it_goes_itself(phase: Phase) -> None:
    story = over(at_work(), phase)
    first = story.reconcile(pods.ended(0))
    assert (released(first), first.finalizer) == ([POD_UID], "keep")
    assert story.reconcile(pods.ended(0)).finalizer == "remove"


@pytest.mark.parametrize("with_finalizer", [True, False])
def test_a_late_pod_of_a_finished_run_is_deleted_and_released(*, with_finalizer: bool) -> None:
    story = launched()
    story.launch_error = SpecError("spec.writes[0]", "there is no write import", "Use one of the table's writes.")
    story.reconcile(NOT_THERE)
    assert story.run.status.phase is Phase.FAILED
    if not with_finalizer:
        story.reconcile(NOT_THERE)
        assert story.run.metadata.finalizers == ()
    late = story.reconcile(pods.running())
    assert (deleted(late), late.finalizer) == ([POD_UID], "keep")
    assert story.reconcile(pods.running(), deleting=True).actions == ()
    assert released(story.reconcile(pods.ended(143), deleting=True)) == [POD_UID]
    assert story.reconcile(NOT_THERE).finalizer == ("remove" if with_finalizer else "keep")


def test_an_ended_run_leaves_a_stranger_s_pod_alone() -> None:
    story = over(at_work())
    decision = story.reconcile(pods.running(), owner_uid="uid-of-somebody-else")
    assert (decision.actions, decision.finalizer) == ((), "remove")


# Pods of other runs, which are over or gone

OTHER = builders.run("orders-write-11111111", table=builders.table())
SILENT = "True NodeSilent"


@pytest.mark.parametrize("attempts", [0, 1, 2])
@pytest.mark.parametrize(
    ("status", "how", "stalled"),
    [
        (pods.running(), {}, "False Stopping"),
        (pods.unschedulable(), {}, "False Stopping"),
        (pods.running(), {"deleting": pods.FINISHED}, SILENT),
        (pods.collected(pods.running()), {"guarded": False}, SILENT),
    ],
)
def test_no_pod_is_created_while_the_pod_of_another_run_may_be_running(
    attempts: int, status: Json, how: Json, stalled: str
) -> None:
    story = [begun, launched, failed_once][attempts]()
    story.others = (pods.observed(OTHER, status=status, **how),)
    decision = story.reconcile(NOT_THERE, later=20 * MINUTES)
    assert (decision.actions, decision.requeue_after) == ((), timedelta(seconds=30))
    assert story.condition(ConditionType.STALLED) == stalled.replace("False Stopping", "False NoActionNeeded")
    assert "orders-write-11111111-1" in story.message()
    story.others = (pods.observed(OTHER, status=pods.ended(0)), pods.observed(OTHER, status=pods.evicted()))
    assert created(story.reconcile(NOT_THERE))[1:] == [f"Pod {RUN_NAME}-{max(1, attempts)}"]


def begun() -> Story:
    story = Story()
    story.reconcile()
    return story


def failed_once() -> Story:
    story = at_work()
    story.reconcile(pods.ended(1))
    return story


# What the API server refuses

DENIED = Refusal(reason=Reason.NOT_PERMITTED, message="a webhook said no")


def test_a_refused_release_or_deletion_is_reported_on_the_run_until_it_succeeds() -> None:
    story = failed_once()
    story.released.clear()
    story.refusal = DENIED
    assert released(story.reconcile(pods.ended(1))) == [POD_UID]
    assert story.condition(ConditionType.STALLED) == "True NotPermitted"
    assert story.message() == f"pod {RUN_NAME}-1 cannot be released; this is tried again: a webhook said no"
    story.refusal = None
    story.reconcile(pods.ended(1))
    assert story.condition(ConditionType.STALLED) == "False NoActionNeeded"


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_refused_deletion_of_a_pod_is_reported_until_the_pod_is_being_deleted(*, cancelled: bool) -> None:
    story = at_work()
    if cancelled:
        story.cancel()
    story.refusal = DENIED
    assert deleted(story.reconcile(pods.running(), later=60 * MINUTES)) == [POD_UID]
    assert story.condition(ConditionType.STALLED) == "True NotPermitted"
    assert story.message() == f"pod {RUN_NAME}-1 cannot be deleted; this is tried again: a webhook said no"
    story.reconcile(pods.running(), deleting=story.now + 1 * MINUTES)
    assert story.condition(ConditionType.STALLED) == "False NoActionNeeded"


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_finished_run_reports_a_refused_release_by_an_event_because_its_status_is_final(*, cancelled: bool) -> None:
    story = over(at_work())
    if cancelled:
        story.cancel()
    story.refusal = DENIED
    before = story.run.status
    assert told(story.reconcile(pods.ended(0))) == ["Warning NotPermitted"]
    assert story.run.status == before


# Cancelled


def test_the_pod_of_a_cancelled_run_is_released_after_its_kubelets_report_and_the_run_after_that() -> None:
    story = at_work()
    story.cancel()
    assert deleted(story.reconcile(pods.running())) == [POD_UID]
    assert story.reconcile(pods.running(), deleting=True).actions == ()
    word = story.reconcile(pods.ended(143), deleting=True)
    assert (released(word), word.finalizer) == ([POD_UID], "keep")
    assert story.reconcile(pods.ended(143), deleting=True).finalizer == "keep", "its kubelet tidies up"
    assert story.reconcile(NOT_THERE).finalizer == "remove"


@pytest.mark.parametrize(("status", "how"), [(pods.ended(0), {}), (pods.unschedulable(), {"deleting": True})])
def test_the_pod_of_a_cancelled_run_in_which_nothing_runs_is_released_at_once(status: Json, how: Json) -> None:
    story = launched()
    story.cancel()
    assert released(story.reconcile(status, **how)) == [POD_UID]


def test_a_cancelled_run_waits_for_an_unreachable_node_and_goes_once_the_pod_is_abandoned() -> None:
    story = at_work()
    story.cancel()
    waiting = story.reconcile(pods.running(), later=2 * MINUTES, **KILLED)
    assert (waiting.actions, waiting.finalizer) == ((), "keep")
    assert story.condition(ConditionType.STALLED) == "True NodeSilent"
    story.now = pods.MADE + UNTIL_GIVEN_UP
    assert released(story.reconcile(pods.running(), **KILLED)) == [POD_UID]
    assert story.reconcile(pods.running(), **KILLED).finalizer == "remove", "the object may linger, let go"


@pytest.mark.parametrize(("status", "stops"), [(pods.ended(0), []), (pods.running(), [POD_UID])])
def test_a_deleted_run_that_was_over_still_lets_its_pod_go_first(status: Json, stops: list[str]) -> None:
    story = over(at_work())
    story.cancel()
    first = story.reconcile(status)
    assert (deleted(first), first.finalizer, first.status) == (stops, "keep", None)
    assert released(first if not stops else story.reconcile(pods.ended(143), deleting=True)) == [POD_UID]
    assert story.reconcile(pods.ended(0)).finalizer == "remove", "as history the Pod stays until it is collected"


def test_a_pod_without_our_finalizer_is_only_waited_for() -> None:
    """One that an older operator made, or that somebody has freed."""
    story = Story(backoffLimit=0)
    at_work(story)
    end = story.reconcile(pods.ended(1), guarded=False)
    assert (end.actions, story.run.status.phase) == ((), Phase.FAILED)
