"""Whether a run of ExpireSnapshots would create or remove a tag, from the table's metadata alone.

As Paimon's TagAutoCreation and TagTimeExpire decide. The first commit after the end of a period, and of the delay, gets
the tag of the period. Tags by watermark, and names in another form, are left to Java.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from paimon_engines.values import duration_in_ms
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.pins import NO_TAG
from spark_apps.metadata.snapshots import Snapshot

MAX_TAGS: Final = 500
"""Tags that are read, in one request each. With more, Java reads them."""
_CREATION: Final = "tag.automatic-creation"
_PERIOD: Final = "tag.creation-period"
_DELAY: Final = "tag.creation-delay"
_MOST: Final = "tag.num-retained-max"
_TIME: Final = "tag.default-time-retained"
_KNOWN: Final = frozenset({_CREATION, _PERIOD, _DELAY, _MOST, _TIME})
"""Options of tags whose meaning this module knows."""
_OTHER_ZONE: Final = "sink.process-time-zone"
_BY_PROCESS_TIME: Final = "process-time"
_WITHOUT_CREATION: Final = ("none", "batch")
"""`batch`: each write of Spark creates its tag, and a run of maintenance none."""
_PERIODS: Final = {"daily": timedelta(days=1), "hourly": timedelta(hours=1), "two-hours": timedelta(hours=2)}
_DAY: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_HOUR: Final = re.compile(f"{_DAY.pattern} [0-9]{{2}}")
"""The name of a tag that is not daily."""


@dataclass(frozen=True)
class Tag:
    """A tag of a table."""

    name: str
    snapshot: int
    end: datetime | None
    """When it expires, by the clock of the run's JVM, which is UTC. None: it stays."""


def read_tags(files: MetadataFiles, location: str) -> list[Tag] | None:
    """The tags of the table; None: more than are read. Raises UnreadableError for one that only Java can read."""
    names = [name for name in files.names(f"{location}/tag") if name.startswith("tag-") and name != NO_TAG]
    return None if len(names) > MAX_TAGS else list(_read(files, location, names))


def any_expires(tags: Sequence[Tag], now_ms: int) -> bool:
    """Whether a tag is past its own time."""
    now = _local(now_ms)
    return any(tag.end is not None and tag.end <= now for tag in tags)


@dataclass(frozen=True)
class Creation:
    """How a run of ExpireSnapshots creates tags."""

    period: timedelta | None
    """None: it creates none."""
    delay_ms: int = 0

    def creates_none(self, tags: Sequence[Tag], latest: Snapshot | None) -> bool:
        """Whether no tag is due since the last automatic one, by the time of the `latest` snapshot.

        Paimon looks at all commits since. One before the latest is later than it only where clocks differ, and then its
        tag comes with the next commit.
        """
        if self.period is None or latest is None:
            return True
        last = _last_period(tags, self.period)
        return last is not None and _local(latest.time_ms - self.delay_ms) < last + 2 * self.period


def creation_of(options: Mapping[str, str]) -> Creation | None:
    """By the options of the table; None for what is left to Java, which reads or refuses it."""
    creation = options.get(_CREATION, "none").lower()
    if creation in _WITHOUT_CREATION:
        return Creation(None)
    period, delay = _PERIODS.get(options.get(_PERIOD, "daily").lower()), duration_in_ms(options.get(_DELAY, "0 ms"))
    has_others = any(key.startswith("tag.") and key not in _KNOWN for key in options) or _OTHER_ZONE in options
    if creation != _BY_PROCESS_TIME or has_others or period is None or delay is None or not _can_be_read(options):
        return None
    return Creation(period, delay) if timedelta(milliseconds=delay) < period else None


def _can_be_read(options: Mapping[str, str]) -> bool:
    """Whether Paimon can read the options of what becomes of the tags."""
    most, kept = options.get(_MOST, "1"), options.get(_TIME, "1 d")
    return most.isascii() and most.isdecimal() and duration_in_ms(kept) is not None


def _last_period(tags: Sequence[Tag], period: timedelta) -> datetime | None:
    """The period of the last automatic tag; None without one, and where releases differ about which is the last."""
    found = [(tag.snapshot, begin) for tag in tags if (begin := _begin_of(tag.name, period)) is not None]
    last = max(found, default=None)
    if last is None or last[1] != max(begin for _, begin in found) or [each for each, _ in found].count(last[0]) > 1:
        return None
    return last[1]


def _begin_of(name: str, period: timedelta) -> datetime | None:
    """The period that an automatic tag is named for; None for a name of a user's."""
    if period == _PERIODS["daily"]:
        day = name.split(" ", maxsplit=1)[0]  # as Paimon reads it
        form, text, iso = _DAY, day, day
    else:
        form, text, iso = _HOUR, name, f"{name}:00"
    try:
        return datetime.fromisoformat(iso) if form.fullmatch(text) else None
    except ValueError:
        return None


def _read(files: MetadataFiles, location: str, names: Sequence[str]) -> Iterator[Tag]:
    for name in names:
        path = f"{location}/tag/{name}"
        content = files.read(path)
        if content is None:  # (it was removed meanwhile)
            continue
        try:
            document = json.loads(content)
            yield Tag(name.removeprefix("tag-"), int(document["id"]), _end(document))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise UnreadableError(f"{path}: {type(error).__name__}: {error}") from error


def _end(tag: Any) -> datetime | None:
    """The end of `"tagCreateTime": [2026, 11, 25, 7, 8, 9, 123], "tagTimeRetained": 86400.000000000`."""
    retained, created = tag.get("tagTimeRetained"), tag.get("tagCreateTime")
    if retained is None or created is None:
        return None
    year, month, day, *time = created
    return datetime(year, month, day, *time[:3]) + timedelta(seconds=float(retained))  # noqa: DTZ001


def _local(ms: int) -> datetime:
    """A time in ms by the clock of the run's JVM, which is UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).replace(tzinfo=None)
