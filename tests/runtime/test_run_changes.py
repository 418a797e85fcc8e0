"""The history of runs: one line of the log, and one count, for each start and end of an attempt and of a run."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.errors import RetryableError
from paimon_operator.runtime import logs
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, orders, provisioned, shop
from tests.support.manifests import run
from tests.support.object_store import Fault

BY_HAND = "orders-compact-by-hand"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The log of the process at level INFO."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    logs.set_up("INFO", stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


def lines_about(log: io.StringIO, run_name: str) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in log.getvalue().splitlines()]
    return [record for record in records if record.get("run") == run_name]


async def started(operator: OperatorInMemory) -> str:
    """The Pod of a run that a user requested, whose container has started after half a minute."""
    await provisioned(operator)
    await operator.apply(shop(run()))
    pod = f"paimon-run-{BY_HAND}-1"
    await operator.pass_time(seconds=30)
    moment = operator.time.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    running = [{"name": "driver", "state": {"running": {"startedAt": moment}}}]
    operator.store.set_status(Kind.POD, SHOP, pod, {"phase": "Running", "containerStatuses": running})
    await operator.settle()
    return pod


async def test_an_attempt_has_one_line_at_its_start_and_one_at_its_end(
    operator: OperatorInMemory, log: io.StringIO
) -> None:
    pod = await started(operator)
    await operator.end_pod(pod)
    about = {"kind": "PaimonRun", "namespace": SHOP, "name": BY_HAND, "run": BY_HAND}
    about |= {"table": "orders", "type": "Compact"}
    start, end, last = lines_about(log, BY_HAND)
    assert {**start, **about, "pod": pod, "attempt": 1, "level": "INFO"} == start
    assert {**end, **about, "pod": pod, "attempt": 1, "reason": "RunSucceeded", "seconds": 0.0} == end
    assert {**last, **about, "phase": "Succeeded", "reason": "RunSucceeded"} == last
    assert "pod" not in last
    assert start["message"] == f"PaimonRun {SHOP}/{BY_HAND}: attempt 1 starts (Pod {pod})"
    assert end["message"] == f"PaimonRun {SHOP}/{BY_HAND}: attempt 1 ended after 0 s: RunSucceeded (Pod {pod})"


async def test_an_attempt_that_fails_and_the_next_one_are_counted_by_reason(
    operator: OperatorInMemory, log: io.StringIO
) -> None:
    pod = await started(operator)
    await operator.end_pod(pod, exit_code=137)
    await operator.pass_time(minutes=10)
    attempts = [each for each in operator.run_metrics.attempts if each[0] == "Compact"]
    assert [reason for _, reason, _ in attempts] == ["OutOfMemory"]
    said = [(line.get("attempt"), line.get("reason")) for line in lines_about(log, BY_HAND)]
    assert said == [(1, None), (1, "OutOfMemory"), (2, None)]


async def test_the_wait_for_a_container_is_measured_from_the_decision(operator: OperatorInMemory) -> None:
    await started(operator)
    assert operator.run_metrics.started[-1] == ("Compact", "PodPending", 30.0)


async def test_a_namespace_is_known_before_its_first_attempt_ends_and_attempts_and_runs_count_for_it(
    operator: OperatorInMemory,
) -> None:
    pod = await started(operator)
    assert (SHOP, "Provision", 0) in operator.run_metrics.known
    assert (SHOP, "Compact", 1) in operator.run_metrics.known
    operator.time.advance(60)
    await operator.end_pod(pod, ran_seconds=60)
    assert operator.run_metrics.attempts[-1] == ("Compact", "RunSucceeded", 60)
    assert operator.run_metrics.namespaces == [SHOP] * 4


async def test_a_run_is_measured_from_its_first_reconcile_to_its_end(operator: OperatorInMemory) -> None:
    pod = await started(operator)
    operator.time.advance(60)
    await operator.end_pod(pod)
    assert operator.run_metrics.ended[-1] == ("Compact", "Succeeded", "RunSucceeded", 90.0)


async def test_a_scheduled_run_is_measured_from_its_tick(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    assert operator.run_metrics.answered == []
    await operator.apply(orders(spec__retention={"snapshots": {"schedule": "0 3 * * *"}}))
    await operator.pass_time(days=1)
    (expiry,) = [name for name in operator.store.names(Kind.RUN) if "expiresnapshots" in name]
    body = operator.store.peek(Kind.RUN, SHOP, expiry)
    assert body is not None
    due = datetime.fromisoformat(body["spec"]["trigger"]["dueTime"])
    operator.time.advance(45)
    late = (operator.time.now() - due).total_seconds()
    await operator.end_pod(f"{expiry}-1")
    assert late > 45
    assert operator.run_metrics.answered == [("ExpireSnapshots", late)]


async def test_a_status_that_could_not_be_stored_is_reported_once_when_it_is(
    operator: OperatorInMemory, log: io.StringIO
) -> None:
    pod = await started(operator)
    operator.store.faults.append(Fault("apply_status", Kind.RUN, RetryableError("busy", status=503)))
    await operator.end_pod(pod)
    assert [line.get("reason") for line in lines_about(log, BY_HAND)] == [None]
    await operator.pass_time(seconds=30)
    assert [line.get("reason") for line in lines_about(log, BY_HAND)] == [None, "RunSucceeded", "RunSucceeded"]
    assert len(operator.run_metrics.ended) == 2


async def test_the_seconds_of_an_attempt_count_for_each_of_its_executors_too(operator: OperatorInMemory) -> None:
    await provisioned(operator, spec__spark={"mode": "Cluster", "executor": {"instances": 2}})
    await operator.apply(shop(run()))
    await operator.end_pod(f"paimon-run-{BY_HAND}-1", ran_seconds=30)
    assert operator.run_metrics.attempts[-1] == ("Compact", "RunSucceeded", 90)
    known = operator.store.peek(Kind.RUN, SHOP, BY_HAND) or {}
    assert known["status"]["cost"]["podSeconds"] == 90
