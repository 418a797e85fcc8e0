"""Advice about the number of buckets: from the measured bytes, for Fixed buckets only, and it stops nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.facts import TableFacts
from paimon_operator.core.conditions import Finding
from paimon_operator.core.table.bucket_advice import (
    LARGEST_BYTES,
    MAX_COUNT,
    SMALLEST_BYTES,
    TARGET_BYTES,
    advised_count,
    bucket_advice,
)
from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld

MB = 10**6
GB = 1000 * MB


def advice(count: int | None, median: int | None, largest: int | None, partitions: int = 1) -> Finding | None:
    facts = TableFacts(
        identifier="shop.orders",
        bucket_count=count,
        bucket_bytes_median=median,
        bucket_bytes_max=largest,
        partitions=partitions,
    )
    found = bucket_advice(facts)
    return found[0] if found else None


CASES = {
    "one small bucket fits": (1, 1000, 1000, Reason.BUCKET_SIZE_FITS, "1.0 kB (median)"),
    "buckets within the bounds": (4, 300 * MB, 800 * MB, Reason.BUCKET_SIZE_FITS, "800.0 MB in 3 partitions"),
    "many small buckets": (16, 10 * MB, 12 * MB, Reason.BUCKETS_TOO_SMALL, "Consider 1: "),
    "buckets a little too small": (8, 150 * MB, 190 * MB, Reason.BUCKETS_TOO_SMALL, "Consider 4: "),
    "one large bucket": (1, 7 * GB, 7 * GB, Reason.BUCKETS_TOO_LARGE, "Consider 16: "),
    "bytes after the change": (2, 3 * GB, 4 * GB, Reason.BUCKETS_TOO_LARGE, "the largest bucket would have about 500"),
    "small partitions beside a large one": (4, 5 * MB, 900 * MB, Reason.BUCKET_SIZE_FITS, "5.0 MB (median)"),
    "no number is large enough": (MAX_COUNT, 9 * GB, 9 * GB, Reason.BUCKET_SIZE_FITS, "9.0 GB"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_reason_and_the_numbers(case: tuple[int, int, int, Reason, str]) -> None:
    count, median, largest, reason, words = case
    finding = advice(count, median, largest, partitions=3)
    assert finding is not None
    assert finding.reason is reason
    assert words in finding.message
    assert f"bucket.fixed.count is {count}" in finding.message


@pytest.mark.parametrize(
    ("sentence", "count", "median", "largest"),
    [
        ("Dynamic or Unaware buckets have no count", None, None, None),
        ("a table without data has no bytes", 4, 0, 0),
        ("the run of an earlier release measured no bytes", 4, None, None),
    ],
)
def test_nothing_is_said_without_a_measure_of_fixed_buckets(
    sentence: str, count: int | None, median: int | None, largest: int | None
) -> None:
    assert advice(count, median, largest) is None, sentence
    assert bucket_advice(None) == ()


def test_nothing_is_said_during_a_rescale_whose_buckets_are_of_two_numbers() -> None:
    facts = TableFacts(identifier="shop.orders", bucket_count=8, bucket_bytes_max=7 * GB, bucket_bytes_median=7 * GB)
    assert bucket_advice(facts) != ()
    assert bucket_advice(facts.model_copy(update={"rescaling": True})) == ()


@given(count=st.integers(1, MAX_COUNT), largest=st.integers(1, 10**13))
def test_the_advised_number_is_a_power_of_two_whose_buckets_fit_with_room_to_double(count: int, largest: int) -> None:
    advised = advised_count(count, largest)
    assert advised.bit_count() == 1
    if advised < MAX_COUNT:
        assert largest * count / advised <= TARGET_BYTES
    assert 2 * TARGET_BYTES <= LARGEST_BYTES
    if 1 < advised < MAX_COUNT:
        assert largest * count / advised > TARGET_BYTES / 2 > SMALLEST_BYTES


@given(count=st.integers(1, MAX_COUNT), size=st.integers(1, 10**12))
def test_who_follows_the_advice_gets_none(count: int, size: int) -> None:
    before = advice(count, size, size)
    assert before is not None
    if before.reason is Reason.BUCKET_SIZE_FITS:
        return
    advised = advised_count(count, size)
    after = advice(advised, max(size * count // advised, 1), max(size * count // advised, 1))
    assert after is not None
    if size * count / MAX_COUNT <= LARGEST_BYTES:
        assert after.reason is Reason.BUCKET_SIZE_FITS


def test_the_condition_follows_the_last_run_and_changes_nothing_else() -> None:
    fixed = {"bucketMode": "Fixed", "bucketCount": 8, "partitions": 1}
    seen = TableWorld(table=builders.table(bucket={"type": "Fixed", "fixed": {"count": 8}})).ready()
    others = {each.type: (each.status, each.reason) for each in seen.table.status.conditions}
    due = seen.decide().requeue_after

    bytes_ = {"bucketBytesMedian": 2 * MB, "bucketBytesMax": 3 * MB}
    seen.edit(schema=builders.ORDERS | {"comment": "again"})
    seen.settle()
    seen.finish("Provision", after=MEASURE | fixed | bytes_)
    seen.settle()

    assert seen.says("BucketsFit") == ("False", Reason.BUCKETS_TOO_SMALL)
    assert {
        each.type: (each.status, each.reason) for each in seen.table.status.conditions if each.type != "BucketsFit"
    } == others
    assert seen.decide().requeue_after == due
    assert not [note for each in seen.decisions for note in each.events if note.reason == Reason.BUCKETS_TOO_SMALL]
