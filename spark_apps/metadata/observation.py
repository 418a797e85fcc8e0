"""The files of a table's latest snapshot, as sums, and how to look again without reading all of them.

The state after a look is the sum over the manifests of one snapshot. Manifests are never changed. So the next state is
this one, without the manifests that are gone and with those that are new: whatever happened in between, also a rollback
or the expiry of the snapshots in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.deletion_vectors import deleted_rows
from spark_apps.metadata.file_sums import Sums, plus, require_possible, total_of
from spark_apps.metadata.manifests import Manifest, ManifestFiles, require_few
from spark_apps.metadata.settings import require_avro, small_below
from spark_apps.metadata.snapshots import ExpiredError, Snapshot, SnapshotFiles, id_in

PROBE_EVERY: Final = 10
"""Looks after which another question than LATEST is asked once: a hint can lag, and an expiry does not change it."""


MALFORMED: Final = (KeyError, TypeError, ValueError, ArithmeticError)
"""What values of another type or size than Paimon writes lead to."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The data files of a snapshot."""

    snapshot: Snapshot
    earliest: Snapshot
    """The earliest snapshot that still exists."""
    small_below: int
    """Bytes below which a file counts as small."""
    manifests: Mapping[str, Manifest]
    sums: Sums
    deleted_rows: int | None
    """As of `deletion_vectors.deleted_rows`."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """The state after a look; `contents` is None for a table without a snapshot."""

    contents: Contents | None
    hint: int | None = None
    """What LATEST said."""
    stamp: str | None = None
    """Of LATEST; None: it cannot show whether somebody has written LATEST since."""
    looks: int = 1
    """Looks since the table was first observed."""

    @property
    def latest_id(self) -> int:
        """The id of the latest snapshot, 0 for none."""
        return 0 if self.contents is None else self.contents.snapshot.id


@dataclass(frozen=True)
class Observer:
    """Looks at the table at `location`. Raises UnreadableError where only a JVM can, or where a number is in doubt."""

    files: MetadataFiles
    location: str
    schema: TableSchema
    """The latest one. Its option target-file-size says which files are small."""

    @property
    def snapshots(self) -> SnapshotFiles:
        """The table's snapshots."""
        return SnapshotFiles(self.files, self.location)

    @property
    def manifests(self) -> ManifestFiles:
        """The table's manifests."""
        return ManifestFiles(self.files, self.location)

    def observe(self, previous: Observation | None = None) -> Observation:
        """The state of the table now. One request if nothing has changed since `previous`.

        A file that expires meanwhile is no failure: the look starts again once, from the new latest snapshot.
        """
        try:
            return self._look(previous)
        except ExpiredError:
            return self._look(None)
        except MALFORMED as error:
            raise UnreadableError(f"its metadata is malformed: {type(error).__name__}: {error}") from error

    def _look(self, previous: Observation | None) -> Observation:
        if previous is None:
            return self._follow(None)
        looks = previous.looks + 1
        if looks % PROBE_EVERY == 0 and previous.contents is not None:
            return self._probed(previous, previous.contents, looks)
        return self._follow(previous)

    def _probed(self, previous: Observation, known: Contents, looks: int) -> Observation:
        """Asks in turn whether there is a later snapshot than LATEST said, and whether the earliest still exists."""
        if looks // PROBE_EVERY % 2:
            is_same = self.snapshots.snapshot(known.snapshot.id + 1) is None
        else:
            is_same = self.snapshots.snapshot(known.earliest.id) == known.earliest
        if is_same:
            return replace(previous, looks=looks)
        latest = self.snapshots.latest(known.snapshot.id)
        return replace(previous, contents=self._contents(latest, known), stamp=None, looks=looks)

    def _follow(self, previous: Observation | None) -> Observation:
        """What LATEST says."""
        found = self.snapshots.latest_hint()
        hint, stamp = (None, None) if found is None else (id_in(found.content), found.stamp)
        looks = 1 if previous is None else previous.looks + 1
        if previous is not None and hint == previous.hint and self._is_same(previous, stamp):
            return replace(previous, stamp=stamp, looks=looks)
        known = None if previous is None else previous.contents
        has_moved = hint is not None and known is not None and hint > known.snapshot.id
        latest = (self.snapshots.snapshot(hint) if hint and has_moved else None) or self.snapshots.latest(hint)
        return Observation(contents=self._contents(latest, known), hint=hint, stamp=stamp, looks=looks)

    def _is_same(self, previous: Observation, stamp: str | None) -> bool:
        """Whether nothing has changed, given that LATEST says the same. After a rollback it can say so, too."""
        known = previous.contents
        if known is None:
            return previous.hint is None and previous.looks % PROBE_EVERY != 0
        if not self._has_same_measure(known):
            return False
        is_untouched = stamp is not None and stamp == previous.stamp
        return is_untouched or self.snapshots.snapshot(known.snapshot.id) == known.snapshot

    def _has_same_measure(self, known: Contents) -> bool:
        return known.small_below == small_below(self.schema)

    def _contents(self, latest: Snapshot | None, known: Contents | None) -> Contents | None:
        if latest is None:
            return None
        require_avro(self.schema)
        if known is None or not self._has_same_measure(known):
            return self._read(latest)
        earliest = self._earliest(latest, known)
        if latest == known.snapshot:
            return replace(known, earliest=earliest)
        return self._advanced(latest, earliest, known)

    def _earliest(self, latest: Snapshot, known: Contents) -> Snapshot:
        """In one request where no snapshot has expired."""
        if self.snapshots.snapshot(known.earliest.id) == known.earliest:
            return known.earliest
        return self.snapshots.earliest(latest)

    def _advanced(self, latest: Snapshot, earliest: Snapshot, known: Contents) -> Contents:
        """From the manifests that are new or gone, unless all are fewer bytes or those that are gone do not exist."""
        manifests = self.manifests.of_snapshot(latest)
        new = [each for name, each in manifests.items() if name not in known.manifests]
        gone = [each for name, each in known.manifests.items() if name not in manifests]
        if sum(each.size for each in (*new, *gone)) > sum(each.size for each in manifests.values()):
            return self._read(latest)
        require_few([*new, *gone])
        try:
            sums = plus(known.sums, self.manifests.sums(new, known.small_below))
            sums = plus(sums, self.manifests.sums(gone, known.small_below), -1)
            return self._checked(latest, earliest, manifests, sums, known)
        except UnreadableError:
            return self._read(latest)

    def _read(self, latest: Snapshot) -> Contents:
        manifests = self.manifests.of_snapshot(latest)
        require_few(manifests.values())
        sums = plus({}, self.manifests.sums(manifests.values(), small_below(self.schema)))
        return self._checked(latest, self.snapshots.earliest(latest), manifests, sums)

    def _checked(
        self,
        latest: Snapshot,
        earliest: Snapshot,
        manifests: Mapping[str, Manifest],
        sums: Sums,
        known: Contents | None = None,
    ) -> Contents:
        """Raises UnreadableError for sums that are not what the committer has counted."""
        require_possible(sums)
        rows = total_of(sums).rows
        if latest.total_rows != rows:
            raise UnreadableError(f"snapshot {latest.id} has {latest.total_rows} rows, its manifests have {rows}")
        has_same_index = known is not None and known.snapshot.index_manifest == latest.index_manifest
        return Contents(
            snapshot=latest,
            earliest=earliest,
            small_below=small_below(self.schema),
            manifests=manifests,
            sums=sums,
            deleted_rows=known.deleted_rows if known and has_same_index else deleted_rows(self.manifests, latest),
        )
