"""Whether any partition is due, from the table's metadata alone."""

from __future__ import annotations

from datetime import datetime

from paimon_contract.parameters.expire_partitions import UPDATE_TIME, ExpirePartitionsParameters
from paimon_contract.result import PartitionExpiry
from spark_apps.catalog.plain_partitions import Keys, PlainPartitions, PlainTimes, Unread, example_of


def report_if_none_is_due(
    expire: ExpirePartitionsParameters, partitions: PlainPartitions, limit: datetime
) -> PartitionExpiry | None:
    """What a run reports that has nothing to drop; None where one is due or where only Java can tell.

    Raises UnreadableError for keys that cannot be decoded.
    """
    if expire.strategy == UPDATE_TIME:
        newest = partitions.newest_files()
        is_due = any(each not in newest or newest[each] < limit for each in partitions.identities)
        return None if is_due else _nothing(partitions, [])
    unreadable = _without_time(expire, partitions, limit)
    return None if unreadable is None else _nothing(partitions, unreadable)


def _nothing(partitions: PlainPartitions, unreadable: list[Keys]) -> PartitionExpiry:
    total, example = len(partitions.identities), example_of(unreadable)
    return PartitionExpiry(expired=0, total=total, remaining=0, unreadable=len(unreadable), example=example)


def _without_time(
    expire: ExpirePartitionsParameters, partitions: PlainPartitions, limit: datetime
) -> list[Keys] | None:
    """The partitions without a time; None where one is due or where only Java can tell."""
    times = PlainTimes(expire.timestamp_pattern, expire.timestamp_formatter, expire.time_zone)
    unreadable = []
    for _, keys in partitions.with_keys():
        time = times.earliest(keys)
        if time is Unread.NO_TIME:
            unreadable.append(keys)
        elif isinstance(time, Unread) or time < limit:
            return None
    return unreadable
