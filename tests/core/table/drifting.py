"""A table whose schema is recorded, and what drivers report of others' changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.status import DriftState
from paimon_operator.core.operations.drift_state import ACCEPT
from tests.core.table.edited_table import Json, annotate
from tests.support import builders
from tests.support.table_world import TableWorld

HOUR = timedelta(hours=1)
OBSERVE, PROVISION = ("Observe", ""), ("Provision", "")
OPTION: Json = {"change": "OptionChanged", "field": "snapshot.num-retained.min", "before": "3", "after": "5"}
EXTRA: Json = {"change": "ColumnAdded", "field": "extra", "after": "DATE"}
CORRECTABLE = OPTION | {"correctable": True}
REFUSED = "option bucket: table has 4, manifest has 2, and it cannot change once the table exists"


def found(schema_id: int, *changes: Json, baseline: int | None = 0, **more: Any) -> Json:
    """What a driver reports."""
    drift = {
        "schemaId": schema_id,
        "schemaDigest": f"{schema_id:016x}",
        "schemaTime": "2026-11-21T07:00:00Z",
        "count": len(changes),
        "changes": list(changes),
        "baselineId": baseline,
        **more,
    }
    return {"drift": {key: value for key, value in drift.items() if value is not None}}


def ready(**spec: Any) -> TableWorld:
    """A verified table whose schema is recorded, with an operator that looks for drift every hour."""
    seen = TableWorld(table=builders.table(**spec), operator=replace(builders.operator_facts(), observe_interval=HOUR))
    seen.settle()
    seen.finish("Provision", created=True, columnsDigest="0" * 16, **found(0, baseline=None))
    seen.run_due()
    seen.created.clear()
    return seen


def look(seen: TableWorld, schema_id: int, *changes: Json, **more: Any) -> None:
    """The next Observe finds these changes."""
    seen.wait(hours=2)
    seen.settle()
    seen.finish("Observe", after=None, **found(schema_id, *changes, **more))
    seen.settle()


def accept(seen: TableWorld, schema_id: str) -> None:
    """A user accepts the changes up to a schema."""
    annotate(seen, **{ACCEPT: schema_id})


def drift(seen: TableWorld) -> DriftState:
    assert seen.table.status.drift is not None
    return seen.table.status.drift


def notes(seen: TableWorld, *reasons: Reason) -> list[str]:
    return [event.note for decision in seen.decisions for event in decision.events if event.reason in reasons]
