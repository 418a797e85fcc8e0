"""An edit of the schema: its plan is in the status before any run starts, and one that loses data can wait."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations import edits
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


def test_an_illegal_step_refuses_the_edit_and_maintenance_continues() -> None:
    seen = ready(retention=HOURLY)
    seen.edit(schema=schema(ILLEGAL))
    seen.settle()
    assert planned(seen) == [], "nothing of it will be done"
    refuse(seen)
    seen.wait(hours=1)
    seen.settle()
    assert seen.started == [("Provision", ""), ("ExpireSnapshots", "")]
    assert seen.says("Ready") == ("False", Reason.TABLE_DIFFERS)
    assert seen.says("Stalled") == ("True", Reason.TABLE_DIFFERS)
    seen.edit(schema=schema(COLUMNS))
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)


def refuse(seen: TableWorld) -> None:
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS, "the table shop.orders differs")


def test_a_refused_option_is_named_by_its_typed_field() -> None:
    seen = ready(bucket={"type": "Fixed", "fixed": {"count": 2}})
    seen.edit(bucket={"type": "Fixed", "fixed": {"count": 4}}, suspend=True)
    seen.settle()
    assert "spec.bucket: option bucket: table has 2, manifest has 4" in seen.condition("Ready").message


def test_writes_wait_while_an_edit_is_refused() -> None:
    seen = ready(writes=[builders.write(schedule="*/15 * * * *")])
    seen.edit(schema=schema(ILLEGAL))
    seen.settle()
    refuse(seen)
    seen.wait(hours=1)
    seen.settle()
    assert seen.started == [("Provision", "")]
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


def test_an_edit_made_while_a_run_alters_the_table_is_planned_from_what_that_run_left() -> None:
    seen = ready()
    seen.edit(schema=schema([COLUMNS[0], {"name": "total", "type": "INT", "renamedFrom": "amount"}, COLUMNS[2]]))
    seen.settle()
    left = seen_by_run(seen, record(seen))
    seen.edit(schema=schema([COLUMNS[0], {"name": "sum", "type": "INT", "renamedFrom": "total"}, COLUMNS[2]]))
    seen.settle()
    seen.finish("Provision", **left)
    seen.settle()
    assert seen.started == [("Provision", "")] * 2, "the table has total, although the record before had amount"
    assert planned(seen) == [], "only the run can make this plan"


def test_an_edit_that_the_record_refuses_is_verified_by_one_run_because_the_table_decides() -> None:
    seen = ready()
    seen.edit(schema=schema([COLUMNS[0], {"name": "amount", "type": "STRING"}, COLUMNS[2]]))
    seen.settle()
    assert seen.started == [("Provision", "")], "somebody may have altered the table by hand"
    assert seen.says("Stalled") == ("False", Reason.NO_ACTION_NEEDED)
    seen.finish("Provision", **seen_by_run(seen))
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)


def test_a_missing_table_is_recreated_also_with_columns_that_it_could_not_get() -> None:
    seen = ready(policy="Approve")
    seen.edit(schema=schema(COLUMNS[:2], "colour"))
    annotate(seen, **{APPROVE: approval(seen)})
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.TABLE_MISSING, "the table is missing")
    seen.settle()
    seen.edit(schema=schema([COLUMNS[0]], "colour", "amount"))
    annotate(seen, **{"paimon-operator.dev/recreate": str(seen.table.metadata.generation)})
    seen.created.clear()
    seen.settle()
    assert seen.started == [("Provision", "")], "there are no columns left whose loss could be approved"


def approval(seen: TableWorld) -> str:
    seen.settle()
    assert seen.table.status.plan is not None
    return seen.table.status.plan.hash


@pytest.mark.parametrize(
    ("class_", "reason", "verifies"),
    [
        (FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED, True),
        (FailureClass.CANCELLED, Reason.CANCELLED, True),
        (FailureClass.SPEC, Reason.TABLE_REFUSED, True),
        (FailureClass.SPEC, Reason.TABLE_DIFFERS, False),
    ],
)
def test_an_edit_that_is_reverted_after_its_run_has_failed_is_verified_if_the_run_may_have_altered_the_table(
    class_: FailureClass, reason: Reason, verifies: bool
) -> None:
    seen = ready(retention=HOURLY)
    seen.edit(schema=schema(WIDER))
    seen.settle()
    seen.fail(class_, reason)
    seen.edit(schema=schema(COLUMNS))
    seen.created.clear()
    seen.settle()
    assert seen.started == ([("Provision", "")] if verifies else [])
    assert seen.says("Ready")[0] == ("Unknown" if verifies else "True")
    if verifies:
        seen.finish("Provision", **seen_by_run(seen))
        seen.settle()
        assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)


def test_a_refusal_by_the_run_is_shown_and_not_the_plan_that_the_record_would_allow() -> None:
    seen = ready(policy="Approve")
    seen.edit(schema=schema(COLUMNS[:2], "colour"))
    annotate(seen, **{APPROVE: approval(seen)})
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS, "the table shop.orders differs")
    annotate(seen)
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.TABLE_DIFFERS)
    assert planned(seen) == []


def test_the_approval_of_a_plan_does_not_count_for_the_same_plan_of_a_later_schema() -> None:
    """The annotation stays in the manifest, and the column was added again since."""
    seen = ready(policy="Approve")
    seen.edit(schema=schema(COLUMNS[:2], "colour"))
    annotate(seen, **{APPROVE: approval(seen)})
    before = record(seen)
    for number, (columns, dropped) in enumerate([(COLUMNS[:2], ("colour",)), (COLUMNS, ())], start=1):
        seen.edit(schema=schema(columns, *dropped))
        seen.settle()
        measured = {"schemaId": number, "snapshotId": 1, "files": 3}
        seen.finish("Provision", after=measured, **seen_by_run(seen, before))
        seen.run_due()
        before = record(seen)
    seen.created.clear()
    seen.edit(schema=schema(COLUMNS[:2], "colour"))
    seen.settle()
    assert seen.started == []
    assert seen.says("Stalled") == ("True", Reason.AWAITING_APPROVAL)


def test_a_table_whose_plan_waits_for_approval_was_read_at_its_place() -> None:
    seen = TableWorld(table=builders.table(schema=schema(COLUMNS)), catalog=builders.catalog(evolutionPolicy="Approve"))
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.AWAITING_APPROVAL, "waits for approval", plan=FOUND)
    seen.settle()
    state = seen.table.status.provision
    assert state is not None
    assert state.found_at is not None


def test_an_annotation_that_is_no_hash_does_not_reach_the_job() -> None:
    seen = ready(policy="Approve")
    annotate(seen, **{APPROVE: "x" * 200_000})
    assert edits.approved(builders.context(seen.table, seen.catalog)) is None


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"id": 1, "fields": [{"name": "a", "type": {"type": 7}}], "primaryKeys": [], "partitionKeys": []}',
        '{"id": Infinity, "fields": [], "primaryKeys": [], "partitionKeys": [], "options": {}}',
        '{"id": 1, "fields": ' + '{"a":' * 5000 + "1" + "}" * 5000 + "}",
    ],
)
def test_a_record_that_is_no_schema_counts_as_none(text: str) -> None:
    assert read_record(base64.b64encode(zlib.compress(text.encode())).decode()) is None
