"""CEL rules over the verification of maintenance. `core/validation/maintenance.py` has the same."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.base import rule
from paimon_operator.api.table.rule_terms import FORBIDDEN

_NEVER = "self.?maintenance.?verify.orValue('Never') == 'Never'"


def _comparable(excluded: str, message: str) -> dict[str, str]:
    return rule(f"{_NEVER} || !({excluded})", message, path=".maintenance.verify", reason=FORBIDDEN)


VERIFY_RULES: Final = [
    _comparable(
        "self.?mergeEngine.?type.orValue('') == 'FirstRow'",
        "verify must be Never with mergeEngine.type FirstRow: a compaction makes rows visible",
    ),
    _comparable(
        "self.?deletionVectors.?enabled.orValue(false) && has(self.schema.primaryKeys)",
        "verify must be Never with primaryKeys and deletionVectors: a compaction makes rows visible",
    ),
    _comparable(
        "self.?bucket.?type.orValue('') == 'Postpone'",
        "verify must be Never with bucket.type Postpone: a compaction makes rows visible",
    ),
    _comparable(
        "self.?retention.?records.hasValue()",
        "verify must be Never with retention.records: a compaction removes expired records",
    ),
    rule(
        "self.?maintenance.?onMismatch.orValue('') != 'Rollback' || self.externalWriters != 'Active'",
        "onMismatch Rollback must not be set with externalWriters Active: their commits would be lost",
        path=".maintenance.onMismatch",
        reason=FORBIDDEN,
    ),
]
