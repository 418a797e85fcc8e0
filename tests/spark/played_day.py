"""One table of the simulated day in a lake: real writes, real drivers, a virtual clock.

The clock jumps to the next reconcile that the core asks for. What is written until then is committed before, one commit
for each of the day, and a look at the metadata files takes the place of the catalog's observer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from paimon_engines.loader import load_engine
from paimon_operator.api.measure import Measure
from paimon_operator.api.run.result import measure_facts
from paimon_operator.core.spec.look import Look
from spark_apps.metadata.measurement import of_contents
from spark_apps.metadata.observation import Observer
from spark_apps.metadata.table_files import TableFiles
from spark_apps.metadata.volume import VolumeFiles
from tests.spark.lake import Lake
from tests.spark.managed_tables import ManagedTable, catalog_of
from tests.support import builders
from tests.support.table_world import TableWorld, replace_observed
from tools.benchmarks.maintenance_day.fleet import MIDNIGHT, MINOR, DayOfTable, Write, fleet_of

TABLE: Final = "outside.shop.orders"
FIRST_IDS: Final = 1_000
"""Rows of each partition at midnight."""
IDS: Final = 40
"""Rows of each partition that a commit touches: enough for each of its buckets to get some."""
Row = tuple[str, int, int]
"""Partition, id and v."""


def sample(count: int, seed: int, length: timedelta, most_writes: int) -> list[DayOfTable]:
    """Tables of the fleet of 200: of each kind in turn the one that is written to most, but not too often for a test.

    Rows are spread over buckets by a hash, so each write touches all buckets of its partitions.
    """
    by_kind: defaultdict[str, list[DayOfTable]] = defaultdict(list)
    for table in sorted(fleet_of(200, seed, length), key=lambda each: (-len(each.writes), each.name)):
        if len(table.writes) <= most_writes:
            by_kind[table.kind.name].append(table)
    chosen = [tables[turn] for turn in range(count) for tables in by_kind.values() if turn < len(tables)]
    return [_in_all_buckets(table) for table in chosen[:count]]


def _in_all_buckets(table: DayOfTable) -> DayOfTable:
    numbers = range(table.kind.buckets or 1)

    def whole(write: Write) -> Write:
        partitions = sorted({partition for partition, _ in write.places})
        return replace(write, places=tuple((each, number) for each in partitions for number in numbers))

    return replace(table, writes=tuple(map(whole, table.writes)))


@dataclass
class PlayedTable:
    """The table in the lake, what was written to it, and how bad it became."""

    lake: Lake
    table: DayOfTable
    managed: ManagedTable = field(init=False)
    worst: int = 0
    """As `$files` shows it before each reconcile: between two of them, files only become more."""
    no_ops: list[str] = field(default_factory=list)
    """Runs that compacted nothing."""
    _committed: int = 0
    _rows: dict[tuple[Any, ...], Row] = field(default_factory=dict)
    """By their key; without one, each row has one of its own."""

    def __post_init__(self) -> None:
        settings: Any = catalog_of(self.lake).spec.to_json() | {"commitPolicy": "AllowUnsafe"}
        world = TableWorld(
            table=builders.table("orders", metadata={"creationTimestamp": MIDNIGHT}, **self.spec),
            catalog=builders.catalog(**settings),
            operator=builders.operator_facts(default_engine=self.lake.engine.id, claims_allowed=True),
            now=MIDNIGHT,
        )
        self.managed = ManagedTable(self.lake, world)

    @property
    def spec(self) -> dict[str, Any]:
        """The manifest of the day, without the expiry of snapshots: they have the ages of the machine's clock.

        An engine without minor compactions has full ones at the same ticks, by the same threshold.
        """
        spec = {name: value for name, value in self.table.spec.items() if name != "retention"}
        if not load_engine(self.lake.engine.id).has_minor_compaction:
            when = spec["compaction"]["minor"]["when"]
            spec["compaction"] = {"mode": "Dedicated", "full": {"schedule": MINOR, "when": when}}
        return spec

    def play(self, end: datetime) -> list[str]:
        """Plays the day up to `end`. Returns the types of the runs, the first of which creates the table."""
        started = self.managed.run_due()
        self._insert([(partition, 0, FIRST_IDS) for partition in self.table.kind.first], v=0)
        while (to := self._next_reconcile()) is not None and to < end:
            self._write_until(to)
            self.managed.world.now = to
            self._look()
            self.worst = max(self.worst, self.files_of_worst_bucket())
            started += self._run_due()
        return started

    def expected_rows(self) -> list[Row]:
        """All rows that the table must have."""
        return sorted(self._rows.values())

    def rows(self) -> list[Row]:
        """All rows that pypaimon reads."""
        return sorted((row.get("part", ""), row["id"], row["v"]) for row in self.lake.rows())

    def files_of_worst_bucket(self) -> int:
        """The most sorted runs of a bucket by Paimon's `$files`; without a key, the most files."""
        query = "SELECT partition, bucket, level FROM outside.shop.`orders$files` WHERE level >= -1"
        levels: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
        for file in self.lake.select(query):
            levels[file["partition"], file["bucket"]].append(file["level"])
        return max(len(each) if not self.table.has_key else _sorted_runs(each) for each in levels.values())

    def _next_reconcile(self) -> datetime | None:
        requeue = self.managed.world.settle().requeue_after
        return None if requeue is None else self.managed.world.now + requeue

    def _run_due(self) -> list[str]:
        world = self.managed.world
        before = len(world.created)
        started = self.managed.run_due()
        if started:
            assert self.rows() == self.expected_rows(), f"{started} at {world.now} changed rows"
        names = {run.metadata.name for run in world.created[before:]}
        done = [run for run in world.runs if run.metadata.name in names]
        self.no_ops += [run.metadata.name for run in done if not run.status.compacted_partitions]
        return started

    def _write_until(self, to: datetime) -> None:
        while self._committed < len(self.table.writes) and self.table.writes[self._committed].at <= to:
            write = self.table.writes[self._committed]
            self._committed += 1
            first = self._committed * IDS * 5 // 8 % FIRST_IDS
            partitions = sorted({partition for partition, _ in write.places})
            self._insert([(each, first, first + IDS) for each in partitions], v=self._committed)

    def _insert(self, ranges: Sequence[tuple[str, int, int]], v: int) -> None:
        """One commit. The ids of two in a row overlap, so that rows are updated where there is a key."""
        by_part = self.table.kind.first != ("",)
        parts = [
            f"SELECT {f'{partition!r}, ' if by_part else ''}id, {v} FROM range({first}, {end})"  # noqa: S608 - our names
            for partition, first, end in ranges
        ]
        self.lake.outside(f"INSERT INTO {TABLE} {' UNION ALL '.join(parts)}")
        written = [(partition, id_, v) for partition, first, end in ranges for id_ in range(first, end)]
        if self.table.has_key:
            self._rows |= {row[:2]: row for row in written}
        else:
            self._rows |= {(*row, number): row for number, row in enumerate(written)}

    def _look(self) -> None:
        location, files = f"{self.lake.warehouse}/shop.db/orders", VolumeFiles()
        schema = TableFiles(files, location).latest_schema()
        assert schema is not None
        found = of_contents(Observer(files, location, schema).observe().contents, schema)
        look = Look(looked_at=self.managed.world.now, measure=Measure.model_validate(measure_facts(found)))
        replace_observed(self.managed.world, look=look)


def _sorted_runs(levels: Sequence[int]) -> int:
    return levels.count(0) + len({each for each in levels if each})
