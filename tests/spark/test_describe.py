"""What a run of type Describe says of each table of a catalog, also of those that Paimon cannot read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paimon_contract.description import DescribedTable, read_description
from paimon_schema.table_schema import read_schema_file
from tests.spark.lake import Lake

WHOLE: dict[str, Any] = {
    "version": 3,
    "id": 0,
    "fields": [{"id": 0, "name": "id", "type": "BIGINT NOT NULL"}],
    "highestFieldId": 0,
    "partitionKeys": [],
    "primaryKeys": ["id"],
    "options": {"bucket": "1"},
    "timeMillis": 1,
}
OLD: dict[str, Any] = {key: value for key, value in WHOLE.items() if key != "version"} | {"options": {}}
READABLE: dict[str, dict[str, Any]] = {
    "whole": WHOLE,
    "of_0_7": OLD,
    "of_0_8": OLD | {"version": 2},
    "of_0_8_with_format": OLD | {"version": 2, "options": {"file.format": "avro"}},
    "of_pypaimon": WHOLE | {"comment": None},
}
UNKNOWN = {"id": 0, "name": "id", "type": "HYPERCUBE(7)"}
UNREADABLE = {
    "cut": json.dumps(WHOLE)[:40],
    "empty": "",
    "no_json": "<html>",
    "no_schema": "{}",
    "of_the_future": json.dumps(WHOLE | {"fields": [UNKNOWN]}),
    "strange_bucket": json.dumps(WHOLE | {"options": {"bucket": "many"}}),
    "strange_engine": json.dumps(WHOLE | {"options": {"merge-engine": "alchemy"}}),
}


def described(lake: Lake) -> dict[str, DescribedTable]:
    """The tables by name, from the log of a real driver."""
    body = {"catalog": "{}", "databases": ["shop", "missing"]}
    ended = lake.drive(lake.job("Describe", describe=body))
    assert ended.code == 0, ended.log
    return {each.name: each for each in read_description(ended.log.splitlines()).tables}


@pytest.fixture
def tables(lake: Lake) -> dict[str, DescribedTable]:
    readable = {name: json.dumps(document) for name, document in READABLE.items()}
    for name, text in (UNREADABLE | readable).items():
        directory = lake.directory / "warehouse" / "shop.db" / name / "schema"
        directory.mkdir(parents=True)
        (directory / "schema-0").write_text(text)
    return described(lake)


def test_tables_that_paimon_cannot_read_do_not_keep_the_others_from_being_described(
    tables: dict[str, DescribedTable],
) -> None:
    assert tables.keys() == UNREADABLE.keys() | READABLE.keys()
    problems = {name: tables[name].problem for name in UNREADABLE}
    assert all(each is not None and each.startswith("Paimon cannot read it: ") for each in problems.values()), problems
    assert [tables[name].schema for name in UNREADABLE] == [None] * len(UNREADABLE)


def test_the_files_of_all_releases_are_read_here_as_paimon_reads_them(tables: dict[str, DescribedTable]) -> None:
    """Else a table is another one for the export of a directory, and for drivers that have no JVM."""
    for name, document in READABLE.items():
        here = read_schema_file(json.dumps(document))
        by_paimon = read_schema_file(tables[name].schema or "")
        assert by_paimon.options.keys() - {"path"} == here.options.keys(), name
        assert by_paimon.digest == here.digest, name
