"""The rules about the settings of a table, in one list.

Tests take from it what the API server and reconcile refuse and admit; docs/rules.md shows it.
"""

from __future__ import annotations

from typing import Final

from tests.support.table_rules.changelog import CHANGELOG, OPTIONS
from tests.support.table_rules.columns import DEFAULTS, KEYS, PARTITIONS
from tests.support.table_rules.layout import BUCKETS, DELETION_VECTORS
from tests.support.table_rules.marks import MARKS
from tests.support.table_rules.merging import MERGING, ROW_KINDS
from tests.support.table_rules.retention import RETENTION, TAGS
from tests.support.table_rules.rule import TableRule
from tests.support.table_rules.sorting import SORT
from tests.support.table_rules.verifying import VERIFICATION

BLOCKS: Final[dict[str, list[TableRule]]] = {
    "Keys and partitions": [*KEYS, *PARTITIONS],
    "Default values": DEFAULTS,
    "Buckets": BUCKETS,
    "Merge engine, aggregates and sequence": MERGING,
    "Row kinds and deletes": ROW_KINDS,
    "Changelog": CHANGELOG,
    "Deletion vectors": DELETION_VECTORS,
    "Sort compaction": SORT,
    "Verified maintenance": VERIFICATION,
    "Retention": RETENTION,
    "Partitions that are done": MARKS,
    "Automatic tags": TAGS,
    "Options": OPTIONS,
}
"""Title of a section of docs/rules.md -> its rules."""

TABLE_RULES: Final = [rule for rules in BLOCKS.values() for rule in rules]
