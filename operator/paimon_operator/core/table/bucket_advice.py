"""Advice about the number of buckets of a Fixed table, from the bytes per bucket that the last run measured.

Condition BucketsFit. It stops nothing and makes no Event. docs/buckets.md gives the reasons for the bounds.
"""

from __future__ import annotations

from typing import Final

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.facts import TableFacts
from paimon_operator.core.conditions import Finding, false, true

SMALLEST_BYTES: Final = 200 * 10**6
LARGEST_BYTES: Final = 10**9
TARGET_BYTES: Final = 500 * 10**6
"""The largest bucket has at most so many bytes with the advised number, so that the table can double."""
MAX_COUNT: Final = 65536


def bucket_advice(facts: TableFacts | None) -> tuple[Finding, ...]:
    """Whether the number of buckets fits. Nothing for other bucket modes, without data, and during a rescale."""
    if facts is None or facts.rescaling or not facts.bucket_count or not facts.bucket_bytes_max:
        return ()
    count, largest, median = facts.bucket_count, facts.bucket_bytes_max, facts.bucket_bytes_median or 0
    advised = advised_count(count, largest)
    if largest > LARGEST_BYTES and advised > count:
        return (false(ConditionType.BUCKETS_FIT, Reason.BUCKETS_TOO_LARGE, _message(facts, advised)),)
    if median < SMALLEST_BYTES and advised < count:
        return (false(ConditionType.BUCKETS_FIT, Reason.BUCKETS_TOO_SMALL, _message(facts, advised)),)
    return (true(ConditionType.BUCKETS_FIT, Reason.BUCKET_SIZE_FITS, _message(facts, None)),)


def advised_count(count: int, largest: int) -> int:
    """The smallest power of two with which the largest of `count` buckets (`largest` bytes) has TARGET_BYTES at most.

    The bytes of a partition are taken to spread evenly over its buckets.
    """
    needed = -(-largest * count // TARGET_BYTES)
    return min(1 << (needed - 1).bit_length(), MAX_COUNT)


def _message(facts: TableFacts, advised: int | None) -> str:
    count, partitions = facts.bucket_count or 0, facts.partitions or 1
    message = (
        f"bucket.fixed.count is {count}: a bucket has {_readable(facts.bucket_bytes_median or 0)} (median) and at most"
        f" {_readable(facts.bucket_bytes_max or 0)} in {partitions} partition{'' if partitions == 1 else 's'};"
        " 200 MB to 1 GB are recommended"
    )
    if advised is None:
        return message
    largest = (facts.bucket_bytes_max or 0) * count // advised
    return f"{message}. Consider {advised}: the largest bucket would have about {_readable(largest)}"


def _readable(size_bytes: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes} bytes"
