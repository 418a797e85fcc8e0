"""Random histories of edits on tables with data: the last manifest decides the table, and no surviving value changes.

Each seed has another format and another merge engine; all five of these and all three formats follow each other.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterable
from typing import Any

import pytest

from tests.spark.evolution_history import History, newest_schema, normal
from tests.spark.lake import Lake

EDITS = 6


def last(lake: Lake, seed: int) -> History:
    """The history with this seed, with rows before and after each edit, and a compaction in the middle."""
    directory = lake.directory / f"seed-{seed}"
    directory.mkdir()
    history = History(dataclasses.replace(lake, directory=directory), seed)
    history.provision()
    for number in range(EDITS):
        history.insert()
        history.edit()
        files = history.lake.schemas()
        steps = history.provision()
        assert (history.lake.schemas() > files) == (steps != []), steps
        history.settled()
        assert history.provision() == [], "the table is as declared"
        if number == EDITS // 2 and history.merging:
            history.lake.compact().ok()
    history.insert()
    return history


def check(history: History) -> None:
    """Rows by pypaimon, before and after a compaction; schema files; and the table made from the last manifest."""
    expected = by_key(history.rows)
    if history.merging != "first-row":  # its newest rows are visible once they are compacted
        assert by_key(history.lake.rows()) == expected
    history.lake.compact().ok()
    assert by_key(history.lake.rows()) == expected
    history.drop_what_is_kept()
    history.provision()
    assert by_key(history.lake.rows()) == by_key(history.rows)
    files = [json.loads(path.read_text(encoding="utf-8")) for path in schema_files(history.lake)]
    for before, after in itertools.pairwise(files):
        assert without(before, "id", "timeMillis") != without(after, "id", "timeMillis"), (
            "a schema file that changes nothing"
        )
    fresh = dataclasses.replace(history.lake, database="fresh")
    history.provision(fresh)
    assert described(newest_schema(history.lake)) == described(newest_schema(fresh))


def by_key(rows: Iterable[dict[str, Any]]) -> list[tuple[int, str]]:
    return sorted((row["k"], json.dumps(normal(dict(sorted(row.items()))), sort_keys=True)) for row in rows)


def schema_files(lake: Lake) -> list[Any]:
    found = (lake.table_directory / "schema").glob("schema-*")
    return sorted(found, key=lambda path: int(path.name.partition("-")[2]))


def without(document: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in keys}


def described(document: dict[str, Any]) -> dict[str, Any]:
    """The schema without the numbers of its fields, which tell its history."""
    kept = without(document, "id", "timeMillis", "highestFieldId")
    return json.loads(json.dumps(kept), object_hook=lambda each: without(each, "id"))  # type: ignore[no-any-return]


@pytest.mark.some_rows(2)
@pytest.mark.engines_in_turn("seed")
@pytest.mark.parametrize("seed", range(5))
def test_a_history_of_edits_ends_in_the_last_manifest_and_keeps_each_surviving_value(lake: Lake, seed: int) -> None:
    check(last(lake, seed))


@pytest.mark.long
@pytest.mark.parametrize("tens", range(10, 20))
def test_a_hundred_histories_of_edits(lake: Lake, tens: int) -> None:
    for seed in range(10 * tens, 10 * tens + 10):
        check(last(lake, seed))
