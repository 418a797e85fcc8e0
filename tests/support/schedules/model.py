"""What must be readable: the rows of the table at its head, at each tag and branch, and at each retained snapshot."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from tests.support.schedules.kinds import AGGREGATION, DEDUPLICATE, FIRST_ROW, NEVER_EXPIRES, TableKind
from tests.support.schedules.schedule import Row

Rows = tuple[tuple[int | None, ...], ...]
"""Sorted rows of p, k, seq, a and b."""
MORE_CHANGELOGS: Final = 5
"""So many more changelogs than snapshots an expiry keeps."""


@dataclass
class Model:
    """The table, by the commits that have succeeded."""

    kind: TableKind
    merged: dict[tuple[int, ...], Row] = field(default_factory=dict)
    """What is visible, by the key; without one, by the unique seq."""
    level_0: dict[str, tuple[Row, ...]] = field(default_factory=dict)
    """Write -> its rows that are committed and not visible yet."""
    snapshots: dict[int, Rows] = field(default_factory=dict)
    """Those that must exist."""
    tags: dict[str, Rows] = field(default_factory=dict)
    branches: dict[str, Rows] = field(default_factory=dict)
    consumers: dict[str, int] = field(default_factory=dict)
    """Consumer -> the snapshot that it reads next. From there on none may expire."""
    first_changelog: int = 1
    """From this snapshot on, each has a changelog where changelogs outlive their snapshots."""
    expirable: set[tuple[int, ...]] = field(default_factory=set)
    """Keys of records that have expired and may still be there. Where a compaction removes the latest record of a key
    and no older one, that one is seen again."""
    damaged: set[int] = field(default_factory=set)
    """Snapshots that a killed expiry has left without files."""

    def append(self, write: str, rows: tuple[Row, ...]) -> None:
        """The rows of a write are committed."""
        if self.kind.hides_level_0:
            self.level_0[write] = rows
        else:
            self._merge(rows)

    def compact(self, writes: Collection[str], partitions: Collection[int] | None = None) -> None:
        """What these writes have in level 0 becomes visible, in these partitions; None: in all."""
        lifted: list[Row] = []
        for write in [each for each in self.level_0 if each in writes]:
            rows = self.level_0.pop(write)
            is_in = {each: partitions is None or each.p in partitions for each in rows}
            lifted += [each for each in rows if is_in[each]]
            if left := tuple(each for each in rows if not is_in[each]):
                self.level_0[write] = left
        self._merge(sorted(lifted, key=lambda each: each.seq))

    def drop_partition(self, partition: int) -> None:
        """All rows of a partition are gone."""
        self.merged = {key: row for key, row in self.merged.items() if row.p != partition}
        self.expirable = {key for key in self.expirable if key[0] != partition}
        left = {name: tuple(each for each in rows if each.p != partition) for name, rows in self.level_0.items()}
        self.level_0 = {name: rows for name, rows in left.items() if rows}

    def add_snapshot(self, id_: int) -> None:
        """A snapshot of what is visible now."""
        self.snapshots[id_] = self.rows()

    def expire(self, keep: int, first_changelog: int | None = None) -> None:
        """Only so many snapshots must be left, and those that a consumer has not read.

        Changelogs must be left from the first one that is named, or MORE_CHANGELOGS more than snapshots.
        """
        latest = max(self.snapshots)
        oldest = min(latest - keep + 1, *self.consumers.values(), latest)
        self.snapshots = {id_: rows for id_, rows in self.snapshots.items() if id_ >= oldest}
        kept = latest - keep - MORE_CHANGELOGS + 1 if first_changelog is None else first_changelog
        self.first_changelog = max(self.first_changelog, kept)
        self.damaged = {each for each in self.damaged if each >= oldest}

    def must_be(self, rows: Rows) -> Rows:
        """The rows without the records that have expired: compactions remove them at some time."""
        return tuple(each for each in rows if self.is_kept(each[3]))

    def is_kept(self, time: int | None) -> bool:
        """Whether a record with this value of `a` never expires."""
        return not self.kind.expiring or time is None or time >= NEVER_EXPIRES

    def forget(self, keys: Collection[tuple[int, ...]]) -> None:
        """A compaction has removed these records, which have expired."""
        self.merged = {key: row for key, row in self.merged.items() if key not in keys}
        self.expirable.difference_update(keys)

    def rows(self) -> Rows:
        """The rows at the head."""
        return plain((row.p, row.k, row.seq, row.a, row.b) for row in self.merged.values())

    def _merge(self, rows: Iterable[Row]) -> None:
        for row in rows:
            key = (row.p, row.k) if self.kind.has_key else (row.seq,)
            old = self.merged.get(key)
            if not (row.gone or self.is_kept(row.a)):
                self.expirable.add(key)
            if row.gone:
                if old is not None and old.seq < row.seq:
                    del self.merged[key]
            else:
                self.merged[key] = row if old is None else _merged(self.kind.engine, old, row)


def _merged(engine: str, old: Row, new: Row) -> Row:
    if engine == DEDUPLICATE:
        return max(old, new, key=lambda each: each.seq)
    if engine == FIRST_ROW:
        return old
    if engine == AGGREGATION:
        a, b = (old.a or 0) + (new.a or 0), max(old.b or 0, new.b or 0)
        return replace(new, seq=max(old.seq, new.seq), a=a, b=b)
    return replace(new, a=old.a if new.a is None else new.a, b=old.b if new.b is None else new.b)


def plain(rows: Iterable[tuple[int | None, ...]]) -> Rows:
    """The rows in the order in which they are compared."""
    return tuple(sorted(rows, key=lambda row: [(each is not None, each or 0) for each in row]))
