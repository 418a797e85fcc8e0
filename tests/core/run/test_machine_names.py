"""The names of a run's ConfigMap and Pods, which no other run and no application has."""

from __future__ import annotations

from datetime import timedelta

from paimon_operator.api.run.status import Attempt, AttemptState, Phase, RunStatus
from tests.support import pods
from tests.support.run_story import FIRST_POD, RUN_NAME, SECOND_POD, Story, created, launched_story


def test_the_operators_run_names_its_objects_after_itself() -> None:
    assert created(Story().reconcile()) == FIRST_POD


def test_a_users_run_names_its_objects_with_a_prefix() -> None:
    name = f"paimon-run-{RUN_NAME}"
    story = Story(trigger=None)
    assert created(story.reconcile()) == [f"ConfigMap {name}", f"Pod {name}-1"]
    assert (story.attempt.pod, story.run.status.job and story.run.status.job.config_map) == (f"{name}-1", name)


def test_a_run_that_release_0_1_started_keeps_its_names() -> None:
    """Its ConfigMap exists under the name of the run, and nothing is known of its content."""
    story = Story(trigger=None, backoffLimit=2)
    first = Attempt(number=1, state=AttemptState.RUNNING, pod=f"{RUN_NAME}-1", pod_uid="u", launched=story.now)
    story.reconcile()
    status = RunStatus(phase=Phase.RUNNING, attempts=(first,))
    story.run = story.run.model_copy(update={"status": status})
    story.reconcile()
    assert created(story.reconcile(later=timedelta(hours=1))) == SECOND_POD
    assert story.run.status.job is not None
    assert story.run.status.job.digest is None


def test_a_launch_that_release_0_1_decided_is_repeated_under_its_names() -> None:
    story = launched_story(Story(trigger=None))
    attempt = story.attempt.model_copy(update={"pod": f"{RUN_NAME}-1"})
    status = story.run.status.model_copy(update={"attempts": (attempt,), "job": None})
    story.run = story.run.model_copy(update={"status": status})
    assert created(story.reconcile()) == FIRST_POD
    story.reconcile(pods.running())
    assert story.run.status.phase is Phase.RUNNING
