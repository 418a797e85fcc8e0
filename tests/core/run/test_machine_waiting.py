"""The state machine while a Pod is pending, and when it runs too long."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.run.status import AttemptState, FailureClass, Phase
from paimon_operator.core.decision import Create
from tests.support import pods
from tests.support.pods import Json
from tests.support.run_story import (
    MINUTES,
    NO_POD,
    POD_UID,
    RUN_NAME,
    Story,
    deleted,
    event_reasons,
    launched_story,
    running_story,
)

# Pending Pods


def test_a_pending_pod_reports_what_it_mounts() -> None:
    """No field of a Pod reports a missing ConfigMap, so all are named but the run's own, which always exists."""
    story = launched_story()
    volumes = [
        {"name": "job", "configMap": {"name": "the-runs-own"}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "hadoop", "configMap": {"name": "hadoop-conf"}},
        {"name": "keytab", "secret": {"secretName": "lake-keytab"}},
    ]
    story.reconcile(pods.waiting(), later=MINUTES, volumes=volumes)
    assert "it cannot without ConfigMap hadoop-conf, Secret lake-keytab, each with its keys" in story.message()


@pytest.mark.parametrize(
    ("status", "condition", "words"),
    [
        (pods.waiting(), "Reconciling PodPending", "waiting for its container"),
        (pods.unschedulable(), "Reconciling Unschedulable", "Insufficient memory"),
        (
            pods.waiting("CreateContainerConfigError", 'secret "lake-s3" not found'),
            "Stalled SecretNotFound",
            'secret "lake-s3" not found',
        ),
        (
            pods.waiting("CreateContainerConfigError", "couldn't find key AWS_ACCESS_KEY_ID in Secret shop/lake-s3"),
            "Stalled SecretNotFound",
            "couldn't find key AWS_ACCESS_KEY_ID",
        ),
        (
            pods.waiting("CreateContainerConfigError", "failed to sync secret cache: timed out waiting"),
            "Reconciling PodPending",
            "waits for its node: failed to sync secret cache",
        ),
        (
            pods.waiting("CreateContainerConfigError", "container has runAsNonRoot"),
            "Stalled PodNotStarted",
            "runAsNonRoot",
        ),
        (pods.waiting("ErrImagePull", "401 Unauthorized"), "Stalled ImagePullFailed", "401 Unauthorized"),
        (pods.waiting("ErrImageNeverPull", "image is not present"), "Stalled ImagePullFailed", "not present"),
        (pods.waiting("InvalidImageName", "bad reference"), "Stalled ImagePullFailed", "bad reference"),
    ],
)
def test_a_pending_pod_reports_what_it_waits_for_and_costs_no_attempt(status: Json, condition: str, words: str) -> None:
    story = launched_story()
    assert story.reconcile(status, later=MINUTES).actions == ()
    type_, reason = condition.split()
    assert story.condition(ConditionType(type_)) == f"True {reason}"
    assert words in story.message()
    assert (story.run.status.phase, len(story.run.status.attempts)) == (Phase.LAUNCHING, 1)


def test_the_back_off_of_an_image_pull_does_not_hide_its_cause() -> None:
    story = launched_story()
    story.reconcile(pods.waiting("ErrImagePull", "401 Unauthorized"))
    before = story.run.status
    story.reconcile(pods.waiting("ImagePullBackOff", "Back-off pulling image"))
    assert story.run.status == before


def test_the_same_attempt_continues_once_the_secret_exists() -> None:
    story = launched_story()
    story.reconcile(pods.waiting("CreateContainerConfigError", 'secret "lake-s3" not found'))
    decision = story.reconcile(pods.running(), later=MINUTES)
    assert (story.run.status.phase, len(story.run.status.attempts)) == (Phase.RUNNING, 1)
    assert story.condition(ConditionType.STALLED) == "False NoActionNeeded"
    assert event_reasons(decision) == []


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (pods.waiting("CreateContainerConfigError", 'secret "lake-s3" not found'), "SecretNotFound"),
        (pods.waiting(), "PodNotStarted"),
    ],
)
def test_a_pod_that_is_pending_too_long_is_deleted_and_the_run_fails_by_its_environment(
    status: Json, reason: str
) -> None:
    story = launched_story()
    stop = story.reconcile(status, later=10 * MINUTES)
    assert deleted(stop) == [f"uid-of-{RUN_NAME}-1"]
    assert story.attempt.state is AttemptState.STOPPING
    story.reconcile(status, deleting=True)
    assert story.run.status.phase not in (Phase.FAILED, Phase.PENDING)
    story.reconcile(NO_POD)
    assert (story.run.status.phase, story.run.status.failure_class) == (Phase.FAILED, FailureClass.ENVIRONMENT)
    assert story.condition(ConditionType.SUCCEEDED) == f"False {reason}"
    assert "did not start within 10 min" in story.message()
    assert len(story.run.status.attempts) == 1


def test_a_pod_that_is_unschedulable_too_long_is_deleted_and_its_attempt_ends() -> None:
    story = launched_story()
    assert deleted(story.reconcile(pods.unschedulable(), later=10 * MINUTES)) == [POD_UID]
    story.reconcile(pods.unschedulable(), deleting=True)
    assert (story.run.status.phase, story.run.status.failure_class) == (Phase.FAILED, FailureClass.ENVIRONMENT)
    assert story.condition(ConditionType.SUCCEEDED) == "False Unschedulable"


# The deadline


def test_the_deadline_counts_from_the_start_of_the_container() -> None:
    story = launched_story(Story(activeDeadline="90s"))
    story.reconcile(pods.waiting(), later=5 * MINUTES)
    late = pods.running(started=story.now)
    running = story.reconcile(late, later=timedelta(seconds=60))
    assert (running.actions, running.requeue_after) == ((), timedelta(seconds=30))
    assert deleted(story.reconcile(late, later=timedelta(seconds=30))) == [f"uid-of-{RUN_NAME}-1"]


def test_a_run_over_its_deadline_fails_once_its_pod_has_ended_and_is_not_retried() -> None:
    story = running_story()
    story.reconcile(pods.running(), later=60 * MINUTES)
    assert (story.attempt.state, story.run.status.phase) == (AttemptState.STOPPING, Phase.RUNNING)
    again = story.reconcile(pods.running())
    assert deleted(again) == [f"uid-of-{RUN_NAME}-1"], "killed between intent and deletion"
    assert story.reconcile(pods.running(), deleting=True).actions == ()
    story.reconcile(NO_POD)
    assert (story.run.status.phase, story.run.status.failure_class) == (Phase.FAILED, FailureClass.DEADLINE)
    assert "activeDeadline, 60 min" in story.message()


@pytest.mark.parametrize(
    ("status", "phase", "reason"),
    [
        (pods.ended(143), Phase.FAILED, "DeadlineExceeded"),
        (pods.ended(40), Phase.UNKNOWN, "ResultUnknown"),
    ],
)
def test_the_result_of_a_stopped_pod_counts_only_if_it_forbids_a_retry(status: Json, phase: Phase, reason: str) -> None:
    story = running_story()
    story.reconcile(pods.running(), later=60 * MINUTES)
    story.reconcile(status, deleting=True)
    assert (story.run.status.phase, story.attempt.reason) == (phase, reason)


def test_a_driver_that_finished_just_before_it_was_stopped_has_succeeded() -> None:
    story = running_story()
    story.reconcile(pods.running(), later=60 * MINUTES)
    story.reconcile(pods.ended(0, pods.result(story.run)), deleting=True)
    assert (story.run.status.phase, story.attempt.failure_class) == (Phase.SUCCEEDED, None)


def test_the_deadlines_of_kubelet_and_container_are_later_than_the_runs_own() -> None:
    pod = next(
        each
        for each in Story(activeDeadline="90s").reconcile().actions
        if isinstance(each, Create) and each.kind == "Pod"
    )
    kubelets = pod.body["spec"]["activeDeadlineSeconds"]
    (own,) = [e["value"] for e in pod.body["spec"]["containers"][0]["env"] if e["name"] == "DRIVER_DEADLINE_S"]
    assert kubelets >= 90 + 10 * 60
    assert 90 < int(own) <= kubelets - 10 * 60, (
        "a container that was pending for that long is over by then all the same"
    )
