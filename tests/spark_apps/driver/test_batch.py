"""The driver of a batch: which jobs it performs, what it reports, and what is left when it ends early."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from paimon_contract import environment
from paimon_contract.job import Job, JobRun, job_text
from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_contract.turns import BatchConfig, TurnRequest, config_text, job_variable
from spark_apps.driver import batch as program
from spark_apps.driver import main as with_jvm
from spark_apps.driver import without_jvm
from spark_apps.driver.batch import TurnLoop
from spark_apps.driver.process import Performed
from spark_apps.driver.turns import NotAnsweredError
from tests.spark_apps.jobs import job


def job_of(name: str) -> Job:
    return job(
        run=JobRun(name, f"uid-of-{name}", "shop"),
        operation="ExpireSnapshots",
        parameters=ExpireSnapshotsParameters(),
    )


@dataclass
class FakeOperator:
    """Begins every turn but those of `refused`, and answers no request after `answers` of them."""

    refused: set[str] = field(default_factory=set)
    answers: int = 100
    steps: list[str] = field(default_factory=list)

    def ask(self, request: TurnRequest) -> bool:
        if len(self.steps) >= self.answers:
            raise NotAnsweredError("timed out")
        reported = "" if request.report is None else f"{json.loads(request.report.result)['run']} ended"
        asked = "" if request.next is None else f"{request.next.name} begins?"
        self.steps.append(", ".join(each for each in (reported, asked) if each))
        return request.next is not None and request.next.name not in self.refused


def succeeds(job: Job) -> Performed:
    return {"run": job.run.name, "ok": True}, 0


def fails(name: str) -> Callable[[Job], Performed]:
    return lambda job: ({"run": job.run.name, "ok": job.run.name != name}, 20 if job.run.name == name else 0)


def run(operator: FakeOperator, names: str = "a b c", **how: Any) -> TurnLoop:
    usual: dict[str, Any] = {"perform": succeeds, "is_usable": lambda: True, "has_time": lambda: True}
    batch = TurnLoop([job_of(name) for name in names.split()], operator.ask, **usual | how)
    batch.run()
    return batch


def unreported(batch: TurnLoop) -> str | None:
    return None if batch.unreported is None else json.loads(batch.unreported.result)["run"]


IN_ORDER = ["a begins?", "a ended, b begins?", "b ended, c begins?", "c ended"]


def test_each_result_is_reported_with_the_next_question() -> None:
    operator = FakeOperator()
    assert unreported(run(operator)) is None
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


@pytest.mark.parametrize(("answers", "left"), [(0, None), (1, "a"), (2, "b"), (3, "c"), (4, None)])
def test_only_the_result_of_the_last_turn_is_left_when_the_operator_does_not_answer(
    answers: int, left: str | None
) -> None:
    operator = FakeOperator(answers=answers)
    assert unreported(run(operator)) == left
    assert operator.steps == IN_ORDER[:answers]


def test_the_program_leaves_an_unreported_result_as_its_termination_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = BatchConfig(url="http://operator/v1/turns", token_file="/t", seconds=60, launch_hash="0")
    monkeypatch.setenv(environment.BATCH_CONFIG, config_text(config))
    monkeypatch.setenv(environment.TERMINATION_LOG, str(tmp_path / "message"))
    for number, name in enumerate("ab"):
        monkeypatch.setenv(job_variable(number), job_text(job_of(name)))
    operator = FakeOperator(answers=1)
    monkeypatch.setattr(program, "_loop", lambda _, jobs: TurnLoop(jobs, operator.ask, succeeds, _true, _true))
    assert program.main() == 0
    assert json.loads((tmp_path / "message").read_text())["run"] == "a"


WRONG = {
    "no configuration": ("", job_text(job_of("a"))),
    "a configuration of another version": ('{"version":2}', job_text(job_of("a"))),
    "a job that is none": (
        config_text(BatchConfig(url="http://o/v1/turns", token_file="/t", seconds=1, launch_hash="0")),
        "{}",
    ),
}


@pytest.mark.parametrize(("config", "text"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_read_ends_the_program_before_any_turn(
    monkeypatch: pytest.MonkeyPatch, config: str, text: str
) -> None:
    monkeypatch.setenv(environment.BATCH_CONFIG, config)
    monkeypatch.setenv(job_variable(0), text)
    monkeypatch.setattr(program, "_loop", lambda *_: pytest.fail("a turn was asked for"))
    assert program.main() == 30


def test_a_job_that_ends_without_spark_starts_none(monkeypatch: pytest.MonkeyPatch) -> None:
    observe = job(operation="Observe")
    monkeypatch.setattr(without_jvm, "perform", lambda _: ({"run": "r"}, 0))
    monkeypatch.setattr(with_jvm, "perform", lambda _: pytest.fail("Spark was started"))
    assert program.perform(observe) == ({"run": "r"}, 0)


@pytest.mark.parametrize("operation", ["Observe", "ExpireSnapshots"])
def test_any_other_job_is_performed_with_spark(monkeypatch: pytest.MonkeyPatch, operation: str) -> None:
    monkeypatch.setattr(without_jvm, "perform", lambda _: None)
    monkeypatch.setattr(with_jvm, "perform", lambda _: ({"run": "r"}, 10))
    assert program.perform(job(operation=operation)) == ({"run": "r"}, 10)


def _true() -> bool:
    return True
