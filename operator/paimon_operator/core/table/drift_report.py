"""The condition Drifted, and the Events for what somebody else has changed."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.base import rfc3339, truncated_to_bytes
from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.drift import DriftedField
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.status import DriftState, TableStatus
from paimon_operator.core.conditions import MAX_NOTE_BYTES, Finding, false, true, unknown
from paimon_operator.core.decision import EventNote
from paimon_operator.core.operations.drift_policy import contested_fields
from paimon_schema.drift import DriftKind

_MOST_NAMED: Final = 3
"""Changes that a message names."""
_WORDS: Final = {
    DriftKind.TABLE_REPLACED: "another table has its name",
    DriftKind.OWNER_CHANGED: "the owner mark has changed",
    DriftKind.PRIMARY_KEY_CHANGED: "the primary key has changed",
    DriftKind.PARTITION_KEYS_CHANGED: "the partition keys have changed",
    DriftKind.COLUMN_DROPPED: "column {field} was dropped",
    DriftKind.COLUMN_RENAMED: "column {field} was renamed",
    DriftKind.TYPE_CHANGED: "the type of column {field} has changed",
    DriftKind.NULLABILITY_CHANGED: "column {field} has changed",
    DriftKind.COLUMN_ADDED: "column {field} was added",
    DriftKind.COLUMNS_REORDERED: "the columns have another order",
    DriftKind.DEFAULT_CHANGED: "the default of column {field} has changed",
    DriftKind.OPTION_CHANGED: "option {field} has changed",
    DriftKind.COLUMN_COMMENT_CHANGED: "the comment of column {field} has changed",
    DriftKind.TABLE_COMMENT_CHANGED: "the comment of the table has changed",
}


def drifted(status: TableStatus) -> tuple[Finding, ...]:
    """The condition Drifted; nothing for a table whose schema no run has compared."""
    state = status.drift
    if state is None or state.schema_id is None:
        return ()
    if state.changed_at is not None and not state.count:
        message = f"the table may have another schema than {state.schema_id} now: no run has compared it yet"
        return (unknown(ConditionType.DRIFTED, Reason.SCHEMA_NOT_COMPARED, message),)
    if not state.count:
        message = f"nobody else has changed the table up to schema {state.schema_id}"
        return (false(ConditionType.DRIFTED, Reason.TABLE_UNALTERED, message),)
    reason, follows = _reaction(state)
    newer = "" if state.changed_at is None else " There is a newer schema, which no run has compared yet."
    return (true(ConditionType.DRIFTED, reason, f"{_said(state)}. {follows}{newer}"),)


def drift_events(before: TableStatus, after: TableStatus) -> tuple[EventNote, ...]:
    """One Event when the changes differ from those that were known."""
    old, new = before.drift or DriftState(), after.drift or DriftState()
    if (_named(old), old.count) == (_named(new), new.count):
        return ()
    if not new.count:
        note = f"no change by others is left: they were reverted, declared or accepted (latest schema {new.schema_id})"
        return (EventNote(type_="Normal", reason=Reason.TABLE_UNALTERED, note=note),)
    note = truncated_to_bytes(_said(new), MAX_NOTE_BYTES)
    return (EventNote(type_="Warning", reason=Reason.TABLE_ALTERED, note=note),)


def _named(state: DriftState) -> frozenset[DriftedField]:
    """The changes, in no order. Only a look states what is correctable: without that."""
    return frozenset(each.model_copy(update={"correctable": None}) for each in state.changes)


def _said(state: DriftState) -> str:
    named = "; ".join(_sentence(each) for each in state.changes[:_MOST_NAMED])
    more = (state.count or 0) - min(len(state.changes), _MOST_NAMED)
    when = f" of {rfc3339(state.schema_time)}" if state.schema_time is not None else ""
    return f"{named}{f'; {more} more in status.drift' if more > 0 else ''} (latest schema {state.schema_id}{when})"


def _sentence(change: DriftedField) -> str:
    what = _WORDS[change.change].format(field=change.field)
    return f"{what}: {_value(change.before)} -> {_value(change.after)}"


def _value(text: str | None) -> str:
    return "unset" if text is None else text


def _reaction(state: DriftState) -> tuple[Reason, str]:
    """What the operator does about it."""
    if state.next_correction is not None:
        again = f"The operator corrects the table again at {rfc3339(state.next_correction)}."
        if state.contested:
            return Reason.DRIFT_CONTESTED, f"Somebody else and the operator both change {_contested(state)}. {again}"
        return Reason.CORRECTION_LIMIT_REACHED, f"The table was corrected three times within an hour. {again}"
    if state.refused is not None:
        return Reason.TABLE_ALTERED, f"A run verifies the table before anything else starts: {state.refused}"
    return Reason.TABLE_ALTERED, Reason.TABLE_ALTERED.remedy


def _contested(state: DriftState) -> str:
    fields = contested_fields(state).items()
    return "; ".join(f"{field} (corrected at {', '.join(rfc3339(each) for each in times)})" for field, times in fields)
