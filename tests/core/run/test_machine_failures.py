"""The state machine after a failed attempt: another attempt, a failure, or an unknown result."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.run.status import FailureClass, Phase
from paimon_operator.core.config import RunLimits
from paimon_operator.errors import RunEnvironmentError, SpecError
from tests.support import pods
from tests.support.pods import Json
from tests.support.run_story import (
    MINUTES,
    NO_POD,
    RUN_NAME,
    SECOND_POD,
    Story,
    created,
    deleted,
    launched_story,
    running_story,
    write_story,
)


@pytest.mark.parametrize(
    ("status", "phase", "failure_class"),
    [
        (pods.ended(20), Phase.FAILED, FailureClass.SPEC),
        (pods.ended(25), Phase.FAILED, FailureClass.ENVIRONMENT),
        (pods.ended(40), Phase.UNKNOWN, FailureClass.RESULT_UNKNOWN),
    ],
    ids=["the manifest must be edited", "the environment must be fixed", "unknown whether it was committed"],
)
def test_some_failures_end_the_run_at_once(status: Json, phase: Phase, failure_class: FailureClass) -> None:
    story = running_story()
    decision = story.reconcile(status)
    assert (story.run.status.phase, story.run.status.failure_class) == (phase, failure_class)
    assert story.condition(ConditionType.STALLED).startswith("True")
    assert [event.type_ for event in decision.events] == ["Warning"]


@pytest.mark.parametrize(
    "status",
    [pods.ended(10), pods.ended(30), pods.ended(1), pods.ended(137), pods.evicted(), pods.ended(0), NO_POD],
    ids=["conflict", "infrastructure", "crash", "out of memory", "evicted", "no result", "lost"],
)
def test_other_failures_are_retried_after_a_delay_until_the_limit(status: Json | None) -> None:
    story = running_story(Story(backoffLimit=1))
    first = story.reconcile(status)
    assert (story.run.status.phase, created(first)) == (Phase.PENDING, [])
    assert first.requeue_after is not None
    assert story.condition(ConditionType.RECONCILING) == "True BackingOff"
    assert story.reconcile(status, later=first.requeue_after / 2).actions == (), "too early"
    assert created(story.reconcile(status, later=first.requeue_after)) == SECOND_POD
    story.reconcile(pods.running())
    story.reconcile(status)
    assert (story.run.status.phase, len(story.run.status.attempts)) == (Phase.FAILED, 2)
    assert "2 attempts failed, the last one: " in story.message()


def test_a_next_try_that_a_clock_ahead_has_stored_is_made_now() -> None:
    story = running_story(Story(backoffLimit=1))
    story.reconcile(pods.ended(30), later=timedelta(days=365))
    assert story.run.status.next_try is not None
    assert created(story.reconcile(pods.ended(30), later=timedelta(days=-364))) == SECOND_POD


def test_a_run_without_retries_fails_at_its_first_failure() -> None:
    story = running_story(Story(backoffLimit=0))
    story.reconcile(pods.ended(1, "boom"))
    assert story.run.status.phase is Phase.FAILED
    assert story.message() == "1 attempt failed, the last one: the driver ended with exit code 1; its log ends: boom"


def test_the_tables_limit_applies_to_a_run_without_one() -> None:
    story = running_story()
    story.limits = RunLimits(backoff_limit=0)
    story.reconcile(pods.ended(1))
    assert story.run.status.phase is Phase.FAILED


def test_an_attempt_after_out_of_memory_gets_half_as_much_memory_more_up_to_four_times() -> None:
    story = running_story(Story(backoffLimit=9, activeDeadline="1d"))
    for _ in range(9):
        story.reconcile(pods.ended(137, reason="OOMKilled"))
        story.reconcile(NO_POD, later=10 * MINUTES)
        story.reconcile(pods.running())
    sizes = [attempt.memory for attempt in story.run.status.attempts]
    assert sizes == ["2048Mi", "3072Mi", "4608Mi", "6912Mi"] + ["8192Mi"] * 6


def test_more_memory_is_kept_when_a_later_attempt_fails_otherwise() -> None:
    story = running_story()
    for status in (pods.ended(137), pods.ended(1)):
        story.reconcile(status)
        story.reconcile(NO_POD, later=10 * MINUTES)
        story.reconcile(pods.running())
    assert [attempt.memory for attempt in story.run.status.attempts] == ["2048Mi", "3072Mi", "3072Mi"]


def test_a_write_with_exit_code_0_and_no_result_is_unknown_when_no_attempt_is_left() -> None:
    story = running_story(write_story(backoffLimit=1))
    story.reconcile(pods.ended(0))
    story.reconcile(NO_POD, later=MINUTES)
    story.reconcile(pods.ended(30))
    assert (story.run.status.phase, story.run.status.failure_class) == (Phase.UNKNOWN, FailureClass.RESULT_UNKNOWN)
    assert story.condition(ConditionType.SUCCEEDED) == "Unknown ResultUnknown"
    assert story.condition(ConditionType.STALLED) == "True ResultUnknown"
    assert "delete the PaimonRun to continue" in story.message()


def test_a_write_whose_next_attempt_found_the_lost_commit_has_succeeded() -> None:
    story = running_story(write_story())
    story.reconcile(pods.ended(0))
    story.reconcile(NO_POD, later=MINUTES)
    story.reconcile(pods.ended(0, pods.result(story.run, write={"files": 2, "rows": 7, "alreadyCommitted": True})))
    assert story.run.status.phase is Phase.SUCCEEDED
    assert story.message() == "7 rows of 2 files were loaded by an earlier attempt"


def test_the_next_attempt_waits_for_a_lost_pod_that_appears_again() -> None:
    story = running_story()
    story.reconcile(NO_POD)
    ghost = story.reconcile(pods.running(), later=60 * MINUTES)
    assert (deleted(ghost), created(ghost)) == ([f"uid-of-{RUN_NAME}-1"], [])
    assert story.reconcile(pods.running(), deleting=True).actions == ()
    assert created(story.reconcile(NO_POD)) == SECOND_POD


@pytest.mark.parametrize(
    ("error", "failure_class", "reason", "field"),
    [
        (
            SpecError(
                "spec.writes[0]", "there is no write import", "Use one of the table's writes.", reason="WriteNotFound"
            ),
            FailureClass.SPEC,
            "WriteNotFound",
            "spec.writes[0]",
        ),
        (
            RunEnvironmentError("the catalog lake does not exist", "Make it.", reason="CatalogNotFound"),
            FailureClass.ENVIRONMENT,
            "CatalogNotFound",
            None,
        ),
    ],
)
def test_a_run_whose_job_cannot_be_built_fails_without_a_pod(
    error: Exception, failure_class: FailureClass, reason: str, field: str | None
) -> None:
    story = Story()
    story.launch_error = error
    assert story.reconcile().actions == ()
    status = story.run.status
    assert (status.phase, status.failure_class, status.field, status.attempts) == (
        Phase.FAILED,
        failure_class,
        field,
        (),
    )
    assert story.condition(ConditionType.SUCCEEDED) == f"False {reason}"
    assert story.message() == str(error)


def test_a_run_whose_catalog_changed_its_engine_between_attempts_ends_as_spec_changed() -> None:
    """The ConfigMap of the first attempt is immutable. The image of the other engine would refuse its job."""
    story = running_story()
    story.reconcile(pods.ended(30))
    story.engine = "paimon-0.9"
    assert story.reconcile(later=MINUTES).actions == ()
    assert (story.run.status.phase, story.run.status.failure_class) == (Phase.FAILED, FailureClass.ENVIRONMENT)
    assert story.condition(ConditionType.SUCCEEDED) == "False SpecChanged"
    assert "engine was changed from paimon-1.4 to paimon-0.9" in story.message()
    assert len(story.run.status.attempts) == 1


def test_a_failed_run_reports_the_drivers_error() -> None:
    story = launched_story(Story(type="Provision", compact=None))
    message = pods.error(
        story.run, "Spec", "TableDiffers", "column amount has another type", field="spec.schema.columns[1].type"
    )
    told_by_driver = message[:-1] + ', "differences": ["amount: INT in the table, BIGINT in the manifest"]}'
    story.reconcile(pods.ended(20, told_by_driver))
    assert story.run.status.field == "spec.schema.columns[1].type"
    assert story.run.status.differences == ("amount: INT in the table, BIGINT in the manifest",)
    assert story.condition(ConditionType.SUCCEEDED) == "False TableDiffers"


def test_the_cost_is_not_negative_when_the_clock_of_the_node_is_ahead() -> None:
    story = launched_story(Story(backoffLimit=0))
    story.reconcile(pods.running(started=story.now + MINUTES))
    story.reconcile(NO_POD, later=timedelta(seconds=30))
    cost = story.run.status.cost
    assert cost is not None
    assert (story.run.status.phase, cost.pod_seconds) == (Phase.FAILED, 0)
