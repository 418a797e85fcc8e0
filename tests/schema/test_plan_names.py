"""The plan of an edit where names matter: renames, what follows a name or stays with it, and what an approval is of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from paimon_schema.option_changes import marks_of
from paimon_schema.plan import Plan, schema_after
from paimon_schema.table_schema import Column, DeclaredColumn, DeclaredSchema, TableSchema
from paimon_schema.type_parser import parse
from paimon_schema.uses import MANAGED_OPTION
from tests.schema.schemas import applied, declared, plan, sentences, table


def test_a_default_that_no_manifest_has_set_stays() -> None:
    before = TableSchema(columns=(Column(name="a", type=parse("INT"), default="7"),))
    wanted = DeclaredSchema(columns=(DeclaredColumn(name="a", type=parse("INT")),))
    assert plan(before, wanted) == Plan()
    assert schema_after(before, wanted).columns_digest == before.columns_digest


def test_a_default_that_leaves_the_manifest_is_removed_also_when_its_column_is_renamed() -> None:
    column = DeclaredColumn(name="a", type=parse("INT"), default="7")
    before = TableSchema(columns=(Column(name="a", type=parse("INT"), default="7"),))
    marked = replace(before, options=marks_of(DeclaredSchema(columns=(column,))))
    wanted = DeclaredSchema(columns=(DeclaredColumn(name="b", type=parse("INT"), renamed_from="a"),))
    assert sentences(plan(marked, wanted)) == ["rename column a to b", "default of column b: 7 -> unset"]
    assert schema_after(marked, wanted).columns[0].default is None


@pytest.mark.parametrize(
    ("before", "after", "renamed", "said"),
    [
        ("v INT; x INT", "V INT", {"V": "x"}, "the table keeps column v, which differs from V in case only"),
        (
            "a ROW<street STRING>",
            "a ROW<Street STRING>",
            {},
            "column a.Street: the table keeps field street, which differs from it in case only",
        ),
    ],
)
def test_a_name_that_differs_in_case_only_from_one_that_stays_is_refused(
    before: str, after: str, renamed: dict[str, str], said: str
) -> None:
    found = plan(table(before), declared(after, renamed=renamed))
    assert [each.sentence for each in found.refusals] == [said]


def test_a_rename_may_change_the_case_and_a_field_may_replace_one_of_another_case() -> None:
    found = plan(table("A INT; r ROW<X INT, z INT>"), declared("a INT; r ROW<x INT, z INT>", renamed={"a": "A"}))
    assert sentences(found) == ["rename column A to a"]
    dropped = declared("r ROW<x INT, z INT>", dropped=["r.X"])
    assert sentences(plan(table("r ROW<X INT, z INT>"), dropped)) == ["add field r.x INT", "drop field r.X"]


def test_columns_may_be_renamed_in_a_chain() -> None:
    before, wanted = table("a INT; b STRING"), declared("b INT; c STRING", renamed={"b": "a", "c": "b"})
    found = plan(before, wanted)
    assert (sentences(found), found.refusals) == (["rename column b to c", "rename column a to b"], ())
    after = applied(before, found, wanted)
    assert [(each.name, str(each.type)) for each in after.columns] == [("b", "INT"), ("c", "STRING")]
    assert plan(after, wanted) == Plan()
    assert schema_after(before, wanted).columns_digest == after.columns_digest


def test_an_option_of_a_column_that_left_the_manifest_and_stays_in_the_table_stays_with_it() -> None:
    before = table("a INT; b INT", **{"fields.b.aggregate-function": "sum", "fields.a.aggregate-function": "max"})
    assert plan(before, declared("a INT", options={"fields.a.aggregate-function": "max"})) == Plan()
    back = declared("a INT; b INT", options={"fields.a.aggregate-function": "max"})
    assert [each.field for each in plan(before, back).refusals] == ["spec.options[fields.b.aggregate-function]"]


def test_the_options_of_a_renamed_column_go_with_it() -> None:
    before = table("a INT; b INT", **{"fields.a.stats-mode": "none", "fields.b.stats-mode": "full"})
    wanted = declared(
        "c INT; b INT", renamed={"c": "a"}, options={"fields.c.stats-mode": "none", "fields.b.stats-mode": "full"}
    )
    found = plan(before, wanted)
    assert found.refusals == ()
    assert sentences(found) == [
        "rename column a to c",
        "option fields.a.stats-mode: none -> unset",
        "option fields.c.stats-mode: unset -> none",
    ]
    assert plan(applied(before, found, wanted), wanted) == Plan()


def test_options_of_a_renamed_column_move_before_a_new_column_takes_its_name() -> None:
    before = table("a INT", **{"fields.a.stats-mode": "none"})
    options = {"fields.b.stats-mode": "none", "fields.a.stats-mode": "full"}
    wanted = declared("b INT; a INT", renamed={"b": "a"}, options=options)
    found = plan(before, wanted)
    assert [[step.change for step in commit] for commit in found.commits] == [
        ["RenameColumn", "RemoveOption", "SetOption"],
        ["AddColumn", "SetOption"],
    ]
    after = applied(before, found, wanted).options
    assert {key: after[key] for key in options} == options


def test_options_that_a_chain_of_renames_would_move_twice_are_refused() -> None:
    before = table("a INT; b INT", **{"fields.a.stats-mode": "none", "fields.b.stats-mode": "full"})
    options = {"fields.b.stats-mode": "none", "fields.c.stats-mode": "full"}
    found = plan(before, declared("b INT; c INT", renamed={"b": "a", "c": "b"}, options=options))
    assert [each.field for each in found.refusals] == ["spec.schema.columns[b].renamedFrom"]


def test_an_equal_plan_for_a_later_schema_of_the_table_is_another_plan() -> None:
    """An approval that stays in the manifest must not drop a column that was added again since."""
    before, wanted = table("id INT; colour STRING"), declared("id INT", dropped=["colour"])
    later = replace(before, id=before.id + 2)
    assert plan(before, wanted).hash != plan(later, wanted).hash


def test_a_path_in_dropped_columns_never_names_a_column_with_a_dot() -> None:
    before = TableSchema(columns=(*table("a ROW<b INT, c INT>").columns, Column(name="a.b", type=parse("INT"))))
    wanted = declared("a ROW<c INT>", dropped=["a.b"])
    assert sentences(plan(before, wanted)) == ["drop field a.b"]
    assert [each.name for each in schema_after(before, wanted).columns] == ["a", "a.b"]


INDEX = "file-index.bloom-filter.columns"


@pytest.mark.parametrize("edit", [{"dropped": ["b"]}, {"renamed": {"c": "b"}}])
@pytest.mark.parametrize(
    ("managed", "options", "is_refused"),
    [
        ("", {}, True),
        (INDEX, {}, False),
        ("", {INDEX: "a"}, False),
        ("", {INDEX: "a,b"}, True),
    ],
)
def test_a_column_is_neither_dropped_nor_renamed_while_an_index_of_the_table_names_it(
    edit: dict[str, Any], managed: str, options: dict[str, str], is_refused: bool
) -> None:
    """Every later write would fail: newer releases of Paimon look the column up by its name."""
    before = table("a INT; b INT", **{INDEX: "a,b", MANAGED_OPTION: managed})
    after = "a INT; c INT" if "renamed" in edit else "a INT"
    found = plan(before, declared(after, options=options, **edit))
    remedies = [f"Set spec.options[{INDEX}] without it."] if is_refused else []
    assert [each.remedy for each in found.refusals] == remedies
