"""Executors are deleted after their driver, and no attempt starts beside those of an earlier attempt."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.pod_overlay import PodOverlay
from paimon_operator.api.run.spark import RunExecutors, RunSpark
from paimon_operator.api.run.status import Phase
from paimon_operator.api.spark import SparkMode
from paimon_operator.core.run.pod import PodObserved, read_pod
from paimon_operator.core.storage.access import Mount, SecretKey, ValueSource, Variable
from tests.support import pods
from tests.support.run_story import (
    MINUTES,
    NO_POD,
    RUN_NAME,
    Story,
    created,
    deleted,
    event_reasons,
    launched_story,
    running_story,
    two_executors,
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
    return running_story(launched_story(story))


def killed(story: Story) -> Story:
    """Ends the driver by a signal. The end is stored and the Pod released."""
    story.reconcile(pods.ended(137, reason="Error"))
    story.reconcile(pods.ended(137, reason="Error"))
    return story


def test_the_mode_is_stored_before_the_first_pod_is_made() -> None:
    assert with_executors().run.status.spark == RunSpark(mode=SparkMode.CLUSTER, message="asked for")


def test_executors_cost_as_much_time_as_their_driver() -> None:
    story = Story()
    story.plan, story.execution = PLAN, RunSpark(mode=SparkMode.CLUSTER, message="asked for")
    running_story(launched_story(story)).reconcile(pods.ended(0, pods.result(story.run)))  # 41 s
    status = story.run.status
    assert status.spark is not None
    assert status.spark.executors == RunExecutors(instances=2, cores=1, memory="1024Mi")
    assert status.cost is not None
    found = status.cost.pod_seconds, status.cost.core_seconds, status.cost.gib_seconds
    assert found == (3 * 41, (2 + 2) * 41, (2 + 2) * 41)


def a_variable(secret: str) -> tuple[Variable, ...]:
    return (Variable(name="KEY", secret_key=SecretKey(secret=secret, key="KEY")),)


def a_mount(secret: str) -> tuple[Mount, ...]:
    return (Mount(volume="keys", source=ValueSource.SECRET, name=secret, path="/etc/keys"),)


PLAN = {"executors": two_executors("paimon-spark"), "variables": a_variable("lake-s3"), "mounts": a_mount("lake-keys")}


def failed_once(*, known: bool = True) -> Story:
    """A run with executors. `known`: whether its operator has stored the hash of what they get."""
    story = Story()
    story.plan, story.execution = PLAN, RunSpark(mode=SparkMode.CLUSTER, message="asked for")
    running_story(launched_story(story))
    assert story.run.status.spark is not None
    assert story.run.status.spark.access_hash is not None
    if not known:
        older = story.run.status.model_copy(update={"spark": story.execution})
        story.run = story.run.model_copy(update={"status": older})
    return killed(story)


EDITS: list[tuple[str, dict[str, Any], bool]] = [
    ("nothing", {}, True),
    ("the image, the sizes of the driver", {"image": "spark:newer", "memory_mib": 4096, "cores": 4}, True),
    ("what executors look like", {"overlay": PodOverlay(labels={"team": "shop"})}, True),
    ("the Secret of a variable", {"variables": a_variable("other")}, False),
    ("the Secret of a mount", {"mounts": a_mount("other")}, False),
    ("one mount more", {"mounts": a_mount("lake-keys") + a_mount("more")}, False),
    ("none", {"mounts": ()}, False),
    ("the account", {"executors": two_executors("lake-spark")}, False),
    ("the account of drivers", {"executors": two_executors(driver="paimon-driver-lake")}, False),
]


@pytest.mark.parametrize(("edit", "goes_on"), [case[1:] for case in EDITS], ids=[case[0] for case in EDITS])
def test_an_edit_of_what_executors_get_ends_the_run(edit: dict[str, Any], *, goes_on: bool) -> None:
    """The executor template is immutable, so the next driver and its executors would differ."""
    story = failed_once()
    story.plan = PLAN | edit
    assert bool(created(story.reconcile(pods.ended(137), later=MINUTES))) is goes_on
    if not goes_on:
        assert (story.run.status.phase, story.condition(ConditionType.STALLED)) == (Phase.FAILED, "True SpecChanged")
        assert (
            story.message() == "the catalog was changed after this run's job was written. The table starts another run."
        )


def test_a_run_of_an_older_operator_continues_after_an_edit() -> None:
    story = failed_once(known=False)
    story.plan = PLAN | {"variables": a_variable("other")}
    assert f"Pod {RUN_NAME}-2" in created(story.reconcile(pods.ended(137), later=MINUTES))


def test_an_edit_does_not_affect_a_run_without_executors() -> None:
    story = Story()
    story.plan = {"variables": a_variable("lake-s3")}
    story.execution = RunSpark(mode=SparkMode.LOCAL, message="small")
    killed(running_story(launched_story(story)))
    story.plan = {"variables": a_variable("other")}
    assert f"Pod {RUN_NAME}-2" in created(story.reconcile(pods.ended(137), later=MINUTES))
    assert story.run.status.spark == story.execution


def test_executors_of_a_killed_driver_are_deleted_before_the_next_attempt() -> None:
    story = killed(with_executors())
    story.executors = executors()
    assert deleted(story.reconcile(pods.ended(137), later=MINUTES)) == LEFT
    assert story.condition(ConditionType.RECONCILING) == "True Stopping"
    assert f"{DRIVER}-exec-1, {DRIVER}-exec-2" in story.message()

    story.executors = executors(deleting=True)
    again = story.reconcile(pods.ended(137))
    assert (again.actions, again.requeue_after) == ((), timedelta(seconds=30))

    story.executors = GONE
    assert f"Pod {RUN_NAME}-2" in created(story.reconcile(pods.ended(137)))


def test_ended_executors_are_deleted_and_do_not_delay_the_next_attempt() -> None:
    story = killed(with_executors())
    story.executors = executors(**ENDED)
    assert deleted(story.reconcile(pods.ended(137), later=MINUTES)) == LEFT
    story.executors = executors(deleting=True, **ENDED)
    assert f"Pod {RUN_NAME}-2" in created(story.reconcile(pods.ended(137)))


def test_a_finished_run_keeps_its_finalizer_until_its_executors_are_deleted() -> None:
    story = with_executors()
    story.reconcile(pods.ended(0, pods.result(story.run)))
    story.executors = executors()
    assert story.run.status.phase is Phase.SUCCEEDED
    assert deleted(story.reconcile(pods.ended(0))) == LEFT
    story.executors = executors(deleting=True)
    assert story.reconcile(pods.ended(0)).finalizer == "keep"
    story.executors = GONE
    assert story.reconcile(pods.ended(0)).finalizer == "remove"


def test_a_cancelled_run_keeps_its_finalizer_until_its_executors_are_deleted() -> None:
    story = with_executors()
    story.cancel()
    story.reconcile(pods.running())
    story.executors = executors()
    assert deleted(story.reconcile(NO_POD)) == LEFT
    story.executors = executors(deleting=True)
    assert story.reconcile(NO_POD).finalizer == "keep"
    story.executors = GONE
    assert story.reconcile(NO_POD).finalizer == "remove"


def test_an_executor_on_a_removed_node_blocks_until_its_own_deadline() -> None:
    story = killed(with_executors())
    lost = pods.collected(pods.executor(1, of=DRIVER)["status"])
    story.executors = (read_pod(pods.executor(1, of=DRIVER, deleting=True, **lost)),)
    assert created(story.reconcile(pods.ended(137), later=MINUTES)) == []
    # Longer than that no kubelet lets it live, even one that is cut off.
    assert created(story.reconcile(pods.ended(137), later=timedelta(seconds=pods.DEADLINE_S) + 3 * MINUTES)) != []


SILENT_FROM = pods.FINISHED + MINUTES
FORCED = f"kubectl delete pod {DRIVER}-exec-1 {DRIVER}-exec-2 -n shop --force --wait=false"


def on_a_dead_node(story: Story) -> Story:
    """The driver has ended. Its executors are terminating, without a report for a minute."""
    story.executors = executors(deleting=True)
    story.now = SILENT_FROM
    return story


def test_the_next_attempt_waits_for_executors_on_an_unreachable_node_and_reports_the_override() -> None:
    story = on_a_dead_node(killed(with_executors()))
    waiting = story.reconcile(pods.ended(137))
    assert (waiting.actions, waiting.requeue_after) == ((), timedelta(seconds=30))
    assert (story.condition(ConditionType.STALLED), event_reasons(waiting)) == (
        "True NodeSilent",
        ["Warning NodeSilent"],
    )
    assert story.message().startswith(
        f"the node of pod {DRIVER}-exec-1, {DRIVER}-exec-2 is silent; an executor may still be running there. "
        "The run waits until 2026-11-21T09:27:00Z, when its kubelet's own deadline has passed. "
    )
    assert story.message().endswith(FORCED), "executors have no finalizer"
    assert event_reasons(story.reconcile(pods.ended(137), later=MINUTES)) == []
    story.executors = GONE
    assert f"Pod {RUN_NAME}-2" in created(story.reconcile(pods.ended(137)))
    assert story.condition(ConditionType.STALLED) == "False NoActionNeeded"


def test_a_recently_deleted_executor_is_not_unreachable() -> None:
    story = on_a_dead_node(killed(with_executors()))
    story.now = SILENT_FROM - timedelta(seconds=1)
    story.reconcile(pods.ended(137))
    assert story.condition(ConditionType.RECONCILING) == "True Stopping"


def test_a_cancelled_run_reports_its_executors_and_that_their_node_is_unreachable() -> None:
    story = with_executors()
    story.cancel()
    story.reconcile(pods.running())
    story.executors = executors(deleting=True)
    story.reconcile(NO_POD)
    assert story.condition(ConditionType.RECONCILING) == "True WaitingForPod"
    assert story.message() == (
        f"the run was cancelled and waits until its executors are gone: {DRIVER}-exec-1, {DRIVER}-exec-2"
    )
    waiting = on_a_dead_node(story).reconcile(NO_POD)
    assert (event_reasons(waiting), waiting.finalizer) == (["Warning NodeSilent"], "keep")
    assert story.message().endswith(FORCED)


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_finished_run_reports_the_unreachable_node_of_its_executors_by_one_event(*, cancelled: bool) -> None:
    """The status is final, so only the Event records the report."""
    story = with_executors()
    story.reconcile(pods.ended(0, pods.result(story.run)))
    if cancelled:
        story.cancel()
    final = story.run.status
    on_a_dead_node(story).now = SILENT_FROM - timedelta(seconds=40)
    told_in_time, looks = [], 0
    while story.now < SILENT_FROM + 10 * MINUTES:
        decision = story.reconcile(pods.ended(0), guarded=False)
        assert (decision.finalizer, decision.requeue_after is not None) == ("keep", True)
        told_in_time += [(story.now, event.note[-len(FORCED) :]) for event in decision.events]
        story.now += decision.requeue_after or MINUTES
        looks += 1
    assert told_in_time == [(SILENT_FROM, FORCED)], f"{looks} looks"
    assert story.run.status == final


def test_another_run_waits_for_an_executor_on_an_unreachable_node_and_reports_it_as_an_executor() -> None:
    story = Story()
    story.others = executors(of="orders-compact-0c0ffee0-1", deleting=True)
    launched_story(story)
    story.now = SILENT_FROM
    story.reconcile(NO_POD)
    assert story.condition(ConditionType.STALLED) == "True NodeSilent"
    assert "orders-compact-0c0ffee0-1-exec-1 is silent; an executor may" in story.message()


@pytest.mark.parametrize(("status", "made"), [({}, False), (ENDED, True)])
def test_a_run_starts_no_attempt_while_executors_of_another_run_exist(status: dict[str, Any], made: bool) -> None:
    story = Story()
    story.others = executors(of="orders-compact-0c0ffee0-1", **status)
    assert bool(created(launched_story(story).reconcile(NO_POD))) is made
