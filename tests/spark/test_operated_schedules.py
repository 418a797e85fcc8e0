"""Random schedules through the whole operator: others write, drivers and operators die, and no row or file is lost.

`SCHEDULE_SEED=7 pytest tests/spark/test_operated_schedules.py` plays one schedule again.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Set
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import pytest

from paimon_engines.loader import load_engine, supported_engines
from tests.spark.lake import Ended, Lake
from tests.spark.operated_player import OperatedPlayer, played
from tests.support.manifests import Manifest as Document
from tests.support.schedules.effects import Effect, effects_of
from tests.support.schedules.kinds import FIRST_ROW, TableKind
from tests.support.schedules.operated_schedule import Operated, operated_schedule
from tests.support.schedules.player import HOUR_MS
from tests.support.schedules.schedule import Do, Row, Schedule, Step

PER_CASE: Final = 4
PER_ENGINE: Final = 32
"""Each engine has other ones: 64 together."""
OWN_SEED: Final = os.environ.get("SCHEDULE_SEED")
_EFFECTS: Final[dict[str, dict[int, Set[Effect]]]] = {}
"""Engine -> seed -> what the runs of that schedule have done. One process plays all schedules of an engine."""


def play(lake: Lake, seed: int) -> OperatedPlayer:
    """Plays the schedule of this seed in a directory of its own."""
    directory = lake.directory / f"seed-{seed}"
    directory.mkdir()
    return played(OperatedPlayer(dataclasses.replace(lake, directory=directory), operated_schedule(seed)))


@pytest.mark.engines_in_turn("seed")
@pytest.mark.parametrize("seed", range(3) if OWN_SEED is None else [int(OWN_SEED)])
def test_a_schedule_through_the_operator_leaves_exactly_what_it_must(lake: Lake, seed: int) -> None:
    assert play(lake, seed).performed


@pytest.mark.long
@pytest.mark.parametrize("case", range(PER_ENGINE // PER_CASE))
def test_sixty_schedules_through_the_operator(lake: Lake, case: int) -> None:
    """Whichever case is the last one of an engine looks at what the runs of all of them have done."""
    first = PER_ENGINE * [*supported_engines()].index(lake.engine.id)
    seeds, done = range(first, first + PER_ENGINE), _EFFECTS.setdefault(lake.engine.id, {})
    for seed in seeds[PER_CASE * case : PER_CASE * (case + 1)]:
        done[seed] = play(lake, seed).witness.effects
    if len(done) == len(seeds):
        never = effects_of(load_engine(lake.engine.id)) - {effect for each in done.values() for effect in each}
        assert not never, f"no run has done this: {sorted(never)}"


class Slow(OperatedPlayer):
    """The clocks of its drivers are a year late."""

    def _driver(self, *args: Any) -> Any:
        year_ms = timedelta(days=365) // timedelta(hours=1) * HOUR_MS
        self.now_ms -= year_ms
        try:
            return super()._driver(*args)
        finally:
            self.now_ms += year_ms


@dataclass
class Careless(OperatedPlayer):
    """Each driver after the one that creates the table compacts it as well."""

    _is_created: bool = False

    def _create_table(self) -> None:
        super()._create_table()
        self._is_created = True

    def _driver(self, *args: Any) -> Any:
        if self._is_created:
            self.ask("begin_compaction", name="planted", full=True)
            self.ask("commit", name="planted")
        return super()._driver(*args)


class Corrupting(OperatedPlayer):
    """Each compaction loses a row."""

    def _in_jvm(self, document: Document) -> Ended:
        if document["operation"] != "Compact":
            return super()._in_jvm(document)
        delete = {"corrupt": "DELETE FROM paimon.shop.orders WHERE k = 1", "warehouse": self.lake.warehouse}
        return self.lake.perform(document, **delete)


ROWS: Final = (Row(0, 1, 1, 10, 10), Row(1, 2, 2, 20, 20))
PARTITIONED: Final = TableKind("deduplicate", 1, partitioned=True)
MARKED: Final = dataclasses.replace(PARTITIONED, marked=True)
VERIFIED: Final = dataclasses.replace(PARTITIONED, verify="Sample")
HIDING: Final = TableKind(FIRST_ROW, 1, partitioned=False, producer="lookup")


def run_on(kind: TableKind, run: str) -> Schedule:
    """Rows, and one run."""
    write = (Step(Do.BEGIN_WRITE, name="w", rows=ROWS), Step(Do.COMMIT, name="w"), Step(Do.CHECK))
    return Schedule(0, kind, (*write, Step(Operated.REQUEST_RUN, name="r", run=run), Step(Do.CHECK)))


@pytest.mark.newest_engine
@pytest.mark.parametrize(
    ("player", "kind", "run", "message"),
    [
        (Slow, PARTITIONED, "ExpirePartitions", r"unexpected \[\(0, 1, 1, 10, 10\)\]"),
        (Careless, HIDING, "Observe", r"orders has 2 rows, expected 0"),
        (OperatedPlayer, HIDING, "ExpirePartitions", r"otherwise than they must: \{'r': 'InvalidSpec'\}"),
        (Slow, MARKED, "MarkPartitionsDone", r"partition 0 is done, and its mark is of None"),
        (Corrupting, VERIFIED, "Compact", r"Compact failed: .*'VerificationFailed'"),
    ],
    ids=[
        "a partition that is due and stays",
        "rows that change",
        "a run that fails",
        "a partition that is done and has no mark",
        "a compaction that changes rows",
    ],
)
def test_what_a_run_must_not_do_is_found(
    lake: Lake, player: type[OperatedPlayer], kind: TableKind, run: str, message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        played(player(lake, run_on(kind, run)))
