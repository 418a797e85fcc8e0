"""The state machine of a run that its user deletes: the run is removed after its Pods."""

from __future__ import annotations

import pytest

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.run.status import Phase
from tests.support import pods
from tests.support.pods import Json
from tests.support.run_story import (
    ABANDONED_AT,
    FORCE_DELETED,
    MINUTES,
    NO_POD,
    POD_UID,
    Story,
    cancelled_story,
    created,
    deleted,
    finished_story,
    launched_story,
    released,
    running_story,
)


def stopping_story() -> Story:
    """A cancelled run whose Pod is being deleted."""
    story = cancelled_story(running_story())
    first = story.reconcile(pods.running())
    assert (deleted(first), first.finalizer) == ([POD_UID], "keep")
    assert story.condition(ConditionType.RECONCILING) == "True WaitingForPod"
    second = story.reconcile(pods.running(), deleting=True)
    assert (second.actions, second.finalizer) == ((), "keep")
    return story


def test_the_pod_of_a_cancelled_run_is_released_after_its_kubelets_report_and_the_run_after_its_pod() -> None:
    story = stopping_story()
    report = story.reconcile(pods.ended(143), deleting=True)
    assert (released(report), report.finalizer) == ([POD_UID], "keep")
    assert story.reconcile(pods.ended(143), deleting=True).finalizer == "keep", "the kubelet still removes the Pod"
    assert story.reconcile(NO_POD).finalizer == "remove"


def test_a_cancelled_run_whose_pod_disappears_without_a_report_is_removed() -> None:
    assert stopping_story().reconcile(NO_POD).finalizer == "remove"


@pytest.mark.parametrize(("status", "how"), [(pods.ended(0), {}), (pods.unschedulable(), {"deleting": True})])
def test_the_pod_of_a_cancelled_run_in_which_nothing_runs_is_released_at_once(status: Json, how: Json) -> None:
    story = cancelled_story(launched_story())
    assert released(story.reconcile(status, **how)) == [POD_UID]


def test_a_cancelled_run_waits_for_an_unreachable_node_and_is_removed_once_the_pod_is_abandoned() -> None:
    story = cancelled_story(running_story())
    waiting = story.reconcile(pods.running(), later=2 * MINUTES, **FORCE_DELETED)
    assert (waiting.actions, waiting.finalizer) == ((), "keep")
    assert story.condition(ConditionType.STALLED) == "True NodeSilent"
    story.now = ABANDONED_AT
    assert released(story.reconcile(pods.running(), **FORCE_DELETED)) == [POD_UID]
    assert story.reconcile(pods.running(), **FORCE_DELETED).finalizer == "remove", "a released Pod blocks nothing"


@pytest.mark.parametrize("deleting", [False, True])
def test_a_run_that_is_deleted_while_its_driver_succeeds_keeps_the_result_until_its_table_has_it(
    deleting: bool,
) -> None:
    story = cancelled_story(running_story())
    ended = pods.ended(0, pods.result(story.run))
    first = story.reconcile(ended, deleting=deleting)
    assert (released(first), first.finalizer, story.run.status.phase) == ([POD_UID], "keep", Phase.SUCCEEDED)
    assert story.reconcile(NO_POD).finalizer == "keep", "its table would take it for cancelled"
    story.set_active_run(None)
    assert story.reconcile(NO_POD).finalizer == "remove"


@pytest.mark.parametrize(("status", "stops"), [(pods.ended(0), []), (pods.running(), [POD_UID])])
def test_a_run_that_is_deleted_after_its_end_releases_its_pod_first(status: Json, stops: list[str]) -> None:
    story = cancelled_story(finished_story(running_story()))
    first = story.reconcile(status)
    assert (deleted(first), first.finalizer, first.status) == (stops, "keep", None)
    assert released(first if not stops else story.reconcile(pods.ended(143), deleting=True)) == [POD_UID]
    story.set_active_run(None)
    assert story.reconcile(pods.ended(0)).finalizer == "remove", "the Pod stays as history until it is collected"


@pytest.mark.parametrize(
    ("story", "pod", "owner"),
    [
        (Story(named=False), NO_POD, {}),
        (launched_story(), NO_POD, {}),
        (launched_story(), pods.running(), {"owner_uid": "uid-of-another-object"}),
    ],
    ids=["never launched", "its Pod was never created", "a foreign Pod has the name"],
)
def test_a_cancelled_run_without_a_pod_of_its_own_is_removed_at_once(
    story: Story, pod: Json | None, owner: Json
) -> None:
    decision = cancelled_story(story).reconcile(pod, **owner)
    assert (decision.actions, decision.finalizer) == ((), "remove")


def test_a_cancelled_run_creates_no_pod() -> None:
    assert created(cancelled_story(Story()).reconcile()) == []


def test_a_deleted_run_without_our_finalizer_is_not_changed() -> None:
    story = cancelled_story(Story())
    story.reconcile()
    decision = story.reconcile()
    assert (decision.status, decision.finalizer, decision.actions) == (None, "keep", ())
