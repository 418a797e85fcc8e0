"""Schedules of a table that an operator maintains: other programs write, and runs, drivers and operators die."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import Final

from paimon_engines.engine import Engine
from tests.support.schedules.generator import Generator
from tests.support.schedules.kinds import (
    AGGREGATION,
    APPEND,
    DEDUPLICATE,
    DYNAMIC,
    KINDS,
    PARTIAL_UPDATE,
    TableKind,
)
from tests.support.schedules.schedule import Do, Schedule

OPERATED: Final = tuple(
    replace(each, sorted=each.engine == APPEND and each.buckets == DYNAMIC)
    for each in KINDS
    if not each.inline and each.engine != AGGREGATION and (each.buckets != DYNAMIC or not each.has_key)
)
"""With others that write, a table with a key needs a number of buckets. The manifest's columns have no functions."""


class Operated(StrEnum):
    """What only the schedules of an operator have."""

    REQUEST_RUN = "RequestRun"
    """A user creates a PaimonRun, whose driver may die."""
    KILL_OPERATOR = "KillOperator"
    PAUSE_WRITERS = "PauseWriters"
    """They end, and the manifest says so and lets orphans be removed."""
    RESUME_WRITERS = "ResumeWriters"


class Death(StrEnum):
    """When the driver of a run dies: the first of its attempts."""

    AT_START = "AtStart"
    BEFORE_REPORT = "BeforeReport"
    """After all of its commits."""
    BETWEEN = "Between"
    """Between two changes of files of a RemoveOrphanFiles."""


RUNS: Final = ("Compact", "CompactManifests", "Analyze", "Observe", "ExpireSnapshots", "RemoveOrphanFiles")
"""What users request of every table."""
OF_PARTITIONS: Final = "ExpirePartitions"
OF_MARKS: Final = "MarkPartitionsDone"
FULL: Final = "Full"
SORT: Final = "Sort"


def is_supported(run: str, engine: Engine) -> bool:
    """Whether runs of this type succeed. `engine` has its generated data."""
    can = {"Analyze": engine.names_statistics, "CompactManifests": engine.has_argument("compact_manifest", "table")}
    return can.get(run, True)


def operated_schedule(seed: int) -> Schedule:
    """The schedule of this seed."""
    return _Generator(seed).make()


class _Generator(Generator):
    def __post_init__(self) -> None:
        self.random = random.Random(f"operated/{self.seed}")  # noqa: S311  (repeatable)
        self.kind = self._maintained(OPERATED[self.seed * 5 % len(OPERATED)])
        self.paused = False

    def _maintained(self, kind: TableKind) -> TableKind:
        """The kind with some of the maintenance that it can have."""
        expiring = self._is_drawn(0.4) and kind.engine in (DEDUPLICATE, PARTIAL_UPDATE)
        changelogs = self._is_drawn(0.6) and kind.producer != "none"
        changed = replace(kind, expiring=expiring, changelogs=changelogs, tagged=self._is_drawn(0.6))
        verify = self.random.choice(["", "Sample", "Always"]) if changed.is_comparable else ""
        marked = self._is_drawn(0.6) and kind.partitioned
        return replace(changed, verify=verify, marked=marked, forgetful=self._is_drawn(0.5))

    def _is_drawn(self, share: float) -> bool:
        return self.random.random() < share

    @property
    def length(self) -> int:
        """Steps take longer, so there are fewer."""
        return self.random.randint(8, 14)

    def _choices(self) -> list[tuple[Callable[[], object], int]]:
        found: list[tuple[Callable[[], object], int]] = [
            (self._request_run, 5),
            (self._pass_time, 3),
            (lambda: self._add(Operated.KILL_OPERATOR), 2),
            (self._create_tag, 1),
        ]
        if self.kind.marked:
            found.append((lambda: self._request(OF_MARKS), 2))
        if self.kind.forgetful:
            found.append((self._create_consumer, 2))
        if self.consumers:
            found += [(self._advance_consumer, 2), (self._delete_consumer, 1)]
        if self.paused:
            sort = [(lambda: self._request("Compact"), 4)] if self.kind.sorted else []
            return [*found, *sort, (self._resume, 2)]
        found += [(self._begin_write, 3), (self._write_at_once, 5)]
        found.append((self._pause, 5 if self.kind.sorted else 2))
        if self.opened:
            found += [(self._commit, 4), (self._die, 2), (self._die_in_commit, 1)]
        return found

    def _request_run(self) -> None:
        self._request(self.random.choice([*RUNS, *([OF_PARTITIONS] if self.kind.partitioned else [])]))

    def _request(self, type_: str) -> None:
        deaths = [*Death] if type_ == "RemoveOrphanFiles" else [Death.AT_START, Death.BEFORE_REPORT]
        death = self.random.choice([None, None, *deaths])
        call = self.random.randint(1, 25) if death is Death.BETWEEN else 0
        strategy = (SORT if self.kind.sorted and self.paused else FULL) if type_ == "Compact" else ""
        self._add(
            Operated.REQUEST_RUN, name=self._name("r"), run=type_, strategy=strategy, death=death or "", call=call
        )

    def _pause(self) -> None:
        for name in list(self.opened):
            self._add(Do.DIE, name=self._close(name))
        self.paused = True
        self._add(Operated.PAUSE_WRITERS)

    def _resume(self) -> None:
        self.paused = False
        self._add(Operated.RESUME_WRITERS)
