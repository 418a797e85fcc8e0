"""An edit of the schema alters the table by a plan: all of it in one schema commit, or nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paimon_engines.loader import load_engine
from tests.spark.lake import Ended, Lake
from tests.support.kill_points import MOMENTS as MOMENTS_OF_DRIVERS

COLUMNS = {"id": "BIGINT", "amount": "INT", "note": "STRING", "colour": "STRING"}
OPTIONS = {"bucket": "2"}


def orders(lake: Lake, columns: dict[str, str] = COLUMNS, **more: Any) -> Ended:
    return lake.provision(columns, **{"keys": ["id"], "options": OPTIONS, **more})


def newest_schema(lake: Lake) -> dict[str, Any]:
    newest = max((lake.table_directory / "schema").glob("schema-*"), key=lambda path: int(path.name.partition("-")[2]))
    found: dict[str, Any] = json.loads(newest.read_text(encoding="utf-8"))
    return found


def fields(lake: Lake) -> list[tuple[str, Any]]:
    return [(each["name"], each["type"]) for each in newest_schema(lake)["fields"]]


def insert(lake: Lake, *values: str) -> None:
    for each in values:
        lake.outside(f"INSERT INTO outside.shop.orders VALUES {each}")  # noqa: S608  (a fixed text of the test)


def test_many_changes_are_one_schema_commit_and_old_rows_keep_their_values(lake: Lake) -> None:
    orders(lake).ok()
    insert(lake, "(1, 7, 'first', 'red')")
    edited = {"note": "STRING", "id": "BIGINT", "total": "BIGINT", "price": "DECIMAL(12,2)"}

    edit: dict[str, Any] = {"renamed": {"total": "amount"}, "dropped": ["colour"]}
    options = {**OPTIONS, "write-only": "true"}

    result = orders(lake, edited, options=options, **edit).ok()

    assert result["differences"] == [
        "rename column amount to total",
        "add column price DECIMAL(12,2)",
        "drop column colour",
        "widen column total: INT -> BIGINT",
        "move column note to the front",
        "option write-only: unset -> true",
    ]
    assert lake.schemas() == 2
    assert [name for name, _ in fields(lake)] == list(edited)
    insert(lake, "('second', 2, 8000000000, 1.5)")
    assert sorted(lake.rows(), key=lambda row: row["id"]) == [
        {"note": "first", "id": 1, "total": 7, "price": None},
        {"note": "second", "id": 2, "total": 8000000000, "price": "1.50"},
    ]
    assert "differences" not in orders(lake, edited, options=options, **edit).ok()
    assert lake.schemas() == 2, "a table that is as declared is not altered"


def test_a_column_that_left_the_manifest_stays_until_the_manifest_drops_it(lake: Lake) -> None:
    orders(lake).ok()
    insert(lake, "(1, 7, 'first', 'red')")
    shorter = {"id": "BIGINT", "amount": "INT", "note": "STRING"}

    assert "differences" not in orders(lake, shorter).ok()
    assert lake.rows()[0]["colour"] == "red"
    assert lake.schemas() == 1

    assert orders(lake, shorter, dropped=["colour"]).ok()["differences"] == ["drop column colour"]
    assert lake.rows() == [{"id": 1, "amount": 7, "note": "first"}]


def test_a_new_column_of_a_dropped_name_does_not_show_the_old_values(lake: Lake) -> None:
    orders(lake).ok()
    insert(lake, "(1, 7, 'first', 'red')")
    orders(lake, {"id": "BIGINT", "amount": "INT", "note": "STRING"}, dropped=["colour"]).ok()

    orders(lake).ok()

    assert lake.rows()[0]["colour"] is None


def test_a_new_column_may_take_the_name_that_a_rename_sets_free(lake: Lake) -> None:
    orders(lake).ok()
    insert(lake, "(1, 7, 'first', 'red')")
    edited = {"id": "BIGINT", "amount": "INT", "remark": "STRING", "note": "INT", "colour": "STRING"}

    orders(lake, edited, renamed={"remark": "note"}, options={**OPTIONS, "fields.note.stats-mode": "none"}).ok()

    assert lake.rows() == [{"id": 1, "amount": 7, "remark": "first", "note": None, "colour": "red"}]
    stored = newest_schema(lake)["options"]
    assert stored["fields.note.stats-mode"] == "none"
    assert "fields.remark.stats-mode" not in stored
    assert "paimon-operator.applying" not in stored
    assert lake.schemas() == 3, "the renames are a commit of their own"


def test_one_illegal_step_leaves_the_table_as_it_is(lake: Lake) -> None:
    orders(lake).ok()
    edited = {"id": "BIGINT", "amount": "SMALLINT", "note": "STRING", "colour": "STRING", "more": "INT"}

    refused = orders(lake, edited)

    assert "column amount: SMALLINT does not hold every value of INT" in refused.refused("TableDiffers")
    assert refused.error["field"] == "spec.schema.columns[amount].type"
    assert lake.schemas() == 1


@pytest.mark.parametrize("approved", [None, "0123456789abcdef"])
def test_a_plan_that_loses_data_waits_for_the_approval_of_its_hash(lake: Lake, approved: str | None) -> None:
    orders(lake).ok()
    shorter = {"id": "BIGINT", "amount": "BIGINT", "note": "STRING"}
    edit: dict[str, Any] = {"dropped": ["colour"], "approve": True}
    more = {} if approved is None else {"approved": approved}

    waiting = orders(lake, shorter, **edit, **more)

    assert "waits for approval: drop column colour" in waiting.refused("AwaitingApproval")
    plan = waiting.result["plan"]
    assert [(step["change"], step["cost"], step["field"]) for step in plan["steps"]] == [
        ("DropColumn", "LosesData", "spec.schema.droppedColumns[colour]"),
        ("WidenType", "Metadata", "spec.schema.columns[amount]"),
    ]
    assert lake.schemas() == 1
    orders(lake, shorter, **edit, approved=plan["hash"]).ok()
    assert [name for name, _ in fields(lake)] == list(shorter)


def test_a_plan_of_metadata_alone_needs_no_approval(lake: Lake) -> None:
    orders(lake).ok()

    assert orders(lake, {**COLUMNS, "more": "INT"}, approve=True).ok()["differences"] == ["add column more INT"]


def test_an_adopted_table_is_altered_where_that_is_legal(lake: Lake) -> None:
    lake.outside(
        "CREATE DATABASE outside.shop",
        "CREATE TABLE outside.shop.orders (id BIGINT NOT NULL, theirs STRING, amount INT) TBLPROPERTIES "
        "('bucket'='2', 'primary-key'='id')",
    )
    insert(lake, "(1, 'x', 7)")

    adopted = orders(lake, {"id": "BIGINT", "amount": "BIGINT", "note": "STRING"}, adoption="Adopt").ok()

    assert adopted["differences"] == [
        "AddColumn: spec.schema.columns[note]",
        "WidenType: spec.schema.columns[amount]",
    ], "it was not the object's own, so nothing is said of its types"
    assert lake.rows() == [{"id": 1, "theirs": "x", "amount": 7, "note": None}]


NESTED = {"id": "BIGINT", "address": "ROW<street STRING, n INT>", "items": "ARRAY<ROW<sku STRING>>"}


def test_fields_of_nested_types_change_where_the_engine_can_do_it(lake: Lake) -> None:
    orders(lake, NESTED).ok()
    insert(lake, "(1, named_struct('street', 'a', 'n', 3), array(named_struct('sku', 's')))")
    edited = {
        "id": "BIGINT",
        "address": "ROW<city STRING, street STRING, n BIGINT>",
        "items": "ARRAY<ROW<sku STRING, price DOUBLE>>",
    }

    ended = orders(lake, edited)

    if "addNestedField" not in load_engine(lake.engine.id).schema_changes:
        assert "this engine cannot change fields of a nested type" in ended.refused("TableDiffers")
        return
    assert lake.schemas() == 2
    (row,) = lake.rows()
    assert row["address"] == {"city": None, "street": "a", "n": 3}
    assert row["items"] == [{"sku": "s", "price": None}]
    assert "differences" not in orders(lake, edited).ok()


TWO_COMMITS = {"id": "BIGINT", "amount": "BIGINT", "remark": "STRING", "note": "INT"}
"""An edit of COLUMNS whose renames are a schema commit of their own."""
MOMENTS = [moment for moment in MOMENTS_OF_DRIVERS if "schema" in moment]


@pytest.mark.some_rows(4)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("approve", [False, True])
def test_a_driver_that_dies_between_two_steps_leaves_what_the_next_attempt_completes(
    lake: Lake, moment: str, approve: bool
) -> None:
    orders(lake).ok()
    insert(lake, "(1, 7, 'first', 'red')")
    edit: dict[str, Any] = {"renamed": {"remark": "note"}, "dropped": ["colour"], "keys": ["id"], "options": OPTIONS}
    if approve:
        waiting = lake.provision(TWO_COMMITS, **edit, approve=True)
        edit |= {"approve": True, "approved": waiting.result["plan"]["hash"]}
    lake.die_at(moment, lake.provision_job(TWO_COMMITS, run="evolve", **edit))

    lake.perform(lake.provision_job(TWO_COMMITS, run="evolve", **edit)).ok()

    assert lake.rows() == [{"id": 1, "amount": 7, "remark": "first", "note": None}]
    assert "paimon-operator.applying" not in newest_schema(lake)["options"]
    assert lake.schemas() == 3, "each of the two commits was made once"


def test_an_approval_does_not_count_for_another_edit_of_a_table_that_is_half_done(lake: Lake) -> None:
    orders(lake).ok()
    edit: dict[str, Any] = {"renamed": {"remark": "note"}, "keys": ["id"], "options": OPTIONS, "approve": True}
    waiting = lake.provision(TWO_COMMITS, dropped=["colour"], **edit)
    approved = waiting.result["plan"]["hash"]
    lake.die_at(
        "after the first schema", lake.provision_job(TWO_COMMITS, dropped=["colour"], approved=approved, **edit)
    )
    fewer = {name: type_ for name, type_ in TWO_COMMITS.items() if name != "amount"}

    another = lake.provision(fewer, dropped=["colour", "amount"], approved=approved, **edit)

    assert "drop column amount" in another.refused("AwaitingApproval")


def test_columns_are_renamed_in_a_chain_and_every_value_stays(lake: Lake) -> None:
    orders(lake).ok()
    insert(lake, "(1, 7, 'first', 'red')")
    edited = {"id": "BIGINT", "note": "INT", "remark": "STRING", "colour": "STRING"}
    edit: dict[str, Any] = {"renamed": {"remark": "note", "note": "amount"}}

    result = orders(lake, edited, **edit).ok()

    assert result["differences"] == ["rename column note to remark", "rename column amount to note"]
    assert lake.rows() == [{"id": 1, "note": 7, "remark": "first", "colour": "red"}]
    assert "differences" not in orders(lake, edited, **edit).ok()


def test_options_of_a_renamed_column_go_with_it(lake: Lake) -> None:
    orders(lake, options={**OPTIONS, "fields.note.stats-mode": "none"}).ok()
    insert(lake, "(1, 7, 'first', 'red')")
    edited = {"id": "BIGINT", "amount": "INT", "remark": "STRING", "note": "INT", "colour": "STRING"}
    options = {**OPTIONS, "fields.remark.stats-mode": "none", "fields.note.stats-mode": "full"}

    orders(lake, edited, renamed={"remark": "note"}, options=options).ok()

    assert lake.rows() == [{"id": 1, "amount": 7, "remark": "first", "note": None, "colour": "red"}]
    stored = newest_schema(lake)["options"]
    assert {key: value for key, value in stored.items() if key.startswith("fields.")} == {
        "fields.remark.stats-mode": "none",
        "fields.note.stats-mode": "full",
    }
    assert "differences" not in orders(lake, edited, renamed={"remark": "note"}, options=options).ok()


def test_an_edit_that_paimon_refuses_waits_for_another_edit(lake: Lake) -> None:
    orders(lake).ok()
    wrong = {**OPTIONS, "snapshot.num-retained.min": "5", "snapshot.num-retained.max": "2"}

    refused = orders(lake, {**COLUMNS, "more": "INT"}, options=wrong)

    assert "snapshot.num-retained.max" in refused.refused("TableRefused")
    assert lake.schemas() == 1


def test_a_column_that_an_index_needs_is_not_dropped(lake: Lake) -> None:
    lake.outside(
        "CREATE DATABASE outside.shop",
        "CREATE TABLE outside.shop.orders (id BIGINT NOT NULL, theirs STRING, amount INT) TBLPROPERTIES "
        "('bucket'='2', 'primary-key'='id', 'file-index.bloom-filter.columns'='theirs')",
    )
    insert(lake, "(1, 'x', 7)")

    edit: dict[str, Any] = {"adoption": "Adopt", "dropped": ["theirs"]}
    columns = {"id": "BIGINT", "amount": "INT"}

    refused = orders(lake, columns, **edit)
    orders(lake, columns, **edit, options={**OPTIONS, "file-index.bloom-filter.columns": "amount"}).ok()

    assert refused.refused("TableDiffers")
    insert(lake, "(2, 8)")
    assert len(lake.rows()) == 2, "with the index of a column that is gone, every write would fail"


def test_a_plan_for_a_table_without_this_owner_says_what_the_manifest_says(lake: Lake) -> None:
    lake.outside(
        "CREATE DATABASE outside.shop",
        "CREATE TABLE outside.shop.orders (id BIGINT NOT NULL, theirs STRING, amount DECIMAL(6,2)) TBLPROPERTIES "
        "('bucket'='2', 'primary-key'='id', 'write-buffer-size'='77 mb')",
    )
    options = {**OPTIONS, "write-buffer-size": "64 mb"}
    edit: dict[str, Any] = {"adoption": "Adopt", "dropped": ["theirs"], "options": options}
    waiting = orders(lake, {"id": "BIGINT", "amount": "DECIMAL(12,2)"}, **edit, approve=True)

    adopted = orders(lake, {"id": "BIGINT", "amount": "DECIMAL(12,2)"}, **edit).ok()

    assert waiting.refused("AwaitingApproval")
    for result in (waiting.result, adopted):
        assert [word for word in ("DECIMAL(6", "77 mb") if word in json.dumps(result)] == []
