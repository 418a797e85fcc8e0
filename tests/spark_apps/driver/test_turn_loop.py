"""The turns of a shared driver: which jobs it performs, in which order, what it reports and what is left."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from paimon_contract.job import Job
from paimon_contract.turns import TURNS_AT_ONCE, TurnReport, TurnRequest
from spark_apps.driver.process import Performed
from spark_apps.driver.turn_loop import JobQueue, TimeShares, TurnLoop, run_loops
from spark_apps.driver.turns import NotAnsweredError
from tests.spark_apps.driver.turns_given import WAIT_S, FakeOperator, job_of, succeeds


def fails(name: str) -> Callable[[Job], Performed]:
    return lambda job: ({"run": job.run.name, "ok": job.run.name != name, "ms": {}}, 20 if job.run.name == name else 0)


def run(operator: FakeOperator, jobs: list[Job] | None = None, **how: Any) -> list[str]:
    """Performs the jobs, three of one table unless given. Returns the runs whose results were not reported."""
    usual: dict[str, Any] = {"perform": succeeds, "is_usable": lambda: True}
    has_time = how.pop("has_time", lambda: True)
    queue = JobQueue([job_of(name) for name in "abc"] if jobs is None else jobs, has_time)
    left = list[TurnReport]()
    run_loops(queue, lambda: TurnLoop(queue, operator.ask, **usual | how), left.append)
    return names(left)


def names(left: list[TurnReport]) -> list[str]:
    return [each.run.name for each in left]


IN_ORDER = ["a begins?", "a ended, b begins?", "b ended, c begins?", "c ended"]


def test_each_result_is_reported_with_the_next_question() -> None:
    operator = FakeOperator()
    assert run(operator) == []
    assert operator.steps == IN_ORDER


def test_the_failure_of_one_run_leaves_the_others_untouched() -> None:
    operator = FakeOperator()
    run(operator, perform=fails("b"))
    assert operator.steps == IN_ORDER


def test_a_run_whose_turn_does_not_begin_is_not_performed() -> None:
    operator, performed = FakeOperator(refused={"a", "c"}), list[str]()

    def perform(job: Job) -> Performed:
        performed.append(job.run.name)
        return succeeds(job)

    run(operator, perform=perform)
    assert performed == ["b"]
    assert operator.steps == ["a begins?", "b begins?", "b ended, c begins?"]


def test_a_jvm_that_cannot_be_used_any_more_ends_the_batch_after_the_report() -> None:
    operator = FakeOperator()
    run(operator, is_usable=lambda: False)
    assert operator.steps == ["a begins?", "a ended"]


def test_no_turn_begins_after_the_time() -> None:
    operator, left = FakeOperator(), [True, False]
    run(operator, has_time=lambda: left.pop(0))
    assert operator.steps == ["a begins?", "a ended"]


@pytest.mark.parametrize(("answers", "left"), [(0, []), (1, ["a"]), (2, ["b"]), (3, ["c"]), (4, [])])
def test_only_the_result_of_the_last_turn_is_left_when_the_operator_does_not_answer(
    answers: int, left: list[str]
) -> None:
    operator = FakeOperator(answers=answers)
    assert run(operator) == left
    assert operator.steps == IN_ORDER[:answers]


def test_as_many_tables_as_allowed_are_in_their_turns_at_once() -> None:
    together = threading.Barrier(TURNS_AT_ONCE)

    def perform(job: Job) -> Performed:
        together.wait(WAIT_S)  # (an error unless that many come)
        return succeeds(job)

    jobs = [job_of(f"run-{number}", f"table-{number}") for number in range(2 * TURNS_AT_ONCE)]
    assert run(FakeOperator(), jobs, perform=perform) == []


def test_no_more_tables_than_allowed_are_in_their_turns_at_once() -> None:
    lock, now, most = threading.Lock(), list[str](), list[int]()

    def perform(job: Job) -> Performed:
        with lock:
            now.append(job.run.name)
            most.append(len(now))
        threading.Event().wait(0.005)
        with lock:
            now.remove(job.run.name)
        return succeeds(job)

    run(FakeOperator(), [job_of(f"run-{number}", f"table-{number}") for number in range(20)], perform=perform)
    assert len(most) == 20
    assert max(most) <= TURNS_AT_ONCE


def test_runs_of_one_table_take_their_turns_one_after_the_other_beside_those_of_others() -> None:
    both, order = threading.Barrier(2), list[str]()

    def perform(job: Job) -> Performed:
        both.wait(WAIT_S)
        order.append(job.run.name)
        return succeeds(job)

    jobs = [job_of("a1", "a"), job_of("b1", "b"), job_of("a2", "a"), job_of("b2", "b")]
    operator = FakeOperator()
    run(operator, jobs, perform=perform)
    assert sorted(order[:2]) == ["a1", "b1"]
    assert sorted(order[2:]) == ["a2", "b2"]
    assert {"a1 ended, a2 begins?", "b1 ended, b2 begins?"} < set(operator.steps)


def test_an_operator_that_does_not_answer_one_table_ends_the_turns_of_all() -> None:
    jobs = [job_of("a1", "a"), job_of("b1", "b"), job_of("a2", "a"), job_of("b2", "b"), job_of("c1", "c")]
    queue, operator, both = JobQueue(jobs, lambda: True, most=2), FakeOperator(), threading.Barrier(2)

    def ask(request: TurnRequest) -> bool:
        if request.report is not None and request.report.run.name == "a1":
            raise NotAnsweredError("timed out")
        return operator.ask(request)

    def perform(job: Job) -> Performed:
        both.wait(WAIT_S)
        assert job.run.name == "a1" or queue.closed.wait(WAIT_S)
        return succeeds(job)

    left = list[TurnReport]()
    run_loops(queue, lambda: TurnLoop(queue, ask, perform, lambda: True), left.append)
    assert names(left) == ["a1"]
    assert sorted(operator.steps) == ["a1 begins?", "b1 begins?", "b1 ended"]


def test_turns_at_the_same_time_share_it() -> None:
    seconds = [0.0]
    shares = TimeShares(lambda: seconds[0])
    seconds[0] = 5
    with shares.turn() as first:
        seconds[0] = 6
        with shares.turn() as second:
            seconds[0] = 8
        seconds[0] = 9
    seconds[0] = 20
    with shares.turn() as third:
        seconds[0] = 21
    assert second() == 1000, "half of two seconds"
    assert first() == 3000, "one alone, half of two, one alone"
    assert third() == 1000, "no pause counts"


def test_a_result_has_the_share_of_its_turn() -> None:
    queue, operator, left = JobQueue([job_of("a")], lambda: True), FakeOperator(answers=1), list[TurnReport]()
    run_loops(queue, lambda: TurnLoop(queue, operator.ask, succeeds, lambda: True), left.append)
    assert json.loads(left[0].result)["ms"] == {"share": 0}


def test_a_bug_in_one_thread_ends_the_program_and_loses_no_result_of_another() -> None:
    """The results of tables whose turns had begun are left, since the operator does not answer any more."""
    queue = JobQueue([job_of("a1", "a"), job_of("b1", "b"), job_of("b2", "b"), job_of("c1", "c")], lambda: True, most=2)
    both, left, performed = threading.Barrier(2), list[TurnReport](), list[str]()

    def perform(job: Job) -> Performed:
        both.wait(WAIT_S)
        if job.run.name == "a1":
            raise ZeroDivisionError
        assert queue.closed.wait(WAIT_S)
        performed.append(job.run.name)
        return succeeds(job)

    def ask(request: TurnRequest) -> bool:
        if request.report is not None:
            raise NotAnsweredError("timed out")
        return True

    with pytest.raises(ZeroDivisionError):
        run_loops(queue, lambda: TurnLoop(queue, ask, perform, lambda: True), left.append)
    assert (performed, names(left)) == (["b1"], ["b1"])
