"""CEL rules over sort compaction and the other fields of a PaimonTable. `core/validation/sorting.py` has the same."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.base import rule
from paimon_operator.api.table.rule_terms import FORBIDDEN

_SORT = "self.?compaction.?sort.hasValue()"
_COLUMNS = "self.compaction.sort.columns"

SORT_RULES: Final = [
    rule(
        f"!{_SORT} || !has(self.schema.primaryKeys)",
        "compaction.sort must not be set with primaryKeys, which order the rows of each file",
        path=".compaction.sort",
        reason=FORBIDDEN,
    ),
    rule(
        f"!{_SORT} || self.?bucket.?type.orValue('') != 'Fixed'",
        "compaction.sort must not be set with bucket.type Fixed: use Unaware",
        path=".compaction.sort",
        reason=FORBIDDEN,
    ),
    rule(
        f"!{_SORT} || self.externalWriters != 'Active'",
        "compaction.sort must not be set with externalWriters Active: it rewrites what they change",
        path=".compaction.sort",
        reason=FORBIDDEN,
    ),
    rule(
        f"!{_SORT} || sets.contains(self.schema.columns.map(c, c.name), {_COLUMNS})",
        "every column of compaction.sort must be one of the columns",
        path=".compaction.sort.columns",
    ),
    rule(
        f"!{_SORT} || !has(self.schema.partitionKeys) || !sets.intersects(self.schema.partitionKeys, {_COLUMNS})",
        "compaction.sort must not name partition keys: they are the same in all rows of a partition",
        path=".compaction.sort.columns",
    ),
]
