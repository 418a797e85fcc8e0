"""The probes: the problems that make the kubelet restart the process."""

from __future__ import annotations

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.runtime.health import DEAF_AFTER, STUCK_AFTER, ProcessHealth
from paimon_operator.runtime.metrics import Metrics
from tests.support.virtual_time import VirtualTime


class WorkingProcess:
    """The health of a leader with a backlog that a test sets."""

    def __init__(self) -> None:
        self.time = VirtualTime()
        self.backlog = (0, 0.0)
        self.health = ProcessHealth(clock=self.time.seconds)
        self.health.working(backlog=lambda: self.backlog)


@pytest.fixture
def process() -> WorkingProcess:
    return WorkingProcess()


def test_a_process_that_waits_for_the_lease_is_live_without_a_time_limit() -> None:
    time = VirtualTime()
    health = ProcessHealth(clock=time.seconds)
    health.standby()
    time.advance(1_000_000)
    assert health.problems() == []


def test_a_heartbeat_that_is_not_received_makes_the_process_unhealthy(process: WorkingProcess) -> None:
    for _ in range(100):
        for namespace in ("shop", "bank"):
            process.health.on_renewal(namespace, True)
            process.health.on_heartbeat(namespace)
        process.time.advance(15)
        assert process.health.problems() == []
    for _ in range(8):
        for namespace in ("shop", "bank"):
            process.health.on_renewal(namespace, True)
        process.health.on_heartbeat("shop")
        process.time.advance(15)
    assert process.health.problems() == []
    process.time.advance(1)
    (problem,) = process.health.problems()
    assert "namespace bank" in problem
    assert process.health.heartbeat_age == DEAF_AFTER + 1


def test_a_heartbeat_that_cannot_be_written_is_not_awaited(process: WorkingProcess) -> None:
    """A watched namespace may not exist yet."""
    process.health.on_renewal("not-yet", True)
    process.health.on_renewal("not-yet", False)
    process.time.advance(DEAF_AFTER + 1)
    assert process.health.problems() == []


def test_a_heartbeat_of_an_unwatched_namespace_is_ignored(process: WorkingProcess) -> None:
    process.health.on_renewal("shop", True)
    process.time.advance(DEAF_AFTER + 1)
    process.health.on_heartbeat("elsewhere")
    assert len(process.health.problems()) == 1


BACKLOGS = [
    ("an empty queue for a long time", (0, -10_000), False),
    ("a long queue that moves", (20_000, -1), False),
    ("a queue that stands still", (1, -STUCK_AFTER - 1), True),
]


@pytest.mark.parametrize(("backlog", "unhealthy"), [case[1:] for case in BACKLOGS], ids=[case[0] for case in BACKLOGS])
def test_only_a_queue_without_progress_makes_the_process_unhealthy(
    process: WorkingProcess, backlog: tuple[int, float], unhealthy: bool
) -> None:
    process.backlog = backlog
    assert bool(process.health.problems()) == unhealthy


def test_the_metrics_are_prometheus_text_without_table_names() -> None:
    metrics = Metrics(version="1.2.3")
    metrics.queue(depth=lambda: 7, oldest_age=lambda: 1.5)
    metrics.watches(heartbeat_age=lambda: 3)
    metrics.count_heartbeat()
    metrics.leading(True)
    metrics.reconciled("PaimonTable", "ok", 0.2)
    metrics.requested("apply", "PaimonTable", 409, 0.01)
    metrics.runs.run_known("bank", "Compact")
    metrics.runs.attempt_ended("shop", "Write", Reason.OUT_OF_MEMORY, 60)
    metrics.runs.attempt_ended("shop", "Write", Reason.POD_LOST, 1)
    metrics.runs.run_ended("shop", "Write", "Failed", Reason.OUT_OF_MEMORY, 61)
    metrics.pod_shared(3)
    metrics.turn_answered(True)
    text = metrics.text().decode()
    for line in (
        "paimon_operator_queue_depth 7.0",
        "paimon_operator_queue_oldest_seconds 1.5",
        "paimon_operator_leader 1.0",
        "paimon_operator_watch_canary_awaited_seconds 3.0",
        "paimon_operator_watch_canaries_seen_total 1.0",
        'paimon_operator_build_info{version="1.2.3"} 1.0',
        'paimon_operator_reconcile_seconds_count{kind="PaimonTable",result="ok"} 1.0',
        'paimon_operator_api_request_seconds_count{code="409",kind="PaimonTable",verb="apply"} 1.0',
        'paimon_operator_runs_finished_total{phase="Failed",type="Write"} 1.0',
        'paimon_operator_run_attempts_total{reason="OutOfMemory",type="Write"} 1.0',
        'paimon_operator_namespace_runs_finished_total{namespace="shop",phase="Failed",type="Write"} 1.0',
        'paimon_operator_namespace_attempts_out_of_memory_total{namespace="shop",type="Write"} 1.0',
        'paimon_operator_used_pod_seconds_total{namespace="shop"} 61.0',
        'paimon_operator_namespace_runs_finished_total{namespace="bank",phase="Failed",type="Compact"} 0.0',
        'paimon_operator_namespace_runs_finished_total{namespace="bank",phase="Succeeded",type="Compact"} 0.0',
        'paimon_operator_namespace_attempts_out_of_memory_total{namespace="bank",type="Compact"} 0.0',
        'paimon_operator_used_pod_seconds_total{namespace="bank"} 0.0',
        "paimon_operator_shared_pods_total 1.0",
        "paimon_operator_shared_pod_runs_total 3.0",
        'paimon_operator_turns_total{began="true"} 1.0',
    ):
        assert line in text.splitlines(), line


def test_the_counters_of_a_namespace_without_objects_are_removed() -> None:
    metrics = Metrics(version="1.2.3")
    for namespace in ("shop", "bank"):
        metrics.runs.run_known(namespace, "Write")
        metrics.runs.attempt_ended(namespace, "Write", Reason.OUT_OF_MEMORY, 60)
        metrics.runs.run_ended(namespace, "Write", "Failed", Reason.OUT_OF_MEMORY, 61)
    metrics.runs.keep_namespaces({"bank"})
    assert 'namespace="shop"' in metrics.text().decode(), "its last values are not scraped yet"
    metrics.runs.keep_namespaces({"bank"})
    text = metrics.text().decode()
    assert 'namespace="shop"' not in text
    assert 'paimon_operator_used_pod_seconds_total{namespace="bank"} 60.0' in text
    assert 'paimon_operator_runs_finished_total{phase="Failed",type="Write"} 2.0' in text
