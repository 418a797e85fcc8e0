"""The driver of a batch: which jobs it performs, what it reports, and what is left when it ends early."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paimon_contract import environment
from paimon_contract.job import Job, JobRun, job_text
from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_contract.turns import TURNS_AT_ONCE, BatchConfig, TurnOf, TurnReport, config_text, job_variable
from spark_apps.driver import batch as program
from spark_apps.driver import main as with_jvm
from spark_apps.driver import without_jvm
from tests.spark_apps.jobs import job


def job_of(name: str) -> Job:
    return job(
        run=JobRun(name, f"uid-of-{name}", "shop"),
        operation="ExpireSnapshots",
        parameters=ExpireSnapshotsParameters(),
    )


def test_an_unreported_result_becomes_the_termination_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(environment.TERMINATION_LOG, str(tmp_path / "message"))
    for name in "ab":
        program.leave(TurnReport(run=TurnOf(name=name, uid="u"), result=json.dumps({"run": name})))
    assert json.loads((tmp_path / "message").read_text())["run"] == "b", "there is room for one"


@pytest.mark.parametrize(
    ("heap", "turns"),
    [("100m", 1), ("614m", 4), ("1228m", TURNS_AT_ONCE), ("9000m", TURNS_AT_ONCE), ("", 1), ("1g", 1)],
)
def test_a_small_heap_has_room_for_fewer_turns(heap: str, turns: int) -> None:
    assert program.turns_at_once(heap) == turns


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
    monkeypatch.setattr(without_jvm, "perform", lambda _: ({"run": "r"}, 0))
    monkeypatch.setattr(with_jvm, "perform", lambda _: pytest.fail("Spark was started"))
    assert program.perform(observe) == ({"run": "r"}, 0)


@pytest.mark.parametrize("operation", ["Observe", "ExpireSnapshots"])
def test_any_other_job_is_performed_with_spark(monkeypatch: pytest.MonkeyPatch, operation: str) -> None:
    monkeypatch.setattr(without_jvm, "perform", lambda _: None)
    monkeypatch.setattr(with_jvm, "perform", lambda _: ({"run": "r"}, 10))
    assert program.perform(job(operation=operation)) == ({"run": "r"}, 10)
