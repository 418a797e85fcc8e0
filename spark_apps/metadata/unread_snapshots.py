"""The bytes that a consumer keeps: of data files in the snapshots from the one that it reads next to the latest one.

An expiry removes none of these snapshots. So a consumer also keeps files that a commit after its snapshot has added and
a later one has removed, such as those that compactions have merged since.

A file of these snapshots that the latest one does not have was removed by one of the commits after the first of them.
So the manifests of these commits alone are read, from the latest commit back, and once for all consumers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.manifests import Manifest, ManifestFiles, require_few
from spark_apps.metadata.snapshots import ExpiredError, Snapshot, SnapshotFiles

MAX_UNREAD: Final = 100
"""Snapshots that are read for all consumers of a table. Each takes three requests or more."""


@dataclass
class UnreadSnapshots:
    """The snapshots before `latest`, as far as a consumer has asked for them."""

    manifests: ManifestFiles
    latest: Snapshot
    spent: list[Manifest]
    """Manifests that were read for all pins."""
    _bytes: list[int] = field(default_factory=lambda: [0])
    """At n: the bytes that a consumer keeps whose next snapshot is the n-th before the latest."""
    _decided: set[str] = field(default_factory=set)
    """Files of which a later commit says whether the latest snapshot has them."""

    def bytes_from(self, first: int) -> int:
        """What a consumer keeps that reads snapshot `first` next. Raises UnreadableError for too many snapshots."""
        behind = self.latest.id - first
        if behind > MAX_UNREAD:
            raise UnreadableError(f"{behind} snapshots are too many to read")
        while len(self._bytes) <= behind:
            changes = self._changes_of(self.latest.id - len(self._bytes) + 1)
            removed = sum(size for name, (sign, size) in changes.items() if sign < 0 and name not in self._decided)
            self._decided |= changes.keys()
            self._bytes.append(self._bytes[-1] + removed)
        return self._bytes[behind]

    def _changes_of(self, id_: int) -> Mapping[str, tuple[int, int]]:
        """The files that a commit has added (1) or removed (-1), with their bytes; not one that changed its level."""
        manifests = self.manifests.of_delta(self._existing(id_)).values()
        self.spent.extend(manifests)
        require_few(self.spent)
        said: defaultdict[str, int] = defaultdict(int)
        sizes: dict[str, int] = {}
        for name, size, sign in (change for each in manifests for change in self.manifests.changes(each)):
            said[name] += sign
            sizes[name] = size
        return {name: (sign, sizes[name]) for name, sign in said.items() if sign}

    def _existing(self, id_: int) -> Snapshot:
        if id_ == self.latest.id:
            return self.latest
        found = SnapshotFiles(self.manifests.files, self.manifests.location).snapshot(id_)
        if found is None:
            raise ExpiredError(f"snapshot {id_} has expired")
        return found
