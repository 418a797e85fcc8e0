"""Settings of a manifest, from the real Provision and Write to the rows that others read: each case is one table.

pypaimon reads the table, and Spark the files of its changelog (see declared_table).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from paimon_operator.api.reasons import Reason
from tests.spark.declared_table import KEYED, ONE_BUCKET, changes_of, context, create, problems, write
from tests.spark.lake import Lake
from tests.support import builders

BATCHES: Final = (
    [{"id": 1, "v": 1, "op": "+I"}, {"id": 2, "v": 2, "op": "+I"}],
    [{"id": 2, "v": 3, "op": "+U"}, {"id": 3, "v": 4, "op": "+I"}],
    [{"id": 3, "v": 4, "op": "+I"}],
    [{"id": 1, "v": 9, "op": "-D"}],
)
"""An insert, an upsert, a row that is there already, and a delete."""
MERGED: Final = [(2, 3), (3, 4)]
FIRST: Final = [(1, 1), (2, 2), (3, 4)]
CHANGED: Final = ["+I 1 1", "+I 2 2", "-U 2 2", "+U 2 3", "+I 3 4"]
REPEATED: Final = ["-U 3 4", "+U 3 4"]


@dataclass(frozen=True)
class Case:
    """A producer of changelogs, what its changelog files hold in order, and the rows of the table."""

    name: str
    producer: dict[str, Any]
    changes: list[str]
    rows: list[tuple[int, int]] = field(default_factory=lambda: MERGED)
    engine: dict[str, Any] = field(default_factory=lambda: {"type": "Deduplicate", "rowKindField": "op"})
    compacts: bool = False
    """Whether a full compaction after each write makes the changelog, and not the write."""


EACH_COMMIT: Final = {"fullCompaction": {"deltaCommits": 1}}
BY_COMPACTION: Final = {"compaction": {"mode": "Dedicated"}}
FIRST_ROW: Final = {"type": "FirstRow", "rowKindField": "op", "ignoreDelete": True}
CASES: Final = [
    Case("input", {"type": "Input"}, ["+I 1 1", "+I 2 2", "+U 2 3", "+I 3 4", "+I 3 4", "-D 1 9"]),
    Case("lookup", {"type": "Lookup"}, [*CHANGED, *REPEATED, "-D 1 1"]),
    Case("lookup without repetitions", {"type": "Lookup", "rowDeduplicate": True}, [*CHANGED, "-D 1 1"]),
    Case("full compaction", {"type": "FullCompaction"}, [*CHANGED, *REPEATED, "-D 1 1"], compacts=True),
    Case(
        "full compaction without repetitions",
        {"type": "FullCompaction", "rowDeduplicate": True},
        [*CHANGED, "-D 1 1"],
        compacts=True,
    ),
    Case("lookup of first rows", {"type": "Lookup"}, ["+I 1 1", "+I 2 2", "+I 3 4"], FIRST, FIRST_ROW),
]


@pytest.mark.some_rows(3)
@pytest.mark.engines_in_turn("case")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_changelogs_and_deletes_are_read_back(lake: Lake, case: Case) -> None:
    more = BY_COMPACTION if case.compacts else {}
    create(lake, schema=KEYED, bucket=ONE_BUCKET, changelogProducer=case.producer, mergeEngine=case.engine, **more)

    found = [change for rows in BATCHES for change in changes_of(lake, rows, compacts=case.compacts)]

    assert sorted(found) == sorted(case.changes)
    assert [(row["id"], row["v"]) for row in lake.rows()] == case.rows
    lake.compact().ok()
    assert [(row["id"], row["v"]) for row in lake.rows()] == case.rows


def test_an_engine_that_counts_no_commits_makes_no_changelog_by_them(lake: Lake) -> None:
    """So that reconcile refuses deltaCommits there. With one that counts, the writes themselves make it."""
    spec = {"schema": KEYED, "bucket": ONE_BUCKET, "changelogProducer": {"type": "FullCompaction", **EACH_COMMIT}}
    counts = builders.engines()[lake.engine.id].counts_delta_commits
    assert [error.reason for error in problems(lake, spec)] == ([] if counts else [Reason.UNSUPPORTED_BY_ENGINE])
    lake.provision_manifest(context(lake, spec)).ok()

    found = [change for rows in BATCHES for change in changes_of(lake, rows)]

    assert bool(found) == counts


@pytest.mark.engines_in_turn("more")
@pytest.mark.parametrize("more", [{}, {"deletionVectors": {"enabled": True}}, {"bucket": {"type": "Dynamic"}}], ids=str)
def test_deletes_by_row_kind_are_read_back(lake: Lake, more: dict[str, Any]) -> None:
    engine = {"type": "Deduplicate", "rowKindField": "op"}
    create(lake, **{"schema": KEYED, "bucket": ONE_BUCKET, "mergeEngine": engine, **more})

    for rows in BATCHES:
        write(lake, rows)
    lake.compact().ok()

    assert [(row["id"], row["v"]) for row in lake.rows()] == MERGED


@pytest.mark.parametrize("name", [None, "none", "x.1-a"])
def test_rows_without_a_partition_are_read_back_from_the_named_directory(lake: Lake, name: str | None) -> None:
    columns = [{"name": "id", "type": "BIGINT"}, {"name": "day", "type": "STRING"}]
    named = {"partitionDefaultName": name} if name else {}
    create(lake, schema={"columns": columns, "partitionKeys": ["day"], **named})

    write(lake, [{"id": 1, "day": "monday"}, {"id": 2, "day": None}, {"id": 3, "day": None}])

    found = {path.name for path in lake.table_directory.glob("day=*")}
    assert found == {"day=monday", f"day={name or '__DEFAULT_PARTITION__'}"}
    assert lake.rows() == [{"id": 1, "day": "monday"}, {"id": 2, "day": None}, {"id": 3, "day": None}]


@pytest.mark.parametrize("merge_engine", ["Deduplicate", "FirstRow", None])
def test_default_values_are_read_back(lake: Lake, merge_engine: str | None) -> None:
    columns = [
        {"name": "id", "type": "BIGINT"},
        {"name": "v", "type": "INT", "defaultValue": "7"},
        {"name": "w", "type": "STRING", "defaultValue": "it's new"},
    ]
    keyed: dict[str, Any] = {"primaryKeys": ["id"]} if merge_engine else {}
    merging: dict[str, Any] = {"mergeEngine": {"type": merge_engine}} if merge_engine else {}
    spec = {"schema": {"columns": columns, **keyed}, **merging}
    if not builders.engines()[lake.engine.id].stores_default_values:
        assert {error.reason for error in problems(lake, spec)} == {Reason.UNSUPPORTED_BY_ENGINE}
        return
    create(lake, **spec)

    write(lake, [{"id": 1, "v": None, "w": "own"}, {"id": 2, "v": 1, "w": None}], keyed=bool(merge_engine))
    write(lake, [{"id": 3}], keyed=bool(merge_engine))
    lake.compact().ok()

    filled = [(1, 7, "own"), (2, 1, "it's new"), (3, 7, "it's new")]
    assert [(row["id"], row["v"], row["w"]) for row in lake.rows()] == filled
