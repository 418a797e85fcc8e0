"""Which files of a table are reachable, read from its metadata by other code than that of RemoveOrphanFiles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import fastavro

ADDED = 0
_LISTS = ("baseManifestList", "deltaManifestList")
_NO_DATA = ("snapshot", "schema", "tag", "branch", "consumer", "changelog")
"""Directories of files that are found by their names."""
_CHANGELOG: Final = "changelog/"
MARK: Final = "_SUCCESS"
"""Name of the file that marks a partition as done."""


@dataclass
class TableTree:
    """The files below a table's directory."""

    root: Path
    _records: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Avro file -> its records: they never change."""

    def names(self) -> set[str]:
        """Names of all data files and files of manifests, indexes and statistics."""
        found = (each.relative_to(self.root) for each in self.root.rglob("*") if each.is_file())
        return {each.name for each in found if each.parts[0] not in _NO_DATA and each.name != MARK}

    def newest(self, directory: str) -> int | None:
        """When the newest file that the latest snapshot has in the buckets of a directory was made, in ms."""
        latest = self.snapshots().get(max(self.snapshots(), default=0))
        there = {each.name for each in self.root.glob(f"{directory}/bucket-*/*")}
        live = [] if latest is None else self._live_files(self._manifests(latest))
        times = [each["_CREATION_TIME"].replace(tzinfo=UTC) for each in live if each["_FILE_NAME"] in there]
        return round(1000 * max(times).timestamp()) if times else None

    def holders(self, damaged: frozenset[int] = frozenset()) -> dict[str, dict[str, Any]]:
        """Path -> content of each snapshot, tag and changelog, also of branches, without the damaged snapshots."""
        left_out = {self.root / "snapshot" / f"snapshot-{each}" for each in damaged}
        roots = [self.root, *(self.root / "branch").glob("branch-*")]
        kinds = ("snapshot", "tag", "changelog")
        paths = [path for each in roots for kind in kinds for path in (each / kind).glob(f"{kind}-*")]
        return {
            str(each.relative_to(self.root)): json.loads(each.read_text()) for each in paths if each not in left_out
        }

    def reachable(self, damaged: frozenset[int] = frozenset()) -> dict[str, str]:
        """Name of each file that must exist -> the snapshot or tag that needs it."""
        found: dict[str, str] = {}
        for path, snapshot in self.holders(damaged).items():
            of = self._changelog_of(snapshot) if path.startswith((_CHANGELOG, "snapshot/")) else ()
            found.update(dict.fromkeys(of, path))
            if not path.startswith(_CHANGELOG):
                found.update(dict.fromkeys(self._of(snapshot), path))
        return found

    def missing(self, damaged: frozenset[int] = frozenset()) -> list[str]:
        """A sentence for each file that is needed and does not exist."""
        present = self.names()
        try:
            needed = self.reachable(damaged)
        except FileNotFoundError as error:
            return [f"{error.filename} is missing, and a snapshot or tag needs it"]
        return sorted(f"{name} is missing, and {path} needs it" for name, path in needed.items() if name not in present)

    def named(self) -> set[str]:
        """All files that are named at all, also those of which a manifest says that they were removed."""
        found = set(self.reachable())
        held = [each for path, each in self.holders().items() if not path.startswith(_CHANGELOG)]
        manifests = {name for each in held for name in self._manifests(each)}
        return found | {each["_FILE"]["_FILE_NAME"] for name in manifests for each in self._read(name)}

    def _manifests(self, snapshot: dict[str, Any]) -> list[str]:
        return [each for key in _LISTS for each in self._listed(snapshot[key])]

    def _changelog_of(self, snapshot: dict[str, Any]) -> Iterator[str]:
        if name := snapshot.get("changelogManifestList"):
            changelogs = self._listed(name)
            yield from (name, *changelogs, *self._live(changelogs))

    def _of(self, snapshot: dict[str, Any]) -> Iterator[str]:
        manifests = self._manifests(snapshot)
        yield from (snapshot[key] for key in _LISTS)
        yield from manifests
        yield from self._live(manifests)
        if name := snapshot.get("indexManifest"):
            yield name
            yield from (each["_FILE_NAME"] for each in self._read(name))
        if name := snapshot.get("statistics"):
            yield name

    def _listed(self, name: str) -> list[str]:
        return [each["_FILE_NAME"] for each in self._read(name)]

    def _live(self, manifests: list[str]) -> Iterator[str]:
        for each in self._live_files(manifests):
            yield from (each["_FILE_NAME"], *(each.get("_EXTRA_FILES") or ()))

    def _live_files(self, manifests: list[str]) -> list[dict[str, Any]]:
        """A compaction can raise a file to another level: it removes the file from one and adds it to the other."""
        entries = [each for name in manifests for each in self._read(name)]
        gone = {_place(each["_FILE"]) for each in entries if each["_KIND"] != ADDED}
        added = [each["_FILE"] for each in entries if each["_KIND"] == ADDED]
        return [each for each in added if _place(each) not in gone]

    def _read(self, name: str) -> list[dict[str, Any]]:
        path = self.root / "manifest" / name
        if not path.exists():
            raise FileNotFoundError(2, "missing", str(path))
        if name not in self._records:
            with path.open("rb") as content:
                self._records[name] = [dict(each) for each in fastavro.reader(content)]  # type: ignore[arg-type]
        return self._records[name]

    @cached_property
    def snapshot_directory(self) -> Path:
        """Where the snapshots of the main branch are."""
        return self.root / "snapshot"

    def changelogs(self) -> set[int]:
        """Ids of the changelogs that have outlived their snapshots."""
        return {int(each.name.partition("-")[2]) for each in self.root.glob("changelog/changelog-*")}

    def consumers(self) -> set[str]:
        """The names of all consumers."""
        return {each.name.partition("-")[2] for each in self.root.glob("consumer/consumer-*")}

    def tags(self) -> dict[str, int]:
        """The tags of the main branch: name -> id of its snapshot."""
        found = self.root.glob("tag/tag-*")
        return {each.name.partition("-")[2]: int(json.loads(each.read_text())["id"]) for each in found}

    def snapshots(self) -> dict[int, dict[str, Any]]:
        """The snapshots of the main branch that exist, by their ids."""
        found = self.snapshot_directory.glob("snapshot-*")
        return {int(each.name.partition("-")[2]): json.loads(each.read_text()) for each in found}


def _place(file: dict[str, Any]) -> tuple[str, int]:
    return file["_FILE_NAME"], file["_LEVEL"]
