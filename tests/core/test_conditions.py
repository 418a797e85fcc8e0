"""Conditions keep their times and their order, and only what changed for the user becomes an Event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from paimon_operator.api.conditions import MAX_MESSAGE, Condition, ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.core.conditions import (
    Finding,
    false,
    idle,
    reconciling,
    replaced,
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
READY_UNKNOWN = unknown(ConditionType.READY, Reason.PENDING, "not looked at yet")
HEALTHY = true(ConditionType.HEALTHY, Reason.RUNS_SUCCEEDING, "max 4 sorted runs")
UNHEALTHY = false(ConditionType.HEALTHY, Reason.RUN_FAILING, "write import: access denied")


def conditions(*findings: Finding, at: datetime = EARLIER, generation: int = 1) -> tuple[Condition, ...]:
    return replaced((), findings, generation=generation, now=at)


def test_the_order_is_the_same_however_the_findings_come() -> None:
    one = conditions(HEALTHY, *idle(Reason.NO_ACTION_NEEDED), READY)
    other = conditions(READY, HEALTHY, *reversed(idle(Reason.NO_ACTION_NEEDED)))
    assert one == other
    assert [condition.type for condition in one] == ["Ready", "Reconciling", "Stalled", "Healthy"]


def test_a_status_that_stays_keeps_its_time_while_reason_message_and_generation_move_on() -> None:
    other_words = true(ConditionType.READY, Reason.NO_ACTION_NEEDED, "schema 4")
    (ready,) = replaced(conditions(READY), [other_words], generation=2, now=NOW)
    assert (ready.last_transition_time, ready.message, ready.observed_generation) == (EARLIER, "schema 4", 2)


def test_a_status_that_changes_gets_the_time_of_the_change() -> None:
    (ready,) = replaced(conditions(READY), [NOT_READY], generation=1, now=NOW)
    assert ready.last_transition_time == NOW


def test_looking_again_changes_nothing() -> None:
    before = conditions(READY, *idle(Reason.NO_ACTION_NEEDED), HEALTHY)
    assert replaced(before, [READY, *idle(Reason.NO_ACTION_NEEDED), HEALTHY], generation=1, now=NOW) == before


def test_a_condition_that_nobody_claims_any_more_is_left_out() -> None:
    assert find(replaced(conditions(READY, HEALTHY), [READY], generation=1, now=NOW), ConditionType.HEALTHY) is None


def test_a_message_is_cut_to_its_bound() -> None:
    (ready,) = conditions(false(ConditionType.READY, Reason.TABLE_DIFFERS, "x" * 10_000))
    assert len(ready.message) == MAX_MESSAGE


def test_reconciling_and_stalled_are_never_both_true() -> None:
    for pair in (
        reconciling(Reason.RUNNING, "at work"),
        stalled(Reason.INVALID_SPEC, "edit it"),
        idle(Reason.NO_ACTION_NEEDED),
    ):
        assert [condition.type for condition in conditions(*pair)] == ["Reconciling", "Stalled"]
    both = (reconciling(Reason.RUNNING, "at work")[0], stalled(Reason.INVALID_SPEC, "edit it")[1])
    with pytest.raises(ValueError, match="must not both be True"):
        conditions(*both)


def test_two_findings_of_one_condition_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="found twice: Ready, Ready"):
        conditions(READY, NOT_READY)


@pytest.mark.parametrize(
    ("before", "after", "told"),
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
        "mended",
        "broken",
        "healthy from the start",
        "falling ill",
        "well again",
        "only the message changed",
        "another thing is wrong",
        "work begins",
        "the next step of work",
        "work has to be tried again",
        "work ends silently: the outcome speaks",
        "no longer stalled: Ready speaks",
        "suspended",
        "never suspended",
        "resumed",
    ],
)
def test_what_becomes_an_event(before: list[Finding], after: list[Finding], told: list[str]) -> None:
    old = conditions(*before)
    new = replaced(old, after, generation=1, now=NOW)
    assert [f"{note.type_} {note.reason}" for note in transitions(old, new)] == told


def test_conditions_that_say_the_same_make_one_event() -> None:
    words = "spec.bucket.fixed.count: 0 is no count. Write 1 or more."
    new = conditions(false(ConditionType.READY, Reason.INVALID_SPEC, words), *stalled(Reason.INVALID_SPEC, words))
    assert transitions((), new) == (EventNote(type_="Warning", reason="InvalidSpec", note=words),)


@pytest.mark.parametrize(
    ("sentence", "second"),
    [
        ("the same reason in other words", false(ConditionType.HEALTHY, Reason.INVALID_SPEC, "run x: wrong")),
        ("other reason, same words", true(ConditionType.RECONCILING, Reason.DELETING, "wrong")),
    ],
)
def test_nothing_is_told_twice(sentence: str, second: Finding) -> None:
    new = conditions(false(ConditionType.READY, Reason.INVALID_SPEC, "wrong"), second)
    assert [note.reason for note in transitions((), new)] == [Reason.INVALID_SPEC], sentence


def test_an_event_note_is_cut_by_bytes_not_inside_a_letter() -> None:
    new = conditions(false(ConditionType.READY, Reason.INVALID_SPEC, "ä" * 1500))
    (note,) = transitions((), new)
    assert len(note.note.encode()) <= 1024
    assert note.note.rstrip("…").strip("ä") == ""
