"""Partitions with records that a full compaction would remove by their age, by the least time that each file has.

As Paimon decides (RecordLevelExpire and CompactStrategy.pickFullCompaction): a bucket of several sorted runs is merged
whatever its records are; the only run of a bucket is rewritten for files that are known to have an expired record.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from paimon_contract.parameters.compact import RecordAge
from paimon_schema.data_types import DataType
from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.avro import Record
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.binary_row import Value, value_at
from spark_apps.metadata.file_sums import SIGNS
from spark_apps.metadata.health import buckets_of
from spark_apps.metadata.observation import Contents, Observer
from spark_apps.metadata.table_files import TableFiles

_LEAST_MILLIS: Final = 1_000_000_000_000
"""A BIGINT from here on is in milliseconds, a smaller one in seconds."""
_NEVER: Final = math.inf
"""The least time of a file whose records all have none."""

BucketId = tuple[bytes, int]


@dataclass(frozen=True)
class TimePlace:
    """Where the minimum of a file's times is."""

    index: int
    """Among the columns of its statistics."""
    columns: int
    type: DataType


def partitions_with_expired(observer: Observer, contents: Contents, age: RecordAge, now: datetime) -> set[bytes]:
    """The partitions (serialized BinaryRows) that a full compaction would change for their records.

    Raises UnreadableError where only Paimon could tell.
    """
    runs = {key: each.sorted_runs for key, each in buckets_of(contents.sums).items()}
    return {
        bucket[0]
        for bucket, is_known in _live(observer, contents, age.column, int(now.timestamp()) - age.seconds)
        if runs[bucket] > 1 or (is_known and age.in_single_runs)
    }


def _live(observer: Observer, contents: Contents, column: str, before: int) -> Iterator[tuple[BucketId, bool]]:
    """Buckets of the files that may have a record with a time before that, and whether it is known.

    An entry that removes a file may come before the one that adds it. A file that changes its level is removed and
    added again under its name.
    """
    places = _Places(observer, column)
    found: dict[str, tuple[BucketId, bool]] = {}
    count: Counter[str] = Counter()
    for entry in observer.manifests.with_values(contents.manifests.values()):
        file, sign = entry["_FILE"], SIGNS[entry["_KIND"]]
        if sign < 0:
            count[file["_FILE_NAME"]] += sign
            continue
        least = least_time(file, places.of(file))
        if least is None or least < before:
            count[file["_FILE_NAME"]] += sign
            found[file["_FILE_NAME"]] = (entry["_PARTITION"], entry["_BUCKET"]), least is not None
    yield from (each for name, each in found.items() if count[name] > 0)


class _Places:
    """Where the files of each schema have the minimum of the column. Columns keep their ids when they are renamed."""

    def __init__(self, observer: Observer, column: str) -> None:
        known = observer.schema.by_name.get(column)
        if known is None or known.id is None:
            raise UnreadableError(f"the table has no column {column}, by which its records expire")
        self._id = known.id
        self._known = TableFiles(observer.files, observer.location)
        self._schemas: dict[int, TableSchema | None] = {observer.schema.id: observer.schema}

    def of(self, file: Record) -> TimePlace | None:
        """None: the file has no statistics of the column."""
        schema = self._schema(file["_SCHEMA_ID"])
        own = [each for each in (schema.columns if schema else ()) if each.id == self._id]
        if schema is None or not own:
            return None
        stored = file.get("_VALUE_STATS_COLS")
        names = [each.name for each in schema.columns] if stored is None else stored
        return TimePlace(names.index(own[0].name), len(names), own[0].type) if own[0].name in names else None

    def _schema(self, id_: int) -> TableSchema | None:
        if id_ not in self._schemas:
            self._schemas[id_] = self._known.schema(id_)
        return self._schemas[id_]


def least_time(file: Mapping[str, Value], place: TimePlace | None) -> float | None:
    """Seconds since 1970 of the file's record with the least time; None where it is not known."""
    if place is None:
        return None
    stats = file["_VALUE_STATS"]
    least = value_at(stats["_MIN_VALUES"], place.index, place.columns, place.type)
    if least is not None:
        return _seconds(least)
    nulls = stats["_NULL_COUNTS"] or ()
    has_none = len(nulls) == place.columns and nulls[place.index] == file["_ROW_COUNT"]
    return _NEVER if has_none else None


def _seconds(value: Value) -> int:
    """As Paimon reads a time."""
    if isinstance(value, datetime):
        return math.trunc(value.replace(tzinfo=UTC).timestamp())
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnreadableError(f"{value!r} is no time of a record")
    return value // 1000 if value >= _LEAST_MILLIS else value
