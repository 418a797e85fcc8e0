"""The conditions of an object: findings replace the whole list, and transitions become Events.

`Reconciling` and `Stalled` follow kstatus: both are in every list, and never both True.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from paimon_operator.api.base import ApiModel, to_the_second, truncated_to_bytes
from paimon_operator.api.conditions import Condition, ConditionStatus, ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.core import backoff
from paimon_operator.core.decision import EventNote

StatusT = TypeVar("StatusT", bound=ApiModel)

ORDER: Final = {type_: position for position, type_ in enumerate(ConditionType)}
MAX_NOTE_BYTES: Final = 1024
"""The API server's bound on an Event's note."""

GOOD_WHEN_TRUE: Final = frozenset(
    {ConditionType.READY, ConditionType.SUCCEEDED, ConditionType.HEALTHY, ConditionType.COMMIT_SAFE}
)
"""Conditions that claim, when they are True, that the object is in order."""
_WARNING_REASONS = {Reason.BACKING_OFF, Reason.UNSCHEDULABLE, Reason.STOPPING}
"""Reasons of Reconciling that are announced by a Warning."""
_ANNOUNCED_WHEN_FIRST_GOOD = {ConditionType.READY, ConditionType.SUCCEEDED}
_USUAL_WORK: Final = Reason.PROVISIONING
"""Reason of Reconciling that makes no Event after a state without problems: the result of its run makes one."""
_WITHOUT_PROBLEMS: Final = {Reason.NO_ACTION_NEEDED, Reason.SUSPENDED}
"""Reasons of Reconciling before such work. The end of a suspension makes an Event of its own."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The current state of one condition. Its transition time follows from the condition before."""

    type_: ConditionType
    status: ConditionStatus
    reason: Reason
    message: str


def true(type_: ConditionType, reason: Reason, message: str) -> Finding:
    """The condition is True."""
    return Finding(type_=type_, status=ConditionStatus.TRUE, reason=reason, message=message)


def false(type_: ConditionType, reason: Reason, message: str) -> Finding:
    """The condition is False."""
    return Finding(type_=type_, status=ConditionStatus.FALSE, reason=reason, message=message)


def unknown(type_: ConditionType, reason: Reason, message: str) -> Finding:
    """The condition is Unknown."""
    return Finding(type_=type_, status=ConditionStatus.UNKNOWN, reason=reason, message=message)


def reconciling(reason: Reason, message: str) -> tuple[Finding, Finding]:
    """Work is in progress: Reconciling is True, Stalled is False."""
    return (
        true(ConditionType.RECONCILING, reason, message),
        false(ConditionType.STALLED, Reason.NO_ACTION_NEEDED, "no manual action is needed"),
    )


def stalled(reason: Reason, message: str) -> tuple[Finding, Finding]:
    """A human must act: Stalled is True, Reconciling is False."""
    return (
        false(ConditionType.RECONCILING, reason, "stopped until the problem that Stalled reports is fixed"),
        true(ConditionType.STALLED, reason, message),
    )


def idle(reason: Reason, message: str = "no work is in progress") -> tuple[Finding, Finding]:
    """No work is in progress and no human must act: both are False."""
    return (
        false(ConditionType.RECONCILING, reason, message),
        false(ConditionType.STALLED, Reason.NO_ACTION_NEEDED, "no manual action is needed"),
    )


@dataclass(frozen=True, kw_only=True)
class ConditionReport:
    """The conditions of one reconcile and the Events that announce what changed."""

    conditions: tuple[Condition, ...]
    events: tuple[EventNote, ...]
    generation: int

    def into(self, status: StatusT) -> StatusT:
        """`status` with these conditions and the generation that they were found for."""
        return status.model_copy(update={"observed_generation": self.generation, "conditions": self.conditions})


def report(
    before: Iterable[Condition],
    findings: Iterable[Finding],
    *,
    generation: int,
    now: datetime,
    events: Iterable[EventNote] = (),
    announced: Reason | None = None,
) -> ConditionReport:
    """Ends every reconcile: findings become conditions, and transitions become Events behind `events`.

    `before` are the stored conditions. A transition with the reason `announced` makes no Event, because `events` have
    one that says the same. Raises ValueError where `replaced` does.
    """
    old = tuple(before)
    conditions = replaced(old, findings, generation=generation, now=now)
    changed = (note for note in transitions(old, conditions) if note.reason != announced)
    notes = without_repetition((*events, *changed))
    return ConditionReport(conditions=conditions, events=notes, generation=generation)


def replaced(
    old: Iterable[Condition], findings: Iterable[Finding], *, generation: int, now: datetime
) -> tuple[Condition, ...]:
    """The whole new list, in the order of ConditionType; a condition without a finding is removed.

    lastTransitionTime changes only with the status; one that lies in the future counts as now. Raises ValueError on two
    findings of one type, and when Reconciling and Stalled are both True.
    """
    before, found = (
        tuple(_trusted(each, now) for each in old),
        sorted(findings, key=lambda finding: ORDER[finding.type_]),
    )
    types = [finding.type_ for finding in found]
    if len(types) != len(set(types)):
        raise ValueError(f"a condition was found twice: {', '.join(types)}")
    true = {finding.type_ for finding in found if finding.status is ConditionStatus.TRUE}
    if {ConditionType.RECONCILING, ConditionType.STALLED} <= true:
        raise ValueError("Reconciling and Stalled must not both be True")
    return tuple(_condition(finding, before, generation, now) for finding in found)


def _trusted(condition: Condition, now: datetime) -> Condition:
    ahead = backoff.is_ahead(condition.last_transition_time, now)
    return condition.model_copy(update={"last_transition_time": to_the_second(now)}) if ahead else condition


def transitions(old: Iterable[Condition], new: Iterable[Condition]) -> tuple[EventNote, ...]:
    """The Events for what changed: good to bad, bad to good, another reason for bad, another step of work.

    A condition that starts good makes no Event, except Ready and Succeeded; neither does a change of the message alone.
    Conditions with the same reason, or with the same message, make one Event.
    """
    before = {condition.type: condition for condition in old}
    notes = (_note(before.get(condition.type), condition) for condition in new)
    return without_repetition(note for note in notes if note is not None)


def without_repetition(notes: Iterable[EventNote]) -> tuple[EventNote, ...]:
    """The notes of one decision: the first for each reason and each text."""
    return tuple(_distinct(notes))


def _condition(finding: Finding, before: tuple[Condition, ...], generation: int, now: datetime) -> Condition:
    return Condition.of(
        finding.type_,
        finding.status,
        finding.reason,
        finding.message,
        now=now,
        generation=generation,
        before=before,
    )


def _note(before: Condition | None, after: Condition) -> EventNote | None:
    if before is not None and (before.status, before.reason) == (after.status, after.reason):
        return None
    if not _is_announced(before, after):
        return None
    bad = _is_bad(after) or after.reason in _WARNING_REASONS
    return EventNote(type_="Warning" if bad else "Normal", reason=after.reason, note=_note_text(after))


def _is_announced(before: Condition | None, after: Condition) -> bool:
    if after.type is ConditionType.RECONCILING and after.reason == _USUAL_WORK:
        return before is not None and before.reason not in _WITHOUT_PROBLEMS
    if after.type in (ConditionType.RECONCILING, ConditionType.SUSPENDED):
        ended = before is not None and before.status is ConditionStatus.TRUE
        return after.status is ConditionStatus.TRUE or (ended and after.type is ConditionType.SUSPENDED)
    if _is_bad(after):
        return True
    if after.status is ConditionStatus.UNKNOWN or after.type is ConditionType.STALLED:
        return False  # recovery is announced by Ready, Healthy or Succeeded
    if before is None or before.status is ConditionStatus.UNKNOWN:
        return after.type in _ANNOUNCED_WHEN_FIRST_GOOD
    return _is_bad(before)


def _is_bad(condition: Condition) -> bool:
    if condition.type is ConditionType.STALLED:
        return condition.status is ConditionStatus.TRUE
    return condition.type in GOOD_WHEN_TRUE and condition.status is ConditionStatus.FALSE


def _note_text(condition: Condition) -> str:
    return truncated_to_bytes(condition.message or str(condition.type), MAX_NOTE_BYTES)


def _distinct(notes: Iterable[EventNote]) -> Iterator[EventNote]:
    reasons: set[str] = set()
    texts: set[str] = set()
    for note in notes:
        if note.reason not in reasons and note.note not in texts:
            yield note
        reasons.add(note.reason)
        texts.add(note.note)
