"""The release of a run's Pods: never two drivers, no lost result, no Pod left behind."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import Phase
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.decision import Refusal
from paimon_operator.errors import SpecError
from tests.support import builders, pods
from tests.support.pods import Json
from tests.support.run_story import (
    ABANDONED_AT,
    FORCE_DELETED,
    MINUTES,
    NO_POD,
    POD_UID,
    RUN_NAME,
    SECOND_POD,
    Story,
    created,
    deleted,
    event_reasons,
    failed_once,
    finished_story,
    launched_story,
    released,
    running_story,
    write_story,
)

LAST_SEEN = [pods.running(), pods.collected(pods.running()), pods.waiting(), pods.collected(pods.waiting())]

# A deleted Pod


@pytest.mark.parametrize("status", [pods.ended(143), pods.ended(137, reason="ContainerStatusUnknown")])
def test_the_attempt_of_a_deleted_pod_ends_with_its_kubelets_report_and_the_next_attempt_starts(status: Json) -> None:
    story = running_story()
    assert story.reconcile(pods.running(), deleting=True).actions == ()
    assert story.run.status.phase is Phase.RUNNING
    end = story.reconcile(status, deleting=True)
    assert (released(end), story.attempt.state, story.attempt.reason) == ([POD_UID], "Ended", "PodLost")
    assert created(story.reconcile(NO_POD, later=MINUTES)) == SECOND_POD


def test_the_result_of_a_deleted_pod_is_read() -> None:
    story = running_story()
    story.reconcile(pods.ended(0, pods.result(story.run)), deleting=True)
    assert (story.run.status.phase, len(story.run.status.attempts)) == (Phase.SUCCEEDED, 1)


def test_a_deleted_pod_is_requeued_soon_because_no_event_reports_an_unreachable_node() -> None:
    for story, status in [(running_story(), pods.running()), (launched_story(), pods.waiting())]:
        decision = story.reconcile(status, deleting=True)
        assert decision.requeue_after == timedelta(seconds=30)


def test_a_pod_that_is_deleted_before_it_was_bound_is_released_at_once() -> None:
    story = launched_story()
    end = story.reconcile(pods.unschedulable(), deleting=True)
    assert (released(end), story.attempt.reason) == ([POD_UID], "PodLost")
    assert "before it was bound to a node" in (story.attempt.message or "")


# An unreachable node


@pytest.mark.parametrize("status", LAST_SEEN)
def test_while_the_node_of_a_lost_pod_is_unreachable_nothing_starts_and_the_run_reports_the_override(
    status: Json,
) -> None:
    story = running_story()
    decision = story.reconcile(status, later=2 * MINUTES, **FORCE_DELETED)
    assert (decision.actions, story.run.status.phase, story.attempt.state) == ((), Phase.RUNNING, "Running")
    assert story.condition(ConditionType.STALLED) == "True NodeSilent"
    assert event_reasons(decision) == ["Warning NodeSilent"]
    assert story.message() == (
        f"the node of pod {RUN_NAME}-1 is silent; a driver may still be running there. The run waits until "
        "2026-11-21T09:27:00Z, when its kubelet's own deadline has passed. Do not remove the finalizer of the run: "
        "that stops no driver. If you know that the node is down, do not "
        f"wait: kubectl delete pod {RUN_NAME}-1 -n shop --force --wait=false; "
        f'kubectl patch pod {RUN_NAME}-1 -n shop --type merge -p \'{{"metadata":{{"finalizers":null}}}}\''
    )
    again = story.reconcile(status, later=MINUTES, **FORCE_DELETED)
    assert (again.actions, again.events) == ((), ())


@pytest.mark.parametrize("status", LAST_SEEN)
def test_a_pod_on_an_unreachable_node_is_abandoned_once_its_kubelets_deadline_has_passed(status: Json) -> None:
    story = running_story()
    story.now = ABANDONED_AT - timedelta(seconds=1)
    assert story.reconcile(status, **FORCE_DELETED).actions == ()
    end = story.reconcile(status, later=timedelta(seconds=1), **FORCE_DELETED)
    assert (released(end), story.attempt.reason) == ([POD_UID], "PodLost")
    assert created(story.reconcile(status, later=MINUTES, **FORCE_DELETED)) == SECOND_POD, (
        "a released Pod blocks nothing"
    )


def test_the_report_of_a_node_that_is_reachable_again_is_applied() -> None:
    story = running_story()
    story.reconcile(pods.running(), later=2 * MINUTES, **FORCE_DELETED)
    story.reconcile(pods.ended(0, pods.result(story.run)), **FORCE_DELETED)
    assert story.run.status.phase is Phase.SUCCEEDED
    assert story.condition(ConditionType.STALLED) == "False NoActionNeeded"


def test_after_a_user_removes_the_pod_of_a_node_that_is_down_the_next_attempt_starts() -> None:
    story = running_story()
    story.reconcile(pods.running(), later=2 * MINUTES, **FORCE_DELETED)
    story.reconcile(NO_POD)
    assert story.attempt.reason == "PodLost"
    assert created(story.reconcile(NO_POD, later=MINUTES)) == SECOND_POD


def test_a_stopped_pod_on_an_unreachable_node_ends_with_its_recorded_failure_once_it_is_abandoned() -> None:
    story = running_story()
    assert deleted(story.reconcile(pods.running(), later=60 * MINUTES)) == [POD_UID]
    deletion_deadline = story.now + timedelta(seconds=30)
    story.reconcile(pods.running(), later=2 * MINUTES, deleting=deletion_deadline)
    assert (story.run.status.phase, story.condition(ConditionType.STALLED)) == (Phase.RUNNING, "True NodeSilent")
    story.now = ABANDONED_AT
    story.reconcile(pods.running(), deleting=deletion_deadline)
    assert story.condition(ConditionType.SUCCEEDED) == "False DeadlineExceeded"


# Killed between the stored end and the release


@pytest.mark.parametrize("deleting", [False, True])
def test_the_next_attempt_begins_only_after_the_last_pod_was_released(*, deleting: bool) -> None:
    story = running_story()
    story.reconcile(pods.ended(1), deleting=deleting)
    story.released.clear()
    again = story.reconcile(pods.ended(1), later=60 * MINUTES, deleting=deleting)
    assert (released(again), created(again)) == ([POD_UID], [])
    assert created(story.reconcile(pods.ended(1), deleting=deleting)) == SECOND_POD


@pytest.mark.parametrize("phase", [Phase.SUCCEEDED, Phase.FAILED, Phase.UNKNOWN])
def test_an_ended_run_releases_its_pod_before_its_own_finalizer_is_removed(phase: Phase) -> None:
    story = finished_story(running_story(), phase)
    first = story.reconcile(pods.ended(0))
    assert (released(first), first.finalizer) == ([POD_UID], "keep")
    story.set_active_run(None)
    assert story.reconcile(pods.ended(0)).finalizer == "remove"


@pytest.mark.parametrize("with_finalizer", [True, False])
def test_a_late_pod_of_a_finished_run_is_deleted_and_released(*, with_finalizer: bool) -> None:
    story = launched_story()
    story.launch_error = SpecError("spec.writes[0]", "there is no write import", "Use one of the table's writes.")
    story.reconcile(NO_POD)
    assert story.run.status.phase is Phase.FAILED
    if not with_finalizer:
        story.reconcile(NO_POD)
        assert story.run.metadata.finalizers == ()
    late = story.reconcile(pods.running())
    assert (deleted(late), late.finalizer) == ([POD_UID], "keep")
    assert story.reconcile(pods.running(), deleting=True).actions == ()
    assert released(story.reconcile(pods.ended(143), deleting=True)) == [POD_UID]
    assert story.reconcile(NO_POD).finalizer == ("remove" if with_finalizer else "keep")


def test_an_ended_run_does_not_touch_a_foreign_pod() -> None:
    story = finished_story(running_story())
    decision = story.reconcile(pods.running(), owner_uid="uid-of-another-object")
    assert (decision.actions, decision.finalizer) == ((), "remove")


# Pods of other runs that have ended or are removed

OTHER = builders.run("orders-write-11111111", table=builders.table())
UNREACHABLE, NORMAL = "True NodeSilent", "False NoActionNeeded"


@pytest.mark.parametrize(("begin", "attempt"), [(Story, 1), (launched_story, 1), (failed_once, 2)])
@pytest.mark.parametrize(
    ("status", "how", "stalled"),
    [
        (pods.running(), {}, NORMAL),
        (pods.unschedulable(), {}, NORMAL),
        (pods.running(), {"deleting": pods.FINISHED}, UNREACHABLE),
        (pods.collected(pods.running()), {"guarded": False}, UNREACHABLE),
    ],
)
def test_no_pod_is_created_while_the_pod_of_another_run_may_be_running(
    begin: Callable[[], Story], attempt: int, status: Json, how: Json, stalled: str
) -> None:
    story = begin()
    story.others = (pods.observed(OTHER, status=status, **how),)
    decision = story.reconcile(NO_POD, later=20 * MINUTES)
    assert (decision.actions, decision.requeue_after) == ((), timedelta(seconds=30))
    assert story.condition(ConditionType.STALLED) == stalled
    assert "orders-write-11111111-1" in story.message()
    story.others = (pods.observed(OTHER, status=pods.ended(0)), pods.observed(OTHER, status=pods.evicted()))
    assert created(story.reconcile(NO_POD))[1:] == [f"Pod {RUN_NAME}-{attempt}"]


# What the API server refuses

DENIED = Refusal(reason=Reason.NOT_PERMITTED, message="a webhook denied it")


def test_a_refused_release_or_deletion_is_reported_on_the_run_until_it_succeeds() -> None:
    story = failed_once()
    story.released.clear()
    story.refusal = DENIED
    assert released(story.reconcile(pods.ended(1))) == [POD_UID]
    assert story.condition(ConditionType.STALLED) == "True NotPermitted"
    assert story.message() == f"pod {RUN_NAME}-1 cannot be released; this is tried again: a webhook denied it"
    story.refusal = None
    story.reconcile(pods.ended(1))
    assert story.condition(ConditionType.STALLED) == "False NoActionNeeded"


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_refused_deletion_of_a_pod_is_reported_until_the_pod_is_being_deleted(*, cancelled: bool) -> None:
    story = running_story()
    if cancelled:
        story.cancel()
    story.refusal = DENIED
    assert deleted(story.reconcile(pods.running(), later=60 * MINUTES)) == [POD_UID]
    assert story.condition(ConditionType.STALLED) == "True NotPermitted"
    assert story.message() == f"pod {RUN_NAME}-1 cannot be deleted; this is tried again: a webhook denied it"
    story.reconcile(pods.running(), deleting=story.now + 1 * MINUTES)
    assert story.condition(ConditionType.STALLED) == "False NoActionNeeded"


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_finished_run_reports_a_refused_release_by_an_event_because_its_status_is_final(*, cancelled: bool) -> None:
    story = finished_story(running_story())
    if cancelled:
        story.cancel()
    story.refusal = DENIED
    before = story.run.status
    assert event_reasons(story.reconcile(pods.ended(0))) == ["Warning NotPermitted"]
    assert story.run.status == before


def test_a_pod_without_our_finalizer_is_not_released() -> None:
    """An older operator created it, or a user removed its finalizer."""
    story = Story(backoffLimit=0)
    running_story(story)
    end = story.reconcile(pods.ended(1), guarded=False)
    assert (end.actions, story.run.status.phase) == ((), Phase.FAILED)


# A run that somebody deletes at its end


def test_a_run_with_an_unknown_result_stays_until_its_table_has_recorded_that() -> None:
    story = running_story(write_story())
    story.reconcile(pods.ended(40))
    assert story.run.status.phase is Phase.UNKNOWN
    assert story.reconcile(NO_POD).finalizer == "keep"
    story.cancel()
    assert story.reconcile(NO_POD).finalizer == "keep", "else the table would take it for a cancelled run"
    story.table = with_unknown_result(story)
    assert story.reconcile(NO_POD).finalizer == "remove"


@pytest.mark.parametrize("phase", [Phase.SUCCEEDED, Phase.FAILED])
def test_a_finished_run_that_is_deleted_stays_until_its_table_has_its_result(phase: Phase) -> None:
    story = finished_story(Story(), phase)
    story.cancel()
    assert story.reconcile(NO_POD).finalizer == "keep"
    story.set_active_run(None)
    assert story.reconcile(NO_POD).finalizer == "remove"


def test_a_finished_run_of_a_table_that_is_gone_can_be_deleted() -> None:
    story = finished_story(Story())
    story.cancel()
    story.table = None
    assert story.reconcile(NO_POD).finalizer == "remove"


def with_unknown_result(story: Story) -> PaimonTable:
    assert story.table is not None
    active = story.table.status.active_run
    assert active is not None
    noted = active.model_copy(update={"result_unknown": True})
    return story.table.model_copy(update={"status": story.table.status.model_copy(update={"active_run": noted})})
