"""Conditions keep their times and their order; only changes for the user become Events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from paimon_operator.api.base import MESSAGE_LENGTH
from paimon_operator.api.conditions import Condition, ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.core.conditions import (
    Finding,
    false,
    idle,
    reconciling,
    replaced,
    report,
    stalled,
    transitions,
    true,
    unknown,
)
from paimon_operator.core.decision import EventNote

EARLIER = datetime(2026, 11, 21, 8, 0, 0, tzinfo=UTC)
NOW = EARLIER + timedelta(minutes=5)

READY = true(ConditionType.READY, Reason.TABLE_MATCHES_SPEC, "schema 3")
NOT_READY = false(ConditionType.READY, Reason.INVALID_SPEC, "spec.bucket: 0 is no count")
READY_UNKNOWN = unknown(ConditionType.READY, Reason.PENDING, "not reconciled yet")
HEALTHY = true(ConditionType.HEALTHY, Reason.RUNS_SUCCEEDING, "max 4 sorted runs")
UNHEALTHY = false(ConditionType.HEALTHY, Reason.RUN_FAILING, "write import: access denied")


def conditions(*findings: Finding, at: datetime = EARLIER, generation: int = 1) -> tuple[Condition, ...]:
    return replaced((), findings, generation=generation, now=at)


def test_the_order_of_conditions_does_not_depend_on_the_order_of_findings() -> None:
    one = conditions(HEALTHY, *idle(Reason.NO_ACTION_NEEDED), READY)
    other = conditions(READY, HEALTHY, *reversed(idle(Reason.NO_ACTION_NEEDED)))
    assert one == other
    assert [condition.type for condition in one] == ["Ready", "Reconciling", "Stalled", "Healthy"]


def test_an_unchanged_status_keeps_its_time_and_takes_the_new_reason_message_and_generation() -> None:
    changed = true(ConditionType.READY, Reason.NO_ACTION_NEEDED, "schema 4")
    (ready,) = replaced(conditions(READY), [changed], generation=2, now=NOW)
    assert (ready.last_transition_time, ready.message, ready.observed_generation) == (EARLIER, "schema 4", 2)


def test_a_changed_status_has_the_time_of_the_change() -> None:
    (ready,) = replaced(conditions(READY), [NOT_READY], generation=1, now=NOW)
    assert ready.last_transition_time == NOW


def test_the_same_findings_change_no_condition() -> None:
    before = conditions(READY, *idle(Reason.NO_ACTION_NEEDED), HEALTHY)
    assert replaced(before, [READY, *idle(Reason.NO_ACTION_NEEDED), HEALTHY], generation=1, now=NOW) == before


def test_a_condition_without_a_finding_is_removed() -> None:
    assert find(replaced(conditions(READY, HEALTHY), [READY], generation=1, now=NOW), ConditionType.HEALTHY) is None


def test_a_message_is_truncated_to_its_maximum() -> None:
    (ready,) = conditions(false(ConditionType.READY, Reason.TABLE_DIFFERS, "x" * 10_000))
    assert len(ready.message) == MESSAGE_LENGTH


def test_reconciling_and_stalled_are_never_both_true() -> None:
    for pair in (
        reconciling(Reason.RUNNING, "the run is active"),
        stalled(Reason.INVALID_SPEC, "edit it"),
        idle(Reason.NO_ACTION_NEEDED),
    ):
        assert [condition.type for condition in conditions(*pair)] == ["Reconciling", "Stalled"]
    both = (reconciling(Reason.RUNNING, "the run is active")[0], stalled(Reason.INVALID_SPEC, "edit it")[1])
    with pytest.raises(ValueError, match="must not both be True"):
        conditions(*both)


def test_two_findings_of_one_condition_are_an_error() -> None:
    with pytest.raises(ValueError, match="found twice: Ready, Ready"):
        conditions(READY, NOT_READY)


@pytest.mark.parametrize(
    ("before", "after", "events"),
    [
        ([READY], [READY], []),
        ([], [READY_UNKNOWN, *idle(Reason.NO_ACTION_NEEDED)], []),
        ([READY_UNKNOWN], [READY], ["Normal TableMatchesSpec"]),
        ([NOT_READY], [READY], ["Normal TableMatchesSpec"]),
        ([READY], [NOT_READY], ["Warning InvalidSpec"]),
        ([], [HEALTHY], []),
        ([HEALTHY], [UNHEALTHY], ["Warning RunFailing"]),
        ([UNHEALTHY], [HEALTHY], ["Normal RunsSucceeding"]),
        ([READY], [true(ConditionType.READY, Reason.TABLE_MATCHES_SPEC, "schema 4")], []),
        ([NOT_READY], [false(ConditionType.READY, Reason.TABLE_CLAIMED, "by x")], ["Warning TableClaimed"]),
        ([], list(reconciling(Reason.PROVISIONING, "run a")), []),
        (list(idle(Reason.NO_ACTION_NEEDED)), list(reconciling(Reason.PROVISIONING, "run a")), []),
        (list(stalled(Reason.INVALID_SPEC, "x")), list(reconciling(Reason.PROVISIONING, "r")), ["Normal Provisioning"]),
        ([], list(reconciling(Reason.LAUNCHING, "pod")), ["Normal Launching"]),
        (list(reconciling(Reason.LAUNCHING, "pod")), list(reconciling(Reason.RUNNING, "pod")), ["Normal Running"]),
        (list(reconciling(Reason.RUNNING, "pod")), list(reconciling(Reason.BACKING_OFF, "1")), ["Warning BackingOff"]),
        (list(reconciling(Reason.RUNNING, "pod")), list(idle(Reason.NO_ACTION_NEEDED)), []),
        (list(stalled(Reason.INVALID_SPEC, "x")), list(idle(Reason.NO_ACTION_NEEDED)), []),
        ([], [true(ConditionType.SUSPENDED, Reason.SUSPENDED, "by the catalog")], ["Normal Suspended"]),
        ([], [false(ConditionType.SUSPENDED, Reason.NOT_SUSPENDED, "no")], []),
        (
            [true(ConditionType.SUSPENDED, Reason.SUSPENDED, "by the catalog")],
            [false(ConditionType.SUSPENDED, Reason.NOT_SUSPENDED, "no")],
            ["Normal NotSuspended"],
        ),
    ],
    ids=[
        "nothing changed",
        "a new object",
        "ready for the first time",
        "ready again",
        "no longer ready",
        "healthy from the start",
        "unhealthy",
        "healthy again",
        "only the message changed",
        "another reason",
        "a run makes the table: its result is another event",
        "a run alters the table",
        "a run makes the table once an obstacle is gone",
        "a run starts",
        "the next step of a run",
        "a retry",
        "a run ends: its outcome is another event",
        "no longer stalled: Ready is another event",
        "suspended",
        "never suspended",
        "resumed",
    ],
)
def test_a_change_of_a_condition_becomes_an_event_or_none(
    before: list[Finding], after: list[Finding], events: list[str]
) -> None:
    old = conditions(*before)
    new = replaced(old, after, generation=1, now=NOW)
    assert [f"{note.type_} {note.reason}" for note in transitions(old, new)] == events


def test_conditions_with_the_same_message_make_one_event() -> None:
    message = "spec.bucket.fixed.count: 0 is no count. Write 1 or more."
    new = conditions(false(ConditionType.READY, Reason.INVALID_SPEC, message), *stalled(Reason.INVALID_SPEC, message))
    assert transitions((), new) == (EventNote(type_="Warning", reason="InvalidSpec", note=message),)


@pytest.mark.parametrize(
    ("sentence", "second"),
    [
        ("the same reason, another message", false(ConditionType.HEALTHY, Reason.INVALID_SPEC, "run x: wrong")),
        ("another reason, the same message", true(ConditionType.RECONCILING, Reason.DELETING, "wrong")),
    ],
)
def test_a_repeated_reason_or_message_makes_no_second_event(sentence: str, second: Finding) -> None:
    new = conditions(false(ConditionType.READY, Reason.INVALID_SPEC, "wrong"), second)
    assert [note.reason for note in transitions((), new)] == [Reason.INVALID_SPEC], sentence


def test_a_transition_that_another_event_announces_makes_none() -> None:
    done = EventNote(type_="Normal", reason=Reason.RUN_SUCCEEDED, note="Provision: the table was made")
    for announced, events in ((READY.reason, [done.reason]), (None, [done.reason, READY.reason])):
        found = report(conditions(READY_UNKNOWN), [READY], generation=1, now=NOW, events=[done], announced=announced)
        assert [note.reason for note in found.events] == events


def test_an_event_note_is_truncated_by_bytes_between_two_letters() -> None:
    new = conditions(false(ConditionType.READY, Reason.INVALID_SPEC, "ä" * 1500))
    (note,) = transitions((), new)
    assert len(note.note.encode()) <= 1024
    assert note.note.rstrip("…").strip("ä") == ""
