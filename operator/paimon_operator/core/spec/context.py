"""A table at one reconcile, with all that a decision needs: catalog, engine and effective settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final

from paimon_engines.engine import Engine
from paimon_operator.api import units
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.compaction import CompactionMode
from paimon_operator.api.table.effective import Effective, EffectiveCompaction
from paimon_operator.api.table.spec import PaimonTable, PaimonTableSpec
from paimon_operator.core import schedule
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.spec.capabilities import may_be_rescaled
from paimon_operator.core.spec.desired_table import DesiredTable, desired_table, fingerprint
from paimon_operator.core.spec.edit_plan import known_schema, plan_of_edit
from paimon_operator.core.spec.effective import effective_settings
from paimon_operator.core.spec.look import Look
from paimon_operator.core.spec.spent_budget import SpentBudget
from paimon_operator.core.windows import Recurrence, Windows
from paimon_operator.errors import SpecError
from paimon_schema.bucket_count import BUCKET
from paimon_schema.plan import Plan

COMPACTION: Final = "spec.compaction"
RETENTION: Final = "spec.retention"
SNAPSHOTS: Final = f"{RETENTION}.snapshots"
CHANGELOGS: Final = f"{RETENTION}.changelogs"
CONSUMERS: Final = f"{RETENTION}.consumers"
RECORDS: Final = f"{RETENTION}.records"
PARTITIONS: Final = f"{RETENTION}.partitions"
ORPHAN_FILES: Final = f"{RETENTION}.orphanFiles"
MARK_PARTITIONS_DONE: Final = "spec.markPartitionsDone"
MAINTENANCE: Final = "spec.maintenance"
TAGS: Final = "spec.tags"
TIME_ZONE: Final = "spec.timeZone"
WINDOWS: Final = "spec.maintenanceWindows"
"""A field of the catalog."""


def write_path(index: int) -> str:
    """Path of a write of the list."""
    return f"spec.writes[{index}]"


@dataclass(frozen=True, kw_only=True)
class TableContext:
    """A table together with its catalog and engine, at one moment."""

    table: PaimonTable
    catalog: PaimonCatalog
    engine: Engine
    effective: Effective
    now: datetime
    broken: tuple[SpecError, ...] = ()
    """Errors that stop one part each: a write, compaction, its verification, retention, all schedules, or what starts
    in the catalog's windows. See `validation/blocks.py`."""
    windows_zone: str = "UTC"
    """Name of the time zone of the catalog's maintenance windows."""
    observe_interval: timedelta | None = None
    """How long the table's schema may stay unread; None: for ever."""
    look: Look | None = None
    """The last look of the catalog's observer; None: there is none."""
    spent: SpentBudget | None = None
    """The budget that stops scheduled maintenance today; None: none does."""
    owners_here: tuple[str, ...] = ()
    """For a job: digests of the marks of this cluster's other owners of a table of this name, in order."""

    @classmethod
    def build(cls, table: PaimonTable, catalog: PaimonCatalog, operator: OperatorFacts, now: datetime) -> TableContext:
        """The context at `now`. Raises KeyError for an unknown engine: check the catalog first."""
        engine = operator.engines[operator.engine_of(catalog)]
        effective = effective_settings(table, catalog, engine, operator.defaults)
        return cls(
            table=table,
            catalog=catalog,
            engine=engine,
            effective=effective,
            now=now,
            windows_zone=catalog.spec.time_zone or operator.defaults.time_zone,
            observe_interval=operator.observe_interval,
        )

    def broken_in(self, block: str) -> SpecError | None:
        """The error in the block at this path, for example `spec.writes[0]`; None if it is valid."""
        inside = (f"{block}.", f"{block}[")
        return next((each for each in self.broken if each.field == block or each.field.startswith(inside)), None)

    def stops_schedule(self, block: str) -> SpecError | None:
        """Why no schedule of the block runs: an error in the block or in the time zone. None if they run."""
        return self.broken_in(block) or self.broken_in(TIME_ZONE)

    @property
    def spec(self) -> PaimonTableSpec:
        """The table's spec."""
        return self.table.spec

    @property
    def zone(self) -> str:
        """Name of the time zone of the schedules."""
        return self.effective.time_zone or "UTC"

    @cached_property
    def windows(self) -> Windows:
        """The catalog's maintenance windows; empty: it has none. Raises ScheduleError: check `broken_in` first."""
        return tuple(
            Recurrence(schedule.parse(each.schedule, self.windows_zone), units.delta(each.duration))
            for each in self.catalog.spec.maintenance_windows
        )

    @property
    def compaction(self) -> EffectiveCompaction:
        """The effective compaction. Raises ValueError if it is missing, which `build` rules out."""
        if self.effective.compaction is None:
            raise ValueError("effective() always fills compaction")
        return self.effective.compaction

    @cached_property
    def desired(self) -> DesiredTable:
        """The table that the manifest describes. Raises TypeTextError for an invalid type: check the rules first."""
        return desired_table(self.spec, self.effective)

    @cached_property
    def wanted_hash(self) -> str:
        """Hash of the desired table."""
        return fingerprint(self.desired)

    def hash_with_buckets(self, count: int) -> str:
        """Hash of the desired table with another number of buckets."""
        return fingerprint(replace(self.desired, options={**self.desired.options, BUCKET: str(count)}))

    @cached_property
    def edit(self) -> Plan | None:
        """The plan from the recorded schema to the manifest; None if the schema is not known."""
        state = self.table.status.provision
        known = None if state is None else known_schema(state)
        if known is None:
            return None
        return plan_of_edit(known, self.desired, self.engine, rescales=may_be_rescaled(self.spec))

    @property
    def dedicated(self) -> bool:
        """Whether the operator compacts the table."""
        return self.compaction.mode is CompactionMode.DEDICATED

    @property
    def never_reconciled(self) -> bool:
        """Whether no effective settings were ever stored, so that no tick of a schedule can have passed.

        A table that waited for its catalog was reconciled, but its schedules were not evaluated.
        """
        return self.table.status.effective is None

    @property
    def created(self) -> datetime:
        """When the object was created. Before the first run, schedules count from here."""
        return self.table.metadata.creation_timestamp or self.now
