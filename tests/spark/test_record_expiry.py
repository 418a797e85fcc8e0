"""Compactions remove the records whose time is longer ago than retention.records, and no other."""

# ruff: noqa: S608 - the only values in SQL are those of the tests

from __future__ import annotations

import time

import pytest

from paimon_engines.loader import load_engine
from tests.spark.lake import Lake, RefusedBySparkError

DAY = 86_400
LEEWAY_S = 900
"""Longer than a test takes: what is younger than the limit by this stays so to its end."""


def _times() -> tuple[int, int]:
    """Times of two records around a limit of three days: just past it, and not yet."""
    limit = int(time.time()) - 3 * DAY
    return limit - 1, limit + LEEWAY_S


def expiring(lake: Lake, type_: str, after: str, *times: str) -> list[int]:
    """Ids of the records with these times that a full compaction keeps: 0 for the first time.

    All are written twice, because 0.9 removes records only where a compaction merges files.
    """
    options = {"bucket": "1", "record-level.expire-time": after, "record-level.time-field": "at"}
    lake.provision({"id": "BIGINT", "at": type_}, keys=["id"], options=options).ok()
    rows = ", ".join(f"({number}, {text})" for number, text in enumerate(times))
    lake.outside(*[f"INSERT INTO outside.shop.orders VALUES {rows}"] * 2)
    lake.compact().ok()
    return sorted(row["id"] for row in lake.rows())


def test_seconds_in_an_int_are_the_time_of_a_record(lake: Lake) -> None:
    assert expiring(lake, "INT NOT NULL", "3 d", *map(str, _times())) == [1]


def test_a_long_time_removes_all_records_of_an_engine_that_adds_in_32_bits(lake: Lake) -> None:
    kept = expiring(lake, "INT NOT NULL", "5000 d", *map(str, _times()))
    assert kept == ([] if load_engine(lake.engine.id).has_record_times_in_32_bits else [0, 1])


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("BIGINT", "{0}"),
        ("BIGINT", "{0}000"),
        ("TIMESTAMP(3)", "CAST(timestamp_seconds({0}) AS TIMESTAMP_NTZ)"),
        ("TIMESTAMP_LTZ(6)", "timestamp_seconds({0})"),
    ],
    ids=["seconds", "milliseconds", "local timestamps", "timestamps"],
)
def test_other_times_of_a_record(lake: Lake, type_: str, text: str) -> None:
    times = *(text.format(each) for each in _times()), "NULL"
    if load_engine(lake.engine.id).has_record_times_in_32_bits:
        with pytest.raises(RefusedBySparkError, match="should be INT type"):
            expiring(lake, type_, "3 d", *times)
    else:
        assert expiring(lake, type_, "3 d", *times) == [1, 2], "no time stays"
