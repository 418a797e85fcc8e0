"""Partitions with records that a full compaction would remove by their age, by the least time that each file has.

As Paimon decides (CompactStrategy.pickFullCompaction and RecordLevelExpire): it rewrites a bucket of several sorted
runs, or with a run below the highest level, whatever its records are. In a single run of the highest level it rewrites
the files that are known to have an expired record.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from paimon_contract.parameters.compact import RecordAge
from paimon_schema.data_types import DataType
from paimon_schema.level_count import number_of_levels
from paimon_schema.table_schema import Column, TableSchema
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


class _InFiles(NamedTuple):
    """The column with the time in the files that were written with one schema."""

    own: Column | None
    """As it was then; None: it did not exist."""
    names: Sequence[str]
    """All columns."""


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
    merged = {key for key, each in buckets.items() if _is_merged(each, number_of_levels(options))}
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
    times = _Times(observer, column)
    found: dict[str, tuple[BucketId, bool]] = {}
    count: Counter[str] = Counter()
    for entry in observer.manifests.with_least_values(contents.manifests.values()):
        file, sign = entry["_FILE"], SIGNS[entry["_KIND"]]
        if sign < 0:
            count[file["_FILE_NAME"]] += sign
            continue
        least = times.least_of(file)
        if least is None or least < before:
            count[file["_FILE_NAME"]] += sign
            found[file["_FILE_NAME"]] = (entry["_PARTITION"], entry["_BUCKET"]), least is not None
    yield from (each for name, each in found.items() if count[name] > 0)


class _Times:
    """The least times of files. A column keeps its id when it is renamed."""

    def __init__(self, observer: Observer, column: str) -> None:
        known = observer.schema.by_name.get(column)
        if known is None or known.id is None:
            raise UnreadableError(f"the table has no column {column}, by which its records expire")
        self._id, self._latest = known.id, observer.schema
        self._known = TableFiles(observer.files, observer.location)
        self._by_schema: dict[int, _InFiles | None] = {}

    def least_of(self, file: Record) -> float | None:
        """Seconds since 1970 of the record with the least time; None where it is not known."""
        column = self._in_files_of(file["_SCHEMA_ID"])
        if column is None:
            return None
        if column.own is None:
            return _NEVER
        stored = file.get("_VALUE_STATS_COLS")
        names = column.names if stored is None else stored
        if column.own.name not in names:
            return None
        least = file["_VALUE_STATS"]["_MIN_VALUES"]
        return _seconds(number_at(least, names.index(column.own.name), len(names), column.own.type), column.own.type)

    def _in_files_of(self, schema: int) -> _InFiles | None:
        """None: the schema is gone."""
        if schema not in self._by_schema:
            found = self._latest if schema == self._latest.id else self._known.schema(schema)
            self._by_schema[schema] = None if found is None else self._of(found)
        return self._by_schema[schema]

    def _of(self, schema: TableSchema) -> _InFiles:
        own = next((each for each in schema.columns if each.id == self._id), None)
        return _InFiles(own, [each.name for each in schema.columns])


def _seconds(number: int | None, type_: DataType) -> int | None:
    """As Paimon reads a time."""
    if number is None:
        return None
    is_millis = type_.name.startswith("TIMESTAMP") or (type_.name == "BIGINT" and number >= _LEAST_MILLIS)
    return int(number / 1000) if is_millis else number
