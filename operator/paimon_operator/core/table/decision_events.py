"""Events for decisions not to run: one when a block stops being needed, none while that stays so."""

from __future__ import annotations

from collections.abc import Iterator

from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.decision import EventNote
from paimon_operator.core.operations import registry, schedule_state


def decision_events(before: TableStatus, after: TableStatus) -> Iterator[EventNote]:
    """An Event for each scheduled operation that was skipped as not needed, and was not before."""
    known = dict(_decisions(before))
    for name, decision in _decisions(after):
        earlier = known.get(name)
        if decision.reason == Reason.NOT_NEEDED and (earlier is None or not schedule_state.was_skipped(earlier)):
            yield EventNote(type_="Normal", reason=Reason.NOT_NEEDED, note=f"{name}: {decision.message}")


def _decisions(status: TableStatus) -> Iterator[tuple[str, LastDecision]]:
    for operation in registry.OPERATIONS.recurring:
        for memory in operation.scheduled.memories(status) if operation.scheduled is not None else ():
            if memory.decision is not None:
                yield (f"{operation.type} {memory.subject}" if memory.subject else operation.type), memory.decision
