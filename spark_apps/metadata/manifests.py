"""Manifests: which data files each commit has added and removed. A manifest list names those of a snapshot.

A manifest is never changed, and its name is used once. Each read is checked against what the list says of it, because
an Avro file that was cut off between two blocks reads as a shorter one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from spark_apps.metadata.avro import Fields, Record, records
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.file_sums import SIGNS, BucketLevel, FileSums, sums_of
from spark_apps.metadata.snapshots import ExpiredError, Snapshot, file_name

MAX_MANIFESTS: Final = 2_000
"""Manifests of one read. Each is a request, so more take minutes on S3; Paimon merges them from 30 on."""
MAX_MANIFEST_BYTES: Final = 64 << 20
"""Bytes of one manifest. Paimon's default target is 8 MiB."""
MAX_TOTAL_BYTES: Final = 256 << 20
"""Bytes of all manifests of one read: about two million data files, which take half a minute of CPU time."""
ENTRY_VERSION: Final = 2
"""Version of the records of manifests and their lists that both engines write."""

_LIST_NAMES: Final = ("_VERSION", "_FILE_NAME", "_FILE_SIZE", "_NUM_ADDED_FILES", "_NUM_DELETED_FILES")
_LIST_FIELDS: Final[Fields] = _LIST_NAMES
_HEAD: Final = ("_VERSION", "_KIND", "_PARTITION", "_BUCKET")
_MEASURES: Final = ("_FILE_SIZE", "_ROW_COUNT", "_LEVEL", "_DELETE_ROW_COUNT")
_ENTRY_FIELDS: Final[Fields] = (*_HEAD, ("_FILE", _MEASURES))
_TIME_FIELDS: Final[Fields] = ("_VERSION", "_KIND", "_PARTITION", ("_FILE", ("_CREATION_TIME",)))
_REACHED_FIELDS: Final[Fields] = (
    "_VERSION",
    "_KIND",
    ("_FILE", ("_FILE_NAME", "_EXTRA_FILES", "_EXTERNAL_PATH")),
)
_SCHEMA_FIELDS: Final[Fields] = ("_VERSION", "_KIND", "_PARTITION", ("_FILE", ("_LEVEL", "_SCHEMA_ID")))
_LEAST: Final = ("_VALUE_STATS", ("_MIN_VALUES",))
_LEAST_FIELDS: Final[Fields] = (*_HEAD, ("_FILE", ("_FILE_NAME", "_SCHEMA_ID", "_VALUE_STATS_COLS", _LEAST)))
_NAME_FIELDS: Final[Fields] = ("_VERSION", "_KIND", ("_FILE", ("_FILE_NAME", "_FILE_SIZE")))


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest as a list describes it."""

    name: str
    size: int
    added: int
    deleted: int


@dataclass(frozen=True)
class ManifestFiles:
    """The files in `location`/manifest, which a table shares with its branches.

    Each method raises ExpiredError for a file that does not exist, and UnreadableError for one that cannot be read.
    """

    files: MetadataFiles
    location: str

    def of_snapshot(self, snapshot: Snapshot) -> dict[str, Manifest]:
        """The data manifests of a snapshot by name, without those of its changelog."""
        return self._distinct(snapshot, snapshot.manifest_lists)

    def of_delta(self, snapshot: Snapshot) -> dict[str, Manifest]:
        """Those of its own commit alone, by name."""
        return self._distinct(snapshot, snapshot.manifest_lists[1:])

    def _distinct(self, snapshot: Snapshot, lists: Iterable[tuple[str, int | None]]) -> dict[str, Manifest]:
        found: dict[str, Manifest] = {}
        for manifest in (each for name, size in lists for each in self._listed(name, size)):
            if manifest.name in found:
                raise UnreadableError(f"snapshot {snapshot.id} has manifest {manifest.name} twice")
            found[manifest.name] = manifest
        return found

    def sums(self, manifests: Iterable[Manifest], small_below: int) -> dict[BucketLevel, FileSums]:
        """Added minus removed files, by bucket and level."""
        entries = (entry for manifest in manifests for entry in self._entries(manifest, _ENTRY_FIELDS, _HEAD))
        return sums_of(entries, small_below)

    def changes(self, manifest: Manifest) -> Iterator[tuple[str, int, int]]:
        """Name of a data file, its bytes, and 1 for one that was added or -1 for one that was removed."""
        for entry in self._entries(manifest, _NAME_FIELDS, ()):
            yield entry["_FILE"]["_FILE_NAME"], entry["_FILE"]["_FILE_SIZE"], SIGNS[entry["_KIND"]]

    def newest_files(self, manifests: Iterable[Manifest]) -> dict[bytes, datetime]:
        """When the newest file of each partition was made, also one that was removed since.

        By the clock of its writer and in the time zone of its JVM, which is taken for UTC: both as Paimon does here.
        A partition whose files all lack the time is left out.
        """
        newest: dict[bytes, datetime] = {}
        for entry in (each for manifest in manifests for each in self._entries(manifest, _TIME_FIELDS, _HEAD[2:3])):
            made = entry["_FILE"].get("_CREATION_TIME")
            if isinstance(made, datetime):
                at = made.replace(tzinfo=UTC)
                newest[entry["_PARTITION"]] = max(at, newest.get(entry["_PARTITION"], at))
        return newest

    def listed(self, name: str, size: int | None = None) -> tuple[Manifest, ...]:
        """The manifests that a list names; `size` are its bytes, if they are known."""
        return tuple(self._listed(name, size))

    def files_of(self, manifest: Manifest) -> Iterator[str]:
        """Names of all files that a manifest adds or removes: data files, changelog files, and those beside them."""
        for entry in self._entries(manifest, _REACHED_FIELDS, ()):
            file = entry["_FILE"]
            yield file["_FILE_NAME"]
            yield from file["_EXTRA_FILES"]
            if file.get("_EXTERNAL_PATH"):
                yield file["_EXTERNAL_PATH"].rpartition("/")[2]

    def schemas_above_level0(self, manifests: Iterable[Manifest]) -> Mapping[bytes, Counter[int]]:
        """Of each partition, the ids of the schemas with which its files above level 0 were written, and their number.

        Of all manifests of a snapshot, that is without files that were removed.
        """
        found: defaultdict[bytes, Counter[int]] = defaultdict(Counter)
        for entry in (each for manifest in manifests for each in self._entries(manifest, _SCHEMA_FIELDS, _HEAD[2:3])):
            file = entry["_FILE"]
            if file["_LEVEL"] > 0:
                found[entry["_PARTITION"]][file["_SCHEMA_ID"]] += SIGNS[entry["_KIND"]]
        return {partition: +counts for partition, counts in found.items()}

    def with_least_values(self, manifests: Iterable[Manifest]) -> Iterator[Record]:
        """All entries, with the least value of each column of the file."""
        for manifest in manifests:
            yield from self._entries(manifest, _LEAST_FIELDS, _HEAD[2:])

    def read(self, name: str) -> bytes:
        """The content of a manifest, a list or an index manifest."""
        content = self.files.read(self.path(name), MAX_MANIFEST_BYTES)
        if content is None:
            raise ExpiredError(f"{self.path(name)} does not exist")
        return content

    def path(self, name: str) -> str:
        """The path of a file."""
        return f"{self.location}/manifest/{name}"

    def _whole(self, name: str, size: int | None) -> bytes:
        content = self.read(name)
        if size not in (None, len(content)):
            raise UnreadableError(f"{self.path(name)} has {len(content)} bytes of {size}")
        return content

    def _listed(self, name: str, size: int | None) -> Iterator[Manifest]:
        path = self.path(name)
        for record in records(self._whole(name, size), _LIST_FIELDS, path, _LIST_NAMES):
            check_version(record, ENTRY_VERSION, path)
            try:
                listed = file_name(record["_FILE_NAME"])
            except ValueError as error:
                raise UnreadableError(f"{path}: {error}") from error
            yield Manifest(listed, record["_FILE_SIZE"], record["_NUM_ADDED_FILES"], record["_NUM_DELETED_FILES"])

    def _entries(self, manifest: Manifest, fields: Fields, required: Iterable[str]) -> Iterator[Record]:
        path, found = self.path(manifest.name), dict.fromkeys(SIGNS, 0)
        for entry in records(
            self._whole(manifest.name, manifest.size), fields, path, ("_VERSION", "_KIND", "_FILE", *required)
        ):
            check_version(entry, ENTRY_VERSION, path)
            if entry["_KIND"] not in found:
                raise UnreadableError(f"{path} has an entry of kind {entry['_KIND']}")
            found[entry["_KIND"]] += 1
            yield entry
        if tuple(found.values()) != (manifest.added, manifest.deleted):
            raise UnreadableError(f"{path} has other entries than its list says")


def require_few(manifests: Collection[Manifest]) -> None:
    """Raises UnreadableError for more manifests than one read may take. A JVM reads them in parallel."""
    size = sum(each.size for each in manifests)
    if len(manifests) > MAX_MANIFESTS or size > MAX_TOTAL_BYTES:
        raise UnreadableError(f"{len(manifests)} manifests of {size} bytes are too many to read without a JVM")


def check_version(record: Record, known: int, path: str) -> None:
    """Raises UnreadableError for a record that a newer Paimon wrote."""
    if record["_VERSION"] > known:
        raise UnreadableError(f"{path} has records of version {record['_VERSION']}, newer than {known}")
