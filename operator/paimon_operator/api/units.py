"""Durations and sizes of the API as numbers, and in the notation of Paimon and the JVM."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from paimon_operator.errors import SpecError

_DURATION = re.compile(r"([1-9][0-9]{0,4})([smhd])")
_SIZE = re.compile(r"([1-9][0-9]{0,5})(Mi|Gi)")
_PERCENT = re.compile(r"(0|[1-9][0-9]?|100)%")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_PAIMON_UNIT = {"s": "s", "m": "min", "h": "h", "d": "d"}


def seconds(duration: str, *, field: str = "duration") -> int:
    """Seconds in `90s`, `15m`, `12h` or `7d`. Raises SpecError with `field`."""
    number, unit = _split(_DURATION, duration, field, "Write a number and one of s, m, h, d, like 15m.")
    return number * _SECONDS[unit]


def delta(duration: str, *, field: str = "duration") -> timedelta:
    """The duration as a timedelta. Raises SpecError with `field`."""
    return timedelta(seconds=seconds(duration, field=field))


def too_long(duration: str | None, days: int, *, field: str) -> Iterator[SpecError]:
    """The error for a duration of more than `days` days. Raises SpecError with `field` if it cannot be read."""
    if duration is not None and delta(duration, field=field) > timedelta(days=days):
        yield SpecError(field, f"{duration} is too long", f"Use at most {days}d.")


def paimon_duration(duration: str, *, field: str = "duration") -> str:
    """The duration in Paimon's notation: `15 min`. Raises SpecError with `field`."""
    number, unit = _split(_DURATION, duration, field, "Write a number and one of s, m, h, d, like 15m.")
    return f"{number} {_PAIMON_UNIT[unit]}"


def readable_duration(length: timedelta) -> str:
    """The length in days, hours, minutes and whole seconds, without those that are 0: `3h20m`."""
    left, text = int(length.total_seconds()), ""
    for unit, size in sorted(_SECONDS.items(), key=lambda each: -each[1]):
        number, left = divmod(left, size)
        text += f"{number}{unit}" if number else ""
    return text or "0s"


def percent(share: str, *, field: str = "ratio") -> int:
    """The number in `20%`. Raises SpecError with `field`."""
    match = _PERCENT.fullmatch(share)
    if match is None:
        raise SpecError(field, f"'{share}' cannot be read", "Write a whole number from 0 to 100 and %, like 20%.")
    return int(match[1])


def mebibytes(size: str, *, field: str = "memory") -> int:
    """MiB in `512Mi` or `2Gi`. Raises SpecError with `field`."""
    number, unit = _split(_SIZE, size, field, "Write a number and Mi or Gi, like 2Gi.")
    return number * (1024 if unit == "Gi" else 1)


_UNITS = ("", "Ki", "Mi", "Gi", "Ti")
_STEP = 1024


def readable_size(size_bytes: int) -> str:
    """Bytes in the largest binary unit that gives a whole number, rounded: `70Mi`."""
    value, unit = float(size_bytes), 0
    while round(value) >= _STEP and unit < len(_UNITS) - 1:
        value, unit = value / _STEP, unit + 1
    return f"{round(value)}{_UNITS[unit]}"


def _split(pattern: re.Pattern[str], text: str, field: str, remedy: str) -> tuple[int, str]:
    match = pattern.fullmatch(text)
    if match is None:
        raise SpecError(field, f"'{text}' cannot be read", remedy)
    return int(match[1]), match[2]
