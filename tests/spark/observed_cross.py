"""Kinds of observed tables that are the cross of merge engines, bucket types and partitions, by the operator's rules.

The cross has every merge engine and no primary key, every bucket type, with and without partitions. A table of it is a
kind where the operator accepts its manifest with the newest engine, and its options are those of the manifest.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from paimon_engines.loader import supported_engines
from paimon_operator.api.table.spec import BucketType, MergeEngineType
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import desired_table
from paimon_operator.core.validation.table import broken_rules
from tests.spark.observed_kinds import COMPACT, FIRST, LATER, OLDEST_DAY, SECOND, Kind, with_options
from tests.support import builders

_STEPS: Final = (FIRST, SECOND, COMPACT, LATER)
"""A compaction between the writes: the buckets have files of several levels."""
_SMALL: Final = {"target-file-size": "3 kb"}
_GROWING: Final = {"dynamic-bucket.target-row-num": "40", "dynamic-bucket.assigner-parallelism": "1"}
"""A dynamic bucket takes 40 keys, so that each partition has several."""


def context_of(engine: str, merge: MergeEngineType | None, bucket: BucketType, *, by_day: bool) -> TableContext:
    """The manifest of one table of the cross. Without a merge engine it has no primary key."""
    value = {"aggregate": {"function": "sum"}} if merge is MergeEngineType.AGGREGATION else {}
    keys = ["day", "id"] if by_day else ["id"]
    schema: dict[str, Any] = {
        "columns": [
            {"name": "day", "type": "STRING"},
            {"name": "id", "type": "BIGINT"},
            {"name": "v", "type": "BIGINT", **value},
        ],
        **({"primaryKeys": keys} if merge else {}),
        **({"partitionKeys": ["day"]} if by_day else {}),
    }
    fixed = {"count": 2} if merge else {"count": 2, "keys": ["id"]}
    buckets = {"type": bucket.value, **({"fixed": fixed} if bucket is BucketType.FIXED else {})}
    engines: dict[str, Any] = {"mergeEngine": {"type": merge.value}} if merge else {}
    options = _SMALL | (_GROWING if bucket is BucketType.DYNAMIC else {})
    table = builders.table(schema=schema, bucket=buckets, compaction={"mode": "Dedicated"}, options=options, **engines)
    return builders.context(table, builders.catalog(engine=engine))


def _kind(context: TableContext, *, by_day: bool) -> Kind:
    desired = desired_table(context.spec, context.effective)
    columns = ", ".join(f"{each.name} {each.type}" for each in desired.columns)
    keys = {"primary-key": ",".join(desired.primary_keys)} if desired.primary_keys else {}
    create = f"CREATE TABLE {{t}} ({columns})" + (" PARTITIONED BY (day)" if by_day else "")
    is_postponed = context.spec.bucket is not None and context.spec.bucket.type is BucketType.POSTPONE
    return Kind(
        (with_options(create, keys | desired.options), *_STEPS),
        OLDEST_DAY if by_day else None,
        is_postponed=is_postponed,
    )


def _cross() -> Iterator[tuple[str, Kind]]:
    newest = list(supported_engines())[-1]
    for merge, bucket, by_day in product((None, *MergeEngineType), BucketType, (False, True)):
        context = context_of(newest, merge, bucket, by_day=by_day)
        if not broken_rules(context):
            name = f"{merge or 'no key'}, {bucket}, {'partitioned' if by_day else 'not partitioned'}"
            yield name, _kind(context, by_day=by_day)


CROSS: Final[dict[str, Kind]] = dict(_cross())
