"""CEL rules over the verification of maintenance. `core/validation/maintenance.py` has the same."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.base import rule

_FORBIDDEN = "FieldValueForbidden"
_VERIFIES = "has(self.maintenance) && self.maintenance.verify != 'Never'"


def _comparable(excluded: str, message: str) -> dict[str, str]:
    return rule(f"!({_VERIFIES}) || !({excluded})", message, path=".maintenance.verify", reason=_FORBIDDEN)


VERIFY_RULES: Final = [
    _comparable(
        "has(self.mergeEngine) && self.mergeEngine.type == 'FirstRow'",
        "verify must be Never with mergeEngine.type FirstRow: a compaction makes rows visible",
    ),
    _comparable(
        "has(self.schema.primaryKeys) && has(self.deletionVectors) && self.deletionVectors.enabled",
        "verify must be Never with primaryKeys and deletionVectors: a compaction makes rows visible",
    ),
    _comparable(
        "has(self.bucket) && self.bucket.type == 'Postpone'",
        "verify must be Never with bucket.type Postpone: a compaction makes rows visible",
    ),
    _comparable(
        "has(self.retention) && has(self.retention.records)",
        "verify must be Never with retention.records: a compaction removes expired records",
    ),
    rule(
        "!has(self.maintenance) || !has(self.maintenance.onMismatch) || self.maintenance.onMismatch != 'Rollback'"
        " || self.externalWriters != 'Active'",
        "onMismatch Rollback must not be set with externalWriters Active: their commits would be lost",
        path=".maintenance.onMismatch",
        reason=_FORBIDDEN,
    ),
]
