"""An edit of the schema: its plan is in the status before any run starts, and one that loses data can wait."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations.edits import APPROVE
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


def test_the_plan_of_an_edit_is_shown_before_and_while_its_run_works_and_then_goes() -> None:
    seen = ready()
    seen.edit(schema=schema(WIDER))
    seen.settle()
    assert planned(seen) == [
        ("AddColumn", "Metadata", "spec.schema.columns[price]"),
        ("WidenType", "Metadata", "spec.schema.columns[amount]"),
    ]
    assert seen.started == [("Provision", "")]
    seen.finish("Provision", **seen_by_run(seen))
    seen.settle()
    assert planned(seen) == []
    assert [each.name for each in record(seen).columns] == ["order_id", "amount", "colour", "price"]


def test_an_illegal_step_refuses_the_edit_before_any_run_starts_and_maintenance_continues() -> None:
    seen = ready(retention=HOURLY)
    seen.edit(schema=schema(ILLEGAL))
    seen.wait(hours=1)
    seen.settle()
    assert seen.started == [("ExpireSnapshots", "")]
    assert seen.says("Ready") == ("False", Reason.TABLE_DIFFERS)
    assert seen.says("Stalled") == ("True", Reason.TABLE_DIFFERS)
    message = seen.condition("Ready").message
    assert "spec.schema.columns[amount].type: column amount: SMALLINT does not hold every value of INT" in message
    assert planned(seen) == [], "nothing of it will be done"
    seen.edit(schema=schema(COLUMNS))
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)


def test_a_refused_option_is_named_by_its_typed_field() -> None:
    seen = ready(bucket={"type": "Fixed", "fixed": {"count": 2}})
    seen.edit(bucket={"type": "Fixed", "fixed": {"count": 4}})
    seen.settle()
    assert "spec.bucket: option bucket: table has 2, manifest has 4" in seen.condition("Stalled").message


def test_writes_wait_while_an_edit_is_refused() -> None:
    seen = ready(writes=[builders.write(schedule="*/15 * * * *")])
    seen.edit(schema=schema(ILLEGAL))
    seen.wait(hours=1)
    seen.settle()
    assert seen.started == []
    decision = seen.table.status.writes[0].decision
    assert decision is not None
    assert decision.reason == Reason.TABLE_DIFFERS


@pytest.mark.parametrize(
    ("columns", "steps", "said"),
    [
        (WIDER, 2, "The edit would: add column price DOUBLE; widen column amount: INT -> BIGINT"),
        (ILLEGAL, 0, "SMALLINT does not hold every value of INT"),
    ],
)
def test_suspension_shows_what_an_edit_would_do(columns: list[Json], steps: int, said: str) -> None:
    seen = ready()
    seen.edit(suspend=True, schema=schema(columns))
    seen.settle()
    assert len(planned(seen)) == steps
    assert said in seen.condition("Ready").message
    assert seen.started == []


def test_a_column_that_leaves_the_manifest_is_no_step_and_can_be_dropped_later() -> None:
    seen = ready()
    seen.edit(schema=schema(COLUMNS[:2]))
    seen.settle()
    assert planned(seen) == []
    seen.finish("Provision", **seen_by_run(seen, record(seen)))
    seen.settle()
    assert [each.name for each in record(seen).columns] == ["order_id", "amount", "colour"], "the table keeps it"
    seen.edit(schema=schema(COLUMNS[:2], "colour"))
    seen.settle()
    assert planned(seen) == [("DropColumn", "LosesData", "spec.schema.droppedColumns[colour]")]


def test_an_edit_that_loses_data_waits_for_its_approval_where_the_catalog_says_so() -> None:
    seen = ready(policy="Approve")
    seen.edit(schema=schema(COLUMNS[:2], "colour"))
    seen.settle()
    plan = seen.table.status.plan
    assert plan is not None
    assert seen.started == []
    assert seen.says("Stalled") == ("True", Reason.AWAITING_APPROVAL)
    assert f"annotate the PaimonTable with {APPROVE}={plan.hash}" in seen.condition("Ready").message
    annotate(seen, **{APPROVE: "0123456789abcdef"})
    seen.settle()
    assert seen.started == [], "another plan was approved"
    annotate(seen, **{APPROVE: plan.hash})
    seen.settle()
    assert seen.started == [("Provision", "")]


def test_a_plan_that_has_changed_needs_a_new_approval() -> None:
    seen = ready(policy="Approve")
    seen.edit(schema=schema(COLUMNS[:2], "colour"))
    seen.settle()
    first = seen.table.status.plan
    assert first is not None
    annotate(seen, **{APPROVE: first.hash})
    seen.edit(schema=schema(COLUMNS[:1], "colour", "amount"))
    seen.settle()
    second = seen.table.status.plan
    assert second is not None
    assert second.hash != first.hash
    assert seen.started == []


def test_an_edit_of_metadata_alone_needs_no_approval() -> None:
    seen = ready(policy="Approve")
    seen.edit(schema=schema(WIDER))
    seen.settle()
    assert seen.started == [("Provision", "")]


FOUND: Json = {
    "hash": "00112233445566aa",
    "count": 1,
    "steps": [{"change": "DropColumn", "field": "f", "cost": "LosesData", "message": "drop column theirs"}],
}


def test_the_plan_that_a_run_finds_in_the_table_replaces_the_recorded_one() -> None:
    seen = ready(policy="Approve")
    seen.edit(schema=schema(WIDER, "theirs"))
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.AWAITING_APPROVAL, "waits for approval", plan=FOUND)
    seen.settle()
    assert planned(seen) == [("DropColumn", "LosesData", "f")]
    assert seen.says("Stalled") == ("True", Reason.AWAITING_APPROVAL)
    seen.created.clear()
    seen.settle()
    assert seen.started == [], "it waits"
    annotate(seen, **{APPROVE: "00112233445566aa"})
    seen.settle()
    assert seen.started == [("Provision", "")]


def test_a_plan_that_a_run_has_found_is_applied_once_the_catalog_asks_for_no_approval() -> None:
    seen = ready(policy="Approve")
    seen.edit(schema=schema(WIDER, "theirs"))
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.AWAITING_APPROVAL, "waits for approval", plan=FOUND)
    seen.settle()
    seen.created.clear()
    seen.catalog = builders.catalog()
    seen.settle()
    assert seen.started == [("Provision", "")]


def test_a_table_with_other_columns_than_expected_is_planned_by_its_run() -> None:
    seen = ready()
    seen.edit(schema=schema(WIDER))
    seen.settle()
    seen.finish("Provision", columnsDigest="0123456789abcdef")
    seen.settle()
    state = seen.table.status.provision
    assert state is not None
    assert state.schema_record is None
    seen.edit(schema=schema(ILLEGAL))
    seen.settle()
    assert seen.started == [("Provision", "")] * 2, "only the run can see what the table has"


def test_a_driver_of_an_older_release_reports_no_columns_and_its_tables_are_planned_by_runs() -> None:
    seen = TableWorld(table=builders.table(schema=schema(COLUMNS))).ready()
    seen.edit(schema=schema(ILLEGAL))
    seen.settle()
    assert seen.started == [("Provision", "")] * 2
    assert planned(seen) == []


def test_a_record_that_cannot_be_read_counts_as_none() -> None:
    assert read_record("no record") is None
    assert read_record("aGVsbG8=") is None
