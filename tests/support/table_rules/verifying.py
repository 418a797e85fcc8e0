"""Rules about the verification of maintenance."""

# ruff: noqa: E501  (a table: one rule in few lines)

from __future__ import annotations

from typing import Any, Final

from tests.support.manifests import Manifest, keyed_table
from tests.support.table_rules.rule import TableRule
from tests.support.wrong_manifest import WrongManifest

_VERIFY: Final = "spec.maintenance.verify"
_ON_MISMATCH: Final = "spec.maintenance.onMismatch"
_VISIBLE: Final = "ours: readers skip rows that are not compacted"


def _verified(verify: str = "Sample", **edits: Any) -> Manifest:
    return keyed_table(spec__maintenance={"verify": verify}, **edits)


_FIRST_ROW: Final[dict[str, Any]] = {"spec__mergeEngine": {"type": "FirstRow"}}
_VECTORS: Final[dict[str, Any]] = {"spec__deletionVectors": {"enabled": True}}
_POSTPONE: Final[dict[str, Any]] = {"spec__bucket": {"type": "Postpone"}, "spec__compaction": {"mode": "Dedicated"}}
_RECORDS: Final[dict[str, Any]] = {"spec__retention": {"records": {"expireTime": "90d", "timeField": "updated_at"}}}
_ACTIVE: Final[dict[str, Any]] = {
    "spec__externalWriters": "Active",
    "spec__bucket": {"type": "Fixed", "fixed": {"count": 2}},
}

VERIFICATION: Final = [
    TableRule("verify-first-row", "Compactions of FirstRow are not verified.", _VISIBLE, _verified("Never", **_FIRST_ROW),
        WrongManifest("verification of FirstRow", _verified(**_FIRST_ROW), _VERIFY, "with mergeEngine.type FirstRow")),
    TableRule("verify-deletion-vectors", "Nor are those of a keyed table with deletion vectors.", _VISIBLE, _verified("Never", **_VECTORS),
        WrongManifest("verification of deletion vectors", _verified(**_VECTORS), _VERIFY, "with primaryKeys and deletionVectors")),
    TableRule("verify-postpone", "Nor are those of postponed buckets.", _VISIBLE, _verified("Never", **_POSTPONE),
        WrongManifest("verification of postponed buckets", _verified(**_POSTPONE), _VERIFY, "with bucket.type Postpone")),
    TableRule("verify-records", "Nor are those that remove expired records.", "ours: a compaction removes rows on purpose", _verified("Never", **_RECORDS),
        WrongManifest("verification of record expiry", _verified(**_RECORDS), _VERIFY, "with retention.records")),
    TableRule("verify-mismatch", "onMismatch needs a verification.", "ours: it would have no effect", keyed_table(spec__maintenance={"verify": "Always", "onMismatch": "Rollback"}),
        WrongManifest("onMismatch without a verification", keyed_table(spec__maintenance={"verify": "Never", "onMismatch": "Hold"}), _ON_MISMATCH, "with verify Never")),
    TableRule("verify-rollback", "Nothing is rolled back beside other writers.", "ours: their commits would be lost", keyed_table(spec__maintenance={"verify": "Sample", "onMismatch": "Hold"}, **_ACTIVE),
        WrongManifest("a rollback beside other writers", keyed_table(spec__maintenance={"verify": "Sample", "onMismatch": "Rollback"}, **_ACTIVE), _ON_MISMATCH, "with externalWriters Active")),
]  # fmt: skip
