"""Cases in which no work of a table runs: without a valid manifest or catalog, and where a human has to act first."""

from __future__ import annotations

from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.core.commits.table_claims import claim_of
from paimon_operator.core.commits.warehouses import WarehouseIndex
from paimon_operator.core.table.observed import TableObserved
from tests.core.table.measured import decision_of, due, measure, measured_table
from tests.support import builders
from tests.support.table_world import TableWorld

LATER = {"mode": "Dedicated", "minor": {"schedule": "40 * * * *"}}
"""Compactions twenty minutes after the writes."""


def invalid_manifest() -> LastDecision:
    return decision_of(due(measured_table(), options={"nonsense": "1"}))


def no_catalog() -> LastDecision:
    seen = measured_table()
    seen.catalog = None
    return decision_of(due(seen))


def invalid_catalog() -> LastDecision:
    seen = measured_table()
    seen.catalog = builders.catalog(engine="paimon-7.3")
    return decision_of(due(seen))


def overlapping_warehouse() -> LastDecision:
    seen, index = measured_table(), WarehouseIndex()
    older = builders.catalog("older", locations=[], warehouse="s3://lake/warehouse/inner")
    index.put(older.model_copy(update={"status": older.status.model_copy(update={"reached_at": builders.NOW})}))
    seen.observed = TableObserved(overlap=index.overlap(builders.catalog()))
    return decision_of(due(seen))


def claimed() -> LastDecision:
    seen = measured_table()
    older = builders.table("first", table="orders")
    seen.observed = TableObserved(claimant=claim_of(older, builders.catalog()))
    return decision_of(due(seen))


def unknown_result() -> LastDecision:
    seen = _with_due_write()
    seen.settle()
    seen.lose_result()
    return _when_due(seen)


def taken_name() -> LastDecision:
    seen = _with_due_write()
    decision = seen.decide()
    seen.carry_out(type(decision)(status=decision.status))  # a crash before the run is created
    named = seen.table.status.active_run
    assert named is not None
    seen.runs.append(builders.run(named.name, table=seen.table, metadata={"ownerReferences": []}))
    return _when_due(seen)


def _with_due_write() -> TableWorld:
    """A table whose write is due, and which is compacted later."""
    seen = measured_table(LATER, writes=[builders.write(schedule="20 * * * *")])
    seen.wait(minutes=15)
    return seen


def _when_due(seen: TableWorld) -> LastDecision:
    seen.settle()
    seen.wait(minutes=20)
    measure(seen, sortedRunsMax=9)
    seen.settle()
    return decision_of(seen)
