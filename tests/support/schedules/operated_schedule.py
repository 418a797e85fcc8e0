"""Schedules of a table that an operator maintains: other programs write, and runs, drivers and operators die."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from paimon_engines.engine import Engine
from tests.support.schedules.generator import Generator
from tests.support.schedules.kinds import AGGREGATION, DYNAMIC, KINDS, TableKind
from tests.support.schedules.schedule import Do, Schedule

OPERATED: Final = tuple(
    each
    for each in KINDS
    if not each.inline and each.engine != AGGREGATION and (each.buckets != DYNAMIC or not each.has_key)
)
"""With others that write, a table with a key needs a number of buckets. The manifest's columns have no functions."""
KEPT: Final = 3
"""Snapshots that the table's retention keeps."""
_NAMES: Final = {"partial-update": "PartialUpdate", "first-row": "FirstRow", "deduplicate": "Deduplicate"}
_PRODUCERS: Final = {"none": "None", "input": "Input", "lookup": "Lookup", "full-compaction": "FullCompaction"}


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
"""What users request. A partitioned table has ExpirePartitions, too."""
PARTITION_AGE: Final = timedelta(days=14)
_PARTITION_DAY: Final = "2026-1{}-10"
"""The day of a partition, by its number. The clock begins on 2026-11-21: one is due from the start, the next one after
64 hours, the last one never."""


def is_due(partition: int, now_ms: int) -> bool:
    """Whether the partition has expired at that time."""
    day = datetime.fromisoformat(_PARTITION_DAY.format(partition)).replace(tzinfo=UTC)
    return day + PARTITION_AGE < datetime.fromtimestamp(now_ms / 1000, UTC)


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
        kind = OPERATED[self.seed * 5 % len(OPERATED)]
        self.kind = TableKind(**vars(kind) | {"format": "parquet"})
        self.paused = False

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
        if self.paused:
            return [*found, (self._resume, 2)]
        found += [(self._begin_write, 3), (self._write_at_once, 5), (self._pause, 2)]
        if self.opened:
            found += [(self._commit, 4), (self._die, 2), (self._die_in_commit, 1)]
        return found

    def _request_run(self) -> None:
        type_ = self.random.choice([*RUNS, *(["ExpirePartitions"] if self.kind.partitioned else [])])
        deaths = [*Death] if type_ == "RemoveOrphanFiles" else [Death.AT_START, Death.BEFORE_REPORT]
        death = self.random.choice([None, None, *deaths])
        call = self.random.randint(1, 25) if death is Death.BETWEEN else 0
        self._add(Operated.REQUEST_RUN, name=self._name("r"), run=type_, death=death or "", call=call)

    def _pause(self) -> None:
        for name in list(self.opened):
            self._add(Do.DIE, name=self._close(name))
        self.paused = True
        self._add(Operated.PAUSE_WRITERS)

    def _resume(self) -> None:
        self.paused = False
        self._add(Operated.RESUME_WRITERS)


@dataclass(frozen=True)
class Manifest:
    """The PaimonTable of a kind of table, while others write or are paused."""

    kind: TableKind
    has_minor: bool
    paused: bool = False

    @property
    def spec(self) -> dict[str, Any]:
        """The spec, without the catalog and the database."""
        compaction = {"mode": "Dedicated", "full": {"schedule": "0 3 */4 * *"}}
        if self.has_minor:
            compaction["minor"] = {"schedule": "30 4 */2 * *"}
        snapshots = {"schedule": "10 5 */3 * *", "numRetainedMin": 1, "numRetainedMax": KEPT, "timeRetained": "1h"}
        orphans = {"mode": "Delete" if self.paused else "Report", "olderThan": "3d", "schedule": "40 6 */3 * *"}
        return {
            "schema": self._schema,
            "bucket": self._bucket,
            "externalWriters": "Paused" if self.paused else "Active",
            "compaction": compaction,
            "retention": {"snapshots": snapshots, "orphanFiles": orphans, **self._partitions},
            "options": {"file.format": self.kind.format},
            **(self._of_keyed if self.kind.has_key else {}),
        }

    @property
    def _partitions(self) -> dict[str, Any]:
        if not self.kind.partitioned:
            return {}
        age = f"{PARTITION_AGE.days}d"
        day = {"timestampPattern": _PARTITION_DAY.format("$p")}
        return {"partitions": {"schedule": "50 7 */2 * *", "expirationTime": age, **day}}

    @property
    def _schema(self) -> dict[str, Any]:
        columns = [{"name": name, "type": "INT"} for name in ("p", "k", "seq", "a", "b")]
        keys = {"primaryKeys": list(self.kind.keys)} if self.kind.has_key else {}
        return {"columns": columns, **keys, **({"partitionKeys": ["p"]} if self.kind.partitioned else {})}

    @property
    def _bucket(self) -> dict[str, Any]:
        if self.kind.buckets == DYNAMIC:
            return {"type": "Unaware"}
        keys = {} if self.kind.has_key else {"keys": ["k"]}
        return {"type": "Fixed", "fixed": {"count": self.kind.buckets, **keys}}

    @property
    def _of_keyed(self) -> dict[str, Any]:
        engine = {"type": _NAMES[self.kind.engine]}
        found: dict[str, Any] = {"mergeEngine": engine, "changelogProducer": {"type": _PRODUCERS[self.kind.producer]}}
        if self.kind.engine != "first-row":
            found["sequence"] = {"fields": ["seq"]}
        return found | ({"deletionVectors": {"enabled": True}} if self.kind.vectors else {})
