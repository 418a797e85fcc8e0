"""The driver of a batch: which jobs it performs, what it reports, and what is left when it ends early."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from paimon_contract import environment
from paimon_contract.job import Job, JobCatalog, job_text
from paimon_contract.turns import TURNS_AT_ONCE, BatchConfig, TurnRequest, config_text, job_variable
from spark_apps.driver import batch as program
from spark_apps.driver import main as with_jvm
from spark_apps.driver import without_jvm
from spark_apps.driver.dispatch import operation_of
from spark_apps.driver.process import Performed
from spark_apps.driver.turns import NotAnsweredError
from spark_apps.metadata.remembered import RememberedFiles
from tests.spark_apps.driver.turns_given import WAIT_S, FakeOperator, job_of, succeeds
from tests.spark_apps.jobs import job


@pytest.fixture
def batch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The program's variables for the jobs of 20 tables. Returns the file of the termination message."""
    config = BatchConfig(url="http://operator/v1/turns", token_file="/t", seconds=60, launch_hash="0")
    monkeypatch.setenv(environment.BATCH_CONFIG, config_text(config))
    monkeypatch.setenv(environment.TERMINATION_LOG, str(tmp_path / "message"))
    for number in range(20):
        monkeypatch.setenv(job_variable(number), job_text(job_of(f"r{number}", f"t{number}")))
    monkeypatch.setattr(program, "perform", succeeds)
    return tmp_path / "message"


def test_the_program_leaves_an_unreported_result_as_its_termination_message(
    monkeypatch: pytest.MonkeyPatch, batch: Path
) -> None:
    operator = FakeOperator(answers=1)
    monkeypatch.setattr(program, "TurnClient", lambda _: operator)
    assert program.main() == 0
    assert json.loads(batch.read_text())["run"] == "r0"


def test_as_many_turns_begin_at_once_as_the_heap_has_room_for(monkeypatch: pytest.MonkeyPatch, batch: Path) -> None:
    asked, together = threading.Semaphore(0), threading.Barrier(3)

    def ask(_: TurnRequest) -> bool:
        asked.release()
        together.wait(WAIT_S)  # (an error unless three threads ask)
        raise NotAnsweredError("timed out")

    monkeypatch.setenv(environment.DRIVER_HEAP, f"{3 * program.HEAP_OF_TURN_MIB}m")
    monkeypatch.setattr(program, "TurnClient", lambda _: SimpleNamespace(ask=ask))
    assert program.main() == 0
    assert [asked.acquire(blocking=False) for _ in range(4)] == [True, True, True, False]
    assert not batch.exists()


@pytest.mark.parametrize(
    ("heap", "turns"),
    [("100m", 1), ("614m", 4), ("1228m", TURNS_AT_ONCE), ("9000m", TURNS_AT_ONCE), ("", 1), ("1g", 1)],
)
def test_a_small_heap_has_room_for_fewer_turns(heap: str, turns: int) -> None:
    assert program.turns_at_once(heap) == turns


PARAMETERS: dict[str, dict[str, Any]] = {
    "ExpireSnapshots": {},
    "ExpirePartitions": {"expiration_seconds": 1, "strategy": "ValuesTime"},
}
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
    monkeypatch.setattr(program, "_run", lambda *_: pytest.fail("a turn was asked for"))
    assert program.main() == 30


def test_a_job_that_ends_without_spark_starts_none(monkeypatch: pytest.MonkeyPatch) -> None:
    observe = job(operation="Observe")
    monkeypatch.setattr(without_jvm, "perform", lambda *_: ({"run": "r"}, 0))
    monkeypatch.setattr(with_jvm, "perform", lambda *_: pytest.fail("Spark was started"))
    assert program.perform(observe) == ({"run": "r"}, 0)


@pytest.mark.parametrize("operation", ["Observe", "ExpireSnapshots"])
def test_any_other_job_is_performed_with_spark(monkeypatch: pytest.MonkeyPatch, operation: str) -> None:
    monkeypatch.setattr(without_jvm, "perform", lambda *_: None)
    monkeypatch.setattr(with_jvm, "perform", lambda *_: ({"run": "r"}, 10))
    assert program.perform(job(operation=operation)) == ({"run": "r"}, 10)


@pytest.mark.parametrize(("operation", "begins_with_them"), [("ExpireSnapshots", True), ("ExpirePartitions", False)])
def test_only_an_operation_that_says_so_begins_with_the_files_that_its_look_has_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, operation: str, begins_with_them: bool
) -> None:
    given: list[RememberedFiles | None] = []

    def perform(_: Job, found: RememberedFiles | None) -> Performed:
        given.append(found)
        return {}, 0

    parameters = operation_of(operation).PARAMETERS(**PARAMETERS[operation])
    asked = job(operation=operation, catalog=JobCatalog(tmp_path.as_uri(), "filesystem"), parameters=parameters)
    monkeypatch.setattr(with_jvm, "perform", perform)
    program.perform(asked)
    assert [found is not None for found in given] == [begins_with_them]
