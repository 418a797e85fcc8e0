"""The description of a catalog's tables, as lines of a log and back."""

from __future__ import annotations

import hashlib

import pytest

from paimon_contract.description import LINE_LENGTH, DescribedTable, Description, description_lines, read_description
from paimon_contract.documents import DocumentError

NOISE = "".join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(1000))
"""A text that hardly becomes shorter, so that the description has several lines."""
LAKE = Description(
    catalog='{"spec": {}}',
    engine="paimon-1.4",
    tables=(
        DescribedTable(database="shop", name="orders", schema=NOISE),
        DescribedTable(database="shop", name="größe", problem="it is a view"),
    ),
)


def test_a_description_is_read_from_a_log_between_other_lines() -> None:
    lines = list(description_lines(LAKE))
    assert len(lines) > 2
    assert max(map(len, lines)) < LINE_LENGTH + 100
    log = [line for each in lines for line in ("26/11/24 16:00:01 WARN SparkContext: no", f"{each}\r\n")]
    assert read_description(log) == LAKE


def test_the_last_of_two_equal_lines_counts_once() -> None:
    lines = list(description_lines(LAKE))
    assert read_description([*lines, *lines]) == LAKE


@pytest.mark.parametrize(
    ("sentence", "lines", "message"),
    [
        ("another log", ["SparkContext: ready"], "there is no description"),
        ("the beginning is lost", list(description_lines(LAKE))[1:], "the description is not complete: 6 of 7 lines"),
        ("a line is lost", list(description_lines(LAKE))[:1], "the description is not complete: 1 of 7 lines"),
        ("two logs", [*description_lines(LAKE), "paimon-description 1/9 QQ=="], "the description is not complete"),
        ("no base64", ["paimon-description 1/1 Q"], "the description cannot be read"),
        ("no such document", ["paimon-description 1/1 eJyrrgUAAXUA+Q=="], "description lacks a key"),
        ("a document that is cut", ["paimon-description 1/1 eJyrVipL"], "the description is cut"),
    ],
)
def test_a_description_that_is_not_whole_is_refused(sentence: str, lines: list[str], message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        read_description(lines)
