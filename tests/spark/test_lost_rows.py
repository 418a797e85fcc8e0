"""What two commits leave of the rows: where `core/spec/lost_rows.py` calls it unsafe, and nowhere else.

The commits are one after the other, so that no storage can tell them from safe ones.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import pytest

from tests.spark.lake import Lake
from tests.support import lake_reader
from tests.support.schedules.generator import schedule
from tests.support.schedules.kinds import (
    AGGREGATION,
    APPEND,
    DEDUPLICATE,
    DYNAMIC,
    FIRST_ROW,
    PARTIAL_UPDATE,
    TableKind,
)
from tests.support.schedules.player import Player
from tests.support.schedules.schedule import Do, Row, Step

ROWS: Final = (Row(0, 1, 1, 10, 10), Row(0, 2, 2, 20, 20), Row(0, 3, 3, 30, 30))
CHANGED: Final = {"w1": (Row(0, 1, 4, 11, 11),), "w2": (Row(0, 2, 5, 21, 21),)}
DELETE: Final = "DELETE FROM outside.shop.orders WHERE k = {}"


def begun(lake: Lake, *, engine: str, buckets: int, inline: bool = False) -> Player:
    """A table with deletion vectors and three rows in one file that one row is deleted from already."""
    kind = TableKind(engine, buckets, partitioned=False, vectors=True, inline=inline)
    player = Player(lake, dataclasses.replace(schedule(0), kind=kind, steps=()))
    player.play_steps([Step(Do.BEGIN_WRITE, name="w0", rows=ROWS), Step(Do.COMMIT, name="w0")])
    return player


def rows_of(player: Player) -> list[tuple[int, int]]:
    """Key and value of each row, as pypaimon reads them."""
    rows = lake_reader.read_many(player.lake.warehouse, player.lake.database, ["orders"])[0]
    return sorted((row["k"], row["a"]) for row in rows)


@pytest.mark.some_rows(1)
@pytest.mark.parametrize(("compact", "left"), [(True, [(1, 10), (1, 11), (2, 21), (3, 30)]), (False, None)])
def test_of_two_writers_that_compact_the_last_one_replaces_the_deletion_vectors_of_the_other(
    lake: Lake, compact: bool, left: list[tuple[int, int]] | None
) -> None:
    player = begun(lake, engine=DEDUPLICATE, buckets=1, inline=compact)
    player.play_steps([Step(Do.BEGIN_WRITE, name=name, rows=rows) for name, rows in CHANGED.items()])
    player.play_steps([Step(Do.COMMIT, name=name) for name in CHANGED])
    if not compact:
        player.play_steps([Step(Do.BEGIN_COMPACTION, name="c", full=True), Step(Do.COMMIT, name="c")])
    assert rows_of(player) == (left or [(1, 11), (2, 21), (3, 30)])


@pytest.mark.parametrize("buckets", [1, DYNAMIC], ids=["fixed", "unaware"])
def test_a_compaction_brings_back_what_is_deleted_meanwhile_unless_the_engine_checks_it(
    lake: Lake, buckets: int
) -> None:
    player = begun(lake, engine=APPEND, buckets=buckets)
    lake.outside(DELETE.format(1))  # the compaction rewrites this file: it has a deleted row
    player.step(Step(Do.BEGIN_COMPACTION, name="c", full=True))
    lake.outside(DELETE.format(2))
    error = player.ask("commit", name="c")
    is_checked = lake.engine.checks_lost_deletes and buckets == DYNAMIC
    assert (error is not None) == is_checked, error
    assert rows_of(player) == ([(3, 30)] if is_checked else [(2, 20), (3, 30)])


BASE: Final = (Row(0, 1, 1, 10, 10), Row(0, 3, 3, 30, 30))
BOTH: Final = {"w1": (Row(0, 2, 4, 11, None),), "w2": (Row(0, 2, 5, None, 22), Row(0, 3, 6, 31, 31))}
"""Each adds something to the key 2, which neither of them can see of the other."""
LOOKUP, FIRST, SECOND, SUM = "lookup", (11, None), (None, 22), (11, 22)
TWICE: Final = {"paimon-0.9": [FIRST, SECOND], "paimon-1.4": [FIRST, SECOND]}


def added(lake: Lake, merging: str, producer: str, *, inline: bool) -> list[tuple[int | None, int | None]]:
    """The rows of the key 2 after two concurrent writes."""
    kind = TableKind(merging, 1, partitioned=False, producer=producer, inline=inline)
    player = Player(lake, dataclasses.replace(schedule(0), kind=kind, steps=()))
    player.play_steps([Step(Do.BEGIN_WRITE, name="w0", rows=BASE), Step(Do.COMMIT, name="w0")])
    player.play_steps([Step(Do.BEGIN_WRITE, name=name, rows=rows) for name, rows in BOTH.items()])
    player.play_steps([Step(Do.COMMIT, name=name) for name in BOTH])
    if not inline:
        player.play_steps([Step(Do.BEGIN_COMPACTION, name="c", full=True), Step(Do.COMMIT, name="c")])
    ((rows),) = player.ask("read", places=[("", "")])
    return sorted(((a, b) for _, k, _, a, b in rows if k == 2), key=str)


@pytest.mark.some_rows(1)
@pytest.mark.parametrize(
    ("merging", "producer", "left"),
    [
        (AGGREGATION, LOOKUP, {"paimon-0.9": [SECOND], "paimon-1.4": [FIRST]}),
        (PARTIAL_UPDATE, LOOKUP, {"paimon-0.9": [SECOND], "paimon-1.4": [FIRST]}),
        (DEDUPLICATE, LOOKUP, {"paimon-0.9": [SECOND], "paimon-1.4": [FIRST]}),  # 0.9 is right
        (FIRST_ROW, LOOKUP, TWICE),
        (FIRST_ROW, "none", TWICE),
    ],
)
def test_of_two_writers_that_compact_with_lookups_one_does_not_see_what_the_other_adds(
    lake: Lake, merging: str, producer: str, left: dict[str, list[object]]
) -> None:
    assert added(lake, merging, producer, inline=True) == left[lake.engine.id]


@pytest.mark.some_rows(3)
@pytest.mark.parametrize(
    ("merging", "producer", "inline", "right"),
    [
        (AGGREGATION, "none", True, SUM),
        (AGGREGATION, "input", True, SUM),
        (AGGREGATION, "full-compaction", True, SUM),
        (PARTIAL_UPDATE, "none", True, SUM),
        (DEDUPLICATE, "input", True, SECOND),
        (AGGREGATION, LOOKUP, False, SUM),
        (PARTIAL_UPDATE, LOOKUP, False, SUM),
        (DEDUPLICATE, LOOKUP, False, SECOND),
        (FIRST_ROW, LOOKUP, False, FIRST),
    ],
)
def test_without_lookups_or_with_one_that_compacts_no_row_is_lost(
    lake: Lake, merging: str, producer: str, inline: bool, right: tuple[object, object]
) -> None:
    assert added(lake, merging, producer, inline=inline) == [right]
