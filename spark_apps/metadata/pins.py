"""What tags, branches and consumers keep: the bytes of data files that they reach and the latest snapshot does not.

What several of them reach counts for each. A tag reaches the files of its snapshot, a branch those of its own latest
snapshot, a consumer those of all snapshots from the one that it reads next: `unread_snapshots`.

A file is in a snapshot if its manifests add it more often than they remove it. Manifests that two snapshots share say
the same of each file, so only the others are read: a file is pinned exactly if the other manifests of the pin say one
more of it than the other manifests of the latest snapshot. A tag or branch costs its file, two manifest lists, and
those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from paimon_contract.result import Pin
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.manifests import Manifest, ManifestFiles, require_few
from spark_apps.metadata.snapshots import Snapshot, SnapshotFiles, number_in, read_snapshot
from spark_apps.metadata.unread_snapshots import UnreadSnapshots

MAX_SHOWN: Final = 8
"""Pins that are reported: the largest."""
MAX_MEASURED: Final = 50
"""Pins whose bytes are found out, the first by kind and name. Each takes three requests or more."""
MAX_NAME_LENGTH: Final = 128
TAG: Final = "Tag"
BRANCH: Final = "Branch"
CONSUMER: Final = "Consumer"
_PREFIXES: Final = {BRANCH: "branch-", CONSUMER: "consumer-", TAG: "tag-"}
NO_TAG: Final = "tag-success-file"
"""Directory beside the tags: Paimon's option tag.create-success-file."""


@dataclass(frozen=True)
class Pins:
    """The `count` pins of a table, and the largest of them."""

    count: int
    shown: tuple[Pin, ...]


def read_pins(manifests: ManifestFiles, latest: Snapshot, earliest: Snapshot) -> Pins:
    """The pins of a table. Raises UnreadableError where they cannot be listed."""
    reader = _Reader(manifests, latest, earliest)
    found = list(reader.listed())
    pins = [
        Pin(
            kind=kind,
            name=name[:MAX_NAME_LENGTH],
            bytes=reader.bytes_of(kind, name) if number < MAX_MEASURED else None,
        )
        for number, (kind, name) in enumerate(found)
    ]
    pins.sort(key=lambda each: (each.bytes is None, -(each.bytes or 0), each.kind, each.name))
    return Pins(len(found), tuple(pins[:MAX_SHOWN]))


@dataclass(frozen=True)
class _Reader:
    """One read of the pins of a table."""

    manifests: ManifestFiles
    latest: Snapshot
    earliest: Snapshot
    _bytes: dict[Snapshot, int] = field(default_factory=dict)
    """Snapshot -> the bytes that it pins: several tags can name one."""
    _spent: list[Manifest] = field(default_factory=list)
    """Manifests that were read."""

    def listed(self) -> Iterator[tuple[str, str]]:
        """Kind and name of each pin."""
        for kind, prefix in _PREFIXES.items():
            names = set(self.manifests.files.names(f"{self.manifests.location}/{kind.lower()}")) - {NO_TAG}
            yield from ((kind, name.removeprefix(prefix)) for name in sorted(names) if name.startswith(prefix))

    def bytes_of(self, kind: str, name: str) -> int | None:
        """The bytes that a pin keeps; None where they cannot be found out, or not with the reads that are left."""
        measure = {TAG: self._of_tag, BRANCH: self._of_branch, CONSUMER: self._of_consumer}[kind]
        try:
            return measure(name)
        except UnreadableError:
            return None

    def _of_tag(self, name: str) -> int:
        return self._of_snapshot(read_snapshot(self.manifests.files, f"{self.manifests.location}/tag/tag-{name}"))

    def _of_branch(self, name: str) -> int:
        of_branch = SnapshotFiles(self.manifests.files, f"{self.manifests.location}/branch/branch-{name}")
        return self._of_snapshot(of_branch.latest_by_hint())

    def _of_snapshot(self, snapshot: Snapshot | None) -> int:
        if snapshot is None or snapshot == self.latest:
            return 0
        if snapshot not in self._bytes:
            self._bytes[snapshot] = self._pinned(snapshot)
        return self._bytes[snapshot]

    def _of_consumer(self, name: str) -> int:
        path = f"{self.manifests.location}/consumer/consumer-{name}"
        next_ = number_in(self.manifests.files, path, "nextSnapshot")
        if next_ is None or next_ >= self.latest.id:  # it waits for a snapshot to come, or reads the latest
            return 0
        return self._unread.bytes_from(max(next_, self.earliest.id))

    @cached_property
    def _unread(self) -> UnreadSnapshots:
        return UnreadSnapshots(self.manifests, self.latest, self._spent)

    @cached_property
    def _of_latest(self) -> dict[str, Manifest]:
        return self.manifests.of_snapshot(self.latest)

    def _pinned(self, snapshot: Snapshot) -> int:
        of_pin, of_latest = self.manifests.of_snapshot(snapshot), self._of_latest
        only_of_pin = [each for name, each in of_pin.items() if name not in of_latest]
        only_of_latest = [each for name, each in of_latest.items() if name not in of_pin]
        self._spent.extend([*only_of_pin, *only_of_latest])
        require_few(self._spent)
        said: defaultdict[str, int] = defaultdict(int)
        sizes: dict[str, int] = {}
        for changes, weight in ((self._changes(only_of_pin), 1), (self._changes(only_of_latest), -1)):
            for name, size, sign in changes:
                said[name] += weight * sign
                sizes[name] = size
        return sum(sizes[name] for name, more in said.items() if more == 1)

    def _changes(self, manifests: Iterable[Manifest]) -> Iterator[tuple[str, int, int]]:
        return (change for manifest in manifests for change in self.manifests.changes(manifest))
