"""A table of which edits are made: its columns, what its runs report, and what its status then has."""

from __future__ import annotations

from typing import Any

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.spec.desired_table import desired_table
from paimon_operator.core.spec.edit_plan import declared_schema, read_record
from paimon_schema.plan import schema_after
from paimon_schema.table_schema import TableSchema
from tests.support import builders
from tests.support.table_world import TableWorld

Json = dict[str, Any]
COLUMNS: list[Json] = [
    {"name": "order_id", "type": "BIGINT"},
    {"name": "amount", "type": "INT"},
    {"name": "colour", "type": "STRING"},
]
WIDER = [COLUMNS[0], {"name": "amount", "type": "BIGINT"}, COLUMNS[2], {"name": "price", "type": "DOUBLE"}]
ILLEGAL = [COLUMNS[0], {"name": "amount", "type": "SMALLINT"}, COLUMNS[2], {"name": "price", "type": "DOUBLE"}]
HOURLY = {"snapshots": {"schedule": "0 * * * *"}}
FOUND: Json = {
    "hash": "00112233445566aa",
    "count": 1,
    "steps": [{"change": "DropColumn", "field": "f", "cost": "LosesData", "message": "drop column theirs"}],
}
"""A plan that a run has found."""


def schema(columns: list[Json], *dropped: str) -> Json:
    return {"columns": columns, "primaryKeys": ["order_id"]} | ({"droppedColumns": [*dropped]} if dropped else {})


def seen_by_run(seen: TableWorld, before: TableSchema | None = None) -> Json:
    """What a run reports of the columns that it has read."""
    context = builders.context(seen.table, seen.catalog)
    after = schema_after(before, declared_schema(desired_table(context.spec, context.effective)))
    return {"columnsDigest": after.columns_digest}


def ready(columns: list[Json] = COLUMNS, *, policy: str = "Automatic", **spec: Any) -> TableWorld:
    catalog = builders.catalog(evolutionPolicy=policy)
    seen = TableWorld(table=builders.table(schema=schema(columns), **spec), catalog=catalog)
    seen.settle()
    seen.finish("Provision", created=True, **seen_by_run(seen))
    seen.run_due()
    seen.created.clear()
    return seen


def record(seen: TableWorld) -> TableSchema:
    state = seen.table.status.provision
    assert state is not None
    assert state.schema_record is not None
    found = read_record(state.schema_record)
    assert found is not None
    return found


def planned(seen: TableWorld) -> list[tuple[str, str, str]]:
    plan = seen.table.status.plan
    return [] if plan is None else [(step.change, step.cost, step.field) for step in plan.steps]


def annotate(seen: TableWorld, **annotations: str) -> None:
    metadata = seen.table.metadata.model_copy(update={"annotations": annotations})
    seen.table = seen.table.model_copy(update={"metadata": metadata})


def refuse(seen: TableWorld, **result: Any) -> None:
    """The run finds that the table cannot be made as declared. `result` is what else it reports."""
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS, "the table shop.orders differs", **result)


def wait_for_approval(seen: TableWorld) -> None:
    """The run finds a plan that waits for its approval."""
    seen.fail(FailureClass.SPEC, Reason.AWAITING_APPROVAL, "waits for approval", plan=FOUND)


def approval(seen: TableWorld) -> str:
    seen.settle()
    assert seen.table.status.plan is not None
    return seen.table.status.plan.hash
