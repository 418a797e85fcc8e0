"""Rules about buckets and deletion vectors."""

# ruff: noqa: E501  (a table: one rule in few lines)

from __future__ import annotations

from tests.support.manifests import Manifest, append_table, keyed_table
from tests.support.table_rules.rule import TableRule
from tests.support.wrong_manifest import WrongManifest, later

POSTPONE = {"type": "Postpone"}
DEDICATED = {"mode": "Dedicated"}
VECTORS = {"enabled": True}
_BUCKET = "SchemaValidation.validateBucket"
_VECTORS = "SchemaValidation.validateForDeletionVectors"
_POSTPONED = "tests/spark/test_postponed_buckets.py"


def _fixed(keys: list[str] | None = None, count: int = 4) -> dict[str, object]:
    return {"type": "Fixed", "fixed": {"count": count} | ({"keys": keys} if keys else {})}


def _postponed(**edits: object) -> Manifest:
    return keyed_table(spec__bucket=POSTPONE, **{"spec__compaction": DEDICATED, **edits})


BUCKETS = [
    TableRule("bucket-count", "A table has at least one bucket.", _BUCKET, keyed_table(spec__bucket=_fixed(count=1)),
        WrongManifest("no bucket at all", keyed_table(spec__bucket=_fixed(count=0)), "spec.bucket.fixed.count", "greater than or equal to 1")),
    TableRule("fixed-needs-count", "Fixed buckets have a number.", _BUCKET, keyed_table(spec__bucket=_fixed()),
        WrongManifest("fixed buckets without a number", keyed_table(spec__bucket={"type": "Fixed"}), "spec.bucket.fixed", "must be set")),
    TableRule("fixed-only-with-fixed", "Only fixed buckets have a number.", _BUCKET, keyed_table(spec__bucket={"type": "Dynamic"}),
        WrongManifest("a number of dynamic buckets", keyed_table(spec__bucket={"type": "Dynamic", "fixed": {"count": 4}}), "spec.bucket.fixed", "must not be set")),
    TableRule("dynamic-needs-keys", "Dynamic buckets need a primary key.", "FileStoreTableFactory", keyed_table(spec__bucket={"type": "Dynamic"}),
        WrongManifest("dynamic buckets without keys", append_table(spec__bucket={"type": "Dynamic"}), "spec.bucket.type", "needs primaryKeys")),
    TableRule("unaware-without-keys", "A table with a primary key has buckets.", "FileStoreTableFactory", append_table(spec__bucket={"type": "Unaware"}),
        WrongManifest("no buckets with keys", keyed_table(spec__bucket={"type": "Unaware"}), "spec.bucket.type", "must not be used with primaryKeys")),
    TableRule("append-needs-bucket-keys", "Fixed buckets of an append table need bucket keys.", _BUCKET, append_table(spec__bucket=_fixed(["page"])),
        WrongManifest("fixed buckets of an append table without bucket keys", append_table(spec__bucket=_fixed()), "spec.bucket.fixed", "keys must be set")),
    TableRule("bucket-key-column", "A bucket key is a column.", "TableSchema.originalBucketKeys", append_table(spec__bucket=_fixed(["page"])),
        WrongManifest("a bucket key that is no column", append_table(spec__bucket=_fixed(["nope"])), "spec.bucket.fixed.keys", "one of the columns")),
    TableRule("bucket-key-in-key", "A bucket key is a primary key, where there is one.", "TableSchema.originalBucketKeys", keyed_table(spec__bucket=_fixed(["order_id"])),
        WrongManifest("a bucket key outside the primary key", keyed_table(spec__bucket=_fixed(["state"])), "spec.bucket.fixed.keys", "one of the primaryKeys")),
    TableRule("bucket-key-not-partition", "A bucket key is no partition key.", "TableSchema.originalBucketKeys", keyed_table(spec__bucket=_fixed(["order_id"])),
        WrongManifest("a bucket key that is a partition key", keyed_table(spec__bucket=_fixed(["dt"])), "spec.bucket.fixed.keys", "partition key")),
    TableRule("writers-need-fixed", "Other writers need fixed buckets on a table with a primary key: all other types allow one writer.", "HashBucketAssigner: each writer chooses the bucket of a new key by itself", keyed_table(spec__externalWriters="Active", spec__bucket=_fixed()),
        WrongManifest("outside writers on dynamic buckets", keyed_table(spec__externalWriters="Active"), "spec.externalWriters", "Fixed")),
    TableRule("postpone-one-writer", "Postponed buckets allow one writer.", "ours: two first writes would choose two numbers of buckets", _postponed(spec__externalWriters="Paused"),
        WrongManifest("outside writers on postponed buckets", _postponed(spec__externalWriters="Active"), "spec.externalWriters", "Fixed")),
    TableRule("postpone-needs-keys", "Postponed buckets need a primary key.", _BUCKET, _postponed(),
        WrongManifest("postponed buckets without keys", append_table(spec__bucket=POSTPONE, spec__compaction=DEDICATED), "spec.bucket.type", "needs primaryKeys")),
    TableRule("postpone-needs-compaction", "Postponed buckets need compaction.mode Dedicated or External: their writers never compact, and rows of FirstRow and of deletion vectors stay invisible.", f"{_POSTPONED}: test_rows_that_only_a_compaction_shows_are_invisible_until_then", _postponed(spec__compaction={"mode": "External"}),
        WrongManifest("postponed buckets compacted by their writers", _postponed(spec__compaction={"mode": "Inline"}), "spec.compaction.mode", "must be Dedicated or External")),
    TableRule("postpone-needs-compaction-of-catalog", "The same holds if neither table nor catalog sets compaction.mode.", f"{_POSTPONED}: test_rows_that_only_a_compaction_shows_are_invisible_until_then", _postponed(),
        later("postponed buckets compacted by nobody", keyed_table(spec__bucket=POSTPONE), "spec.compaction.mode", "Set compaction.mode to Dedicated")),
    TableRule("postpone-engine", "The engine must have postponed buckets.", "option postpone.batch-write-fixed-bucket of the engine", _postponed(),
        later("postponed buckets on an engine without them", _postponed(), "spec.bucket.type", "paimon-0.9", "UnsupportedByEngine", engine="paimon-0.9")),
]  # fmt: skip

DELETION_VECTORS = [
    TableRule("vectors-not-first-row", "Deletion vectors exclude FirstRow.", _VECTORS, keyed_table(spec__deletionVectors=VECTORS),
        WrongManifest("deletion vectors of first rows", keyed_table(spec__deletionVectors=VECTORS, spec__mergeEngine={"type": "FirstRow"}), "spec.deletionVectors.enabled", "FirstRow")),
    TableRule("vectors-not-full-compaction", "Deletion vectors exclude the changelog producer FullCompaction.", _VECTORS, keyed_table(spec__deletionVectors=VECTORS, spec__changelogProducer={"type": "Lookup"}),
        WrongManifest("deletion vectors with changelogs of full compactions", keyed_table(spec__deletionVectors=VECTORS, spec__changelogProducer={"type": "FullCompaction"}), "spec.deletionVectors.enabled", "FullCompaction")),
    TableRule("vectors-say-which", "deletionVectors states whether they are enabled.", "ours: an empty block would have no meaning", append_table(spec__deletionVectors={"enabled": False}),
        WrongManifest("deletion vectors that are neither on nor off", keyed_table(spec__deletionVectors={}), "spec.deletionVectors.enabled", "Required")),
]  # fmt: skip
