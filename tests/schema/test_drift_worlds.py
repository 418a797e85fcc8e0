"""Random histories of ALTERs: two drifts, one after the other, are the difference of the first and the last schema."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paimon_schema.data_types import DataType
from paimon_schema.drift import difference
from paimon_schema.drift_composition import compose
from paimon_schema.table_schema import Column, TableSchema
from tests.schema.schemas import ENGINE
from tests.support.random_examples import examples

pytestmark = pytest.mark.worlds

RANDOM = settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))
TYPES = [DataType("INT"), DataType("BIGINT"), DataType("STRING", nullable=False), DataType("STRING")]
TEXTS = st.sampled_from([None, "one", "two"])
NAMES = list("abcdef")


@st.composite
def alters(draw: st.DrawFn, length: int) -> list[tuple[str, int, int, str | None]]:
    kinds = st.sampled_from(["add", "drop", "rename", "type", "comment", "default", "option", "table", "move"])
    numbers = st.integers(0, 5)
    return draw(st.lists(st.tuples(kinds, numbers, numbers, TEXTS), max_size=length))


def altered(schema: TableSchema, what: str, one: int, two: int, text: str | None) -> TableSchema:
    """The schema after one ALTER; the same where Paimon would refuse it."""
    columns, taken = list(schema.columns), {each.name for each in schema.columns}
    at, free = one % len(columns), [name for name in NAMES if name not in taken]
    if what == "table":
        return replace(schema, comment=text)
    if what == "option":
        rest = {key: value for key, value in schema.options.items() if key != NAMES[two]}
        return replace(schema, options=rest | ({} if text is None else {NAMES[two]: text}))
    if what == "add" and free:
        ids = [each.id or 0 for each in schema.columns]
        columns.append(Column(id=max([*ids, schema.id]) + 1, name=free[0], type=TYPES[two % 4], comment=text))
    elif what == "move":
        columns.insert(two % len(columns), columns.pop(at))
    elif what == "drop" and len(columns) > 1:
        del columns[at]
    elif what == "rename" and free:
        columns[at] = replace(columns[at], name=free[two % len(free)])
    elif what == "type":
        columns[at] = replace(columns[at], type=TYPES[two % 4])
    elif what == "comment":
        columns[at] = replace(columns[at], comment=text)
    elif what == "default":
        columns[at] = replace(columns[at], default=text)
    highest = max(schema.id, *(each.id or 0 for each in columns))  # as Paimon's highestFieldId: ids are never reused
    return replace(schema, columns=tuple(columns), id=highest)


def after_all(schema: TableSchema, steps: list[tuple[str, int, int, str | None]]) -> TableSchema:
    for step in steps:
        schema = altered(schema, *step)
    return schema


FIRST = TableSchema(
    columns=tuple(Column(id=number, name=name, type=TYPES[number]) for number, name in enumerate("abc")),
    options={"a": "one"},
    id=2,
)


@RANDOM
@given(alters(6), alters(6))
def test_a_drift_and_the_next_one_are_the_drift_from_the_first_schema_to_the_last(
    first: list[tuple[str, int, int, str | None]], second: list[tuple[str, int, int, str | None]]
) -> None:
    middle = after_all(FIRST, first)
    last = after_all(middle, second)
    known, found = difference(FIRST, middle, ENGINE), difference(middle, last, ENGINE)
    assert set(compose(known, found)) == set(difference(FIRST, last, ENGINE))


@RANDOM
@given(alters(8))
def test_what_is_altered_and_altered_back_is_no_drift(steps: list[tuple[str, int, int, str | None]]) -> None:
    after = after_all(FIRST, [step for step in steps if step[0] != "drop"])  # a dropped column never comes back
    there, back = difference(FIRST, after, ENGINE), difference(after, FIRST, ENGINE)
    assert compose(there, back) == ()
