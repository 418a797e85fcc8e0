"""The texts of Paimon types: their validation and their one normal form."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_schema.data_types import DataType, not_writable
from paimon_schema.paimon_json import paimon_json
from paimon_schema.type_parser import MAX_DEPTH, TypeTextError, canonical, parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bigint", "BIGINT"),
        ("INTEGER", "INT"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("DECIMAL(12, 2)", "DECIMAL(12,2)"),
        ("NUMERIC(12)", "DECIMAL(12,0)"),
        ("dec", "DECIMAL(10,0)"),
        ("DECIMAL(38,38)", "DECIMAL(38,38)"),
        ("VARCHAR(2147483647)", "STRING"),
        ("VARCHAR(20)  NOT  NULL", "VARCHAR(20) NOT NULL"),
        ("VARBINARY(2147483647)", "BYTES"),
        ("TIMESTAMP(6) WITHOUT TIME ZONE", "TIMESTAMP(6)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(3)"),
        ("timestamp_ltz( 6 )", "TIMESTAMP_LTZ(6)"),
        ("array<row<sku string,n int not null>>", "ARRAY<ROW<sku string, n INT NOT NULL>>".replace("string", "STRING")),
        ("MAP<STRING NOT NULL,ARRAY<INT>> NOT NULL", "MAP<STRING NOT NULL, ARRAY<INT>> NOT NULL"),
        ("ROW<`a b` INT, `c``d` DATE>", "ROW<`a b` INT, `c``d` DATE>"),
        ("ROW<`plain` INT>", "ROW<plain INT>"),
    ],
)
def test_each_type_has_one_form(text: str, expected: str) -> None:
    assert canonical(text) == expected
    assert canonical(expected) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DECIMAL(12,2) NOT NULL", "DECIMAL(12,2) NOT NULL"),
        ("ARRAY<INT NOT NULL> NOT NULL", {"type": "ARRAY NOT NULL", "element": "INT NOT NULL"}),
        ("MULTISET<STRING>", {"type": "MULTISET", "element": "STRING"}),
        (
            "MAP<STRING, ROW<`a b` INT, c ARRAY<DATE>>>",
            {
                "type": "MAP",
                "key": "STRING",
                "value": {
                    "type": "ROW",
                    "fields": [
                        {"id": 0, "name": "a b", "type": "INT"},
                        {"id": 1, "name": "c", "type": {"type": "ARRAY", "element": "DATE"}},
                    ],
                },
            },
        ),
    ],
)
def test_the_json_form_of_a_type_is_the_one_in_paimons_schema_files(text: str, expected: Any) -> None:
    assert paimon_json(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "part_of_the_problem"),
    [
        ("", "ends where a type name"),
        ("NUMBER", "'NUMBER' is not a Paimon type"),
        ("TEXT", "not a Paimon type"),
        ("BIGINT(20)", "follows after the end"),
        ("DECIMAL(39,2)", "outside 1 to 38"),
        ("DECIMAL(0)", "outside 1 to 38"),
        ("DECIMAL(5,6)", "scale 6 is larger"),
        ("DECIMAL(5,2,1)", "belongs where"),
        ("VARCHAR(0)", "outside"),
        ("VARCHAR(99999999999999)", "stands where a number belongs"),
        ("TIMESTAMP(10)", "outside"),
        ("TIMESTAMP", "one thing to Spark and another to Paimon"),
        ("TIMESTAMP NOT NULL", "one thing to Spark and another to Paimon"),
        ("ARRAY<TIMESTAMP>", "one thing to Spark and another to Paimon"),
        ("TIMESTAMP(6) WITH TIME ZONE", "'LOCAL' belongs"),
        ("ARRAY", "'<' belongs where 'the end'"),
        ("ARRAY<INT", "'>' belongs"),
        ("MAP<STRING>", "',' belongs"),
        ("ROW<>", "stands where a field name belongs"),
        ("ROW<a>", "stands where a type name belongs"),
        ("ROW<a INT, A INT>", "two fields of the same name"),
        ("BIGINT NOT", "'NULL' belongs"),
        ("INT; DROP TABLE x", "not part of a type"),
        ("INT -- x", "not part of a type"),
        ("ARRAY<" * 40 + "INT" + ">" * 40, f"deeper than {MAX_DEPTH}"),
        ("ARRAY<" * 5000, f"deeper than {MAX_DEPTH}"),
    ],
)
def test_an_invalid_type_is_refused_with_the_position(text: str, part_of_the_problem: str) -> None:
    with pytest.raises(TypeTextError) as error:
        parse(text)
    assert part_of_the_problem in error.value.problem
    assert error.value.remedy.endswith(".")


@pytest.mark.parametrize(
    ("text", "writable"),
    [
        ("STRING", True),
        ("CHAR(3)", True),
        ("BYTES", True),
        ("TIMESTAMP(6)", True),
        ("TIMESTAMP_LTZ(6)", True),
        ("TIMESTAMP(3)", True),
        ("TIME(3)", False),
        ("BINARY(8)", True),
        ("VARBINARY(8)", True),
        ("MULTISET<INT>", False),
        ("ARRAY<ROW<a INT, b TIME>>", False),
        ("MAP<STRING, TIMESTAMP(9)>", False),
    ],
)
def test_a_type_is_known_as_writable_by_spark_or_not(text: str, writable: bool) -> None:
    assert (not_writable(parse(text)) is None) is writable


NAMES = st.text(st.characters(categories=["L", "N"], include_characters="` _-"), min_size=1, max_size=12).filter(
    str.strip
)
LEAVES = st.one_of(
    st.sampled_from(["BOOLEAN", "INT", "STRING", "DATE", "BYTES"]).map(DataType),
    st.builds(lambda p, s: DataType("DECIMAL", (p, min(p, s))), st.integers(1, 38), st.integers(0, 38)),
    st.builds(
        lambda n, p: DataType(n, (p,)), st.sampled_from(["TIMESTAMP", "TIMESTAMP_LTZ", "TIME"]), st.integers(0, 9)
    ),
)


def _row(members: list[tuple[str, DataType]]) -> DataType:
    return DataType("ROW", children=tuple(t for _, t in members), fields=tuple(n for n, _ in members))


def _nested(inner: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    return st.one_of(
        inner.map(lambda t: DataType("ARRAY", children=(t,))),
        st.tuples(inner, inner).map(lambda pair: DataType("MAP", children=pair)),
        st.lists(st.tuples(NAMES, inner), min_size=1, max_size=4, unique_by=lambda m: m[0].lower()).map(_row),
        inner.map(lambda t: DataType(t.name, t.args, t.children, t.fields, nullable=False)),
    )


@given(st.recursive(LEAVES, _nested, max_leaves=10))
def test_every_type_is_read_back_as_it_was_written(data_type: DataType) -> None:
    assert parse(str(data_type)) == data_type


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_as_no_type(text: str) -> None:
    try:
        found = canonical(text)
    except TypeTextError:
        return
    assert canonical(found) == found


def test_the_parsed_long_types_of_many_tables_do_not_stay_in_memory() -> None:
    fields = ", ".join(f"a{number} INT" for number in range(150))
    tracemalloc.start()
    for number in range(300):
        parse(f"ROW<{fields}, z{number} INT>")
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 1024 * 1024, "a cache of 8192 such types has 300 MiB"
