"""The operator: its pure core decides about each table, on a clock that jumps to the next reconcile.

The status is carried from step to step, runs answer with what the files show, and the catalog's observer looks once a
minute. What a driver compacts is decided by the job of the core and by the driver's own code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from paimon_contract.parameters.compact import CompactParameters
from paimon_operator.api.measure import Measure
from paimon_operator.api.run.result import measure_facts
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.launch.job import build_job
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import desired_table
from paimon_operator.core.spec.edit_plan import declared_schema
from paimon_operator.core.spec.look import Look
from paimon_schema.plan import schema_after
from paimon_schema.table_schema import TableSchema
from tests.support import builders
from tests.support.table_world import TableWorld, replace_observed
from tools.benchmarks.maintenance_day import costs
from tools.benchmarks.maintenance_day.fleet import MIDNIGHT, DayOfTable
from tools.benchmarks.maintenance_day.runs import RunOfDay, TableDay
from tools.benchmarks.maintenance_day.table_files import TableFiles

PASS: Final = timedelta(minutes=1)
"""Between two looks of an observer."""
_NO_PINS: Final = {"pinsCount": 0}


def by_need(table: DayOfTable, length: timedelta, *, observed: bool = True) -> TableDay:
    """The runs that the operator starts. Without an observer, each tick beside other writers starts a driver."""
    return _Day(table, observed=observed).play(MIDNIGHT + length)


def schema_of(table: DayOfTable) -> TableSchema:
    """The schema that Provision leaves."""
    return _schema(_world(table))


def _world(table: DayOfTable) -> TableWorld:
    """The PaimonTable, which is applied at midnight."""
    made = builders.table(table.name, metadata={"creationTimestamp": MIDNIGHT}, **table.spec)
    return TableWorld(table=made, catalog=builders.catalog(commitPolicy="AllowUnsafe"), now=MIDNIGHT)


def _schema(world: TableWorld) -> TableSchema:
    assert world.catalog is not None
    context = TableContext.build(world.table, world.catalog, world.operator, world.now)
    return schema_after(None, declared_schema(desired_table(context.spec, context.effective)))


@dataclass
class _Day:
    """One table and the operator on that day."""

    table: DayOfTable
    observed: bool
    world: TableWorld = field(init=False)
    files: TableFiles = field(init=False)
    runs: list[RunOfDay] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world = _world(self.table)
        schema = _schema(self.world)
        self.files = TableFiles(self.table, schema)
        self.world.settle()
        digest = schema.columns_digest
        self.world.finish("Provision", created=True, columnsDigest=digest, after=self._measured())

    def play(self, end: datetime) -> TableDay:
        """Follows the core from one moment to the next that it asks for."""
        while True:
            requeue = self.world.reconcile().requeue_after
            if self.world.table.status.active_run is not None:
                self._perform(self.world.active)
                continue
            if requeue is None or self.world.now + requeue >= end:
                break
            self._wait(self.world.now + requeue)
        self.files.advance(max(end, self.files.now))
        return TableDay(table=self.table, runs=tuple(self.runs), worst=self.files.worst)

    def _wait(self, to: datetime) -> None:
        """Jumps ahead. The last pass of the observer before that has looked at the table."""
        first = MIDNIGHT + timedelta(seconds=_second_of(self.table.name))
        looked_at = to - (to - first) % PASS
        if self.observed and looked_at > self.files.now:
            self.files.advance(looked_at)
            replace_observed(self.world, look=Look(looked_at=looked_at, measure=self._look()))
        self.files.advance(to)
        self.world.now = to

    def _look(self) -> Measure:
        return Measure.model_validate(measure_facts(self.files.measure()))

    def _measured(self) -> dict[str, Any]:
        return self._look().to_json() | _NO_PINS

    def _perform(self, run: PaimonRun) -> None:
        """The run of the operator, from its start to its result."""
        done, result = self._expire(run) if run.spec.type == "ExpireSnapshots" else self._compact(run)
        self.runs.append(done)
        self.world.now = self.files.now
        self.world.finish(startTime=done.at, after=self._measured(), **result)

    def _expire(self, run: PaimonRun) -> tuple[RunOfDay, dict[str, Any]]:
        at, seconds = self.files.now, costs.expiry_seconds()
        self.files.advance(at + timedelta(seconds=seconds))
        count = self.files.expire()
        done = RunOfDay(action=run.spec.type, at=at, seconds=seconds, changed=count > 0, reason=_reason(run))
        return done, {"expired": count}

    def _compact(self, run: PaimonRun) -> tuple[RunOfDay, dict[str, Any]]:
        assert self.world.catalog is not None
        job = build_job(run, self.world.table, self.world.catalog, self.world.operator)
        asked = job.parameters_as(CompactParameters)
        assert asked.thresholds is not None
        at, partitions = self.files.now, self.files.in_need(asked.thresholds)
        is_full = asked.strategy == "Full"
        merges = self.files.full(partitions) if is_full else self.files.minor(self.table.threshold, partitions)
        rows = sum(each.rows for each in merges.values())
        seconds = costs.compaction_seconds(rows) if partitions else costs.look_seconds()
        self.files.advance(at + timedelta(seconds=seconds))
        self.files.compact(merges)
        done = RunOfDay(
            action=asked.strategy,
            at=at,
            seconds=seconds,
            has_jvm=bool(partitions),
            changed=bool(merges),
            reason=_reason(run),
        )
        return done, {"compactedPartitions": len(partitions)}


def _reason(run: PaimonRun) -> str:
    return (run.spec.trigger.message if run.spec.trigger else None) or ""


def _second_of(name: str) -> int:
    """The second of each minute at which the observer looks at the table: the same in every process."""
    return sum(number * ord(letter) for number, letter in enumerate(name, 1)) % int(PASS.total_seconds())
