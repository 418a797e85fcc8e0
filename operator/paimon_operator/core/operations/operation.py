"""What an operation states about itself: one `OperationSpec` per file. The registry derives everything else from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Protocol

from paimon_contract.result import Result
from paimon_operator.api.base import ApiModel, Json
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.facts import Health
from paimon_operator.api.table.schedule_state import LastDecision, LastFailure
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.operations.base import DueRun, RunOutcome
from paimon_operator.core.operations.need import Need
from paimon_operator.core.spec.context import TableContext
from paimon_operator.errors import SpecError


class Role(Enum):
    """Special role of an operation for the controllers. Each special role has exactly one operation."""

    ORDINARY = "ordinary"
    ESTABLISHES_TABLE = "establishes table"
    """Creates the table, or verifies it: nothing else starts before, and its success makes the table Ready."""
    REMOVES_TABLE = "removes table"
    """Runs only while the PaimonTable is being deleted. There is no status to keep after it."""


@dataclass(frozen=True)
class RunTarget:
    """The part of its table that a run works on."""

    subject: str | None = None
    """One of several (a write, a strategy); None: the operation has no such parts."""
    partial: bool = False
    """Some partitions only, which counts for no schedule."""


@dataclass(frozen=True, kw_only=True)
class RunMember:
    """The operation's own part of a PaimonRun's spec: set for its type, and only then."""

    field: str
    """Its key in the spec."""
    model: type[ApiModel]
    of_subject: Callable[[str], Json]
    """The member in a run that the operator creates for a subject."""


@dataclass(frozen=True)
class InputSize:
    """Size of the rows that a run reads, as far as it is known, and what it was taken from."""

    rows: int | None
    size_bytes: int | None
    source: str


@dataclass(frozen=True)
class Memory:
    """State of one subject in the status."""

    subject: str | None
    failure: LastFailure | None
    next: datetime | None = None
    """The next tick."""
    answered: datetime | None = None
    """The last tick that was started or skipped."""
    decision: LastDecision | None = None
    """The last decision; None also for an operation whose decisions need no Event."""
    is_postponed: bool = False
    """Whether the tick or the retry is due and waits for a maintenance window or the next day's budget."""

    def wakeups(self) -> Iterator[datetime]:
        """The times when work becomes due: the next tick and the next try."""
        next_try = None if self.failure is None else self.failure.next_try
        yield from (each for each in (self.next, next_try) if each is not None)


class Scheduled(Protocol):
    """An operation that becomes due by itself."""

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """What is due now."""

    def stopped_by(self, context: TableContext, subject: str | None) -> SpecError | None:
        """The error in the manifest that stops this part of the operation and nothing else; None if it may run."""

    def with_next_ticks(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The status with the next ticks, and without what the manifest does not request any more."""

    def record_decision(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:
        """The status with the decision about `work`. A decision to start or to skip it answers its tick."""

    def memories(self, status: TableStatus) -> Iterator[Memory]:
        """The states in the status, one per subject."""


class OnDemand(Protocol):
    """An operation that users may request by creating a PaimonRun."""

    def requested(self, run: PaimonRun, created: datetime) -> DueRun:
        """The work that the user's run requests. It has been due since the run was `created`."""


class Removal(Protocol):
    """The operation that removes the table, repeated until it succeeds."""

    def due(self, status: TableStatus, now: datetime) -> DueRun | None:
        """The next try; None while it waits for its time."""

    def is_done(self, status: TableStatus) -> bool:
        """Whether the table was removed."""

    def kept(self, status: TableStatus) -> bool:
        """Whether the table stays although nothing more is to be done: it is not the object's own."""

    def failure(self, status: TableStatus) -> LastFailure | None:
        """The failure of the last try; None without one."""


@dataclass(frozen=True, kw_only=True)
class Hold:
    """What keeps other runs from starting."""

    reason: Reason
    message: str
    is_stalled: bool = False
    """Only an edit ends it."""
    excludes: bool = True
    """True: no run of another operation starts. False: only the run that establishes the table waits."""


def everything(run: PaimonRun) -> RunTarget:  # noqa: ARG001  (a target is a function of the run)
    """The target of an operation without subjects."""
    return RunTarget()


def nothing_reported(result: Result) -> Mapping[str, Any]:  # noqa: ARG001
    """The status fields of an operation that reports only what every operation does."""
    return {}


def nothing_remembered(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:  # noqa: ARG001
    """The status of a table whose operation remembers nothing."""
    return status


def unaffected(status: TableStatus, table: PaimonTable, now: datetime) -> TableStatus:  # noqa: ARG001
    """The status after an edit that means nothing to the operation."""
    return status


def any_manifest(context: TableContext, run: PaimonRun, decided: str) -> bool:  # noqa: ARG001
    """Whether a run is still asked for whose work does not depend on a part of the manifest: always."""
    return True


@dataclass(frozen=True, kw_only=True)
class OperationSpec:
    """Everything that is particular to one operation."""

    type: str
    """`spec.type` of its runs."""
    order: int
    """Its place in every list. Of work that is due since the same moment the lowest starts first."""
    job: Callable[[TableContext, PaimonRun], object]
    """The parameters of a run's job. Raises SpecError for what table, catalog or engine do not have."""
    summary: Callable[[Result], str]
    """What a run has done, in one sentence for `kubectl get`."""

    role: Role = Role.ORDINARY
    scheduled: Scheduled | None = None
    """None: it has no schedule."""
    on_demand: OnDemand | None = None
    """None: users may not request it."""
    removal: Removal | None = None
    """Set for the operation that removes the table."""
    member: RunMember | None = None
    """None: its runs need no parameters of their own."""
    target: Callable[[PaimonRun], RunTarget] = everything
    """The part of its table that a run works on."""
    status_fields: Callable[[Result], Mapping[str, Any]] = nothing_reported
    """Fields of a run's status that only this operation fills in."""
    memory: str | None = None
    """Field of the table's status, as in the manifest, that remembers its runs."""
    record_result: Callable[[TableStatus, RunOutcome, str], TableStatus] = nothing_remembered
    """The table's status after a run. The text identifies the table, for the spread of retries."""
    on_spec_change: Callable[[TableStatus, PaimonTable, datetime], TableStatus] = unaffected
    """The table's status after an edit of its manifest."""
    is_still_asked_for: Callable[[TableContext, PaimonRun, str], bool] = any_manifest
    """Whether the manifest still asks for a run that was decided for the part of the spec with this hash."""
    input_size: Callable[[PaimonRun, PaimonTable], InputSize] | None = None
    """None: it reads no rows, so executors would have no work."""
    hold: Callable[[TableContext, TableStatus], Hold | None] | None = None
    """What keeps runs of other operations from starting on an established table; None: nothing ever does."""
    paused: Callable[[TableStatus], str | None] | None = None
    """What is left of unfinished work during which nothing else may commit. Shown in the condition WritesPaused."""
    excludes_foreign_writers: bool = False
    """Does not start after an undeclared foreign commit, on any storage: it would lose the rows of that writer."""
    needs_matching_table: bool = False
    """Waits while the table differs from the manifest."""
    only_reads: bool = False
    """It commits nothing, so it may start where commits are unsafe."""
    skips_empty_table: bool = False
    """Its ticks are answered without a run while nothing was written to the table."""
    need: Callable[[TableContext, TableStatus, DueRun], Need] | None = None
    """Whether due work has anything to do, by the last measurement. None: every tick starts a run."""
    gain: Callable[[TableContext, Health], int] | None = None
    """Files that a run is expected to remove from a table that was measured so; None: nobody knows."""
    exceeded: Callable[[TableContext, TableStatus], Iterator[str]] | None = None
    """What was measured beyond a threshold and has been due for longer than an interval of the schedule."""
    late_from: Callable[[TableContext, TableStatus], Iterator[datetime]] | None = None
    """When `exceeded` may answer otherwise although nothing else happens."""
    in_windows: bool = False
    """It is maintenance: by its schedule it starts only inside the catalog's maintenanceWindows."""
    is_maintenance: bool = False
    """It starts outside of windows, and is held like the maintenance that runs in them: see `row_checks.why_held`."""
    small: bool = False
    """Its runs may share a driver Pod: they take seconds, and one whose result is lost is simply repeated."""
    may_end_without_jvm: bool = False
    """Its driver looks at the table's files first, and starts Spark only if that is not enough."""
    for_a_human: frozenset[Reason] = frozenset()
    """Failures that make the table Stalled, because only a human may go on. Everything else of the table continues."""
    lost_result_is_unknown: bool = False
    """A run that may have committed without a result is not repeated by itself: repeating it could commit twice."""

    @property
    def is_held_with_maintenance(self) -> bool:
        """Whether it waits while a compaction that has changed rows holds the maintenance of the table."""
        return self.in_windows or self.is_maintenance
