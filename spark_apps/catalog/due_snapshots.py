"""Whether ExpireSnapshots has anything to do, from the table's metadata alone.

Only what is certain counts. What Java has to read or to refuse is left to Java.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_engines.values import duration_in_ms
from paimon_schema.table_schema import TableSchema
from spark_apps.catalog.due_tags import any_expires, creation_of, read_tags
from spark_apps.metadata.base import TimedFiles
from spark_apps.metadata.snapshots import Snapshot, SnapshotFiles, number_in

_DEFAULT_TIME_MS: Final = 3_600_000
_DEFAULT_LEAST: Final = 10
_UNLIMITED: Final = 2**31 - 1
_CONSUMERS_TIME: Final = "consumer.expiration-time"
_CONSUMER: Final = "consumer-"
_CHANGELOG_ONLY: Final = "consumer.changelog-only"
"""Consumers keep changelogs alone with it, and no snapshots."""
MAX_CONSUMERS: Final = 50
"""Consumers that are read, in one request each."""
_CHANGELOG: Final = re.compile(r"changelog-([1-9][0-9]{0,17})")


@dataclass(frozen=True)
class Limits:
    """A retention of snapshots or changelogs."""

    time_ms: int
    least: int
    most: int

    def keeps_all(self, count: int, oldest_ms: int, now_ms: int) -> bool:
        """Whether none of `count` snapshots may expire, of which the oldest is from `oldest_ms`."""
        return count <= self.least or (count <= self.most and now_ms - oldest_ms <= self.time_ms)


def limits_of(expire: ExpireSnapshotsParameters, options: Mapping[str, str]) -> Limits | None:
    """The retention of snapshots that the run applies, with the options of the table and Paimon's defaults.

    None for one that only Java can read or has to refuse.
    """
    least, most = expire.num_retained_min, expire.num_retained_max
    try:
        of_table = int(options.get("snapshot.num-retained.min", _DEFAULT_LEAST))
        most = int(options.get("snapshot.num-retained.max", _UNLIMITED)) if most is None else most
    except ValueError:
        return None
    if least is None:
        least = of_table if expire.num_retained_max is None else min(of_table, most)
    text = expire.time_retained or options.get("snapshot.time-retained")
    return _checked(_DEFAULT_TIME_MS if text is None else duration_in_ms(text), least, most)


def changelog_limits(snapshots: Limits, options: Mapping[str, str]) -> Limits | None:
    """The retention of changelogs, which is that of snapshots where the options of the table say nothing else."""
    text = options.get("changelog.time-retained")
    try:
        least = int(options.get("changelog.num-retained.min", snapshots.least))
        most = int(options.get("changelog.num-retained.max", snapshots.most))
    except ValueError:
        return None
    return _checked(snapshots.time_ms if text is None else duration_in_ms(text), least, most)


def is_certainly_nothing_due(
    expire: ExpireSnapshotsParameters, schema: TableSchema, files: TimedFiles, location: str, now_ms: int
) -> bool:
    """Whether a run at this time would change nothing. Raises UnreadableError for files that only Java can read."""
    limits, creation = limits_of(expire, schema.options), creation_of(schema.options)
    of_changelogs = None if limits is None else changelog_limits(limits, schema.options)
    if limits is None or of_changelogs is None or creation is None:
        return False
    found, latest = _Metadata(files, location, schema.options, now_ms), SnapshotFiles(files, location).latest_by_hint()
    # What ends most runs that have something to do comes first, and each tag costs a request.
    if latest is not None and not found.keeps_snapshots(limits, latest):
        return False
    if latest is not None and not found.keeps_changelogs(of_changelogs, latest):
        return False
    tags = read_tags(files, location) if found.keeps_consumers() else None
    return tags is not None and not any_expires(tags, now_ms) and creation.creates_none(tags, latest)


def _checked(time_ms: int | None, least: int, most: int) -> Limits | None:
    return None if time_ms is None or not 1 <= least <= most else Limits(time_ms, least, most)


@dataclass(frozen=True)
class _Metadata:
    """The metadata of a table at a time."""

    files: TimedFiles
    location: str
    options: Mapping[str, str]
    now_ms: int

    def keeps_snapshots(self, limits: Limits, latest: Snapshot) -> bool:
        """Whether no snapshot expires: by the limits, or because a consumer has not read the earliest one."""
        earliest = SnapshotFiles(self.files, self.location).earliest(latest)
        if limits.keeps_all(latest.id - earliest.id + 1, earliest.time_ms, self.now_ms):
            return True
        return any(next_ <= earliest.id for next_ in self._next_snapshots())

    def keeps_changelogs(self, limits: Limits, latest: Snapshot) -> bool:
        """Whether no changelog expires that has outlived its snapshot. The latest snapshot counts them, as in Paimon.

        The last one never does.
        """
        found = (_CHANGELOG.fullmatch(name) for name in self.files.names(f"{self.location}/changelog"))
        ids = sorted(int(each[1]) for each in found if each)
        if len(ids) <= 1:
            return True
        oldest_ms = number_in(self.files, f"{self.location}/changelog/changelog-{ids[0]}", "timeMillis")
        return oldest_ms is not None and limits.keeps_all(latest.id - ids[0] + 1, oldest_ms, self.now_ms)

    def keeps_consumers(self) -> bool:
        """Whether no consumer is older than the option says, by the time of its file."""
        text = self.options.get(_CONSUMERS_TIME)
        longest = None if text is None else duration_in_ms(text)
        if text is None or longest is None:
            return text is None
        times = self.files.times(f"{self.location}/consumer")
        return not any(name.startswith(_CONSUMER) and ms < self.now_ms - longest for name, ms in times)

    def _next_snapshots(self) -> Iterator[int]:
        """What each consumer reads next; nothing where it keeps no snapshot, or where there are many."""
        names = [name for name in self.files.names(f"{self.location}/consumer") if name.startswith(_CONSUMER)]
        if _CHANGELOG_ONLY in self.options or len(names) > MAX_CONSUMERS:
            return
        for name in names:
            if (next_ := number_in(self.files, f"{self.location}/consumer/{name}", "nextSnapshot")) is not None:
                yield next_
