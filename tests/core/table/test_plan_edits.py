"""An edit of the schema: its plan is in the status before any run starts."""

from __future__ import annotations

import base64
import zlib

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations.edits import APPROVE
from paimon_operator.core.spec.edit_plan import read_record
from tests.core.table.edited_table import (
    COLUMNS,
    HOURLY,
    ILLEGAL,
    WIDER,
    Json,
    annotate,
    approval,
    planned,
    ready,
    record,
    refuse,
    schema,
    seen_by_run,
)
from tests.support import builders
from tests.support.table_world import TableWorld


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


def test_a_comment_of_the_table_is_a_step() -> None:
    seen = ready()
    seen.edit(schema=schema(COLUMNS) | {"comment": "orders of the shop"})
    seen.settle()
    assert planned(seen) == [("SetTableComment", "Metadata", "spec.schema.comment")]


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


def test_the_plan_stays_shown_while_its_run_waits_for_a_retry() -> None:
    seen = ready()
    seen.edit(schema=schema(WIDER))
    seen.settle()
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED, "the node is gone")
    seen.settle()
    assert len(planned(seen)) == 2


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


def test_the_plan_names_the_field_of_the_manifest_that_sets_an_option() -> None:
    seen = ready()
    seen.edit(retention={"snapshots": {"numRetainedMax": 30}}, suspend=True)
    seen.settle()
    fields = {field for _, _, field in planned(seen)}
    assert fields == {"spec.retention.snapshots.numRetainedMax"}
