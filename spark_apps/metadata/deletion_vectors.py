"""The deletion vectors of a snapshot, from its index manifest: rows of data files that are deleted."""

from __future__ import annotations

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
