"""A run that can never start ends: its user may not delete it, and its table, or another one's object, waits for it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, Phase
from paimon_operator.core.decision import Refusal
from tests.support import pods
from tests.support.run_story import NO_POD, Story, created, launched_story

HOUR = timedelta(hours=1)
REFUSALS = [
    Refusal(reason=Reason.NAME_TAKEN, message="ConfigMap paimon-run-x exists already and has no owner"),
    Refusal(reason=Reason.NOT_PERMITTED, message="activeDeadlineSeconds: must be at most 2147483647"),
    Refusal(reason=Reason.NOT_PERMITTED, message="exceeded quota: limits.cpu"),
]


def by_user() -> Story:
    return launched_story(Story(trigger=None))


@pytest.mark.parametrize("refusal", REFUSALS, ids=["name taken", "422", "quota"])
def test_a_users_run_whose_pod_is_refused_fails_within_an_hour_and_says_what_to_do(refusal: Refusal) -> None:
    """S3: a maintainer held a table for ever, with one run that the maintainer could not delete."""
    story = by_user()
    story.refusal = refusal
    assert created(story.reconcile(NO_POD, later=timedelta(minutes=29))) != [], "tried again until then"
    decision = story.reconcile(NO_POD, later=timedelta(minutes=2))
    assert created(decision) == []
    assert (story.run.status.phase, story.run.status.failure_class) == (Phase.FAILED, FailureClass.ENVIRONMENT)
    assert story.condition(ConditionType.SUCCEEDED) == f"False {refusal.reason}"
    assert story.message().startswith(
        f"the run could not start within 30 min and was ended: {refusal.message}. Create "
    )


def test_a_users_run_whose_pods_name_another_object_has_fails_within_an_hour() -> None:
    story = by_user()
    story.reconcile(pods.running(), owner_uid="uid-of-another-object")
    decision = story.reconcile(pods.running(), owner_uid="uid-of-another-object", later=HOUR)
    assert decision.actions == (), "the Pod of another object stays"
    assert story.condition(ConditionType.SUCCEEDED) == "False NameTaken"
    assert story.message().endswith("Create a run with another name")


def test_a_users_run_of_a_table_that_does_not_exist_fails_within_an_hour() -> None:
    story = Story(trigger=None, named=False)
    story.table = None
    metadata = story.run.metadata.model_copy(update={"creation_timestamp": story.now})
    story.run = story.run.model_copy(update={"metadata": metadata})
    for _ in range(2):
        story.reconcile()
    assert story.condition(ConditionType.STALLED) == "True TableNotFound"
    story.reconcile(later=HOUR)
    assert (story.run.status.phase, story.condition(ConditionType.SUCCEEDED)) == (Phase.FAILED, "False TableNotFound")


def test_a_users_run_that_waits_for_its_place_waits_longer() -> None:
    story = Story(trigger=None, named=False)
    metadata = story.run.metadata.model_copy(update={"creation_timestamp": story.now})
    story.run = story.run.model_copy(update={"metadata": metadata})
    for _ in range(3):
        story.reconcile(later=HOUR)
    assert story.run.status.phase is Phase.PENDING


@pytest.mark.parametrize("refusal", REFUSALS, ids=["name taken", "422", "quota"])
def test_the_operators_own_run_ends_like_one_whose_pod_does_not_start_and_its_table_starts_another(
    refusal: Refusal,
) -> None:
    """S1: with such a run a tenant held the claim to a table of another namespace for ever."""
    story = launched_story()
    story.refusal = refusal
    assert created(story.reconcile(NO_POD, later=timedelta(minutes=9))) != [], "tried again until then"
    assert story.condition(ConditionType.STALLED) == f"True {refusal.reason}"
    assert created(story.reconcile(NO_POD, later=timedelta(minutes=1))) == []
    assert (story.run.status.phase, story.run.status.failure_class) == (Phase.FAILED, FailureClass.ENVIRONMENT)
    assert story.message() == f"the run could not start within 10 min and was ended: {refusal.message}."


def test_a_deadline_that_an_older_crd_took_fits_into_a_pod() -> None:
    """`activeDeadline: 99999d` was a Pod that the API server refuses for ever."""
    story = Story(activeDeadline="99999d")
    story.reconcile()
    assert story.observe(None).backstop < timedelta(seconds=2**31)
