"""The schedule of one block of the whole table, remembered in one field of the table's status."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from paimon_operator.api.base import Json
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.effective import Effective
from paimon_operator.api.table.schedule_state import LastDecision, ScheduleState
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core import schedule
from paimon_operator.core.operations import retries, schedule_state
from paimon_operator.core.operations.base import DueRun, RunOutcome
from paimon_operator.core.operations.operation import Memory
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import digest
from paimon_operator.errors import SpecError

_EMPTY: Final = ScheduleState()
_WHEN: Final = ("schedule", "source")
"""Members that say when something is done or who wants it, not what."""


class Block(Protocol):
    """An effective block, such as a member of `retention`."""

    @property
    def schedule(self) -> str | None:
        """Its schedule; None: it has none."""

    def to_json(self) -> Json:
        """The block as in the manifest."""


@dataclass(frozen=True, kw_only=True)
class BlockSchedule:
    """One schedule for the whole table. Users may request a run too."""

    type: str
    """`spec.type` of its runs."""
    path: str
    """The block in the manifest, as the error of a broken one names it."""
    effective: Callable[[Effective], Block | None]
    """The effective block; None: the table has none."""
    memory: str
    """The field of `TableStatus`."""
    empty: ScheduleState = _EMPTY
    """What the field holds at first."""
    applies: Callable[[TableContext], tuple[str, ...]] | None = None
    """Other blocks that its runs apply; None: never any."""
    for_a_human: frozenset[Reason] = frozenset()
    """Failures that are not retried, because a human has to act first."""

    def block(self, context: TableContext) -> Block | None:
        """The effective block."""
        return self.effective(context.effective)

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """Due when its tick has come."""
        if self.stopped_by(context, None) is not None:
            return
        work = schedule_state.due_run(self.type, self._state(status), self._schedule(context), context)
        if work is not None:
            yield replace(work, spec_hash=self._hash(context))

    def stopped_by(self, context: TableContext, subject: str | None) -> SpecError | None:  # noqa: ARG002
        """An error in the block or in the time zone."""
        return context.stops_schedule(self.path)

    def with_next_ticks(self, context: TableContext, status: TableStatus) -> TableStatus:
        """The next tick."""
        is_known, state = getattr(status, self.memory) is not None, self._state(status)
        wanted, error = self._schedule(context), self.stopped_by(context, None)
        if error is None and wanted is not None:
            return self._with(status, self._with_others(schedule_state.with_next(state, wanted, context), context))
        if not is_known:
            return status
        without = schedule_state.without_schedule(state) if error is None else schedule_state.stopped(state, error)
        return self._with(status, self._with_others(without, None))

    def record_decision(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:
        """The status with the decision."""
        return self._with(status, schedule_state.record_decision(self._state(status), work.due_time, decision))

    def memories(self, status: TableStatus) -> Iterator[Memory]:
        """One."""
        if getattr(status, self.memory) is not None:
            yield schedule_state.memory_of(self._state(status))

    def requested(self, run: PaimonRun, created: datetime) -> DueRun:
        """The whole table."""
        return DueRun(type_=self.type, trigger=RunTrigger.USER, due=created, run=run)

    def is_still_asked_for(self, context: TableContext, run: PaimonRun, decided: str) -> bool:  # noqa: ARG002
        """Whether the block still asks for the same. The job reports a broken one."""
        return self.stopped_by(context, None) is not None or self._hash(context) == decided

    def record_result(self, status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
        """The status after a run. The failure of a user's run is not recorded: the schedule does not retry it."""
        if ended.succeeded:
            return self._with(status, schedule_state.record_success(self._state(status), ended))
        if ended.active.trigger is RunTrigger.USER:
            return status
        failed = schedule_state.record_failure(
            self._state(status), ended, key, retries.BEFORE_THE_NEXT_TICK, self.for_a_human
        )
        return self._with(status, failed)

    def _with_others(self, state: ScheduleState, context: TableContext | None) -> ScheduleState:
        """The state with the other blocks that its runs apply; without a context none."""
        if self.applies is None:
            return state
        return schedule_state.changed(state, applies=() if context is None else self.applies(context))

    def _schedule(self, context: TableContext) -> schedule.Schedule | None:
        block = self.block(context)
        return schedule.parse(block.schedule, context.zone) if block and block.schedule else None

    def _hash(self, context: TableContext) -> str:
        """Identifies what the block asks for: times are read in the zone of the table."""
        block = self.block(context)
        what = {} if block is None else {key: value for key, value in block.to_json().items() if key not in _WHEN}
        return digest({**what, "timeZone": context.zone})

    def _state(self, status: TableStatus) -> ScheduleState:
        state: ScheduleState | None = getattr(status, self.memory)
        return state or self.empty

    def _with(self, status: TableStatus, state: ScheduleState) -> TableStatus:
        return status.model_copy(update={self.memory: state})
