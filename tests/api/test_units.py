"""Durations and sizes: reading, validation, and the forms for Paimon, the JVM and messages."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paimon_operator.api.units import delta, mebibytes, paimon_duration, readable_duration, readable_size, seconds
from paimon_operator.errors import SpecError


@pytest.mark.parametrize(
    ("text", "expected", "for_paimon"),
    [
        ("90s", 90, "90 s"),
        ("15m", 900, "15 min"),
        ("12h", 43_200, "12 h"),
        ("7d", 604_800, "7 d"),
        ("99999d", 8_639_913_600, "99999 d"),
    ],
)
def test_a_duration_is_read_and_written_for_paimon(text: str, expected: int, for_paimon: str) -> None:
    assert seconds(text) == expected
    assert delta(text) == timedelta(seconds=expected)
    assert paimon_duration(text) == for_paimon


@pytest.mark.parametrize("text", ["", "0s", "7", "d", "1h30m", "-1d", "7 d", "7d\n", "100000s", "1w"])
def test_an_invalid_duration_is_refused_with_its_field(text: str) -> None:
    with pytest.raises(SpecError) as error:
        seconds(text, field="spec.runPolicy.activeDeadline")
    assert error.value.field == "spec.runPolicy.activeDeadline"


@pytest.mark.parametrize(("text", "expected"), [("1Gi", 1024), ("1536Mi", 1536), ("512Gi", 524_288)])
def test_a_size_is_read_in_mebibytes(text: str, expected: int) -> None:
    assert mebibytes(text) == expected


@pytest.mark.parametrize("text", ["", "1", "1G", "0Gi", "1.5Gi", "1Ti", "lots"])
def test_an_invalid_size_is_refused(text: str) -> None:
    with pytest.raises(SpecError):
        mebibytes(text)


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0"),
        (1023, "1023"),
        (1024, "1Ki"),
        (73_400_320, "70Mi"),
        (1_048_575, "1Mi"),
        (2**40, "1Ti"),
        (2**60, "1048576Ti"),
    ],
)
def test_a_number_of_bytes_is_shown_with_its_largest_unit(size_bytes: int, text: str) -> None:
    assert readable_size(size_bytes) == text


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(), "0s"),
        (timedelta(milliseconds=1900), "1s"),
        (timedelta(minutes=1), "1m"),
        (timedelta(hours=3, minutes=20), "3h20m"),
        (timedelta(days=1, seconds=5), "1d5s"),
    ],
)
def test_a_length_is_shown_in_its_units_without_those_that_are_zero(length: timedelta, text: str) -> None:
    assert readable_duration(length) == text
