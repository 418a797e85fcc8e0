"""The index manifest of a snapshot: its index files, and how many rows deletion vectors delete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spark_apps.metadata.avro import Fields, records
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.file_sums import SIGNS
from spark_apps.metadata.manifests import ManifestFiles, check_version
from spark_apps.metadata.snapshots import Snapshot

INDEX_VERSION: Final = 1
"""Version of the records of index manifests that both engines write."""
_TYPE: Final = "DELETION_VECTORS"
_RANGES: Final = "_DELETIONS_VECTORS_RANGES"
_CARDINALITY: Final = "_CARDINALITY"
_HEAD: Final = ("_VERSION", "_KIND", "_INDEX_TYPE")
_FIELDS: Final[Fields] = (*_HEAD, _RANGES)
_NAME_HEAD: Final = ("_VERSION", "_KIND", "_FILE_NAME")
_NAME_FIELDS: Final[Fields] = (*_NAME_HEAD, "_EXTERNAL_PATH")


def index_files(manifests: ManifestFiles, name: str) -> Iterator[str]:
    """Names of all index files of an index manifest: hash indexes, deletion vectors, global indexes."""
    path = manifests.path(name)
    for record in records(manifests.read(name), _NAME_FIELDS, path, _NAME_HEAD):
        check_version(record, INDEX_VERSION, path)
        yield record["_FILE_NAME"]
        if record.get("_EXTERNAL_PATH"):
            yield record["_EXTERNAL_PATH"].rpartition("/")[2]


def deleted_rows(manifests: ManifestFiles, snapshot: Snapshot) -> int | None:
    """The rows that deletion vectors delete; None: their writer has not counted them, as Paimon 0.9 does not.

    An index manifest names all indexes of its snapshot, not only the new ones.
    """
    name = snapshot.index_manifest
    if name is None:
        return 0
    path, total, is_counted = manifests.path(name), 0, True
    for record in records(manifests.read(name), _FIELDS, path, _HEAD):
        check_version(record, INDEX_VERSION, path)
        if SIGNS.get(record["_KIND"]) != 1:
            raise UnreadableError(f"{path} has an entry of kind {record['_KIND']}")
        if record["_INDEX_TYPE"] == _TYPE:
            vectors = record.get(_RANGES)
            counts = [None] if vectors is None else [each.get(_CARDINALITY) for each in vectors]
            is_counted = is_counted and None not in counts
            total += sum(each or 0 for each in counts)
    return total if is_counted else None
