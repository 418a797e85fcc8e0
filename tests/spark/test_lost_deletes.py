"""What two commits leave of deletion vectors: where `core/spec/lost_deletes.py` calls it unsafe, and nowhere else.

The commits are one after the other, so that no storage can tell them from safe ones.
"""

from __future__ import annotations

import dataclasses
from typing import Final

import pytest

from tests.spark.lake import Lake
from tests.support import lake_reader
from tests.support.schedules.generator import schedule
from tests.support.schedules.kinds import APPEND, DEDUPLICATE, DYNAMIC, TableKind
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
