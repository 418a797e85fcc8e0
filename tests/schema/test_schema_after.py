"""The schema that is expected after a plan, from which later edits are planned: it is what the steps leave."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from paimon_schema.plan import schema_after
from paimon_schema.table_schema import Column, DeclaredColumn, DeclaredSchema, read_schema_file, schema_file_of
from paimon_schema.type_parser import parse
from tests.schema.schemas import applied, columns, declared, plan, sentences, table


@pytest.mark.parametrize(
    ("before", "manifest", "dropped", "after"),
    [
        ("ROW<a INT, b INT, c INT>", "ROW<a INT>", [], "ROW<a INT, b INT, c INT>"),
        ("ROW<a INT, b INT, c INT>", "ROW<a INT>", ["v.b"], "ROW<a INT, c INT>"),
        ("ROW<a INT, b INT>", "ROW<a INT, b INT>", ["v.b"], "ROW<a INT, b INT>"),
        ("ROW<a INT, b INT>", "ROW<a INT, n INT, b INT>", [], "ROW<a INT, n INT, b INT>"),
        ("ROW<a ROW<p INT, q INT>>", "ROW<a ROW<p BIGINT>>", [], "ROW<a ROW<p BIGINT, q INT>>"),
        ("ARRAY<ROW<p INT, q INT>>", "ARRAY<ROW<p INT>>", ["v.element.q"], "ARRAY<ROW<p INT>>"),
        ("MAP<STRING, ROW<p INT, q INT>>", "MAP<STRING, ROW<p INT>>", ["v.value.q"], "MAP<STRING, ROW<p INT>>"),
        ("MAP<STRING, ROW<p INT, q INT>>", "MAP<STRING, ROW<p INT>>", [], "MAP<STRING, ROW<p INT, q INT>>"),
        ("INT NOT NULL", "BIGINT NOT NULL", [], "BIGINT NOT NULL"),
    ],
)
def test_a_type_is_the_declared_one_with_the_fields_that_stay(
    before: str, manifest: str, dropped: list[str], after: str
) -> None:
    has, wanted = table(f"v {before}"), declared(f"v {manifest}", dropped=dropped)
    found = plan(has, wanted)
    assert found.refusals == ()
    assert [each.type for each in applied(has, found, wanted).columns] == [parse(after)]
    assert [each.type for each in schema_after(has, wanted).columns] == [parse(after)]


@pytest.mark.parametrize(("before", "said"), [(None, "unset -> 7"), ("6", "6 -> 7")])
def test_a_default_is_set_on_a_column_that_exists(before: str | None, said: str) -> None:
    has = replace(table("a INT"), columns=(Column(name="a", type=parse("INT"), default=before),))
    wanted = DeclaredSchema(columns=(DeclaredColumn(name="a", type=parse("INT"), default="7"),))
    assert sentences(plan(has, wanted)) == [f"default of column a: {said}"]
    assert schema_after(has, wanted).columns[0].default == "7"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (None, {"bucket": "1", "file.format": "orc", "v": "w"}),
        (1, {"bucket": "1", "file.format": "orc", "v": "w"}),
        (2, {"file.format": "orc", "v": "w"}),
        (3, {"v": "w"}),
        (4, {"v": "w"}),
    ],
)
def test_a_file_of_an_older_release_has_its_defaults(version: int | None, expected: dict[str, str]) -> None:
    document = json.loads(schema_file_of(table("a INT", "a"))) | {"version": version, "options": {"v": "w"}}
    old = {key: value for key, value in document.items() if value is not None}
    assert read_schema_file(json.dumps(old)).options == expected
    set_ = {"bucket": "7", "file.format": "avro"}
    assert read_schema_file(json.dumps(old | {"options": set_})).options == set_


def test_a_schema_is_read_as_it_was_written() -> None:
    """Comments too: Paimon writes an empty one where a table has none, and reads the absent one of pypaimon as null."""
    column = Column(name="c", type=parse("ARRAY<INT>"), comment="why", default="7")
    has = replace(table("a INT", "a", bucket="2"), id=3, comment="what", columns=(*columns("a INT"), column))
    text = schema_file_of(has)
    assert read_schema_file(text) == has
    for none in ("", "null", None):
        assert read_schema_file(json.dumps(json.loads(text) | {"comment": none})) == replace(has, comment=None)
