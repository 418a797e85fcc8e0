"""Executors never outlive their driver, and no attempt begins beside those of an earlier one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.run_status import Phase, RunSpark
from paimon_operator.api.spark import SparkMode
from paimon_operator.core.pods import PodObserved, read_pod
from tests.support import pods
from tests.support.run_story import (
    MINUTES,
    NOT_THERE,
    RUN_NAME,
    Story,
    at_work,
    created,
    deleted,
    launched,
)

DRIVER = f"{RUN_NAME}-1"
LEFT = [f"uid-of-{DRIVER}-exec-{number}" for number in (1, 2)]
ENDED: dict[str, Any] = {"phase": "Succeeded", "containerStatuses": []}
GONE = ()


def executors(*, of: str = DRIVER, **status: Any) -> tuple[PodObserved, ...]:
    return tuple(read_pod(pods.executor(number, of=of, **status)) for number in (1, 2))


def with_executors() -> Story:
    story = Story()
    story.execution = RunSpark(mode=SparkMode.CLUSTER, message="asked for")
    return at_work(launched(story))


def killed(story: Story) -> Story:
    """The driver is killed, which is stored, and its Pod let go."""
    story.look(pods.ended(137, reason="Error"))
    story.look(pods.ended(137, reason="Error"))
    return story


def test_the_mode_is_stored_before_the_first_pod_is_made() -> None:
    assert with_executors().run.status.spark == RunSpark(mode=SparkMode.CLUSTER, message="asked for")


def test_executors_of_a_killed_driver_are_deleted_and_waited_for() -> None:
    story = killed(with_executors())
    story.executors = executors()
    assert deleted(story.look(pods.ended(137), later=MINUTES)) == LEFT
    assert story.condition(ConditionType.RECONCILING) == "True Stopping"
    assert f"{DRIVER}-exec-1, {DRIVER}-exec-2" in story.message()

    story.executors = executors(deleting=True)
    again = story.look(pods.ended(137))
    assert (again.actions, again.requeue_after) == ((), timedelta(seconds=30))

    story.executors = GONE
    assert f"Pod {RUN_NAME}-2" in created(story.look(pods.ended(137)))


def test_executors_that_have_ended_are_removed_and_not_waited_for() -> None:
    story = killed(with_executors())
    story.executors = executors(**ENDED)
    assert deleted(story.look(pods.ended(137), later=MINUTES)) == LEFT
    story.executors = executors(deleting=True, **ENDED)
    assert f"Pod {RUN_NAME}-2" in created(story.look(pods.ended(137)))


def test_a_run_that_is_over_goes_only_without_executors() -> None:
    story = with_executors()
    story.look(pods.ended(0, pods.result(story.run)))
    story.executors = executors()
    assert story.run.status.phase is Phase.SUCCEEDED
    assert deleted(story.look(pods.ended(0))) == LEFT
    story.executors = executors(deleting=True)
    assert story.look(pods.ended(0)).finalizer == "keep"
    story.executors = GONE
    assert story.look(pods.ended(0)).finalizer == "remove"


def test_a_cancelled_run_goes_only_without_executors() -> None:
    story = with_executors()
    story.cancel()
    story.look(pods.running())
    story.executors = executors()
    assert deleted(story.look(NOT_THERE)) == LEFT
    story.executors = executors(deleting=True)
    assert story.look(NOT_THERE).finalizer == "keep"
    story.executors = GONE
    assert story.look(NOT_THERE).finalizer == "remove"


def test_an_executor_on_a_node_that_is_given_up_is_waited_for_until_its_own_deadline() -> None:
    story = killed(with_executors())
    lost = pods.collected(pods.executor(1, of=DRIVER)["status"])
    story.executors = (read_pod(pods.executor(1, of=DRIVER, deleting=True, **lost)),)
    assert created(story.look(pods.ended(137), later=MINUTES)) == []
    # Longer than that no kubelet lets it live, even one that is cut off.
    assert created(story.look(pods.ended(137), later=timedelta(seconds=pods.DEADLINE_S) + 3 * MINUTES)) != []


@pytest.mark.parametrize(("status", "made"), [({}, False), (ENDED, True)])
def test_a_run_does_not_begin_beside_executors_of_another_one(status: dict[str, Any], made: bool) -> None:
    story = Story()
    story.others = executors(of="orders-compact-0c0ffee0-1", **status)
    assert bool(created(launched(story).look(NOT_THERE))) is made
