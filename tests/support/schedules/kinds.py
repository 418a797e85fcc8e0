"""The kinds of tables that schedules run on: those that both engines have."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Final

DEDUPLICATE: Final = "deduplicate"
PARTIAL_UPDATE: Final = "partial-update"
AGGREGATION: Final = "aggregation"
FIRST_ROW: Final = "first-row"
APPEND: Final = "append"
ENGINES: Final = (DEDUPLICATE, PARTIAL_UPDATE, AGGREGATION, FIRST_ROW, APPEND)
DYNAMIC: Final = -1
FORMATS: Final = ("parquet", "avro", "orc")
NEVER_EXPIRES: Final = 2_000_000_000
"""A time of a record, in seconds since 1970: in 2033. One from 1970 has expired."""


@dataclass(frozen=True)
class TableKind:
    """The columns are p, k, seq, a and b, all INT. The key is k, or p and k where p is the partition."""

    engine: str
    """Merge engine; APPEND: a table without a key."""
    buckets: int
    """DYNAMIC: the table has as many as it needs."""
    partitioned: bool
    producer: str = "none"
    """changelog-producer."""
    vectors: bool = False
    """Whether it has deletion vectors."""
    inline: bool = False
    """Whether writers compact and expire, too."""
    format: str = "parquet"
    changelogs: bool = False
    """Whether changelogs outlive their snapshots."""
    expiring: bool = False
    """Whether records expire. Then `a` is the time of a record."""
    tagged: bool = False
    """Whether tags are created automatically."""
    sorted: bool = False
    """Whether it can be sorted."""
    verify: str = ""
    """How its operator verifies compactions. This and what follows are of tables that an operator maintains."""
    marked: bool = False
    """Whether its partitions are marked as done."""
    forgetful: bool = False
    """Whether its consumers expire."""
    edited: bool = False
    """Whether the settings of its manifest are edited meanwhile."""

    @property
    def has_key(self) -> bool:
        """Whether rows replace or merge with each other."""
        return self.engine != APPEND

    @property
    def hides_level_0(self) -> bool:
        """Whether a batch read shows only what is compacted."""
        return self.vectors or self.engine == FIRST_ROW

    @property
    def is_ordered(self) -> bool:
        """Whether the result depends on the order of the writes of one key, which concurrent writes do not have.

        With lookups, writers that compact lose what another one adds to the same key: tests/spark/test_lost_rows.py.
        An edit can make a table of any other one such a table.
        """
        return self.edited or self.engine in (PARTIAL_UPDATE, FIRST_ROW) or (self.inline and self.producer == "lookup")

    @property
    def needs_java(self) -> bool:
        """Whether pypaimon 2.1.0 reads other rows than Java. It adds up a sum of several levels of a table with
        lookups, of which a lower level has the sum of all above. It has not all formats and compressions."""
        return self.edited or (self.engine == AGGREGATION and self.producer == "lookup" and not self.vectors)

    @property
    def has_index(self) -> bool:
        """Whether its snapshots have an index: of the buckets of its keys, or of deleted rows."""
        return self.vectors or (self.has_key and self.buckets == DYNAMIC)

    @property
    def is_comparable(self) -> bool:
        """Whether a compaction leaves what readers see."""
        return not (self.expiring or self.engine == FIRST_ROW or (self.vectors and self.has_key))

    @property
    def required(self) -> tuple[str, ...]:
        """The columns without NULL."""
        return (*self.keys, *(("a",) if self.expiring else ()))

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of the key."""
        if not self.has_key:
            return ()
        return ("p", "k") if self.partitioned else ("k",)

    @property
    def options(self) -> dict[str, str]:
        """The table's options."""
        found = {"bucket": str(self.buckets), "file.format": self.format, "write-only": str(not self.inline).lower()}
        if self.has_key:
            found |= {"merge-engine": self.engine, "changelog-producer": self.producer}
        elif self.buckets != DYNAMIC:
            found["bucket-key"] = "k"
        if self.engine in (DEDUPLICATE, PARTIAL_UPDATE):
            found["sequence.field"] = "seq"
        if self.engine == AGGREGATION:
            of = {"seq": "max", "a": "sum", "b": "max"}
            found |= {f"fields.{name}.aggregate-function": function for name, function in of.items()}
        return found | ({"deletion-vectors.enabled": "true"} if self.vectors else {}) | self._maintained

    @property
    def _maintained(self) -> dict[str, str]:
        """What maintenance follows. Automatic tags have a day as their period, so a schedule has one."""
        found = {"tag.automatic-creation": "process-time"} if self.tagged else {}
        if self.changelogs:
            found["changelog.time-retained"] = "3 d"
        if self.expiring:
            found |= {"record-level.expire-time": "1 d", "record-level.time-field": "a"}
        if self.sorted:
            found |= {"clustering.columns": "a", "clustering.incremental": "true"}
        return found


def _all() -> list[TableKind]:
    producers = ("none", "input", "lookup", "full-compaction")
    choices = itertools.product(ENGINES, (1, 2, DYNAMIC), (False, True), producers, (False, True), (False, True))
    found = [each for each in (TableKind(*each) for each in choices) if _exists(each)]
    can_sort = [each for each in found if each.engine == APPEND and each.buckets == DYNAMIC]
    return found + [replace(each, sorted=True) for each in can_sort]


def _exists(kind: TableKind) -> bool:
    if kind.vectors and (kind.engine in (FIRST_ROW, APPEND) or kind.producer not in ("none", "lookup")):
        return False
    if kind.inline and kind.vectors:
        return False  # two writers that compact lose each other's deletes: tests/spark/test_lost_rows.py
    if kind.inline and kind.hides_level_0 and kind.buckets != 1:
        return False  # a write makes the rows of its own buckets visible, and the model knows partitions only
    if kind.engine == APPEND:
        return kind.producer == "none"
    return kind.engine != FIRST_ROW or kind.producer in ("none", "lookup")


KINDS: Final = tuple(_all())
