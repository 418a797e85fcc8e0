"""Times of partitions in notations that need no Java: whole numbers of fixed width, from the year down.

Where a text could mean anything else to Java there is no answer, and a JVM reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

_DEFAULT: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d))?")
"""What Paimon reads without a formatter, of fixed width."""
_PARTS: Final = {"yyyy": r"(\d{4})", "uuuu": r"(\d{4})", "MM": r"(\d\d)", "dd": r"(\d\d)"}
_TIME: Final = {"HH": r"(\d\d)", "mm": r"(\d\d)", "ss": r"(\d\d)"}
_TOKEN: Final = re.compile(r"([A-Za-z])\1*|[ /:._,-]+")
_ORDER: Final = ("y", "M", "d", "H", "m", "s")

ReadTime = Callable[[str], datetime | None]
"""The local time in a text; None where only Java can tell."""


def keys_in(pattern: str, keys: Iterable[str]) -> list[str]:
    """The keys that a pattern names by `$key`, in its order. Of keys that begin alike, the longest that fits counts."""
    return _named(keys).findall(pattern)


def text_of_time(texts: Mapping[str, str | None], pattern: str | None) -> str | None:
    """The text with the time: the pattern with the texts of the keys, by default the first key. None with a NULL."""
    if pattern is None:
        return next(iter(texts.values()), None)
    if any(texts[name] is None for name in keys_in(pattern, texts)):
        return None
    return _named(texts).sub(lambda match: str(texts[match[1]]), pattern)


def _named(keys: Iterable[str]) -> re.Pattern[str]:
    names = sorted(map(re.escape, keys), key=len, reverse=True)
    return re.compile(rf"\$({'|'.join(names)})")


@cache
def reader_of(formatter: str | None) -> ReadTime | None:
    """Reads the texts of a formatter; None for one that is not known here."""
    pattern = _DEFAULT if formatter is None else _pattern_of(formatter)
    return None if pattern is None else lambda text: _read(pattern, text)


def earliest_moment(local: datetime, time_zone: str) -> datetime:
    """The first moment that the local time can mean, where it occurs twice or never."""
    zone: tzinfo = UTC if time_zone == "UTC" else ZoneInfo(time_zone)
    return min(local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def is_certainly_no_time(text: str, formatter: str | None) -> bool:
    """Whether Paimon reads no time from the text: what it reads without a formatter begins with a year."""
    return formatter is None and not any(each.isdigit() for each in text)


def _pattern_of(formatter: str) -> re.Pattern[str] | None:
    parts, at, letters = "", 0, []
    while at < len(formatter):
        token = _TOKEN.match(formatter, at)
        if token is None:
            return None
        part = (_PARTS | _TIME).get(token[0]) if token[1] else re.escape(token[0])
        if part is None:
            return None
        letters += [token[1]] if token[1] else []
        parts, at = parts + part, token.end()
    ordered = ["y" if each == "u" else each for each in letters]
    return re.compile(parts) if _is_known(ordered) else None


def _is_known(letters: Sequence[str]) -> bool:
    """Year, month and day, and then as much of the time of day as there is."""
    return len(letters) >= len(_ORDER[:3]) and tuple(letters) == _ORDER[: len(letters)]


def _read(pattern: re.Pattern[str], text: str) -> datetime | None:
    found = pattern.fullmatch(text)
    if found is None or not text.isascii():
        return None
    try:
        return datetime(*(int(each) for each in found.groups() if each is not None))  # type: ignore[arg-type]  # noqa: DTZ001
    except ValueError:  # (no such day, which Java may read as the last one of its month)
        return None
