"""How many requests the operator sends, Events included. `test_operator_requests` counts them on a real API server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.ports import Kind
from paimon_operator.core.validation import catalog
from paimon_operator.errors import SpecError
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, has_ended, lake, orders, provisioned
from tests.support import pods

OF_A_RUN = 14
"""From the decision to start it until the table has its result, its Pod is released and its finalizer removed."""
BEFORE_THE_DECISION = Counter([f"apply_status {Kind.CATALOG} lake", f"set_finalizers {Kind.TABLE} second"])
"""A table without a run costs these too: its finalizer, and the status of its catalog, which counts it."""
OFTEN = {"mode": "Dedicated", "minor": {"schedule": "*/5 * * * *"}}


def sent(operator: OperatorInMemory) -> Sequence[str]:
    """What was sent since the last call of this function."""
    requests = [f"{request.verb} {request.kind} {request.name}" for request in operator.store.requests]
    events = [f"Event {note}" for notes in operator.events.by_object.values() for note in notes]
    operator.store.requests.clear()
    operator.events.by_object.clear()
    return [*requests, *events]


async def start_and_end(operator: OperatorInMemory) -> None:
    """What a kubelet reports of the only Pod that has not ended: scheduled, waiting, running, ended."""
    (pod,) = [name for name in operator.store.names(Kind.POD) if not has_ended(operator, name)]
    for status in ({"phase": "Pending"}, pods.waiting(), pods.running(operator.time.now())):
        operator.store.set_status(Kind.POD, SHOP, pod, status)
        await operator.settle()
    await operator.end_pod(pod)


async def test_a_scheduled_run_takes_at_most_fourteen_requests(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    await operator.apply(orders(spec__compaction=OFTEN))
    await start_and_end(operator)
    sent(operator)
    await operator.pass_time(seconds=61)
    assert sent(operator) == [f"apply_status {Kind.CATALOG} lake"], "which counts the runs of all its tables then"
    await operator.pass_time(minutes=4)
    await start_and_end(operator)
    await operator.pass_time(seconds=5)
    found = sent(operator)
    assert operator.table()["status"]["usage"]["runs"] == 3
    assert len(found) <= OF_A_RUN, "\n".join(found)


async def test_the_first_run_of_a_table_takes_at_most_fourteen_requests(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    sent(operator)
    await operator.apply(orders(metadata__name="second"))
    await start_and_end(operator)
    await operator.pass_time(seconds=5)
    found = Counter(sent(operator))
    assert found >= BEFORE_THE_DECISION
    assert (found - BEFORE_THE_DECISION).total() <= OF_A_RUN, "\n".join(found.elements())


async def test_a_table_that_starts_no_run_takes_at_most_three_requests(operator: OperatorInMemory) -> None:
    await operator.apply(lake())
    sent(operator)
    operator.reconciles.clear()
    await operator.apply(orders(spec__suspend=True))
    found = [each for each in sent(operator) if "orders" in each or "Event" in each]
    assert len(found) <= 3, "\n".join(found)
    passes = operator.reconciles.count((Kind.TABLE, "ok"))
    assert passes == 2, "finalizer and first status, and once more for the event of its own write, which came first"


async def test_fifty_new_tables_cost_their_catalog_two_passes_and_one_request(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    sent(operator)
    operator.reconciles.clear()
    for number in range(50):
        await operator.apply(orders(metadata__name=f"more-{number}", spec__suspend=True))
    await operator.pass_time(seconds=5)
    of_catalog = [each for each in sent(operator) if Kind.CATALOG in each]
    passes = operator.reconciles.count((Kind.CATALOG, "ok"))
    assert (passes, len(of_catalog)) == (2, 1), "the watch delivers its own write before the answer"


async def test_settled_tables_take_no_request_at_a_restart(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    for number in range(20):
        await operator.apply(orders(metadata__name=f"more-{number}", spec__suspend=True))
    await operator.pass_time(seconds=5)  # until their catalog counts them
    sent(operator)
    successor = await operator.kill()
    await successor.settle()
    assert [each.split()[:2] for each in sent(successor)] == [
        ["list", Kind.CATALOG],
        ["list", Kind.TABLE],
        ["list", Kind.RUN],
        ["list", Kind.POD],
    ], "the last one has the observers of the only catalog"
    assert successor.reconciles.count((Kind.TABLE, "ok")) == 21
    await successor.kill()


async def test_the_rules_of_a_catalog_are_checked_once_for_all_of_its_tables(
    operator: OperatorInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await operator.apply(lake(), *(orders(metadata__name=f"t-{number}", spec__suspend=True) for number in range(20)))
    checked: list[PaimonCatalog] = []
    rules = catalog.catalog_problems

    def counted(found: PaimonCatalog, facts: OperatorFacts) -> Iterator[SpecError]:
        checked.append(found)
        return rules(found, facts)

    monkeypatch.setattr(catalog, "catalog_problems", counted)
    successor = await operator.kill()
    await successor.settle()
    assert successor.reconciles.count((Kind.TABLE, "ok")) == 20
    assert len(checked) <= 2, "once from the list, once from the live read of its own reconcile"
    await successor.kill()
