"""Kinds of tables whose health is read from their metadata files, made by Spark SQL as any other writer makes them.

Each statement names the table `{t}`, a procedure `{name}`. A kind's steps are statements, or PIN: then the test
remembers the data files of the table, which the tag or branch of the next statement keeps. At PIN_ON it remembers those
of each later step too, because the consumer of the next statement keeps them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PIN: Final = "PIN"
PIN_ON: Final = "PIN_ON"
_KEYED: Final = "CREATE TABLE {t} (day STRING NOT NULL, id BIGINT NOT NULL, v BIGINT)"
_PLAIN: Final = "CREATE TABLE {t} (day STRING, id BIGINT, v STRING)"
_BY_DAY: Final = " PARTITIONED BY (day)"
FIRST: Final = "INSERT INTO {t} SELECT IF(id % 2 = 0, 'mon', 'tue'), id, id FROM range(200)"
SECOND: Final = "INSERT INTO {t} SELECT IF(id % 2 = 0, 'mon', 'tue'), id, 7 FROM range(50)"
LATER: Final = "INSERT INTO {t} SELECT 'a day that is longer', id, 8 FROM range(30)"
WRITES: Final = (FIRST, SECOND, LATER)
_DELETE: Final = "DELETE FROM {t} WHERE id < 20"
COMPACT: Final = "CALL outside.sys.compact(table => '{name}')"
EXPIRE: Final = "CALL outside.sys.expire_snapshots(table => '{name}', retain_min => 1, retain_max => 2)"
_TAG: Final = "CALL outside.sys.create_tag(table => '{name}', tag => 'one')"
_ANOTHER_TAG: Final = "CALL outside.sys.create_tag(table => '{name}', tag => 'two')"
_CONSUMER: Final = "CALL outside.sys.reset_consumer('{name}', 'reader', 2)"
"""A consumer that reads snapshot 2 next."""
_BRANCH: Final = "CALL outside.sys.create_branch(table => '{name}', branch => 'b', tag => 'one')"
OLDEST_DAY: Final = "day=a day that is longer"


@dataclass(frozen=True)
class Kind:
    """One kind of table: its steps, and what is known of it.

    `oldest` is the text of its oldest partition. `deleted` are the rows that delete rows and deletion vectors delete.
    """

    steps: tuple[str, ...]
    oldest: str | None = None
    deleted: int | None = 0
    has_vectors: bool = False
    """Deletion vectors delete rows. Paimon 0.9 does not count these."""
    two_partition_keys: bool = False
    is_postponed: bool = False
    """Its buckets are postponed. Paimon 0.9 has no such tables."""

    @property
    def statements(self) -> tuple[str, ...]:
        """The steps without PIN and PIN_ON."""
        return tuple(step for step in self.steps if step not in (PIN, PIN_ON))


def keyed(*steps: str, by_day: bool = True, options: dict[str, str] | None = None, **known: int | bool | None) -> Kind:
    """A table with a primary key. Writers do not compact, and files below 0.7 of 3 kb are small."""
    usual = {"primary-key": "day,id", "bucket": "2", "write-only": "true", "target-file-size": "3 kb"}
    create = with_options(_KEYED + (_BY_DAY if by_day else ""), usual | (options or {}))
    performed = steps or WRITES
    oldest = OLDEST_DAY if LATER in performed else "day=mon"
    return Kind((create, *performed), oldest if by_day else None, **known)  # type: ignore[arg-type]


def plain(*steps: str, by_day: bool = False, options: dict[str, str] | None = None, **known: int | bool | None) -> Kind:
    """A table without a primary key."""
    create = with_options(_PLAIN + (_BY_DAY if by_day else ""), {"write-only": "true"} | (options or {}))
    return Kind((create, *(steps or WRITES)), OLDEST_DAY if by_day else None, **known)  # type: ignore[arg-type]


def partitioned(type_: str, *values: str, oldest: str) -> Kind:
    """A table that is partitioned by a key of a type, and by a text."""
    create = f"CREATE TABLE {{t}} (id BIGINT, k {type_}, n STRING) PARTITIONED BY (k, n)"
    rows = ", ".join(f"({number}, {value}, 'x')" for number, value in enumerate(values))
    insert = " ".join(("INSERT INTO {t} VALUES", rows))
    return Kind((create, insert), f"k={oldest}/n=x", two_partition_keys=True)


def with_options(create: str, options: dict[str, str]) -> str:
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"{create} TBLPROPERTIES ({listed})"


DYNAMIC: Final = {"bucket": "-1", "dynamic-bucket.assigner-parallelism": "1"}
"""One assigner, because each has a database of its own to open."""
VECTORS: Final = {"deletion-vectors.enabled": "true"}
KINDS: Final[dict[str, Kind]] = {
    "deduplicate": keyed(by_day=False, options={"primary-key": "id"}),
    "partitioned": keyed(),
    "fully compacted": keyed(*WRITES, COMPACT),
    "compacted by its writers": keyed(
        *WRITES, *[SECOND] * 2, options={"write-only": "false", "num-sorted-run.compaction-trigger": "2"}
    ),
    "dynamic buckets": keyed(options=DYNAMIC),
    # A row that moves to another partition leaves a delete row behind.
    "dynamic buckets over partitions": keyed(FIRST, LATER, options=DYNAMIC | {"primary-key": "id"}, deleted=30),
    "aggregation": keyed(options={"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}),
    "partial update": keyed(options={"merge-engine": "partial-update"}),
    "first row": keyed(options={"merge-engine": "first-row"}),
    "changelog by lookup": keyed(options={"write-only": "false", "changelog-producer": "lookup"}),
    "deletion vectors": keyed(
        FIRST, COMPACT, SECOND, options=VECTORS | {"write-only": "false"}, deleted=50, has_vectors=True
    ),
    "deletion vectors that are gone": keyed(
        *WRITES, COMPACT, SECOND, COMPACT, options=VECTORS | {"write-only": "false"}
    ),
    "deleted rows": keyed(*WRITES, _DELETE, deleted=40),
    "deleted rows, compacted": keyed(*WRITES, _DELETE, COMPACT),
    "append": plain(),
    "append, partitioned and compacted": plain(*WRITES, COMPACT, by_day=True),
    "append, fixed buckets": plain(options={"bucket": "3", "bucket-key": "id"}),
    "append, deletion vectors": plain(*WRITES, _DELETE, options=VECTORS, deleted=60, has_vectors=True),
    "tags": keyed(FIRST, PIN, _TAG, SECOND, PIN, _ANOTHER_TAG, COMPACT, LATER),
    "a tag of an expired snapshot": keyed(FIRST, PIN, _TAG, SECOND, COMPACT, EXPIRE, LATER),
    "a branch": keyed(FIRST, SECOND, PIN, _TAG, PIN, _BRANCH, COMPACT),
    "a consumer": keyed(FIRST, SECOND, PIN_ON, _CONSUMER, COMPACT, SECOND, COMPACT, LATER),
    "a consumer that delays an expiry": keyed(
        FIRST, SECOND, PIN_ON, _CONSUMER, COMPACT, SECOND, COMPACT, EXPIRE, LATER
    ),
    "evolved": keyed(
        FIRST,
        "ALTER TABLE {t} ADD COLUMN w STRING",
        "INSERT INTO {t} SELECT 'mon', id, 1, 'w' FROM range(9)",
        "ALTER TABLE {t} RENAME COLUMN v TO u",
        "ALTER TABLE {t} SET TBLPROPERTIES ('target-file-size' = '1 kb')",
        COMPACT,
    ),
    "rolled back": keyed(*WRITES, "CALL outside.sys.rollback(table => '{name}', version => '2')", LATER),
    "expired snapshots": keyed(*WRITES, SECOND, EXPIRE, SECOND),
    "overwritten": keyed(*WRITES, "INSERT OVERWRITE {t} PARTITION (day = 'mon') SELECT id, 1 FROM range(3)"),
    "merged manifests": keyed(*WRITES, *[SECOND] * 4, options={"manifest.merge-min-count": "2"}),
    "no snapshot": Kind((with_options(_KEYED, {"primary-key": "day,id", "bucket": "1"}),)),
    "by day": partitioned("DATE", "DATE '2026-03-01'", "DATE '2025-12-31'", oldest="2025-12-31"),
    "by time": partitioned(
        "TIMESTAMP_NTZ", "TIMESTAMP_NTZ '2026-01-01 10:00:00.123456'", oldest="2026-01-01 10:00:00.123456"
    ),
    "by number": partitioned("INT", "3", "-20", "100", oldest="-20"),
    "by decimal": partitioned("DECIMAL(22,2)", "3.5BD", "-20.25BD", oldest="-20.25"),
    "by no value": partitioned("STRING", "NULL", "'some longer text'", "'short'", oldest="short"),
}
