"""The number of buckets, which no plan changes: a rescale does, because it rewrites the table."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from paimon_schema.table_schema import DeclaredSchema, TableSchema

BUCKET: Final = "bucket"
"""Table option: the number of buckets of new files. A negative one means another mode."""
RESCALE_OPTION: Final = "paimon-operator.rescale"
"""Table option of an unfinished rescale. Its value is the tag of the snapshot before it."""


def with_count_of(has: TableSchema, declared: DeclaredSchema, *, rescales: bool) -> DeclaredSchema:
    """The declared schema, but with the number of buckets that the table has, where a rescale will change that.

    Otherwise a table whose number is edited before another engine verifies it could never be verified.
    """
    counts = has.options.get(BUCKET), declared.options.get(BUCKET)
    are_fixed = all(each is not None and each.isdecimal() for each in counts)
    if not are_fixed or not (rescales or RESCALE_OPTION in has.options):
        return declared
    return replace(declared, options={**declared.options, BUCKET: str(counts[0])})
