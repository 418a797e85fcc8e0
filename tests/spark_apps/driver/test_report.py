"""The result of a failure with any text fits into a termination message, and the operator can read it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_contract.documents import to_text
from paimon_contract.job import JobRun
from paimon_contract.result import (
    MAX_RESULT_BYTES,
    Elapsed,
    ForeignCommit,
    Outcome,
    Pin,
    PlanStep,
    ResultPlan,
    ResultTable,
    Seen,
)
from paimon_operator.api.run.result import measure_after, read_result
from spark_apps.driver.report import document_of
from spark_apps.failures.errors import input_failure
from tests.spark_apps.jobs import job

JOB = job(run=JobRun("r" * 63, "u", "shop"), operation="Write")
SEEN = Seen(seen_snapshot=5, outside_commit=ForeignCommit(5, "u" * 100, "APPEND", "2026-01-01T00:00:00Z"))
ANY_TEXT = st.builds(
    lambda piece, times: piece * times, st.text(st.characters(exclude_categories=()), max_size=20), st.integers(0, 500)
)


def result_text(message: str, remedy: str = "correct the files") -> str:
    """The result text of a failure with this message and remedy."""
    failure = input_failure("InputMalformed", message, remedy, field="spec.writes[import].from.files")
    return to_text(document_of(JOB, SEEN, Outcome(), failure, Elapsed(1, 2)))


@given(ANY_TEXT, ANY_TEXT)
def test_a_result_with_any_message_and_any_remedy_fits(message: str, remedy: str) -> None:
    text = result_text(message, remedy)

    assert len(text.encode()) <= MAX_RESULT_BYTES
    assert read_result(text).error is not None


@pytest.mark.parametrize("filler", ["\0", "\x1b", "\ufffd\0\x01", "\ud800", "数", "😀", '"', "\\"])
@pytest.mark.parametrize("long", ["message", "remedy", "both"])
def test_a_result_with_the_longest_encoding_fits_and_keeps_the_beginning_of_its_texts(filler: str, long: str) -> None:
    message = "Malformed" + filler * 3000 * (long != "remedy")
    remedy = "correct" + filler * 3000 * (long != "message")

    text = result_text(message, remedy)

    assert len(text.encode()) <= MAX_RESULT_BYTES
    error = json.loads(text)["error"]
    assert error["message"].startswith("Malformed")
    assert error["remedy"].startswith("correct")


def test_the_message_is_truncated_before_the_remedy() -> None:
    remedy = "put " + "s3://landing/" + "k" * 1024 + " there"

    error = json.loads(result_text("数" * 900, remedy))["error"]

    assert error["remedy"] == remedy
    assert error["message"].endswith("…")


def test_a_control_character_becomes_a_blank() -> None:
    assert json.loads(result_text("column\x00\x01 n\nis"))["error"]["message"] == "column  n is"


def test_pins_are_left_out_before_anything_else() -> None:
    pins = tuple(Pin(kind="Tag", name="数" * 128, bytes=n) for n in range(8))
    steps = tuple(PlanStep(change="AddColumn", field="f", cost="Metadata", message="m" * 40) for _ in range(3))
    plan = ResultPlan(hash="h", count=3, steps=steps)
    outcome = Outcome(table=ResultTable(files=1, pins=pins, pins_count=8), plan=plan, differences=("d" * 200,) * 4)

    text = to_text(document_of(JOB, SEEN, outcome, None, Elapsed(1, 2)))

    assert len(text.encode()) <= MAX_RESULT_BYTES
    document = json.loads(text)
    kept = document["table"]["pins"]
    assert 0 < len(kept) < 8
    assert [each["bytes"] for each in kept] == list(range(len(kept)))
    assert (document["table"]["pinsCount"], len(document["plan"]["steps"]), len(document["differences"])) == (8, 3, 4)


def test_the_operator_reads_the_largest_measurement() -> None:
    number = 2**62
    table = ResultTable(
        files=number,
        size_bytes=number,
        snapshots=number,
        manifests=number,
        measured_at="2026-01-01T00:00:00Z",
        delete_percent=100,
        unmerged_percent=100,
        oldest_partition="數" * 256,
        pins=(Pin(kind="Consumer", name="n" * 128), Pin(kind="Branch", name="b", bytes=number)),
        pins_count=number,
    )
    text = to_text(document_of(JOB, SEEN, Outcome(table=table), None, Elapsed(1, 2)))

    measure = measure_after(read_result(text))

    assert measure is not None
    assert (measure.pins_count, measure.oldest_partition, measure.pins[0].bytes) == (number, "數" * 256, None)
