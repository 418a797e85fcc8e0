"""Whether ExpireSnapshots has anything to do, from the table's metadata alone.

Only what is certain counts. Java is left the tags that are created automatically, consumers that can expire, and
changelogs that are kept longer than their snapshots.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_engines.values import duration_in_ms
from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.pins import NO_TAG
from spark_apps.metadata.snapshots import SnapshotFiles, id_in

MAX_TAGS: Final = 50
"""Tags that are read, in one request each. With more, Java lists them."""
_TIME, _LEAST, _MOST = "snapshot.time-retained", "snapshot.num-retained.min", "snapshot.num-retained.max"
_DEFAULT_TIME_MS: Final = 3_600_000
_DEFAULT_LEAST: Final = 10
_UNLIMITED: Final = 2**31 - 1


@dataclass(frozen=True)
class Limits:
    """The retention of snapshots, with the options of the table and Paimon's defaults."""

    time_ms: int
    least: int
    most: int

    def keeps_all(self, count: int, oldest_ms: int, now_ms: int) -> bool:
        """Whether none of `count` snapshots may expire, of which the oldest is from `oldest_ms`."""
        return count <= self.least or (count <= self.most and now_ms - oldest_ms <= self.time_ms)


def limits_of(expire: ExpireSnapshotsParameters, options: Mapping[str, str]) -> Limits | None:
    """The retention that the run applies; None for one that only Java can read or has to refuse."""
    least, most = expire.num_retained_min, expire.num_retained_max
    try:
        of_table = int(options.get(_LEAST, _DEFAULT_LEAST))
        most = int(options.get(_MOST, _UNLIMITED)) if most is None else most
    except ValueError:
        return None
    if least is None:
        least = of_table if expire.num_retained_max is None else min(of_table, most)
    text = expire.time_retained or options.get(_TIME)
    time_ms = _DEFAULT_TIME_MS if text is None else duration_in_ms(text)
    return None if time_ms is None or not 1 <= least <= most else Limits(time_ms, least, most)


def is_certainly_nothing_due(
    expire: ExpireSnapshotsParameters, schema: TableSchema, files: MetadataFiles, location: str, now_ms: int
) -> bool:
    """Whether a run at this time would change nothing. Raises UnreadableError for files that only Java can read."""
    limits, options = limits_of(expire, schema.options), schema.options
    if limits is None or options.get("tag.automatic-creation", "none").lower() != "none":
        return False
    if not _keeps_snapshots(limits, files, location, now_ms):  # (first: it ends most runs that have something to do)
        return False
    if "consumer.expiration-time" in options and _has(files, f"{location}/consumer", "consumer-"):
        return False
    return not _has(files, f"{location}/changelog", "changelog-") and not _may_expire_tags(files, location, now_ms)


def _keeps_snapshots(limits: Limits, files: MetadataFiles, location: str, now_ms: int) -> bool:
    snapshots = SnapshotFiles(files, location)
    hint = snapshots.latest_hint()
    latest = snapshots.latest(None if hint is None else id_in(hint.content))
    if latest is None:
        return True
    earliest = snapshots.earliest(latest)
    return limits.keeps_all(latest.id - earliest.id + 1, earliest.time_ms, now_ms)


def _has(files: MetadataFiles, directory: str, prefix: str) -> bool:
    return any(name.startswith(prefix) for name in files.names(directory))


def _may_expire_tags(files: MetadataFiles, location: str, now_ms: int) -> bool:
    """Whether a tag is past its own time. One without a time stays, and there may be too many to read."""
    names = [name for name in files.names(f"{location}/tag") if name.startswith("tag-") and name != NO_TAG]
    if len(names) > MAX_TAGS:
        return True
    now = datetime.fromtimestamp(now_ms / 1000, UTC).replace(tzinfo=None)
    return any(end <= now for end in _ends(files, location, names))


def _ends(files: MetadataFiles, location: str, names: list[str]) -> Iterator[datetime]:
    """When each tag expires that has a time, by the clock of the run's JVM, which is UTC."""
    for name in names:
        path = f"{location}/tag/{name}"
        content = files.read(path)
        if content is None:  # (it was removed meanwhile)
            continue
        try:
            end = _end(json.loads(content))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise UnreadableError(f"{path}: {type(error).__name__}: {error}") from error
        if end is not None:
            yield end


def _end(tag: Any) -> datetime | None:
    """The end of `"tagCreateTime": [2026, 11, 25, 7, 8, 9, 123], "tagTimeRetained": 86400.000000000`."""
    retained, created = tag.get("tagTimeRetained"), tag.get("tagCreateTime")
    if retained is None or created is None:
        return None
    year, month, day, *time = created
    return datetime(year, month, day, *time[:3]) + timedelta(seconds=float(retained))  # noqa: DTZ001
