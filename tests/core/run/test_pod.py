"""What is read of a Pod's JSON, in the forms in which it comes."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from paimon_operator.api.base import rfc3339
from paimon_operator.core.run.pod import PodPhase, read_pod
from tests.support import pods
from tests.support.builders import run, table

RUN = run("orders-compact-1", table=table())


def test_a_new_pod_has_not_started() -> None:
    body = pods.pod(RUN)
    del body["status"]
    seen = read_pod(body)
    assert (seen.phase, seen.ended, seen.container.started, seen.container.waiting, seen.container.terminated) == (
        PodPhase.PENDING, False, None, None, None,
    )  # fmt: skip
    assert seen.controller_uid == RUN.metadata.uid
    assert not seen.deleting


def test_a_running_pod_has_its_start_time() -> None:
    seen = pods.observed(RUN, status=pods.running())
    assert (seen.phase, seen.ended, seen.container.started) == (PodPhase.RUNNING, False, pods.STARTED)


def test_an_ended_pod_has_its_exit_code_and_message() -> None:
    seen = pods.observed(RUN, status=pods.ended(137, "the tail", reason="OOMKilled"))
    assert seen.ended
    assert seen.container.started == pods.STARTED
    terminated = seen.container.terminated
    assert terminated is not None
    assert (terminated.exit_code, terminated.reason) == (137, "OOMKilled")
    assert (terminated.message, terminated.finished) == ("the tail", pods.FINISHED)


def test_an_evicted_pod_has_ended_without_any_container_status() -> None:
    seen = pods.observed(RUN, status=pods.evicted())
    assert (seen.ended, seen.reason, seen.container.terminated) == (True, "Evicted", None)


def test_only_the_driver_container_counts_not_an_injected_sidecar() -> None:
    status = pods.running()
    sidecar = {"name": "istio-proxy", "state": {"terminated": {"exitCode": 1}}}
    seen = pods.observed(RUN, status=status | {"containerStatuses": [sidecar, *status["containerStatuses"]]})
    assert (seen.container.terminated, seen.container.started) == (None, pods.STARTED)


@pytest.mark.parametrize("status", [pods.waiting("ContainerCreating"), pods.unschedulable()])
def test_a_pod_whose_container_waits_has_not_started(status: pods.Json) -> None:
    assert pods.observed(RUN, status=status).container.started is None


def test_a_container_that_never_ran_has_no_start() -> None:
    status = pods.ended(128, reason="StartError")
    status["containerStatuses"][0]["state"]["terminated"]["startedAt"] = "1970-01-01T00:00:00Z"
    assert pods.observed(RUN, status=status).container.started is None


def test_the_phase_unknown_of_a_pod_on_an_unreachable_node_is_no_end() -> None:
    seen = pods.observed(RUN, status=pods.running() | {"phase": "Unknown", "reason": "NodeLost"})
    assert (seen.phase, seen.ended, seen.reason) == (PodPhase.UNKNOWN, False, "NodeLost")


def test_the_cause_of_a_disruption_is_read_from_the_pods_condition() -> None:
    assert pods.observed(RUN, status=pods.disrupted(143)).disruption == "Eviction API: evicting"


# What counts as the last word about a Pod

FAILED = {"phase": "Failed"}
NODE_LOST = FAILED | {"reason": "NodeLost"}
IN_TIME, OVERDUE = pods.FINISHED + timedelta(seconds=59), pods.FINISHED + timedelta(minutes=1)
AFTER_ITS_DEADLINE = pods.MADE + timedelta(seconds=pods.DEADLINE_S, minutes=2)


@pytest.mark.parametrize(
    ("status", "deleting", "ended"),
    [
        (pods.ended(0), False, True),
        (pods.ended(143), True, True),
        (pods.ended(137, reason="ContainerStatusUnknown"), True, True),
        (pods.collected(pods.ended(0)), True, True),
        (pods.evicted(), False, True),
        (FAILED | {"reason": "UnexpectedAdmissionError"}, False, True),
        (pods.unschedulable(), False, False),
        (pods.unschedulable(), True, True),
        (pods.waiting(), True, False),
        (pods.running(), True, False),
        (pods.running() | FAILED, True, False),
        (pods.running() | NODE_LOST, True, False),
        (pods.collected(pods.running()), True, False),
        (pods.collected(pods.waiting()), True, False),
    ],
    ids=[
        "well", "badly, deleted", "by a kubelet that was away", "and then collected", "evicted", "refused by its node",
        "no node yet", "no node, and never one", "deleted while it starts", "deleted while it runs",
        "failed by someone who is not its kubelet", "node lost", "node gone", "node gone while the container started",
    ],
)  # fmt: skip
def test_a_pod_has_ended_only_by_its_kubelets_report_unless_it_was_never_bound(
    status: pods.Json, deleting: bool, ended: bool
) -> None:
    assert pods.observed(RUN, status=status, deleting=deleting).ended == ended


@pytest.mark.parametrize(
    ("status", "deleting", "silent_in_time", "silent_overdue"),
    [
        (pods.running(), False, False, False),
        (pods.running(), True, False, True),
        (pods.waiting(), True, False, True),
        (pods.collected(pods.running()), True, True, True),
        (pods.ended(0), True, False, False),
        (pods.unschedulable(), True, False, False),
    ],
)
def test_a_node_is_unreachable_a_minute_after_the_grace_period_or_when_the_control_plane_failed_the_pod(
    status: pods.Json, deleting: bool, silent_in_time: bool, silent_overdue: bool
) -> None:
    seen = pods.observed(RUN, status=status, deleting=deleting)
    assert (seen.node_unreachable(IN_TIME), seen.node_unreachable(OVERDUE)) == (silent_in_time, silent_overdue)


def test_a_pod_on_an_unreachable_node_is_expired_once_its_kubelets_deadline_has_passed() -> None:
    seen = pods.observed(RUN, status=pods.running(), deleting=True)
    assert not seen.stopped_or_expired(AFTER_ITS_DEADLINE - timedelta(seconds=1))
    assert seen.stopped_or_expired(AFTER_ITS_DEADLINE)


def test_a_running_pod_never_ends_by_time_alone() -> None:
    assert not pods.observed(RUN, status=pods.running()).stopped_or_expired(AFTER_ITS_DEADLINE + timedelta(days=1))


@pytest.mark.parametrize("code", [0, 10, 20, 25, 30, 40])
def test_a_driver_that_exited_by_itself_has_ended_before_its_pods_phase_changes(code: int) -> None:
    """The phase comes a second later, and with a sidecar that hangs not at all."""
    seen = pods.observed(RUN, status=pods.ended(code) | {"phase": "Running"})
    assert seen.ended
    assert seen.stopped_or_expired(IN_TIME)


@pytest.mark.parametrize("code", [1, 3, 137, 143])
def test_the_cause_of_a_drivers_end_is_known_only_from_its_pods_phase(code: int) -> None:
    """Evicted, out of time, out of memory: all may be 137."""
    last_seen = pods.ended(code) | {"phase": "Running"}
    assert not pods.observed(RUN, status=last_seen).ended
    seen = pods.observed(RUN, status=last_seen, deleting=True)
    assert (seen.stopped_or_expired(IN_TIME), seen.stopped_or_expired(OVERDUE)) == (False, True), (
        "a sidecar may hang for ever"
    )


@pytest.mark.parametrize(
    ("status", "begun"),
    [
        ({}, pods.MADE),
        (
            {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": rfc3339(pods.STARTED)}]},
            pods.STARTED,
        ),
        ({"startTime": rfc3339(pods.FINISHED)}, pods.FINISHED),
    ],
    ids=["made", "given to a node", "seen by its kubelet"],
)
def test_a_kubelets_deadline_counts_from_the_start_of_the_pod(status: pods.Json, begun: datetime) -> None:
    kubelet_deadline = pods.observed(RUN, status=pods.running() | status).kubelet_deadline
    assert kubelet_deadline == begun + timedelta(seconds=pods.DEADLINE_S, minutes=2)


def test_a_pod_without_a_deadline_is_never_abandoned() -> None:
    body = pods.pod(RUN, **pods.running(), deleting=True)
    del body["spec"]["activeDeadlineSeconds"]
    assert not read_pod(body).stopped_or_expired(AFTER_ITS_DEADLINE + timedelta(days=365))
