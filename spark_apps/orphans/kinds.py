"""What a file in a table's directory is, by its path alone.

Only names that Paimon gives to files of its own, in the directories where it puts them, can be orphans. Source:
FileStorePathFactory, DataFilePathFactory and Path.createTempPath of Paimon 0.9.0 and 1.4.2. All of them have a UUID.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.settings import DONE_MARK

_UUID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_FORMAT: Final = "(?:orc|parquet|avro|csv|json|text|blob|lance)"
_CODEC: Final = "(?:none|uncompressed|zstd|zst|lz4|snappy|gzip|gz|zlib|bz2|deflate|lzo)"
_NUMBERED: Final = rf"{_UUID}-[0-9]+"
_MANIFEST: Final = re.compile(rf"(?:manifest|manifest-list|index-manifest)-{_NUMBERED}")
_INDEX: Final = re.compile(rf"index-{_NUMBERED}")
_STATISTICS: Final = re.compile(rf"stats?-{_NUMBERED}")
_BUCKET: Final = re.compile(r"bucket-(?:-?[0-9]+|postpone)")
_COMMITTED: Final = {
    "snapshot": r"snapshot-[0-9]+|LATEST|EARLIEST",
    "changelog": r"changelog-[0-9]+|LATEST|EARLIEST",
    "schema": r"schema-[0-9]+",
    "tag": r"tag-.+",
    "consumer": r"consumer-.+",
}
"""Directory -> files that a reader looks for by name. These are never orphans."""
_TEMPORARY: Final = {each: re.compile(rf"\.(?:{names})\.{_UUID}\.tmp") for each, names in _COMMITTED.items()}
"""Files under which a writer prepares one of them. It renames them, or they are left when it is killed."""
_KNOWN: Final = {each: re.compile(names) for each, names in _COMMITTED.items()}
_TAG_MARKS: Final = "tag-success-file"
_BRANCH: Final = re.compile("branch-.+")
_DATA_PREFIX: Final = ("data-file.prefix", "data-")
_CHANGELOG_PREFIX: Final = ("changelog-file.prefix", "changelog-")
_DIRECTORY: Final = "data-file.path-directory"


class Kind(StrEnum):
    """Kind of a file. Each but COMMITTED and UNKNOWN can be an orphan."""

    DATA = "DataFile"
    """Data file, changelog file, or an index beside one."""
    MANIFEST = "Manifest"
    """Manifest, manifest list or index manifest."""
    INDEX = "Index"
    """Index file: a hash index, or deletion vectors."""
    STATISTICS = "Statistics"
    TEMPORARY = "Temporary"
    """A metadata file that was never finished."""
    COMMITTED = "Committed"
    """Snapshot, changelog, schema, tag, consumer, hint or mark of a partition that is done."""
    UNKNOWN = "Unknown"
    """Nothing that Paimon puts there. It is reported and never touched."""


CAN_BE_ORPHAN: Final = frozenset(Kind) - {Kind.COMMITTED, Kind.UNKNOWN}


@dataclass(frozen=True)
class Layout:
    """Where a table has its data files, by all schemas that it and its branches have had."""

    partition_keys: int
    directories: frozenset[str]
    """Directories below the table's that hold partitions and buckets; the empty text is the table's own."""
    prefixes: frozenset[str]
    """Beginnings of the names of data files and changelog files."""

    @classmethod
    def of(cls, schemas: Iterable[TableSchema]) -> Layout:
        """The layout by these schemas. Raises UnreadableError where they do not fit together."""
        known = list(schemas)
        counts = {len(each.partition_keys) for each in known}
        if len(counts) != 1:
            raise UnreadableError(f"its schemas have {sorted(counts)} partition keys")
        directories = {each.options.get(_DIRECTORY, "").strip("/") for each in known}
        if any({"", ".", ".."} & set(each.split("/")) for each in directories - {""}):
            raise UnreadableError(f"the option {_DIRECTORY} leads out of the table's directory")
        options = (_DATA_PREFIX, _CHANGELOG_PREFIX)
        prefixes = {each.options.get(key, default) for each in known for key, default in options}
        return cls(counts.pop(), frozenset(directories), frozenset(prefixes | {default for _, default in options}))

    def kind_of(self, path: str) -> Kind:
        """The kind of the file at this path below the table's directory."""
        head, _, rest = path.partition("/")
        if head == "branch" and _BRANCH.fullmatch(rest.partition("/")[0]):
            return _of_metadata(rest.partition("/")[2])
        fixed = {"manifest": (_MANIFEST, Kind.MANIFEST), "index": (_INDEX, Kind.INDEX)}
        fixed["statistics"] = (_STATISTICS, Kind.STATISTICS)
        if head in fixed:
            pattern, kind = fixed[head]
            return kind if pattern.fullmatch(rest) else Kind.UNKNOWN
        found = _of_metadata(path)
        return self._of_data(path) if found is Kind.UNKNOWN else found

    def _of_data(self, path: str) -> Kind:
        directory, _, name = path.rpartition("/")
        if name == DONE_MARK and any(self._is_partition(directory, each) for each in {"", *self.directories}):
            return Kind.COMMITTED
        inside = [each for each in self.directories if self._is_bucket(directory, each)]
        if inside and _INDEX.fullmatch(name):
            return Kind.INDEX
        return Kind.DATA if inside and self._data_name.fullmatch(name) else Kind.UNKNOWN

    def _is_bucket(self, directory: str, root: str) -> bool:
        partition, _, bucket = directory.rpartition("/")
        inside = self._is_partition(partition, root) if self.partition_keys else partition == root
        return inside and _BUCKET.fullmatch(bucket) is not None

    def _is_partition(self, directory: str, root: str) -> bool:
        if root and not directory.startswith(f"{root}/"):
            return False
        partitions = directory.removeprefix(root).lstrip("/").split("/")
        return len(partitions) == self.partition_keys and all(each.find("=") > 0 for each in partitions)

    @cached_property
    def _data_name(self) -> re.Pattern[str]:
        """With a UUID after the prefix; in a postponed bucket, the writer's name stands between them.

        Some have a file beside them: an index, or what `lookup.remote-file.enabled` stores of a data file.
        """
        begin = "|".join(re.escape(each) for each in sorted(self.prefixes))
        form = rf"(?:\.vector)?(?:\.{_CODEC})?\.{_FORMAT}(?:\.{_CODEC})?"
        beside = r"(?:-[0-9]+)?\.index|\.[0-9]+\.[a-z-]+\.v[0-9]+\.lookup"
        return re.compile(rf"(?:{begin})(?:.+-)?{_NUMBERED}{form}(?:{beside})?")


def _of_metadata(path: str) -> Kind:
    directory, _, name = path.partition("/")
    if directory not in _KNOWN:
        return Kind.UNKNOWN
    if directory == "tag" and name.startswith(f"{_TAG_MARKS}/"):
        return Kind.COMMITTED
    if "/" in name:
        return Kind.UNKNOWN
    if _TEMPORARY[directory].fullmatch(name):
        return Kind.TEMPORARY
    return Kind.COMMITTED if _KNOWN[directory].fullmatch(name) else Kind.UNKNOWN
