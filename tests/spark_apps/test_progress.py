"""A driver's log is JSON, and each line names the run with its namespace, its Pod and its attempt."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import JobRun
from spark_apps.progress import log_exception, log_step, log_steps_of, log_warning
from tests.spark_apps.jobs import job

LOG4J = Path(__file__).parents[2] / "spark_apps" / "log4j2.properties"


@pytest.fixture(autouse=True)
def _pod(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The variables of a driver Pod, and afterwards a process without a job."""
    variables = {"RUN_NAME": "r", "RUN_NAMESPACE": "shop", "RUN_ATTEMPT": "2", "HOSTNAME": "r-2"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    yield
    log_steps_of(None)


def said(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    assert datetime.fromisoformat(found.pop("time")).tzinfo is not None
    return found


def test_a_step_of_a_job_names_run_pod_and_attempt(capsys: pytest.CaptureFixture[str]) -> None:
    log_steps_of(job())
    log_step('reads "a"\nand b')
    assert said(capsys.readouterr().out) == {
        "level": "INFO",
        "logger": "driver",
        "message": 'reads "a"\nand b',
        "kind": "PaimonRun",
        "namespace": "shop",
        "name": "r",
        "run": "r",
        "type": "Compact",
        "pod": "r-2",
        "attempt": 2,
    }


def test_a_step_before_the_job_is_read_names_the_run_of_the_pod(capsys: pytest.CaptureFixture[str]) -> None:
    log_step("reads the job")
    assert said(capsys.readouterr().out) == {
        "level": "INFO",
        "logger": "driver",
        "message": "reads the job",
        "kind": "PaimonRun",
        "namespace": "shop",
        "name": "r",
        "run": "r",
        "pod": "r-2",
        "attempt": 2,
    }


def test_a_shared_driver_names_the_run_of_the_turn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("RUN_NAME", "RUN_NAMESPACE", "RUN_ATTEMPT"):
        monkeypatch.delenv(name)
    log_steps_of(job(run=JobRun("a", "u", "shop")))
    log_steps_of(job(run=JobRun("b", "u", "shop")))
    log_step("works")
    log_steps_of(None)
    log_step("waits")
    works, waits = (said(line) for line in capsys.readouterr().out.splitlines())
    assert (works["run"], works["pod"]) == ("b", "r-2")
    assert waits == {"level": "INFO", "logger": "driver", "message": "waits", "pod": "r-2"}


def test_each_thread_names_its_own_run(capsys: pytest.CaptureFixture[str]) -> None:
    log_steps_of(job(run=JobRun("a", "u", "shop")))
    other = threading.Thread(target=lambda: log_steps_of(job(run=JobRun("b", "u", "shop"))))
    other.start()
    other.join()
    log_step("works")
    assert said(capsys.readouterr().out)["run"] == "a"


def test_a_warning_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    log_warning("a key is not used")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said(captured.err)["level"] == "WARN"


def test_an_error_is_one_line_with_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        json.loads("{")
    except ValueError:
        log_exception()
    (line,) = capsys.readouterr().err.splitlines()
    found = said(line)
    assert found["message"].startswith("json.decoder.JSONDecodeError: ")
    assert found["exc_info"].startswith("Traceback")


def test_the_lines_of_java_have_the_fields_of_the_others() -> None:
    """tests/spark/test_driver_process.py reads lines of a real JVM."""
    text = LOG4J.read_text().replace("\\\n", "")
    (pattern,) = [line.partition(" = ")[2] for line in text.splitlines() if "layout.pattern" in line]
    line = pattern.removesuffix("%n").replace("${env:RUN_ATTEMPT:-null}", "null")
    of_the_run = {"kind", "namespace", "name", "run", "pod", "attempt"}
    assert set(json.loads(line)) == {"time", "level", "logger", "message", "exc_info", *of_the_run}
