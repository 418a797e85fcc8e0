"""A bug in a reconciler shows on its object, is written once, and the next good reconcile clears it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.errors import RetryableError
from paimon_operator.runtime.keys import Key
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, orders, provisioned, shop
from tests.runtime.test_released_runs import release_run_on_unreachable_node
from tests.support.manifests import run
from tests.support.table_world import MEASURE

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


async def measured(operator: OperatorInMemory) -> None:
    """Applies the catalog and the table. Its first run ends with success, and measures it."""
    await operator.apply(lake(), orders())
    (pod,) = operator.store.names(Kind.POD)
    await operator.end_pod(pod, created=True, after=MEASURE)
    assert operator.condition("Healthy")[0] == "True"


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


@BOTH
async def test_no_condition_claims_that_an_object_with_a_bug_is_in_order(
    broken: Broken, operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await measured(operator)
    good = {"Ready", "Healthy", "CommitSafe"}
    claimed = good.intersection(conditions(operator, broken.kind, broken.name))
    monkeypatch.setattr(broken.function, fail)
    touch(operator, broken)
    await operator.settle()
    found = conditions(operator, broken.kind, broken.name)
    assert {found[each][:2] for each in claimed} == {("Unknown", "InternalError")}


async def test_a_condition_that_is_false_stays_false_beside_a_bug(
    operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await measured(operator)
    await operator.apply(lake(spec__engine="paimon-7.3"))
    unhealthy = operator.condition("Healthy")
    assert unhealthy[0] == "False"
    monkeypatch.setattr(TABLE.function, fail)
    touch(operator, TABLE)
    await operator.settle()
    assert operator.condition("Ready")[1] == "InternalError"
    assert operator.condition("Healthy") == unhealthy


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ({}, ("True", "TableMatchesSpec")),
        ({"spec__options": {"file.compression": "zstd"}}, ("False", "CatalogInvalid")),
    ],
    ids=["a verified table stays Ready", "an edit that nobody has verified is not Ready"],
)
async def test_a_bug_does_not_hide_whether_a_table_without_its_catalog_was_verified(
    edit: dict[str, Any], expected: tuple[str, str], operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await provisioned(operator)
    with monkeypatch.context() as patched:
        patched.setattr(TABLE.function, fail)
        operator.store.put(lake(spec__engine="paimon-7.3"))
        if edit:
            operator.store.put(orders(**edit))
        await operator.settle()
        await operator.pass_time(seconds=1)
        assert operator.condition("Ready")[1] == "InternalError"
        assert operator.table()["status"]["verifiedGeneration"] == 1
    await operator.pass_time(seconds=10)
    assert operator.condition("Ready")[:2] == expected
    assert "verifiedGeneration" not in operator.table()["status"]


async def test_a_bug_does_not_make_a_table_ready_that_was_never_verified(
    operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await operator.apply(lake(), orders())
    assert operator.condition("Ready")[0] == "Unknown"
    with monkeypatch.context() as patched:
        patched.setattr(TABLE.function, fail)
        touch(operator, TABLE)
        await operator.settle()
        operator.store.put(lake(spec__engine="paimon-7.3"))
        await operator.settle()
        assert operator.condition("Ready")[1] == "InternalError"
    await operator.pass_time(seconds=10)
    assert operator.condition("Ready")[:2] == ("False", "CatalogInvalid")


async def test_a_bug_in_the_reconcile_of_a_pod_is_reported_on_the_pod_without_a_further_read(
    operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pod = await release_run_on_unreachable_node(operator)
    monkeypatch.setattr("paimon_operator.runtime.orphaned_pods.orphaned", fail)
    operator.queue.add(Key(Kind.POD, SHOP, pod))
    seen = len(operator.store.requests)
    await operator.settle()
    assert operator.bugs == [Kind.POD]
    assert [request.verb for request in operator.store.requests[seen:]] == ["get", "get"]
    ((type_, note),) = [(each[0], each[2]) for each in operator.events.by_object[pod] if each[1] == "InternalError"]
    assert type_ == "Warning"
    assert "ZeroDivisionError" in note
    assert "secret words" not in note
    await operator.pass_time(hours=1)
    assert 1 < operator.events.reasons(pod).count("InternalError") <= 20


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
