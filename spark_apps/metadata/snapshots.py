"""The snapshot files of a table or a branch: `snapshot/snapshot-<id>`, with the hints LATEST and EARLIEST beside them.

A hint can lag behind: a committer writes it after its snapshot. A snapshot file is never changed, but after a rollback
another one can take its number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from spark_apps.metadata.base import MetadataFiles, Stamped, UnreadableError

SNAPSHOT_VERSION: Final = 3
"""Version of the snapshot files that both engines write: Snapshot.CURRENT_VERSION."""
MAX_PROBES: Final = 8
"""Snapshots after a known one that are asked for one by one. Beyond them a listing is cheaper."""
LATEST: Final = "LATEST"
EARLIEST: Final = "EARLIEST"
_ID: Final = re.compile(r"[1-9][0-9]{0,17}")
_SNAPSHOT_FILE: Final = re.compile(rf"snapshot-({_ID.pattern})")
_FILE_NAME: Final = re.compile(r"[^/\\]{1,255}")


class ExpiredError(UnreadableError):
    """A file that a snapshot names does not exist any more: the snapshot has expired meanwhile."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A snapshot, or the one that a tag keeps. Equal ones are the same commit: names of manifest lists are unique."""

    id: int
    schema_id: int
    base_manifest_list: str
    delta_manifest_list: str
    list_sizes: tuple[int | None, int | None] = (None, None)
    """Bytes of the two lists. Paimon 0.9 does not write them."""
    index_manifest: str | None
    total_rows: int | None
    """Rows of all its data files, as its committer counted them. Snapshots of old releases have none."""
    time_ms: int
    commit_user: str = ""
    commit_identifier: int = 0
    commit_kind: str = ""
    changelog_manifest_list: str | None = None
    """Names the manifests of its changelog files; None: it has none."""
    statistics: str | None = None

    @property
    def manifest_lists(self) -> tuple[tuple[str, int | None], ...]:
        """Names and bytes of the lists that together name its manifests."""
        return tuple(zip((self.base_manifest_list, self.delta_manifest_list), self.list_sizes, strict=True))


@dataclass(frozen=True)
class SnapshotFiles:
    """The snapshots in `location`/snapshot. Each method raises UnreadableError for what it cannot read for sure."""

    files: MetadataFiles
    location: str

    def snapshot(self, id_: int) -> Snapshot | None:
        """The snapshot of this id; None: there is none."""
        found = read_snapshot(self.files, f"{self.location}/snapshot/snapshot-{id_}")
        if found is not None and found.id != id_:
            raise UnreadableError(f"{self.location}/snapshot/snapshot-{id_} holds snapshot {found.id}")
        return found

    def latest_hint(self) -> Stamped | None:
        """The content of LATEST."""
        return self.files.read_stamped(f"{self.location}/snapshot/{LATEST}")

    def latest_by_hint(self) -> Snapshot | None:
        """The latest snapshot, beginning with the one that LATEST names; None: there is none."""
        hint = self.latest_hint()
        return self.latest(None if hint is None else id_in(hint.content))

    def latest(self, hint: int | None) -> Snapshot | None:
        """The latest snapshot; None: there is none. `hint` is an id that may be the latest one or an older one."""
        found = None if hint is None else self.snapshot(hint)
        return self._listed(max) if found is None else self._after(found)

    def earliest(self, latest: Snapshot) -> Snapshot:
        """The earliest snapshot that still exists, given the latest one."""
        hint = id_in(self.files.read(f"{self.location}/snapshot/{EARLIEST}"))
        if hint == latest.id:
            return latest
        found = None if hint is None or hint > latest.id else self.snapshot(hint)
        found = found or self._listed(min)
        if found is None or found.id > latest.id:
            raise ExpiredError(f"snapshot {latest.id} has expired")
        return found

    def _after(self, known: Snapshot) -> Snapshot | None:
        for _ in range(MAX_PROBES):
            newer = self.snapshot(known.id + 1)
            if newer is None:
                return known
            known = newer
        return self._listed(max)

    def _listed(self, which: Any) -> Snapshot | None:
        id_ = which(self._ids(), default=None)
        if id_ is None:
            return None
        found = self.snapshot(id_)
        if found is None:
            raise ExpiredError(f"snapshot {id_} has expired")
        return found

    def _ids(self) -> Iterator[int]:
        names = (_SNAPSHOT_FILE.fullmatch(name) for name in self.files.names(f"{self.location}/snapshot"))
        return (int(found[1]) for found in names if found)


def id_in(content: bytes | None) -> int | None:
    """The id that a hint contains; None for none, as Paimon ignores a hint that it cannot read."""
    text = (content or b"").decode("ascii", errors="replace").strip()
    return int(text) if _ID.fullmatch(text) else None


def number_in(files: MetadataFiles, path: str, member: str) -> int | None:
    """A member of a JSON file, such as `nextSnapshot` of a consumer; None: no such file. Raises UnreadableError."""
    content = files.read(path)
    try:
        return None if content is None else int(json.loads(content)[member])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableError(f"{path}: {type(error).__name__}: {error}") from error


def read_snapshot(files: MetadataFiles, path: str) -> Snapshot | None:
    """The snapshot in a file, which may be that of a tag; None: no such file. Raises UnreadableError."""
    content = files.read(path)
    if content is None:
        return None
    try:
        return _parse(json.loads(content.decode()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableError(f"{path}: {type(error).__name__}: {error}") from error


def _parse(document: Any) -> Snapshot:
    version = document.get("version") or 1
    if version > SNAPSHOT_VERSION:
        raise ValueError(f"version {version} of snapshot files is newer than {SNAPSHOT_VERSION}")
    rows = document.get("totalRecordCount")
    return Snapshot(
        id=int(document["id"]),
        schema_id=int(document["schemaId"]),
        base_manifest_list=file_name(document["baseManifestList"]),
        delta_manifest_list=file_name(document["deltaManifestList"]),
        list_sizes=(document.get("baseManifestListSize"), document.get("deltaManifestListSize")),
        index_manifest=_optional_name(document, "indexManifest"),
        total_rows=None if rows is None else int(rows),
        time_ms=int(document["timeMillis"]),
        commit_user=str(document.get("commitUser") or ""),
        commit_identifier=int(document.get("commitIdentifier") or 0),
        commit_kind=str(document.get("commitKind") or ""),
        changelog_manifest_list=_optional_name(document, "changelogManifestList"),
        statistics=_optional_name(document, "statistics"),
    )


def _optional_name(document: Any, key: str) -> str | None:
    value = document.get(key)
    return None if value is None else file_name(value)


def file_name(value: object) -> str:
    """The name of a file of Paimon's, which becomes part of a path. Raises ValueError for anything else."""
    if not isinstance(value, str) or not _FILE_NAME.fullmatch(value) or value in (".", ".."):
        raise ValueError(f"{value!r} is no name of a file")
    return value
