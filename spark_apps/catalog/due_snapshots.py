"""Whether ExpireSnapshots has anything to do, from the table's metadata alone.

Only what is certain counts. What Java has to read or to refuse is left to Java.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_engines.values import duration_in_ms
from paimon_schema.table_schema import TableSchema
from spark_apps.catalog.due_tags import any_expires, is_certainly_none_created, read_tags
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.snapshots import Snapshot, SnapshotFiles, id_in

_DEFAULT_TIME_MS: Final = 3_600_000
_DEFAULT_LEAST: Final = 10
_UNLIMITED: Final = 2**31 - 1
_CONSUMERS_TIME: Final = "consumer.expiration-time"
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
    expire: ExpireSnapshotsParameters, schema: TableSchema, files: MetadataFiles, location: str, now_ms: int
) -> bool:
    """Whether a run at this time would change nothing. Raises UnreadableError for files that only Java can read."""
    limits, options = limits_of(expire, schema.options), schema.options
    if limits is None:
        return False
    latest = _latest(files, location)
    # The snapshots come first, because they end most runs that have something to do.
    if latest is not None and not _keeps_snapshots(limits, latest, files, location, now_ms):
        return False
    tags = read_tags(files, location)
    if tags is None or any_expires(tags, now_ms) or not is_certainly_none_created(options, tags, latest):
        return False
    return _keeps_consumers(options, files, location, now_ms) and (
        latest is None or _keeps_changelogs(changelog_limits(limits, options), latest, files, location, now_ms)
    )


def _checked(time_ms: int | None, least: int, most: int) -> Limits | None:
    return None if time_ms is None or not 1 <= least <= most else Limits(time_ms, least, most)


def _latest(files: MetadataFiles, location: str) -> Snapshot | None:
    snapshots = SnapshotFiles(files, location)
    hint = snapshots.latest_hint()
    return snapshots.latest(None if hint is None else id_in(hint.content))


def _keeps_snapshots(limits: Limits, latest: Snapshot, files: MetadataFiles, location: str, now_ms: int) -> bool:
    earliest = SnapshotFiles(files, location).earliest(latest)
    return limits.keeps_all(latest.id - earliest.id + 1, earliest.time_ms, now_ms)


def _keeps_consumers(options: Mapping[str, str], files: MetadataFiles, location: str, now_ms: int) -> bool:
    """Whether no consumer is older than the option says, by the time of its file."""
    text = options.get(_CONSUMERS_TIME)
    longest = None if text is None else duration_in_ms(text)
    if text is None or longest is None:
        return text is None
    times = files.times(f"{location}/consumer")
    return not any(name.startswith("consumer-") and ms < now_ms - longest for name, ms in times)


def _keeps_changelogs(
    limits: Limits | None, latest: Snapshot, files: MetadataFiles, location: str, now_ms: int
) -> bool:
    """Whether no changelog expires that has outlived its snapshot. The latest snapshot counts them, as in Paimon."""
    found = (_CHANGELOG.fullmatch(name) for name in files.names(f"{location}/changelog"))
    earliest = min((int(each[1]) for each in found if each), default=None)
    if earliest is None:
        return True
    if limits is None:
        return False
    oldest_ms = _time_of(files, f"{location}/changelog/changelog-{earliest}")
    return oldest_ms is not None and limits.keeps_all(latest.id - earliest + 1, oldest_ms, now_ms)


def _time_of(files: MetadataFiles, path: str) -> int | None:
    """The time of the commit that the file is of; None: it was removed meanwhile."""
    content = files.read(path)
    try:
        return None if content is None else int(json.loads(content)["timeMillis"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableError(f"{path}: {type(error).__name__}: {error}") from error
