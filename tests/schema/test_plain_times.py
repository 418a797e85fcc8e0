"""Times that Python reads from the keys of partitions as Java does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from paimon_schema.plain_times import earliest_moment, is_certainly_no_time, reader_of


@pytest.mark.parametrize(
    ("formatter", "text", "time"),
    [
        (None, "2026-11-25", "2026-11-25 00:00:00"),
        (None, "2026-11-25 07:08:09", "2026-11-25 07:08:09"),
        ("yyyyMMdd", "20261125", "2026-11-25 00:00:00"),
        ("uuuuMMddHH", "2026112507", "2026-11-25 07:00:00"),
        ("yyyy/MM/dd HH:mm", "2026/11/25 07:08", "2026-11-25 07:08:00"),
        ("yyyy.MM.dd, HH:mm:ss", "2026.11.25, 07:08:09", "2026-11-25 07:08:09"),
    ],
)
def test_a_text_of_fixed_width_is_read(formatter: str | None, text: str, time: str) -> None:
    read = reader_of(formatter)
    assert read is not None
    assert str(read(text)) == time


@pytest.mark.parametrize(
    ("sentence", "formatter", "text"),
    [
        ("Paimon reads months of one digit too", None, "2026-9-01"),
        ("a fraction of a second", None, "2026-11-25 07:08:09.5"),
        ("Java reads it as the last day of the month", "yyyyMMdd", "20260230"),
        ("a year of more digits", "yyyyMMdd", "120261125"),
        ("digits of another script", None, "\u0662\u0660\u0662\u0666-11-25"),
        ("a line end", None, "2026-11-25\n"),
        ("no time at all", "yyyyMMdd", "late"),
    ],
)
def test_a_text_that_java_may_read_otherwise_is_left_to_java(sentence: str, formatter: str | None, text: str) -> None:
    read = reader_of(formatter)
    assert read is not None
    assert read(text) is None, sentence


@pytest.mark.parametrize(
    "formatter",
    ["dd.MM.yyyy", "yyyyMM", "yyyy-M-d", "yyyyDDD", "yyyy-MM-dd'T'HH", "yyMMdd", "yyyyMMddmm"],
)
def test_a_formatter_that_is_not_known_is_left_to_java(formatter: str) -> None:
    assert reader_of(formatter) is None


@pytest.mark.parametrize(
    ("sentence", "local", "zone", "moment"),
    [
        ("in UTC", "2026-11-25 00:00", "UTC", "2026-11-25 00:00"),
        ("in another zone", "2026-11-25 00:00", "Asia/Kolkata", "2026-11-24 18:30"),
        ("the first of a time that occurs twice", "2026-10-25 02:30", "Europe/Berlin", "2026-10-25 00:30"),
        ("before a time that does not occur", "2026-03-29 02:30", "Europe/Berlin", "2026-03-29 00:30"),
    ],
)
def test_the_earliest_moment_of_a_local_time(sentence: str, local: str, zone: str, moment: str) -> None:
    expected = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    assert earliest_moment(datetime.fromisoformat(local), zone) == expected, sentence


@pytest.mark.parametrize(
    ("formatter", "text", "is_certain"), [(None, "late", True), (None, "2026", False), ("yyyyMMdd", "late", False)]
)
def test_a_text_without_a_digit_is_no_time(formatter: str | None, text: str, *, is_certain: bool) -> None:
    assert is_certainly_no_time(text, formatter) is is_certain
