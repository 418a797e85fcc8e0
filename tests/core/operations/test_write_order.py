"""The order of due writes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, RunTrigger
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.operations.data.write_order import in_list_order
from tests.support import builders
from tests.support.table_world import TableWorld


def at(minute: int) -> datetime:
    return builders.NOW + timedelta(minutes=minute)


def due(name: str, minute: int) -> DueRun:
    return DueRun(type_="Write", subject=name, trigger=RunTrigger.SCHEDULE, due=at(minute))


@pytest.mark.parametrize(
    ("sentence", "works", "ended", "first"),
    [
        ("the list decides, not the tick", [("base", 5), ("delta", 0)], {}, "base"),
        ("equal ticks", [("base", 0), ("delta", 0)], {}, "base"),
        ("a write that has just run lets the waiting one pass", [("base", 5), ("delta", 0)], {"base": 4}, "delta"),
        ("one that became due after that run waits", [("base", 5), ("delta", 4)], {"base": 2}, "base"),
        ("a single write", [("delta", 0)], {"delta": 9}, "delta"),
    ],
)
def test_which_write_comes_first(
    sentence: str, works: list[tuple[str, int]], ended: dict[str, int], first: str
) -> None:
    ordered = list(in_list_order([due(*each) for each in works], {name: at(m) for name, m in ended.items()}))
    assert ordered[0].subject == first, sentence
    assert ordered[0].due == min(at(minute) for _, minute in works), "the group has waited since its oldest tick"
    assert {work.subject for work in ordered} == {name for name, _ in works}


def world(*writes: Any) -> TableWorld:
    return TableWorld(table=builders.table(writes=list(writes))).ready()


BASE, DELTA = builders.write("base", schedule="*/15 * * * *"), builders.write("delta", schedule="0 * * * *")


def test_writes_that_are_due_at_different_ticks_run_in_list_order() -> None:
    seen = world(BASE, DELTA)
    seen.run_due()
    seen.wait(hours=5, minutes=7)
    assert [run for run in seen.run_due() if run[0] == "Write"] == [("Write", "base"), ("Write", "delta")]


def test_a_write_once_that_is_added_last_runs_last() -> None:
    seen = world(BASE, DELTA)
    seen.run_due()
    seen.wait(hours=2)
    seen.edit(writes=[BASE, DELTA, builders.write("late", schedule=None)])
    assert [subject for type_, subject in seen.run_due() if type_ == "Write"] == ["base", "delta", "late"]


def test_a_write_waits_for_the_retry_of_an_earlier_one_but_not_for_ever() -> None:
    seen = world(BASE, DELTA)
    seen.run_due()
    seen.wait(hours=2)
    for _ in range(4):
        seen.settle()
        assert seen.table.status.active_run is not None
        assert seen.table.status.active_run.subject == "base", "the delta waits"
        seen.fail(FailureClass.ENVIRONMENT, Reason.INPUT_NOT_FOUND)
        seen.settle()
        assert seen.table.status.active_run is None
        seen.wait(minutes=10)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.INPUT_NOT_FOUND)
    assert ("Write", "delta") in seen.run_due(), "a fault that lasts stops the others no more"


def test_a_write_that_waits_for_an_edit_keeps_nobody_waiting() -> None:
    seen = world(BASE, DELTA)
    seen.run_due()
    seen.wait(hours=2)
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.INPUT_NOT_FOUND)
    assert ("Write", "delta") in seen.run_due()


def test_a_due_write_says_which_retry_it_waits_for() -> None:
    seen = world(BASE, DELTA)
    seen.run_due()
    seen.wait(hours=1)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED)
    seen.settle()
    decision = seen.table.status.writes[1].decision
    assert decision is not None
    assert decision.reason == Reason.WAITING_FOR_EARLIER_WRITE
    assert decision.message == "it is due, and waits for the retry of write base, which comes before it in the list"
    assert seen.table.status.writes[0].decision != decision
    seen.wait(minutes=2)
    assert [run for run in seen.run_due() if run[0] == "Write"] == [("Write", "base"), ("Write", "delta")]
