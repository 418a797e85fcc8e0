"""Partitions with records that a full compaction would remove by their age, by the least time that each file has.

As Paimon decides (CompactStrategy.pickFullCompaction and RecordLevelExpire): it rewrites a bucket of several sorted
runs, or with a run below the highest level, whatever its records are. In a single run of the highest level it rewrites
the files that are known to have an expired record.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from paimon_contract.parameters.compact import RecordAge
from paimon_schema.data_types import DataType
from paimon_schema.level_count import least_levels
from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.avro import Record
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.binary_row import number_at
from spark_apps.metadata.file_sums import SIGNS
from spark_apps.metadata.health import Bucket, buckets_of
from spark_apps.metadata.manifests import Manifest
from spark_apps.metadata.observation import MALFORMED, Contents, Observer
from spark_apps.metadata.table_files import TableFiles

MAX_ENTRIES: Final = 100_000
"""Entries of manifests that are read: of a table with 100 columns they take half a minute of CPU time."""
_DROPS_STATS: Final = "manifest.delete-file-drop-stats"
"""With this option Paimon's writer does not see the statistics either."""
_LEAST_MILLIS: Final = 1_000_000_000_000
"""A BIGINT from here on is in milliseconds, a smaller one in seconds."""
_NEVER: Final = math.inf
"""The least time of a file from before the column: its records have none."""

BucketId = tuple[bytes, int]


@dataclass(frozen=True)
class TimePlace:
    """Where the least time of a file is."""

    index: int
    """Among the columns of its statistics."""
    columns: int
    type: DataType


def partitions_with_expired(observer: Observer, contents: Contents, age: RecordAge, now: datetime) -> set[bytes]:
    """The partitions (serialized BinaryRows) that a full compaction would change for their records.

    Raises UnreadableError where only Paimon could tell, or where that takes too long.
    """
    _require_few(contents.manifests)
    try:
        files = list(_files_before(observer, contents, age.column, int(now.timestamp()) - age.seconds))
    except MALFORMED as error:
        raise UnreadableError(f"the statistics of a file cannot be read: {error!r}") from error
    options, buckets = observer.schema.options, buckets_of(contents.sums)
    in_single_runs = age.in_single_runs and options.get(_DROPS_STATS, "").lower() != "true"
    merged = {key for key, each in buckets.items() if _is_merged(each, least_levels(options))}
    return {bucket[0] for bucket, is_known in files if bucket in merged or (is_known and in_single_runs)}


def _require_few(manifests: Mapping[str, Manifest]) -> None:
    entries = sum(each.added + each.deleted for each in manifests.values())
    if entries > MAX_ENTRIES:
        raise UnreadableError(f"{entries} entries of manifests are too many to look for expired records")


def _is_merged(bucket: Bucket, levels: int) -> bool:
    return bucket.sorted_runs > 1 or bucket.top_level < levels - 1


def _files_before(observer: Observer, contents: Contents, column: str, before: int) -> Iterator[tuple[BucketId, bool]]:
    """Buckets of the files that may have a record with a time before that, and whether it is known.

    An entry that removes a file may come before the one that adds it. A file that changes its level is removed and
    added again under its name.
    """
    places = _Places(observer, column)
    found: dict[str, tuple[BucketId, bool]] = {}
    count: Counter[str] = Counter()
    for entry in observer.manifests.with_least_values(contents.manifests.values()):
        file, sign = entry["_FILE"], SIGNS[entry["_KIND"]]
        if sign < 0:
            count[file["_FILE_NAME"]] += sign
            continue
        least = places.least_time(file)
        if least is None or least < before:
            count[file["_FILE_NAME"]] += sign
            found[file["_FILE_NAME"]] = (entry["_PARTITION"], entry["_BUCKET"]), least is not None
    yield from (each for name, each in found.items() if count[name] > 0)


class _Places:
    """Where the files of each schema have the least time. Columns keep their ids when they are renamed."""

    def __init__(self, observer: Observer, column: str) -> None:
        known = observer.schema.by_name.get(column)
        if known is None or known.id is None:
            raise UnreadableError(f"the table has no column {column}, by which its records expire")
        self._id = known.id
        self._known = TableFiles(observer.files, observer.location)
        self._schemas: dict[int, TableSchema | None] = {observer.schema.id: observer.schema}

    def least_time(self, file: Record) -> float | None:
        """Seconds since 1970 of the file's record with the least time; None where it is not known."""
        schema = self._schema(file["_SCHEMA_ID"])
        if schema is None:
            return None
        own = next((each for each in schema.columns if each.id == self._id), None)
        if own is None:
            return _NEVER
        stored = file.get("_VALUE_STATS_COLS")
        names = [each.name for each in schema.columns] if stored is None else stored
        return _seconds(file, TimePlace(names.index(own.name), len(names), own.type)) if own.name in names else None

    def _schema(self, id_: int) -> TableSchema | None:
        if id_ not in self._schemas:
            self._schemas[id_] = self._known.schema(id_)
        return self._schemas[id_]


def _seconds(file: Mapping[str, Any], place: TimePlace) -> int | None:
    """As Paimon reads a time."""
    least = number_at(file["_VALUE_STATS"]["_MIN_VALUES"], place.index, place.columns, place.type)
    if least is None:
        return None
    is_millis = place.type.name.startswith("TIMESTAMP") or (place.type.name == "BIGINT" and least >= _LEAST_MILLIS)
    return int(least / 1000) if is_millis else least
