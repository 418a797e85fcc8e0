"""The plan of an edit: which steps it has, in which order, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from paimon_engines.engine import Engine
from paimon_engines.loader import load_engines
from paimon_schema.data_types import DataType
from paimon_schema.option_changes import COMMENTED_OPTION
from paimon_schema.paimon_json import from_paimon_json
from paimon_schema.plan import Plan, make_plan
from paimon_schema.steps import StepCost
from paimon_schema.table_schema import Column, DeclaredColumn, DeclaredSchema, TableSchema, read_schema_file
from paimon_schema.type_parser import parse
from paimon_schema.uses import MANAGED_OPTION
from tests.schema.schemas import EngineOf, applied, columns, declared, plan, sentences, table

ORDERS = "id BIGINT NOT NULL; note STRING; amount INT"
ROWS = "id INT; address ROW<street STRING, number INT>"


@pytest.mark.parametrize(
    ("before", "after", "steps"),
    [
        (ORDERS, ORDERS, []),
        (ORDERS, f"{ORDERS}; price DECIMAL(12,2)", ["add column price DECIMAL(12,2)"]),
        (ORDERS, "id BIGINT NOT NULL; a INT; note STRING; amount INT", ["add column a INT"]),
        (ORDERS, "id BIGINT NOT NULL; note STRING; amount BIGINT", ["widen column amount: INT -> BIGINT"]),
        (ORDERS, "amount INT; id BIGINT NOT NULL; note STRING", ["move column amount to the front"]),
        (ORDERS, "note STRING; amount INT; id BIGINT NOT NULL", ["move column id after amount"]),
        (ORDERS, "id BIGINT; note STRING; amount INT", ["allow NULL in column id"]),
        (ORDERS, "id BIGINT NOT NULL; amount INT", []),
        ("a INT; note STRING; b INT", "b INT; a INT", ["move column b to the front"]),
        (
            ROWS,
            "id INT; address ROW<city STRING, street STRING, number BIGINT>",
            ["add field address.city STRING", "widen field address.number: INT -> BIGINT"],
        ),
        (ROWS, "id INT; address ROW<number INT>", []),
        (
            "items ARRAY<ROW<n INT NOT NULL>>",
            "items ARRAY<ROW<n INT, sku STRING>>",
            ["add field items.element.sku STRING", "allow NULL in field items.element.n"],
        ),
        ("m MAP<STRING, INT>", "m MAP<STRING, BIGINT>", ["widen field m.value: INT -> BIGINT"]),
        (
            "m MAP<STRING, ARRAY<ROW<a INT>>>",
            "m MAP<STRING, ARRAY<ROW<a INT, b DATE>>>",
            ["add field m.value.element.b DATE"],
        ),
    ],
)
def test_the_steps_of_an_edit(before: str, after: str, steps: list[str]) -> None:
    found = plan(table(before), declared(after))
    assert (sentences(found), found.refusals) == (steps, ())
    assert not found.needs_approval


def test_a_renamed_column_keeps_its_data_and_may_change_its_type_and_place_with_it() -> None:
    wanted = declared("remark VARCHAR(10); id BIGINT; n BIGINT", renamed={"n": "amount"})
    found = plan(table("id BIGINT; amount INT; remark VARCHAR(5)"), wanted)
    assert sentences(found) == [
        "rename column amount to n",
        "widen column remark: VARCHAR(5) -> VARCHAR(10)",
        "widen column n: INT -> BIGINT",
        "move column remark to the front",
    ]


def test_a_rename_that_is_done_is_no_step() -> None:
    assert plan(table("id INT; n INT"), declared("id INT; n INT", renamed={"n": "amount"})).steps == ()


def test_a_new_column_may_take_the_name_that_a_rename_sets_free() -> None:
    wanted = declared("b INT; a INT", renamed={"b": "a"})
    found = plan(table("a INT"), wanted)
    assert sentences(found) == ["rename column a to b", "add column a INT"]
    assert [len(each) for each in found.commits] == [1, 1], "options of the new column would go to the renamed one"
    after = applied(table("a INT"), found, wanted)
    assert plan(after, wanted) == Plan()


def test_other_plans_are_one_schema_commit() -> None:
    found = plan(table(ORDERS), declared("id BIGINT; remark STRING; p INT; amount BIGINT", renamed={"remark": "note"}))
    assert found.commits == (found.steps,)


@pytest.mark.parametrize(
    ("before", "dropped", "step"),
    [
        ("id INT; colour STRING", ["colour"], "drop column colour"),
        ("id INT; a ROW<x INT, y INT>", ["a.y"], "drop field a.y"),
        ("id INT; a ARRAY<ROW<x INT, y INT>>", ["a.element.y"], "drop field a.element.y"),
    ],
)
def test_what_the_manifest_drops_is_lost_and_needs_approval(before: str, dropped: list[str], step: str) -> None:
    kept = {"colour": "id INT", "a.y": "id INT; a ROW<x INT>", "a.element.y": "id INT; a ARRAY<ROW<x INT>>"}
    wanted = declared(kept[dropped[0]], dropped=dropped)
    found = plan(table(before), wanted)
    assert (sentences(found), found.steps[0].cost, found.needs_approval) == ([step], StepCost.LOSES_DATA, True)
    assert plan(applied(table(before), found, wanted), wanted) == Plan()


def test_a_column_that_was_dropped_is_no_step_and_no_error() -> None:
    assert plan(table("id INT"), declared("id INT", dropped=["colour", "x.y"])) == Plan()


def test_all_columns_may_be_replaced_because_additions_come_before_drops() -> None:
    before, wanted = table("a INT"), declared("b INT", dropped=["a"])
    assert applied(before, plan(before, wanted), wanted).columns == (Column(name="b", type=parse("INT")),)


KEYED = "id BIGINT NOT NULL; v INT; seq INT"


@pytest.mark.parametrize(
    ("after", "extra", "said"),
    [
        ("id BIGINT NOT NULL; v SMALLINT; seq INT", {}, "v: SMALLINT does not hold every value of INT"),
        ("id BIGINT NOT NULL; v STRING; seq INT", {}, "v: INT and STRING are of different families"),
        ("id BIGINT NOT NULL; v INT NOT NULL; seq INT", {}, "v: it may hold NULL, and NOT NULL cannot be added"),
        ("id BIGINT NOT NULL; v INT; seq BIGINT", {}, "column seq is used by the sequence: it stays INT"),
        ("id BIGINT NOT NULL; v INT; seq INT; w INT NOT NULL", {}, "w: a new column must allow NULL"),
        (
            "id BIGINT NOT NULL; v INT; s INT",
            {"renamed": {"s": "seq"}},
            "column seq is used by the sequence, so it is not renamed to s",
        ),
        ("id BIGINT NOT NULL; v INT", {"dropped": ["seq"]}, "column seq is used by the sequence: it is not dropped"),
        (
            "id BIGINT NOT NULL; v INT; seq INT; w INT",
            {"renamed": {"w": "u"}},
            "the table has neither column w nor u, from which it is to be renamed",
        ),
        ("id BIGINT NOT NULL; seq INT; V INT", {}, "the table keeps column v, which differs from V in case only"),
    ],
)
def test_one_illegal_step_refuses_the_plan_and_is_named(after: str, extra: dict[str, object], said: str) -> None:
    before = table(KEYED, "id", **{"sequence.field": "seq"})
    wanted = declared(after, "id", options={"sequence.field": "seq"}, **extra)  # type: ignore[arg-type]
    found = plan(before, wanted)
    assert [each.sentence for each in found.refusals if said in each.sentence], found
    assert all(each.field and each.remedy.endswith(".") for each in found.refusals)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("a ROW<x INT, y INT>", "a ROW<y INT, x INT>", "its fields are in another order"),
        ("a MAP<INT, INT>", "a MAP<BIGINT, INT>", "the key of the map is INT, and a key keeps its type"),
        ("a ROW<x INT>", "a ROW<x INT, y INT NOT NULL>", "a new column must allow NULL"),
        ("a ROW<x INT>", "a ARRAY<INT>", "are of different families"),
        ("a DECIMAL(10,2)", "a DECIMAL(11,4)", "does not hold every value"),
        ("a CHAR(5)", "a CHAR(6)", "does not hold every value"),
        ("a TIMESTAMP(3)", "a TIMESTAMP_LTZ(6)", "are of different families"),
        ("a BIGINT", "a DOUBLE", "does not hold every value"),
        ("a DOUBLE", "a DECIMAL(38,10)", "does not hold every value"),
    ],
)
def test_types_that_would_lose_values_or_change_their_meaning_are_refused(before: str, after: str, said: str) -> None:
    found = plan(table(before), declared(after))
    assert [said in each.sentence for each in found.refusals] == [True], found


def test_an_engine_that_cannot_change_nested_fields_refuses_them() -> None:
    found = plan(table(ROWS), declared("id INT; address ROW<street STRING, number BIGINT>"), EngineOf(frozenset()))
    assert [each.field for each in found.refusals] == ["spec.schema.columns[address].type"]


def test_a_widening_that_the_engine_does_not_read_is_refused() -> None:
    found = plan(table("a INT"), declared("a BIGINT"), EngineOf(unread=frozenset({("INT", "BIGINT")})))
    assert [each.sentence for each in found.refusals] == [
        "column a: this engine does not read INT as BIGINT in every file format"
    ]


OTHER_FORMATS = {
    "csv": ({"file.format": "csv"}, {"file.format": "csv"}),
    "json, written in capitals": ({"file.format": "JSON"}, {"file.format": "JSON"}),
    "of one level": ({"file.format.per.level": "0:avro, 3:csv"}, {}),
    "of the changelog": ({"changelog-file.format": "json"}, {}),
    "only from now on": ({}, {"file.format": "csv"}),
    "only until now": ({"file.format": "csv"}, {"file.format": "parquet"}),
}


@pytest.mark.parametrize(("has", "wants"), OTHER_FORMATS.values(), ids=OTHER_FORMATS)
def test_files_of_a_format_in_which_the_widening_was_not_shown_to_work_refuse_it(
    has: dict[str, str], wants: dict[str, str]
) -> None:
    found = plan(table("a INT; r ROW<b INT>", **has), declared("a BIGINT; r ROW<b BIGINT>", options=wants))
    assert [each.sentence for each in found.refusals] == [
        "column a: this engine does not read INT as BIGINT in every file format",
        "column r.b: this engine does not read INT as BIGINT in every file format",
    ]


def test_files_of_formats_in_which_the_widening_works_allow_it() -> None:
    formats = {"file.format": "Parquet", "file.format.per.level": "0:avro,1:orc", "changelog-file.format": "avro"}
    found = plan(table("a INT", **formats), declared("a BIGINT", options=formats))
    assert (found.refusals, [step.sentence for step in found.steps]) == ((), ["widen column a: INT -> BIGINT"])


def test_keys_never_change() -> None:
    found = plan(table("a INT NOT NULL; b INT NOT NULL", "a"), declared("a INT NOT NULL; b INT NOT NULL", "b"))
    assert [each.field for each in found.refusals] == ["spec.schema.primaryKeys"]
    added = plan(table("a INT; b INT"), declared("a INT; b INT", "a"))
    assert [each.sentence for each in added.refusals] == ["primary key: table has none, manifest has a"]


def test_options_are_set_and_those_that_leave_the_manifest_are_removed() -> None:
    before = table("a INT", **{"old-x": "1", "y": "2", "own": "3", "file.format": "parquet", MANAGED_OPTION: "x,y"})
    found = plan(before, declared("a INT", options={"y": "3", "z": "4", "file.format": "parquet"}))
    assert sentences(found) == ["option y: 2 -> 3", "option z: unset -> 4", "option old-x: 1 -> unset"]


def test_another_spelling_of_a_value_is_no_step() -> None:
    assert plan(table("a INT", y="TRUE", bucket="-1"), declared("a INT", options={"y": "true"})).steps == ()


def test_a_frozen_option_is_refused() -> None:
    found = plan(table("a INT", bucket="2"), declared("a INT", options={"bucket": "4"}))
    assert [each.field for each in found.refusals] == ["spec.options[bucket]"]


@pytest.mark.parametrize(("value", "is_refused"), [("2", True), ("-1", False)])
def test_a_frozen_option_that_only_the_table_has_is_a_difference_unless_it_is_the_default(
    value: str, is_refused: bool
) -> None:
    found = plan(table("a INT", bucket=value), declared("a INT"))
    assert (found.steps, bool(found.refusals)) == ((), is_refused)


def test_options_of_columns_that_are_added_or_dropped_change_with_them() -> None:
    before = table("a INT; b INT", **{"fields.b.stats-mode": "none", "fields.a.stats-mode": "full"})
    options = {"fields.c.aggregate-function": "sum", "fields.a.stats-mode": "full"}
    found = plan(before, declared("a INT; c INT", dropped=["b"], options=options))
    assert found.refusals == ()
    assert sentences(found) == [
        "add column c INT",
        "drop column b",
        "option fields.c.aggregate-function: unset -> sum",
        "option fields.b.stats-mode: none -> unset",
    ]


@pytest.mark.parametrize(
    ("key", "value", "is_refused"),
    [
        ("fields.s.sequence-group", "a,c", False),
        ("fields.c,d.sequence-group", "d", False),
        ("fields.s.sequence-group", "a,b", True),
        ("fields.s.sequence-group", "c", True),
        ("fields.default-aggregate-function", "sum", True),
        ("fields.a.sequence-group", "c", True),
        ("fields.a.aggregate-function", "sum", True),
    ],
)
def test_a_sequence_group_may_get_new_columns_only(key: str, value: str, is_refused: bool) -> None:
    before = table("s INT; a INT; b INT", **{"fields.s.sequence-group": "a"})
    options = {"fields.s.sequence-group": "a"} | {key: value}
    found = plan(before, declared("s INT; a INT; b INT; c INT; d INT", options=options))
    assert bool(found.refusals) is is_refused, found


def test_a_sequence_group_stays_in_the_manifest() -> None:
    found = plan(table("s INT; a INT", **{"fields.s.sequence-group": "a"}), declared("s INT; a INT"))
    assert [each.field for each in found.refusals] == ["spec.options[fields.s.sequence-group]"]


@pytest.mark.parametrize("engine", load_engines().values(), ids=lambda engine: engine.id)
def test_options_of_paimon_and_of_the_operator_are_no_difference(engine: Engine) -> None:
    before = table("a INT", **{"path": "s3://lake/shop.db/t", "type": "table", "paimon-operator.owner": "shop/t"})
    assert make_plan(before, declared("a INT"), engine) == Plan()


def test_the_comment_of_a_dropped_column_is_no_step() -> None:
    dropped = Column(name="b", type=parse("INT"), comment="old")
    before = replace(table("a INT", **{COMMENTED_OPTION: "b"}), columns=(*columns("a INT"), dropped))
    assert sentences(plan(before, declared("a INT", dropped=["b"]))) == ["drop column b"]


def test_comments_are_set_and_those_that_leave_the_manifest_are_removed() -> None:
    before = TableSchema(
        columns=(
            Column(name="a", type=parse("INT"), comment="old"),
            Column(name="b", type=parse("INT"), comment="by hand"),
        ),
        comment="old",
        options={COMMENTED_OPTION: "a,<table>"},
    )
    wanted = DeclaredSchema(columns=tuple(DeclaredColumn(**vars(each) | {"comment": None}) for each in before.columns))
    assert sentences(plan(before, wanted)) == ["comment of column a", "comment of the table"]


def test_the_comment_of_a_renamed_column_stays_with_it() -> None:
    before = TableSchema(columns=(Column(name="a", type=parse("INT"), comment="by hand"),))
    column = DeclaredColumn(name="b", type=parse("INT"), renamed_from="a")
    assert sentences(plan(before, DeclaredSchema(columns=(column,)))) == ["rename column a to b"]


def test_the_hash_of_a_plan_changes_with_its_steps_only() -> None:
    hashes = {
        plan(table(ORDERS), declared(f"{ORDERS}; {added}")).hash for added in ("p INT", "p INT", "p BIGINT", "q INT")
    }
    assert len(hashes) == 3


def test_a_schema_file_is_read() -> None:
    document = {
        "version": 3,
        "id": 7,
        "fields": [
            {"id": 0, "name": "id", "type": "BIGINT NOT NULL", "description": "the shop's own"},
            {"id": 1, "name": "m", "type": {"type": "MAP", "key": "STRING NOT NULL", "value": "INT"}},
            {"id": 4, "name": "g", "type": "GEOMETRY NOT NULL", "defaultValue": "x"},
        ],
        "partitionKeys": [],
        "primaryKeys": ["id"],
        "options": {"bucket": "2"},
        "comment": "",
    }
    found = read_schema_file(json.dumps(document))
    assert (found.id, found.primary_keys, found.comment, found.options) == (7, ("id",), None, {"bucket": "2"})
    assert [str(each.type) for each in found.columns] == [
        "BIGINT NOT NULL",
        "MAP<STRING NOT NULL, INT>",
        "GEOMETRY NOT NULL",
    ]
    assert (found.columns[0].comment, found.columns[2].default) == ("the shop's own", "x")


@pytest.mark.parametrize("text", ["[]", "{}", "7", '{"id": 1, "fields": [7]}'])
def test_what_is_no_schema_file_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="no schema file"):
        read_schema_file(text)


def test_a_type_that_is_not_known_equals_itself_only() -> None:
    one = from_paimon_json({"type": "VECTOR NOT NULL", "element": "FLOAT", "length": 3})
    assert one == from_paimon_json({"type": "VECTOR NOT NULL", "element": "FLOAT", "length": 3})
    assert one != from_paimon_json({"type": "VECTOR NOT NULL", "element": "FLOAT", "length": 4})
    assert from_paimon_json("GEOMETRY") == DataType("GEOMETRY")
