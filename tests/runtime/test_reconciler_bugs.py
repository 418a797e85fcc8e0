"""A bug in a reconciler shows on its object, is written once, and the next good reconcile clears it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.errors import RetryableError
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, orders, provisioned, shop
from tests.support.manifests import run

HALF_AN_HOUR = 1800


class Broken(NamedTuple):
    """A function whose bug stops the reconciles of one kind, and the condition that reports it."""

    kind: Kind
    name: str
    function: str
    condition: str


TABLE = Broken(Kind.TABLE, "orders", "paimon_operator.runtime.tables.plan", "Ready")
CATALOG = Broken(Kind.CATALOG, "lake", "paimon_operator.runtime.catalogs.plan_catalog", "Ready")
BOTH = pytest.mark.parametrize("broken", [TABLE, CATALOG], ids=[TABLE.kind, CATALOG.kind])


def fail(*_: Any, **__: Any) -> None:
    raise ZeroDivisionError("secret words of a value")


def conditions(operator: OperatorInMemory, kind: Kind, name: str) -> dict[str, tuple[str, str, str]]:
    body = operator.store.peek(kind, SHOP, name)
    assert body is not None
    found = body.get("status", {}).get("conditions", [])
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in found}


def touch(operator: OperatorInMemory, broken: Broken) -> None:
    """Makes the operator reconcile the object again."""
    body = operator.store.peek(broken.kind, SHOP, broken.name)
    assert body is not None
    operator.store.set_status(broken.kind, SHOP, broken.name, body["status"])


@BOTH
async def test_a_healthy_object_whose_reconcile_has_a_bug_is_no_longer_ready(
    broken: Broken, operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await provisioned(operator)
    monkeypatch.setattr(broken.function, fail)
    touch(operator, broken)
    await operator.settle()
    found = conditions(operator, broken.kind, broken.name)
    status, reason, message = found[broken.condition]
    assert (status, reason) == ("Unknown", "InternalError")
    assert found["Stalled"][:2] == ("True", "InternalError")
    assert found["Reconciling"][0] == "False"
    assert "ZeroDivisionError" in message
    assert "log" in message
    assert "secret words" not in message


async def test_a_run_whose_reconcile_has_a_bug_has_an_unknown_outcome_and_the_table_is_untouched(
    operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await provisioned(operator)
    monkeypatch.setattr("paimon_operator.runtime.runs.step", fail)
    operator.store.put(shop(run(metadata__name="by-hand")))
    await operator.settle()
    assert conditions(operator, Kind.RUN, "by-hand")["Succeeded"][:2] == ("Unknown", "InternalError")
    assert operator.condition("Ready")[0] == "True"


async def test_a_finished_run_keeps_its_outcome(operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    await provisioned(operator)
    (run,) = operator.store.names(Kind.RUN)
    before = operator.store.peek(Kind.RUN, SHOP, run)
    monkeypatch.setattr("paimon_operator.runtime.runs.step", fail)
    operator.queue.add(operator.cache.keys(Kind.RUN)[0])
    await operator.settle()
    assert operator.reconciles[-1] == ("PaimonRun", "error")
    assert operator.store.peek(Kind.RUN, SHOP, run) == before
    assert before is not None
    assert before["status"]["phase"] == "Succeeded"


@BOTH
async def test_the_next_good_reconcile_clears_the_report(
    broken: Broken, operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await provisioned(operator)
    before = conditions(operator, broken.kind, broken.name)
    with monkeypatch.context() as patched:
        patched.setattr(broken.function, fail)
        touch(operator, broken)
        await operator.settle()
    await operator.pass_time(seconds=10)
    assert conditions(operator, broken.kind, broken.name) == before


@BOTH
async def test_the_report_is_written_once_and_the_retries_slow_down(
    broken: Broken, operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await provisioned(operator)
    monkeypatch.setattr(broken.function, fail)
    touch(operator, broken)
    await operator.settle()
    reported = operator.store.peek(broken.kind, SHOP, broken.name)
    seen = len(operator.reconciles)
    for _ in range(HALF_AN_HOUR):
        await operator.pass_time(seconds=1)
    errors = [each for each in operator.reconciles[seen:] if each == (str(broken.kind), "error")]
    assert 4 <= len(errors) <= 20
    assert operator.store.peek(broken.kind, SHOP, broken.name) == reported
    assert operator.events.reasons(broken.name).count("InternalError") == 1


@BOTH
async def test_each_bug_is_counted_by_its_kind(
    broken: Broken, operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await provisioned(operator)
    monkeypatch.setattr(broken.function, fail)
    touch(operator, broken)
    await operator.settle()
    assert set(operator.bugs) == {broken.kind}
    assert len(operator.bugs) == operator.reconciles.count((str(broken.kind), "error"))


def failing_with(error: Exception) -> Callable[..., None]:
    def raise_it(*_: Any, **__: Any) -> None:
        raise error

    return raise_it


async def test_an_error_of_the_api_server_is_no_bug(
    operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await provisioned(operator)
    monkeypatch.setattr(TABLE.function, failing_with(RetryableError("busy", status=503)))
    touch(operator, TABLE)
    await operator.settle()
    assert operator.condition("Ready")[0] == "True"
    assert operator.bugs == []


async def test_a_report_that_cannot_be_stored_is_stored_later(
    operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await provisioned(operator)
    monkeypatch.setattr(TABLE.function, fail)
    touch(operator, TABLE)
    with monkeypatch.context() as patched:
        patched.setattr(operator.store, "apply_status", failing_with(RetryableError("busy", status=503)))
        await operator.settle()
    assert operator.condition("Ready")[0] == "True"
    await operator.pass_time(seconds=10)
    assert operator.condition("Ready")[:2] == ("Unknown", "InternalError")


async def test_an_edit_that_met_a_bug_still_counts_as_unseen(
    operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await provisioned(operator)
    handled = operator.table()["status"]["observedGeneration"]
    monkeypatch.setattr(TABLE.function, fail)
    operator.store.put(orders(spec__suspend=True))
    await operator.settle()
    assert operator.table()["metadata"]["generation"] > handled
    assert operator.table()["status"]["observedGeneration"] == handled
