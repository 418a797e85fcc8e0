"""A table's metadata files, written as Paimon writes them but without Paimon: any history, in milliseconds.

    table = FabricatedTable(tmp_path)
    table.commit([data_file("a", level=0, rows=5)])

`live` is what the latest snapshot holds, kept beside the files, so that a test compares what was read with it.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from paimon_schema.table_schema import TableSchema, read_schema_file
from tests.support.fabricated_avro import DataFile, Record, index_manifest_of, listed, manifest_list_of, manifest_of

START_MS = 1_700_000_000_000
"""Snapshot n is n minutes after it, unless a table has a start of its own."""


def schema_of(**members: Any) -> TableSchema:
    """The schema of a fabricated table: partitioned by `day`, with a primary key, files below 70 bytes are small."""
    return read_schema_file(json.dumps(schema_document(**members)))


def schema_document(**members: Any) -> dict[str, Any]:
    """The schema file of `schema_of`."""
    usual = {
        "version": 3,
        "id": 0,
        "fields": [
            {"id": 0, "name": "day", "type": "STRING NOT NULL"},
            {"id": 1, "name": "id", "type": "BIGINT NOT NULL"},
        ],
        "highestFieldId": 1,
        "partitionKeys": ["day"],
        "primaryKeys": ["day", "id"],
        "options": {"bucket": "4", "target-file-size": "100 b"},
        "comment": "",
        "timeMillis": START_MS,
    }
    return usual | members


@dataclass(frozen=True)
class _Version:
    """A snapshot: its data files, deletion vectors and manifests."""

    live: dict[str, DataFile]
    deleted: Mapping[str, int | None]
    manifests: list[Record]


@dataclass
class FabricatedTable:
    """A table in a directory of its own. Each method changes its files as a program with Paimon would."""

    root: Path
    release: str = "1.4"
    metadata_name: str = "{kind}-{number}"
    """Name of a manifest, list or index manifest. Paimon's have a UUID."""
    live: dict[str, DataFile] = field(default_factory=dict)
    deleted: Mapping[str, int | None] = field(default_factory=dict)
    """Data file -> rows that its deletion vector deletes."""
    start_ms: int = START_MS
    _history: dict[int, _Version] = field(default_factory=dict)
    _names: Any = field(default_factory=lambda: itertools.count(1))

    @property
    def location(self) -> str:
        return f"file://{self.root}"

    @property
    def latest(self) -> int:
        """The id of the latest snapshot, 0 for none."""
        return max(self._history, default=0)

    @property
    def earliest(self) -> int:
        """The id of the earliest snapshot."""
        return min(self._history)

    def snapshot_file(self, id_: int) -> Path:
        return self.root / "snapshot" / f"snapshot-{id_}"

    def files_of(self, id_: int) -> Mapping[str, DataFile]:
        """The data files of a snapshot."""
        return self._history[id_].live

    def manifests(self) -> list[Path]:
        """The data manifests of the latest snapshot, oldest first."""
        return [self.root / "manifest" / each["_FILE_NAME"] for each in self._history[self.latest].manifests]

    def commit(
        self,
        add: Iterable[DataFile] = (),
        remove: Iterable[str] = (),
        *,
        merge: bool = False,
        hint: bool = True,
        deleted: Mapping[str, int | None] | None = None,
        **members: Any,
    ) -> int:
        """Commits a snapshot and returns its id. A name can be removed and added: a file that changes its level.

        `merge`: the earlier manifests are rewritten as one. `hint`: LATEST is written. `deleted`: the rows that
        deletion vectors delete from now on, by data file. `members` replace those of the snapshot file.
        """
        base = list(self._history[self.latest].manifests) if self._history else []
        if merge:
            base = [self._put_manifest([(0, each) for each in self.live.values()])]
        changes = [(1, self.live.pop(name)) for name in remove] + [(0, each) for each in add]
        self.live |= {each.name: each for kind, each in changes if kind == 0}
        self.deleted = self.deleted if deleted is None else dict(deleted)
        delta, id_ = [self._put_manifest(changes)], self.latest + 1
        self._put_snapshot(id_, base, delta, members)
        self._history[id_] = _Version(dict(self.live), self.deleted, [*base, *delta])
        if hint:
            self.write_hint(id_)
        return id_

    def write_hint(self, id_: int | str, name: str = "LATEST") -> Self:
        """Writes a hint at a time of its own, long ago."""
        path, time = self.root / "snapshot" / name, START_MS // 1000 + next(self._names)
        self._put(path, str(id_).encode())
        os.utime(path, (time, time))
        return self

    def expire(self, before: int) -> Self:
        """Removes the snapshots before one, with the manifests that no later snapshot has."""
        self._forget([id_ for id_ in self._history if id_ < before])
        self.write_hint(before, "EARLIEST")
        return self

    def roll_back(self, to: int) -> Self:
        """Removes the snapshots after one, as Paimon's rollback_to does."""
        self._forget([id_ for id_ in self._history if id_ > to])
        self.live, self.deleted = dict(self._history[to].live), self._history[to].deleted
        self.write_hint(to)
        return self

    def write_schema(self, **members: Any) -> Self:
        """Writes the schema of `schema_of`."""
        document = schema_document(**members)
        self._put(self.root / "schema" / f"schema-{document['id']}", json.dumps(document).encode())
        return self

    def tag(self, name: str, snapshot: int) -> Self:
        (self.root / "tag").mkdir(exist_ok=True)
        shutil.copy(self.snapshot_file(snapshot), self.root / "tag" / f"tag-{name}")
        return self

    def branch(self, name: str, snapshot: int) -> Self:
        directory = self.root / "branch" / f"branch-{name}" / "snapshot"
        directory.mkdir(parents=True)
        shutil.copy(self.snapshot_file(snapshot), directory)
        (directory / "LATEST").write_text(str(snapshot))
        return self

    def consumer(self, name: str, next_snapshot: int) -> Self:
        self._put(self.root / "consumer" / f"consumer-{name}", json.dumps({"nextSnapshot": next_snapshot}).encode())
        return self

    def _forget(self, gone: Sequence[int]) -> None:
        dropped = [self._history.pop(id_).manifests for id_ in gone]
        kept = {each["_FILE_NAME"] for version in self._history.values() for each in version.manifests}
        for id_ in gone:
            self.snapshot_file(id_).unlink()
        for each in itertools.chain.from_iterable(dropped):
            if each["_FILE_NAME"] not in kept:
                (self.root / "manifest" / each["_FILE_NAME"]).unlink(missing_ok=True)

    def _put_snapshot(self, id_: int, base: list[Record], delta: list[Record], members: Mapping[str, Any]) -> None:
        document: dict[str, Any] = {
            "version": 3,
            "id": id_,
            "schemaId": 0,
            "baseManifestList": self._put_new("manifest-list", manifest_list_of(base)),
            "deltaManifestList": self._put_new("manifest-list", manifest_list_of(delta)),
            "changelogManifestList": None,
            "indexManifest": self._put_index_manifest() if self.deleted else None,
            "commitUser": "user",
            "commitIdentifier": 2**63 - 1,
            "commitKind": "APPEND",
            "timeMillis": self.start_ms + 60_000 * id_,
            "totalRecordCount": sum(each.rows for each in self.live.values()),
        }
        self._put(self.snapshot_file(id_), json.dumps(document | dict(members)).encode())

    def _put_index_manifest(self) -> str:
        return self._put_new("index-manifest", index_manifest_of(self.deleted, self.release))

    def _put_manifest(self, entries: Sequence[tuple[int, DataFile]]) -> Record:
        content = manifest_of(entries, self.release)
        return listed(self._put_new("manifest", content), content, entries)

    def _put_new(self, kind: str, content: bytes) -> str:
        name = self.metadata_name.format(kind=kind, number=next(self._names))
        self._put(self.root / "manifest" / name, content)
        return name

    @staticmethod
    def _put(path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
