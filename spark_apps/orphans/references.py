"""The names of all files that a table still reaches: by its snapshots, changelogs and tags, and those of its branches.

A file that should exist and cannot be read ends the reading with UnreadableError: it is never read as empty. Consumers
need no reading, because what they keep is a snapshot. Files are known by their names alone, which all have a UUID: a
name that is referenced anywhere protects every file of that name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.deletion_vectors import index_files
from spark_apps.metadata.manifests import Manifest, ManifestFiles
from spark_apps.metadata.observation import MALFORMED
from spark_apps.metadata.settings import require_avro
from spark_apps.metadata.snapshots import LATEST, ExpiredError, Snapshot, id_in, read_snapshot
from spark_apps.metadata.table_files import TableFiles

MAX_MANIFESTS: Final = 20_000
"""Manifests of all snapshots, changelogs, tags and branches together."""
TRIES: Final = 3
"""Readings of all references, if snapshots expire meanwhile."""
_CHANGELOG_PRODUCER: Final = "changelog-producer"
_NUMBERED: Final = {each: re.compile(rf"{each}-([0-9]+)") for each in ("snapshot", "changelog", "schema")}
_NO_TAG: Final = "tag-success-file"


class MissingError(UnreadableError):
    """A file does not exist, although another one needs it."""

    def __init__(self, path: str, needed_by: str) -> None:
        super().__init__(f"{path} does not exist, although {needed_by} needs it")


@dataclass(frozen=True)
class Holder:
    """A snapshot file, changelog file or tag file, and what it holds."""

    path: str
    snapshot: Snapshot
    has_data: bool = True
    """False: a long-lived changelog. The manifests of its snapshot may be gone."""
    needs_delta: bool = True
    """Whether the manifests of its own commit are kept in any case."""
    needs_changelog: bool = True
    """Whether its changelog is kept in any case: Paimon expires that of a snapshot that only a tag or branch keeps."""


@dataclass
class References:
    """The references of the table at `location` to files of the names `wanted`.

    Manifests are read once: they never change. All else is read again at each call, so that what was committed or lost
    since is found.
    """

    files: MetadataFiles
    location: str
    wanted: Collection[str]
    found: set[str] = field(default_factory=set)
    """Names that are referenced, or were at an earlier call."""
    _read: set[str] = field(default_factory=set)

    def referenced(self) -> set[str]:
        """The wanted names that are referenced, or were at an earlier call. Raises UnreadableError."""
        for _ in range(TRIES - 1):
            try:
                return self._read_all()
            except MissingError:  # a snapshot may have expired meanwhile
                continue
        return self._read_all()

    @property
    def manifests(self) -> ManifestFiles:
        """The table's manifests, which it shares with its branches."""
        return ManifestFiles(self.files, self.location)

    def schemas(self) -> Iterator[TableSchema]:
        """All schemas of the table and its branches. Raises UnreadableError for a branch without one."""
        for root in self._roots():
            numbers = sorted(_numbers(self.files, root, "schema"))
            if not numbers:
                raise UnreadableError(f"{root}/schema has no schema")
            for number in numbers:
                schema = TableFiles(self.files, root).schema(number)
                if schema is None:
                    raise UnreadableError(f"{root}/schema/schema-{number} does not exist")
                require_avro(schema)
                yield schema

    def _roots(self) -> list[str]:
        """The table's directory and those of its branches."""
        names = self.files.names(f"{self.location}/branch")
        branches = sorted(each for each in names if each.startswith("branch-"))
        return [self.location, *(f"{self.location}/branch/{each}" for each in branches)]

    def _read_all(self) -> set[str]:
        needed: dict[str, _Needed] = {}
        try:
            present = frozenset(self._present())
            for holder in self._holders():
                self._read_holder(holder, needed, present)
            self._read_manifests(needed)
        except MALFORMED as error:
            raise UnreadableError(f"its metadata is malformed: {type(error).__name__}: {error}") from error
        return self.found

    def _present(self) -> set[str]:
        return set(self.files.names(f"{self.location}/manifest"))

    def _read_manifests(self, needed: Mapping[str, _Needed]) -> None:
        """Those that were read earlier must still exist."""
        present = self._present()
        for name, each in sorted(needed.items()):
            if name not in present:
                raise MissingError(self.manifests.path(name), each.holder)
            if name not in self._read:
                with _needed_by(each.holder):
                    self._note(self.manifests.files_of(each.manifest))
                self._read.add(name)

    def _note(self, names: Iterable[str]) -> None:
        self.found.update(each for each in names if each in self.wanted)

    def _holders(self) -> Iterator[Holder]:
        """Those of the table, then those of its branches, also of one that is made from a tag meanwhile."""
        seen: set[str] = set()
        while left := [each for each in self._roots() if each not in seen]:
            for root in left:
                yield from self._holders_in(root)
            seen.update(left)

    def _holders_in(self, root: str) -> Iterator[Holder]:
        yield from self._snapshots(root, is_main=root == self.location)
        yield from self._tags(root)
        yield from self._changelogs(root)
        # Afterwards: all listings of a branch that was renamed meanwhile are empty, and those of a dropped table.
        if next(_numbers(self.files, root, "schema"), None) is None:
            raise MissingError(f"{root}/schema/schema-0, or a later schema,", root)

    def _snapshots(self, root: str, *, is_main: bool) -> Iterator[Holder]:
        numbers = sorted(_numbers(self.files, root, "snapshot"))
        hint = id_in(self.files.read(f"{root}/snapshot/{LATEST}"))
        lost = _first_lost(numbers, hint)
        if lost is not None:
            raise MissingError(f"{root}/snapshot/snapshot-{lost}", f"{root}/snapshot/{LATEST}, or a later snapshot,")
        for number in numbers:
            yield replace(self._holder(f"{root}/snapshot/snapshot-{number}"), needs_changelog=is_main)

    def _tags(self, root: str) -> Iterator[Holder]:
        for name in sorted(self.files.names(f"{root}/tag")):
            if name.startswith("tag-") and name != _NO_TAG:
                yield replace(self._holder(f"{root}/tag/{name}"), needs_changelog=False)

    def _changelogs(self, root: str) -> Iterator[Holder]:
        for number in sorted(_numbers(self.files, root, "changelog")):
            holder = self._holder(f"{root}/changelog/changelog-{number}")
            found = holder.snapshot
            is_its_delta = found.changelog_manifest_list is None and self._has_no_producer(root, found.schema_id)
            yield replace(holder, has_data=False, needs_delta=is_its_delta)

    def _has_no_producer(self, root: str, schema_id: int) -> bool:
        """Whether what is kept as the changelog of a commit are its own data files."""
        schema = TableFiles(self.files, root).schema(schema_id)
        if schema is None:
            raise UnreadableError(f"{root}/schema/schema-{schema_id} does not exist, although a changelog names it")
        return schema.options.get(_CHANGELOG_PRODUCER, "none").lower() == "none"

    def _holder(self, path: str) -> Holder:
        found = read_snapshot(self.files, path)
        if found is None:
            raise MissingError(path, "the listing of its directory")
        return Holder(path, found)

    def _read_holder(self, holder: Holder, needed: dict[str, _Needed], present: Collection[str]) -> None:
        """Notes what the holder names itself, and adds the manifests that are to be read."""
        found = holder.snapshot
        (base, base_size), (delta, delta_size) = found.manifest_lists
        named = (base, delta, found.changelog_manifest_list, found.index_manifest, found.statistics)
        self._note(each for each in named if each is not None)
        lists = [(base, base_size, holder.has_data), (delta, delta_size, holder.needs_delta)]
        if found.changelog_manifest_list is not None:
            lists.append((found.changelog_manifest_list, None, holder.needs_changelog))
        with _needed_by(holder.path):
            for name, size, is_needed in lists:
                if is_needed or name in present:
                    listed = self.manifests.listed(name, size)
                    self._note(each.name for each in listed)
                    kept = (each for each in listed if is_needed or each.name in present)
                    needed.update({each.name: _Needed(each, holder.path) for each in kept})
            if found.index_manifest is not None and holder.has_data:
                self._note(index_files(self.manifests, found.index_manifest))
        if len(needed) > MAX_MANIFESTS:
            raise UnreadableError(f"it has more than {MAX_MANIFESTS} manifests, which is more than one run reads")


@dataclass(frozen=True)
class _Needed:
    """A manifest, and a file that needs it."""

    manifest: Manifest
    holder: str


@contextmanager
def _needed_by(holder: str) -> Iterator[None]:
    try:
        yield
    except ExpiredError as error:
        raise MissingError(str(error).removesuffix(" does not exist"), holder) from error


def _numbers(files: MetadataFiles, root: str, kind: str) -> Iterator[int]:
    names = (_NUMBERED[kind].fullmatch(each) for each in files.names(f"{root}/{kind}"))
    return (int(each[1]) for each in names if each)


def _first_lost(numbers: list[int], hint: int | None) -> int | None:
    """A snapshot that should be there and is not: one between two others, or the one that LATEST names."""
    known = set(numbers)
    between = next((each for each in range(numbers[0], numbers[-1]) if each not in known), None) if numbers else None
    if between is not None:
        return between
    return hint if hint is not None and (not numbers or hint > numbers[-1]) else None
