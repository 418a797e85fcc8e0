"""Random tables and edits: a plan without a refusal ends in the declared table, and loses only what is dropped."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paimon_schema.data_types import DataType
from paimon_schema.order import wanted_order
from paimon_schema.plan import Plan, schema_after
from paimon_schema.table_schema import (
    Column,
    DeclaredColumn,
    DeclaredSchema,
    TableSchema,
    read_schema_file,
    schema_file_of,
)
from tests.schema.schemas import applied, plan
from tests.support.random_examples import examples

pytestmark = pytest.mark.worlds

RANDOM = settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))

PLAIN = [DataType(name) for name in ("TINYINT", "INT", "BIGINT", "DOUBLE", "STRING")]
PLAIN += [DataType("DECIMAL", args) for args in ((5, 0), (12, 2), (20, 2))] + [DataType("VARCHAR", (5,))]
NAMES = list("abcdefg")


def _rows(children: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    fields = st.lists(st.sampled_from("xyz"), min_size=1, max_size=3, unique=True)
    return fields.flatmap(
        lambda names: st.tuples(*(children for _ in names)).map(lambda of: DataType("ROW", (), of, tuple(names)))
    )


TYPES = st.recursive(
    st.sampled_from(PLAIN),
    lambda inner: (
        _rows(inner)
        | inner.map(lambda of: DataType("ARRAY", (), (of,)))
        | inner.map(lambda of: DataType("MAP", (), (DataType("INT", nullable=False), of)))
    ),
    max_leaves=4,
)
NULLABLE_TYPES = st.tuples(TYPES, st.integers(0, 3)).map(lambda pair: replace(pair[0], nullable=pair[1] > 0))


@st.composite
def tables(draw: st.DrawFn) -> TableSchema:
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6, unique=True))
    comments = st.none() | st.sampled_from(["one", "two"])
    columns = tuple(Column(name=name, type=draw(NULLABLE_TYPES), comment=draw(comments)) for name in names)
    return TableSchema(columns=columns, options=draw(OPTIONS))


OPTIONS = st.dictionaries(st.sampled_from(["p", "q", "r"]), st.sampled_from("12"), max_size=3)
WIDER = {"TINYINT": "INT", "INT": "BIGINT", "VARCHAR": "STRING"}


@st.composite
def edits(draw: st.DrawFn, before: TableSchema) -> DeclaredSchema:
    """Columns that stay, are renamed, changed, dropped, left out or new, in another order."""
    stay = draw(st.lists(st.sampled_from(before.columns), unique_by=lambda each: each.name))
    columns = [draw(_edited(each)) for each in stay]
    free = [name for name in NAMES if name not in {each.name for each in columns}]
    columns += (
        [
            DeclaredColumn(name=name, type=draw(TYPES))
            for name in draw(st.lists(st.sampled_from(free), max_size=2, unique=True))
        ]
        if free
        else []
    )
    unique = {each.name: each for each in columns} or {"z": DeclaredColumn(name="z", type=PLAIN[0])}
    ordered = tuple(draw(st.permutations(list(unique.values()))))
    gone = sorted({each.name for each in before.columns} - unique.keys() - {each.renamed_from for each in ordered})
    dropped = draw(st.lists(st.sampled_from(gone), unique=True)) if gone else []
    nested = draw(st.lists(st.sampled_from([f"{name}.{field}" for name in NAMES for field in "xyz"]), max_size=3))
    return DeclaredSchema(columns=ordered, dropped=(*dropped, *nested), options=draw(OPTIONS))


@st.composite
def _edited(draw: st.DrawFn, column: Column) -> DeclaredColumn:
    renamed = draw(st.none() | st.sampled_from([*NAMES, "n"])) if draw(st.booleans()) else None
    type_ = draw(st.sampled_from([column.type, replace(column.type, nullable=True)]) | NULLABLE_TYPES)
    if draw(st.booleans()):
        type_ = _wider(column.type)
    renamed = None if renamed == column.name else renamed
    comment = draw(st.none() | st.sampled_from(["one", "three"]))
    return DeclaredColumn(
        name=renamed or column.name, type=type_, comment=comment, renamed_from=renamed and column.name
    )


def _wider(of: DataType) -> DataType:
    """The type with wider plain types in it, and a field more in each row."""
    if of.name == "ROW" and "w" not in of.fields:
        children = (*(_wider(each) for each in of.children), PLAIN[1])
        return replace(of, fields=(*of.fields, "w"), children=children)
    if of.children:
        return replace(of, children=(*of.children[:-1], _wider(of.children[-1])))
    return DataType(WIDER[of.name], nullable=of.nullable) if of.name in WIDER else of


@RANDOM
@given(st.data())
def test_a_plan_without_a_refusal_ends_in_the_declared_table(data: st.DataObject) -> None:
    before = data.draw(tables())
    wanted = data.draw(edits(before))
    found = plan(before, wanted)
    if found.refusals:
        return
    after = applied(before, found, wanted)
    assert plan(after, wanted) == Plan(), "the plan of a table that is as declared has no step"
    names = [each.name for each in after.columns]
    declared_names = [each.name for each in wanted.columns]
    assert [name for name in names if name in declared_names] == declared_names
    predicted = schema_after(before, wanted)
    assert predicted.columns_digest == after.columns_digest
    assert read_schema_file(schema_file_of(predicted)) == predicted
    renamed = {step.path[0] for step in found.steps if step.change == "RenameColumn"}
    gone = {each.name for each in before.columns} - set(names) - renamed
    assert gone <= set(wanted.dropped), "a column is lost only if the manifest drops it"
    assert names == wanted_order(names, declared_names)


@RANDOM
@given(st.data())
def test_a_manifest_that_declares_the_table_has_an_empty_plan(data: st.DataObject) -> None:
    before = data.draw(tables())
    columns = tuple(DeclaredColumn(**vars(each)) for each in before.columns)
    assert plan(before, DeclaredSchema(columns=columns, options=before.options)) == Plan()
