"""What is read of a Pod's JSON, in the forms in which it comes."""

from __future__ import annotations

import pytest

from paimon_operator.core.pods import PodPhase, read_pod
from tests.support import pods
from tests.support.builders import run, table

RUN = run("orders-compact-1", table=table())


def test_a_pod_that_was_just_made_has_no_status_to_speak_of() -> None:
    body = pods.pod(RUN)
    del body["status"]
    seen = read_pod(body)
    assert (seen.phase, seen.terminal, seen.started, seen.waiting, seen.terminated) == (
        PodPhase.PENDING, False, None, None, None,
    )  # fmt: skip
    assert seen.controller_uid == RUN.metadata.uid
    assert not seen.deleting


def test_a_running_pod_says_since_when() -> None:
    seen = pods.observed(RUN, status=pods.running())
    assert (seen.phase, seen.terminal, seen.started) == (PodPhase.RUNNING, False, pods.STARTED)


def test_an_ended_pod_says_how() -> None:
    seen = pods.observed(RUN, status=pods.ended(137, "the tail", reason="OOMKilled"))
    assert seen.terminal
    assert seen.started == pods.STARTED
    assert seen.terminated is not None
    assert (seen.terminated.exit_code, seen.terminated.reason, seen.terminated.message, seen.terminated.finished) == (
        137, "OOMKilled", "the tail", pods.FINISHED,
    )  # fmt: skip


def test_an_evicted_pod_is_terminal_without_any_container_status() -> None:
    seen = pods.observed(RUN, status=pods.evicted())
    assert (seen.terminal, seen.reason, seen.terminated) == (True, "Evicted", None)


def test_only_the_driver_container_counts_not_an_injected_sidecar() -> None:
    status = pods.running()
    sidecar = {"name": "istio-proxy", "state": {"terminated": {"exitCode": 1}}}
    seen = pods.observed(RUN, status=status | {"containerStatuses": [sidecar, *status["containerStatuses"]]})
    assert (seen.terminated, seen.started) == (None, pods.STARTED)


@pytest.mark.parametrize("status", [pods.waiting("ContainerCreating"), pods.unschedulable()])
def test_a_pod_whose_container_waits_has_not_started(status: pods.Json) -> None:
    assert pods.observed(RUN, status=status).started is None


def test_a_container_that_never_ran_has_no_start() -> None:
    status = pods.ended(128, reason="StartError")
    status["containerStatuses"][0]["state"]["terminated"]["startedAt"] = "1970-01-01T00:00:00Z"
    assert pods.observed(RUN, status=status).started is None


def test_a_node_that_does_not_answer_shows_as_phase_unknown_which_is_not_terminal() -> None:
    seen = pods.observed(RUN, status=pods.running() | {"phase": "Unknown", "reason": "NodeLost"})
    assert (seen.phase, seen.terminal, seen.reason) == (PodPhase.UNKNOWN, False, "NodeLost")


def test_who_pushed_a_pod_off_its_node_is_read_from_its_condition() -> None:
    assert pods.observed(RUN, status=pods.disrupted(143)).disruption == "Eviction API: evicting"
