"""Whether any partition is due, from the table's metadata alone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from paimon_contract.parameters.expire_partitions import UPDATE_TIME, ExpirePartitionsParameters
from paimon_contract.result import PartitionExpiry
from paimon_schema.plain_times import earliest_moment, is_certainly_no_time, reader_of
from paimon_schema.table_schema import TableSchema
from spark_apps.catalog.decoded_partitions import keys_of
from spark_apps.catalog.partition_times import time_text
from spark_apps.catalog.partitions import text_of_keys
from spark_apps.metadata.manifests import ManifestFiles
from spark_apps.metadata.observation import Contents
from spark_apps.sql.partition_values import PartitionKey

MAX_EXAMPLE: Final = 200
"""Characters of the partition that a result names."""


def report_if_none_is_due(
    expire: ExpirePartitionsParameters,
    schema: TableSchema,
    contents: Contents,
    manifests: ManifestFiles,
    limit: datetime,
) -> PartitionExpiry | None:
    """What a run reports that has nothing to drop; None where one is due or where only Java can tell.

    Raises UnreadableError for keys that cannot be decoded.
    """
    partitions = {partition for partition, _, _ in contents.sums}
    if expire.strategy == UPDATE_TIME:
        newest = manifests.newest_files(contents.manifests.values())
        is_due = any(each not in newest or newest[each] < limit for each in partitions)
        return None if is_due else PartitionExpiry(expired=0, total=len(partitions), remaining=0, unreadable=0)
    unreadable = _without_time(expire, (keys_of(each, schema) for each in sorted(partitions)), limit)
    if unreadable is None:
        return None
    example = text_of_keys(unreadable[0])[:MAX_EXAMPLE] if unreadable else None
    return PartitionExpiry(expired=0, total=len(partitions), remaining=0, unreadable=len(unreadable), example=example)


def _without_time(
    expire: ExpirePartitionsParameters, partitions: Iterable[tuple[PartitionKey, ...]], limit: datetime
) -> list[tuple[PartitionKey, ...]] | None:
    """The partitions without a time; None where one is due or where only Java can tell."""
    read, unreadable = reader_of(expire.timestamp_formatter), []
    for keys in partitions:
        text = time_text(keys, expire.timestamp_pattern)
        if text is None or is_certainly_no_time(text, expire.timestamp_formatter):
            unreadable.append(keys)
            continue
        local = None if read is None else read(text)
        if local is None or earliest_moment(local, expire.time_zone) < limit:
            return None
    return unreadable
