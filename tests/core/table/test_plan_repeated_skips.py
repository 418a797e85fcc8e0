"""A tick that is skipped again for the same reason stores no status, and is not forgotten when the process ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from paimon_operator.api.conditions import ConditionStatus, ConditionType
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.status import ActiveRun, QueuedRun, StrategyState, TableStatus, WriteState
from paimon_operator.core.decision import Decision, Delete, EventNote
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.ports import Kind
from paimon_operator.core.table.repeated_skips import deferred, skipped_ticks, with_skipped_ticks, with_ticks
from tests.core.table.measured import HOURLY, decision_of, measure, measured_table, strategy_state
from tests.support import builders
from tests.support.table_world import TableWorld

HOURS: dict[str, Any] = {"schedule": HOURLY}
MANY: dict[str, Any] = {"sortedRunsPerBucket": 99}
BOTH: dict[str, Any] = {"mode": "Dedicated", "minor": HOURS, "full": {"schedule": "20 * * * *", "when": MANY}}
MINUTE = timedelta(minutes=1)
Change = Callable[[TableStatus], TableStatus]


class StoredTable:
    """A table in memory that counts what its reconciles store."""

    def __init__(self, compaction: dict[str, Any] | None = None) -> None:
        self.seen = measured_table(compaction)
        for _ in range(2):  # the second one is the first skip of a day of this table
            self.seen.wait(hours=1)
            measure(self.seen, sortedRunsMax=4)
            self.seen.settle()
        self.stored = self.seen.table.status
        self.writes = 0

    def reconcile(self) -> None:
        """Reconciles until nothing changes, and stores what the decisions do not defer."""
        for _ in range(10):
            before = self.seen.table.status
            decision = self.seen.reconcile()
            if decision.status == before:
                return
            if not decision.defers_status:
                self.stored, self.writes = self.seen.table.status, self.writes + 1
        raise AssertionError("still changing")

    def restart(self, decided_until: datetime | None) -> TableWorld:
        """The table as another process finds it: with what is stored, and with what the Lease says."""
        self.seen.table = self.seen.table.model_copy(update={"status": self.stored})
        self.seen.observed = replace(self.seen.observed, decided_until=decided_until)
        return self.seen


@pytest.mark.parametrize("compaction", [None, BOTH], ids=["one schedule", "two schedules"])
def test_ticks_that_are_skipped_all_day_write_nothing(compaction: dict[str, Any] | None) -> None:
    table = StoredTable(compaction)
    before = list(table.seen.started)
    for _ in range(16 * 2):
        table.seen.wait(minutes=30)
        table.reconcile()
    assert table.writes == 0
    assert strategy_state(table.seen).last_due == table.seen.now.replace(minute=10)
    assert table.seen.started == before


def test_each_table_stores_its_skips_at_another_hour_of_the_day() -> None:
    hours: list[int] = []
    for number in range(6):
        table = StoredTable()
        metadata = table.seen.table.metadata.model_copy(update={"uid": f"table-{number}"})
        table.seen.table = table.seen.table.model_copy(update={"metadata": metadata})
        table.reconcile()
        table.writes = 0  # the other UID spreads more than this
        for hour in range(0, 16, 2):
            table.seen.wait(hours=2)
            before = table.writes
            table.reconcile()
            hours += [hour] * (table.writes - before)
        assert table.writes <= 1
    assert len(set(hours)) > 2


@pytest.mark.parametrize(
    ("sentence", "until_the_last_tick", "starts"),
    [
        ("after the last tick", 5 * MINUTE, False),
        ("at the last tick", 0 * MINUTE, False),
        ("before it, so nobody has decided about it", -MINUTE, True),
        ("far ahead, by a clock that was wrong", timedelta(days=1), True),
        ("unknown", None, True),
    ],
)
def test_another_process_starts_nothing_for_a_tick_that_was_skipped(
    sentence: str, until_the_last_tick: timedelta | None, starts: bool
) -> None:
    table = StoredTable()
    for _ in range(3):
        table.seen.wait(hours=1)
        table.reconcile()
    tick = strategy_state(table.seen).last_due
    assert tick is not None
    assert table.stored.compaction is not None
    assert table.stored.compaction.minor is not None
    assert table.stored.compaction.minor.last_due == tick - timedelta(hours=3), "three skips that nobody has stored"
    table.seen.wait(minutes=10)
    seen = table.restart(None if until_the_last_tick is None else tick + until_the_last_tick)
    measure(seen, sortedRunsMax=7)
    seen.settle()
    assert (seen.table.status.active_run is not None) is starts, sentence
    seen.wait(hours=1)
    assert seen.run_due()[-1:] == [("Compact", "Minor")] or starts


def condition(type_: ConditionType, status: ConditionStatus) -> Change:
    def changed(table: TableStatus) -> TableStatus:
        first = table.conditions[0].model_copy(update={"type": type_, "status": status})
        others = [each for each in table.conditions if each.type is not type_]
        return table.model_copy(update={"conditions": (first, *others)})

    return changed


def minor(**values: Any) -> Change:
    """Another state of the schedule. A value may be a function of the known state."""

    def changed(table: TableStatus) -> TableStatus:
        assert table.compaction is not None
        assert table.compaction.minor is not None
        known = table.compaction.minor
        update = {name: value(known) if callable(value) else value for name, value in values.items()}
        both = table.compaction.model_copy(update={"minor": known.model_copy(update=update)})
        return table.model_copy(update={"compaction": both})

    return changed


def field(name: str, value: Any) -> Change:
    return lambda table: table.model_copy(update={name: value})


RUN = ActiveRun(name="run", type="Compact", trigger=RunTrigger.SCHEDULE)
LOADED = Cause.ALREADY_LOADED.decision("the table has the files of the write")
HOURLY_WRITE = WriteState(name="load", schedule=f"{HOURLY} UTC", decision=LOADED, last_due=builders.NOW)
UNCERTAIN: list[tuple[str, Change]] = [
    ("a run is active", field("active_run", RUN)),
    ("a run waits for a place", field("queued_run", QueuedRun(since=builders.NOW, type="Compact", message="m"))),
    ("a run has given way", field("deferred_run", RUN)),
    ("the table is suspended", condition(ConditionType.SUSPENDED, ConditionStatus.TRUE)),
    ("it is stalled", condition(ConditionType.STALLED, ConditionStatus.TRUE)),
    ("it is not ready", condition(ConditionType.READY, ConditionStatus.FALSE)),
    ("it could not be read", condition(ConditionType.READY, ConditionStatus.UNKNOWN)),
    ("commits are unsafe", condition(ConditionType.COMMIT_SAFE, ConditionStatus.FALSE)),
    ("the tick waits", minor(decision=Cause.SUSPENDED.decision("m"))),
    ("a run of that tick had nothing to do", minor(last_time=lambda state: state.last_due)),
    ("the time zone is unknown here", minor(schedule=f"{HOURLY} US/Nowhere")),
    ("the schedule is none", minor(schedule="nonsense")),
    ("there is no schedule", minor(schedule=None)),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "change"), UNCERTAIN)
def test_no_tick_counts_as_skipped_where_another_decision_may_have_been_the_last(sentence: str, change: Change) -> None:
    table = StoredTable()
    until = table.seen.now + timedelta(hours=5)
    later = until + timedelta(minutes=5)
    assert with_skipped_ticks(table.stored, until, later) != table.stored
    uncertain = change(table.stored)
    assert with_skipped_ticks(uncertain, until, later) == uncertain, sentence


@pytest.mark.parametrize(("sentence", "change"), UNCERTAIN[:8])
def test_such_a_table_stores_its_skips(sentence: str, change: Change) -> None:
    table = StoredTable()
    table.seen.wait(hours=1)
    decision = replace(table.seen.decide(), defers_status=False)
    assert decision.status is not None
    assert deferred(decision, table.stored, "").defers_status
    uncertain = replace(decision, status=change(decision.status))
    assert not deferred(uncertain, change(table.stored), "").defers_status, sentence


OTHER_SCHEDULE = minor(schedule="5 * * * * UTC")
LATER = minor(last_due=lambda state: state.last_due + timedelta(days=2))


@pytest.mark.parametrize(
    ("sentence", "change", "days_later"),
    [
        ("the schedule is another one", OTHER_SCHEDULE, 1),
        ("the last decision is another one", minor(decision=Cause.SUSPENDED.decision("m")), 1),
        ("the status has a later tick", LATER, 1),
        ("the tick lies ahead", lambda table: table, 0),
    ],
)
def test_remembered_ticks_are_not_added_where(sentence: str, change: Change, days_later: int) -> None:
    table = StoredTable()
    for _ in range(3):
        table.seen.wait(hours=1)
        table.reconcile()
    ticks = skipped_ticks(table.seen.table.status)
    now = table.seen.now
    assert with_ticks(table.stored, ticks, now) == with_ticks(table.seen.table.status, ticks, now) != table.stored
    changed = change(table.stored)
    later = now - timedelta(hours=2) + timedelta(days=days_later)
    assert strategy(with_ticks(changed, ticks, later)) == strategy(changed), sentence


def strategy(status: TableStatus) -> StrategyState | None:
    assert status.compaction is not None
    return status.compaction.minor


DELETED = Delete(kind=Kind.RUN, name="old", uid="old")
NOTED = EventNote(type_="Normal", reason="Any", note="m")
AT_ONCE: list[tuple[str, dict[str, Any]]] = [
    ("an action", {"actions": (DELETED,)}),
    ("an Event", {"events": (NOTED,)}),
    ("a finalizer", {"finalizer": "add"}),
]


@pytest.mark.parametrize(("sentence", "beside"), AT_ONCE)
def test_a_status_is_not_deferred_beside(sentence: str, beside: dict[str, Any]) -> None:
    """No write at the resourceVersion that was read would guard it."""
    table = StoredTable()
    table.seen.wait(hours=1)
    decision = replace(table.seen.decide(), defers_status=False)
    assert deferred(decision, table.stored, "").defers_status
    assert not deferred(replace(decision, **beside), table.stored, "").defers_status, sentence


def test_a_skip_without_numbers_is_stored_when_it_says_something_else() -> None:
    table = StoredTable()
    same, other = (minor(decision=Cause.NO_THRESHOLD.decision(message)) for message in ("one", "another"))
    later = minor(last_due=lambda state: state.last_due + timedelta(minutes=1))
    before, uid = same(table.stored), table.seen.table.metadata.uid
    assert deferred(Decision(status=summed_up(later(before))), before, uid).defers_status
    assert not deferred(Decision(status=summed_up(other(later(before)))), before, uid).defers_status


def summed_up(status: TableStatus) -> TableStatus:
    """The status with the newest tick of its one strategy."""
    both = status.compaction
    assert both is not None
    assert both.minor is not None
    return status.model_copy(update={"compaction": both.model_copy(update={"last_due": both.minor.last_due})})


def test_each_tick_of_a_write_starts_a_run_so_none_counts_as_skipped() -> None:
    table = StoredTable()
    stored = table.stored.model_copy(update={"writes": (HOURLY_WRITE,)})
    later = table.seen.now + timedelta(hours=5)
    assert with_skipped_ticks(stored, later, later).writes == (HOURLY_WRITE,)


def test_what_skipped_ticks_say_of_all_strategies_is_that_of_each() -> None:
    table = StoredTable(BOTH)
    for _ in range(6):
        table.seen.wait(minutes=30)
        table.reconcile()
    known = table.seen.table.status
    seen = table.restart(table.seen.now)
    seen.settle()
    assert summary(seen.table.status) == summary(known)


def summary(status: TableStatus) -> list[tuple[datetime | None, datetime | None]]:
    assert status.compaction is not None
    parts = (status.compaction, status.compaction.minor, status.compaction.full)
    return [(part.last_due, part.next) for part in parts if part is not None]


@pytest.mark.parametrize(
    ("sentence", "health", "edit"),
    [
        ("another number of sorted runs", {"sortedRunsMax": 3}, {}),
        ("the tick is needed", {"sortedRunsMax": 7}, {}),
        ("the tick waits", {}, {"suspend": True}),
        ("the schedule was edited", {}, {"compaction": {"mode": "Dedicated", "minor": {"schedule": "5 * * * *"}}}),
    ],
)
def test_a_tick_that_tells_something_new_is_stored(sentence: str, health: dict[str, Any], edit: dict[str, Any]) -> None:
    table = StoredTable()
    table.seen.wait(hours=1)
    if health:
        measure(table.seen, **health)
    if edit:
        table.seen.edit(**edit)
    decision = table.seen.decide()
    assert decision.status != table.seen.table.status
    assert not decision.defers_status, sentence


def test_an_age_that_has_grown_tells_nothing_new() -> None:
    table = StoredTable({"mode": "Dedicated", "minor": {"schedule": HOURLY, "when": {"maxDelay": "1d"}}})
    table.seen.wait(hours=1)
    decision = table.seen.decide()
    assert decision.defers_status
    table.seen.carry_out(decision)
    assert "maxDelay is 3h (threshold 1d)" in decision_of(table.seen).message
