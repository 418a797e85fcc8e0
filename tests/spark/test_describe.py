"""What a run of type Describe says of tables that Paimon cannot read: it describes all others, and says why."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paimon_contract.description import DescribedTable, read_description
from tests.spark.lake import Lake

WHOLE: dict[str, Any] = {
    "version": 2,
    "id": 0,
    "fields": [{"id": 0, "name": "id", "type": "BIGINT NOT NULL"}],
    "highestFieldId": 0,
    "partitionKeys": [],
    "primaryKeys": ["id"],
    "options": {"bucket": "1"},
    "timeMillis": 1,
}
VECTOR = {"id": 0, "name": "id", "type": "HYPERCUBE(7)"}
UNREADABLE = {
    "cut": json.dumps(WHOLE)[:40],
    "empty": "",
    "no_json": "<html>",
    "no_schema": "{}",
    "of_the_future": json.dumps(WHOLE | {"fields": [VECTOR]}),
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
    for name, text in (UNREADABLE | {"whole": json.dumps(WHOLE)}).items():
        directory = lake.directory / "warehouse" / "shop.db" / name / "schema"
        directory.mkdir(parents=True)
        (directory / "schema-0").write_text(text)
    return described(lake)


def test_tables_that_paimon_cannot_read_do_not_keep_the_others_from_being_described(
    tables: dict[str, DescribedTable],
) -> None:
    for each in tables.values():
        print(each)
    assert tables.keys() == UNREADABLE.keys() | {"whole"}
    assert tables["whole"].schema is not None
