"""The partitions of a table as its metadata files have them: for runs that end without a JVM where nothing is due."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cached_property
from typing import Any, Final

from paimon_contract.job import Job
from paimon_contract.result import Outcome
from paimon_schema.plain_times import earliest_moment, is_certainly_no_time, reader_of
from paimon_schema.table_schema import TableSchema
from spark_apps.catalog.decoded_partitions import keys_of
from spark_apps.catalog.measure import Measured, outcome_between
from spark_apps.catalog.partition_times import time_text
from spark_apps.catalog.partitions import text_of_keys
from spark_apps.metadata.base import MetadataFiles
from spark_apps.metadata.measurement import of_contents
from spark_apps.metadata.observation import Contents, Observer
from spark_apps.metadata.settings import IN_METASTORE
from spark_apps.metadata.table_files import TableFiles, is_as_verified, location_of
from spark_apps.sql.partition_values import PartitionKey

MAX_EXAMPLE: Final = 200
"""Characters of the partition that a result names."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
Keys = tuple[PartitionKey, ...]


class Unread(Enum):
    """Why a partition has no time here."""

    NO_TIME = "its values are certainly no time"
    ONLY_JAVA = "only Java can tell"


@dataclass(frozen=True)
class PlainTimes:
    """Reads times from the keys of partitions, as `partition_times.ValuesTime` does by Java."""

    pattern: str | None
    formatter: str | None
    time_zone: str

    def earliest(self, keys: Keys) -> datetime | Unread:
        """The earliest moment that the time of a partition can mean."""
        text, read = time_text(keys, self.pattern), reader_of(self.formatter)
        if text is None or is_certainly_no_time(text, self.formatter):
            return Unread.NO_TIME
        local = None if read is None else read(text)
        try:
            return Unread.ONLY_JAVA if local is None else earliest_moment(local, self.time_zone)
        except OverflowError:  # (the last hours of the calendar in New York)
            return Unread.ONLY_JAVA


@dataclass(frozen=True)
class PlainPartitions:
    """The partitions of one snapshot."""

    schema: TableSchema
    contents: Contents
    observer: Observer

    @cached_property
    def identities(self) -> list[bytes]:
        """The partitions as Paimon stores their keys, sorted."""
        return sorted({partition for partition, _, _ in self.contents.sums})

    def with_keys(self) -> Iterator[tuple[bytes, Keys]]:
        """Each partition with its keys. Raises UnreadableError for keys that cannot be decoded."""
        return ((each, keys_of(each, self.schema)) for each in self.identities)

    def newest_files(self) -> dict[bytes, datetime]:
        """When the newest file of each partition was made, also one that was removed since."""
        return self.observer.manifests.newest_files(self.contents.manifests.values())

    def unchanged(self, **found: Any) -> Outcome:
        """The outcome of a run that changes nothing, with what it has `found`."""
        measured = Measured(of_contents(self.contents, self.schema))
        return outcome_between(measured, measured, **found)


def plain_partitions(job: Job, files: MetadataFiles) -> PlainPartitions | None:
    """The partitions of the job's table; None where a metastore has them too, and for what only a JVM reads or refuses.

    Raises UnreadableError.
    """
    location = location_of(job)
    schema = TableFiles(files, location).latest_schema()
    if schema is None or not schema.partition_keys or not is_as_verified(job, schema):
        return None
    if schema.options.get(IN_METASTORE, "false").lower() != "false":
        return None
    observer = Observer(files, location, schema)
    contents = observer.observe().contents
    return None if contents is None else PlainPartitions(schema, contents, observer)


def example_of(unreadable: list[Keys]) -> str | None:
    """The first partition without a time, as a result names it."""
    return text_of_keys(unreadable[0])[:MAX_EXAMPLE] if unreadable else None


def moment_of(milliseconds: int) -> datetime:
    """A time in milliseconds since 1970."""
    return _EPOCH + timedelta(milliseconds=milliseconds)
