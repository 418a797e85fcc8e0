"""Random schedules of writes, each kind of maintenance, and kills: rows, tags, snapshots and files are as they must be.

`SCHEDULE_SEED=7 pytest tests/spark/test_schedules.py` plays one schedule again.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

import pytest

from paimon_engines.loader import load_engine, supported_engines
from tests.spark.lake import Lake
from tests.support.schedules.generator import schedule
from tests.support.schedules.kinds import NEVER_EXPIRES, TableKind
from tests.support.schedules.player import Player
from tests.support.schedules.schedule import Do, Row, Schedule, Step

PER_CASE: Final = 20
PER_ENGINE: Final = 500
"""Each engine has other ones: 1,000 together."""
OWN_SEED: Final = os.environ.get("SCHEDULE_SEED")
P = TypeVar("P", bound=Player)


def player_of(lake: Lake, schedule: Schedule, how: type[P]) -> P:
    """A player of the schedule, in a directory of its own."""
    directory = lake.directory / f"seed-{schedule.seed}"
    directory.mkdir()
    return how(dataclasses.replace(lake, directory=directory), schedule)


def of(lake: Lake, schedule: Schedule) -> Player:
    """A usual player."""
    return player_of(lake, schedule, Player)


def played(lake: Lake, schedules: Iterable[Schedule], how: type[P]) -> list[P]:
    """Plays these schedules. Raises one AssertionError with all that have failed."""
    players, failed = [], []
    for each in schedules:
        player = player_of(lake, each, how)
        try:
            player.play()
        except AssertionError as error:
            failed.append(str(error))
        players.append(player)
        shutil.rmtree(player.lake.directory)
    assert not failed, "\n\n".join(failed)
    return players


def play_all(lake: Lake, seeds: Iterable[int]) -> list[Player]:
    """Plays the schedules of these seeds."""
    return played(lake, map(schedule, seeds), Player)


@pytest.mark.parametrize("case", range(3) if OWN_SEED is None else ["own"])
def test_schedules_leave_exactly_the_rows_and_files_that_they_must(lake: Lake, case: int | str) -> None:
    seeds = [int(OWN_SEED)] if isinstance(case, str) and OWN_SEED else range(4 * int(case), 4 * int(case) + 4)
    play_all(lake, seeds)


@pytest.mark.long
@pytest.mark.parametrize("case", range(PER_ENGINE // PER_CASE))
def test_a_thousand_schedules(lake: Lake, case: int) -> None:
    first = PER_ENGINE * [*supported_engines()].index(lake.engine.id) + PER_CASE * case
    play_all(lake, range(first, first + PER_CASE))


SIMPLE: Final = TableKind("deduplicate", 1, partitioned=False)


def begun(lake: Lake, kind: TableKind = SIMPLE) -> Player:
    """A table with two commits, before anything is planted."""
    player = of(lake, Schedule(0, kind, ()))
    player.play_steps([Step(Do.BEGIN_WRITE, name=name, rows=rows) for name, rows in ROWS.items()])
    player.play_steps([*(Step(Do.COMMIT, name=name) for name in ROWS), Step(Do.CHECK)])
    return player


ROWS: Final = {"w1": (Row(0, 1, 1, 10, 10), Row(0, 2, 2, 20, 20)), "w2": (Row(0, 3, 3, 30, 30),)}


def test_a_reachable_file_that_is_removed_is_named(lake: Lake) -> None:
    player = begun(lake)
    file = sorted(player.lake.table_directory.glob("bucket-0/data-*"))[0]
    file.unlink()
    with pytest.raises(AssertionError, match=rf"SCHEDULE_SEED=0(.|\n)*{file.name} is missing, and snapshot/snapshot-"):
        player.check()


def test_a_row_that_is_lost_is_named(lake: Lake) -> None:
    player = begun(lake)
    gone = dataclasses.replace(ROWS["w1"][1], seq=9, gone=True)
    player.begin_files(Step(Do.BEGIN_WRITE, name="planted", rows=(gone,)))
    player.ask("commit", name="planted")
    with pytest.raises(AssertionError, match=r"orders has 2 rows, expected 3; lost \[\(0, 2, 2, 20, 20\)\]"):
        player.check()


def test_a_snapshot_that_is_lost_is_named(lake: Lake) -> None:
    player = begun(lake)
    player.ask("expire", keep=1)
    with pytest.raises(AssertionError, match="snapshot 1 does not exist"):
        player.check()


def test_a_writer_that_commits_later_than_olderthan_allows_loses_its_files(lake: Lake) -> None:
    """What the schedules leave out is what the check finds."""
    player = begun(lake)
    player.play_steps([Step(Do.BEGIN_WRITE, name="late", rows=(Row(0, 4, 4, 40, 40),))])
    for do in (Do.REPORT_ORPHANS, Do.DELETE_ORPHANS):
        player.play_steps([Step(Do.PASS_TIME, hours=100), Step(do)])
    player.play_steps([Step(Do.COMMIT, name="late")])
    with pytest.raises(AssertionError, match="is missing, and snapshot/snapshot-3 needs it"):
        player.check()


KEPT: Final = TableKind("deduplicate", 1, partitioned=False, producer="input", changelogs=True, tagged=True)
EXPIRING: Final = TableKind("deduplicate", 1, partitioned=False, expiring=True)


def consumed(lake: Lake, kind: TableKind = SIMPLE) -> Player:
    """A table with five commits and an expiry, of which a consumer has not read the last three."""
    player = begun(lake, kind)
    player.play_steps([Step(Do.CREATE_CONSUMER, name="r"), *written(3), Step(Do.EXPIRE_SNAPSHOTS, keep=1)])
    player.play_steps([Step(Do.CHECK)])
    assert sorted(player.tree.snapshots()) == [2, 3, 4, 5]
    return player


def written(count: int) -> Iterator[Step]:
    for number in range(4, 4 + count):
        yield Step(Do.BEGIN_WRITE, name=f"w{number}", rows=(Row(0, number, number, 40, 40),))
        yield Step(Do.COMMIT, name=f"w{number}")


def test_a_consumer_whose_snapshots_expire_is_named(lake: Lake) -> None:
    player = consumed(lake)
    player.ask("consume", name="r", snapshot=5)
    player.ask("expire", keep=1)
    with pytest.raises(AssertionError, match="snapshot 2 does not exist"):
        player.check()


def test_a_consumer_that_is_lost_is_named(lake: Lake) -> None:
    player = consumed(lake)
    player.ask("unconsume", name="r")
    with pytest.raises(AssertionError, match="consumer r does not exist"):
        player.check()


def test_a_changelog_that_is_lost_is_named(lake: Lake) -> None:
    player = consumed(lake, KEPT)
    assert player.tree.changelogs() == {1}
    next(player.lake.table_directory.glob("changelog/changelog-1")).unlink()
    with pytest.raises(AssertionError, match="changelog 1 does not exist"):
        player.check()


def test_a_file_of_a_changelog_that_is_lost_is_named(lake: Lake) -> None:
    player = consumed(lake, KEPT)
    needed = sorted(name for name, path in player.tree.reachable().items() if path == "changelog/changelog-1")
    assert len(needed) == 3, "a list, a manifest, and a file"
    for each in player.lake.table_directory.glob(f"bucket-0/{needed[0]}"):
        each.unlink()
    with pytest.raises(AssertionError, match=f"{needed[0]} is missing, and changelog/changelog-1 needs it"):
        player.check()


def test_an_automatic_tag_that_does_not_come_is_named(lake: Lake) -> None:
    player = begun(lake)
    player.schedule = Schedule(0, dataclasses.replace(SIMPLE, tagged=True), ())
    with pytest.raises(AssertionError, match=r"automatic tags: \{\}"):
        player.step(Step(Do.EXPIRE_SNAPSHOTS, keep=1))


def test_an_automatic_tag_whose_file_is_lost_is_named(lake: Lake) -> None:
    player = consumed(lake, KEPT)
    (tag,) = player.model.tags
    (file,) = player.lake.table_directory.glob(f"tag/tag-{tag}")
    manifests = json.loads(file.read_text())["deltaManifestList"]
    (player.lake.table_directory / "manifest" / manifests).unlink()
    with pytest.raises(AssertionError, match=f"{manifests} is missing, and a snapshot or tag needs it"):
        player.check()


def test_a_record_that_has_expired_may_go_and_no_other(lake: Lake) -> None:
    player = of(lake, Schedule(0, EXPIRING, ()))
    for name, seq in (("w1", 1), ("w2", 3)):  # 0.9 removes records only where a compaction merges files
        rows = (Row(0, 0, seq, 7, 0), Row(0, 1, seq + 1, NEVER_EXPIRES, 0))
        player.play_steps([Step(Do.BEGIN_WRITE, name=name, rows=rows), Step(Do.COMMIT, name=name)])
    player.play_steps([Step(Do.BEGIN_COMPACTION, name="c", full=True), Step(Do.COMMIT, name="c"), Step(Do.CHECK)])
    assert [row["k"] for row in player.lake.rows()] == [1]
    gone = Row(0, 1, 9, NEVER_EXPIRES, 0, gone=True)
    player.begin_files(Step(Do.BEGIN_WRITE, name="planted", rows=(gone,)))
    player.ask("commit", name="planted")
    with pytest.raises(AssertionError, match="orders has 0 rows, expected 1; lost"):
        player.check()


def test_a_sorted_table_has_its_rows(lake: Lake) -> None:
    player = begun(lake, TableKind("append", -1, partitioned=False, sorted=True))
    player.play_steps([Step(Do.SORT), Step(Do.CHECK)])
    levels = [5] if load_engine(lake.engine.id).has_incremental_clustering else [0, 0]
    assert [each["level"] for each in player.lake.read("orders$files")] == levels
    player.lake.outside("DELETE FROM outside.shop.orders WHERE k = 2")
    with pytest.raises(AssertionError, match=r"orders has 2 rows, expected 3; lost \[\(0, 2, 2, 20, 20\)\]"):
        player.check()
