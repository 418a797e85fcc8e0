"""Compactions remove the records whose time is longer ago than retention.records, and no other."""

# ruff: noqa: S608 - the only values in SQL are those of the tests

from __future__ import annotations

from typing import Any

import pytest

from paimon_engines.loader import load_engine
from tests.spark.lake import Lake, RefusedBySparkError
from tests.spark.retention_limit import DAY, Limit


def by_schedule(lake: Lake, sorted_runs: int) -> dict[str, Any]:
    """The result of a full compaction as the operator's schedule asks for it."""
    in_single_runs = load_engine(lake.engine.id).rewrites_expired_records
    age = {"seconds": 3 * DAY, "column": "at", "inSingleRuns": in_single_runs}
    return lake.compact(thresholds={"sortedRuns": sorted_runs, "records": age}).ok()


def test_a_schedule_takes_the_partitions_whose_records_have_expired_and_no_other(lake: Lake) -> None:
    """An engine that removes records only where it merges has nothing to do for the only sorted run of a bucket."""
    options = {"bucket": "1", "write-only": "true"}
    shape: Any = {"columns": {"dt": "STRING", "id": "BIGINT", "at": "INT NOT NULL"}, "keys": ["dt", "id"]}
    lake.provision(**shape, partitions=["dt"], options=options).ok()
    old, new = "('old', 1, 1000), ('old', 2, 2000000000)", "('new', 1, 2000000000)"
    lake.outside(f"INSERT INTO outside.shop.orders VALUES {old}, {new}")
    lake.compact().ok()
    expiry = {"record-level.expire-time": "3 d", "record-level.time-field": "at"}
    lake.provision(**shape, partitions=["dt"], options=options | expiry).ok()
    removes = load_engine(lake.engine.id).rewrites_expired_records
    done = by_schedule(lake, 2)
    assert done["compactedPartitions"] == done["onlyForRecords"] == (1 if removes else 0)
    assert len(lake.rows()) == (2 if removes else 3)
    snapshots = lake.snapshots()
    assert by_schedule(lake, 2)["compactedPartitions"] == 0, "what it leaves is no reason for another"
    assert lake.snapshots() == snapshots
    lake.compact().ok()
    assert len(lake.rows()) == (2 if removes else 3), "and a compaction of everything finds no more"
    lake.outside(f"INSERT INTO outside.shop.orders VALUES {old}, {new}")
    assert by_schedule(lake, 5)["compactedPartitions"] == 1, "files of the old partition are merged below the threshold"
    assert sorted((row["dt"], row["id"]) for row in lake.rows()) == [("new", 1), ("old", 2)]


def _limit() -> Limit:
    """A limit of three days. The engines compare whole seconds."""
    return Limit(3 * DAY, resolution_s=1)


def _texts(limit: Limit, text: str) -> list[str]:
    """Its times as values of SQL."""
    return [text.format(int(each)) for each in limit.times.values()]


def expiring(lake: Lake, type_: str, after: str, *times: str) -> list[int]:
    """Ids of the records with these times that a full compaction keeps: 1 for the first time.

    All are written twice, because 0.9 removes records only where a compaction merges files.
    """
    options = {"bucket": "1", "record-level.expire-time": after, "record-level.time-field": "at"}
    lake.provision({"id": "BIGINT", "at": type_}, keys=["id"], options=options).ok()
    rows = ", ".join(f"({number}, {text})" for number, text in enumerate(times, start=1))
    lake.outside(*[f"INSERT INTO outside.shop.orders VALUES {rows}"] * 2)
    lake.compact().ok()
    return sorted(row["id"] for row in lake.rows())


def test_seconds_in_an_int_are_the_time_of_a_record(lake: Lake) -> None:
    limit = _limit()
    limit.check(expiring(lake, "INT NOT NULL", "3 d", *_texts(limit, "{0}")))


def test_a_long_time_removes_all_records_of_an_engine_that_adds_in_32_bits(lake: Lake) -> None:
    limit = _limit()
    kept = expiring(lake, "INT NOT NULL", "5000 d", *_texts(limit, "{0}"))
    assert kept == ([] if load_engine(lake.engine.id).has_record_times_in_32_bits else list(limit.times))


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("BIGINT", "{0}"),
        ("BIGINT", "{0}000"),
        ("TIMESTAMP(3)", "CAST(timestamp_seconds({0}) AS TIMESTAMP_NTZ)"),
        ("TIMESTAMP_LTZ(6)", "timestamp_seconds({0})"),
    ],
    ids=["seconds", "milliseconds", "local timestamps", "timestamps"],
)
def test_other_times_of_a_record(lake: Lake, type_: str, text: str) -> None:
    limit = _limit()
    times = *_texts(limit, text), "NULL"
    if load_engine(lake.engine.id).has_record_times_in_32_bits:
        with pytest.raises(RefusedBySparkError, match="should be INT type"):
            expiring(lake, type_, "3 d", *times)
    else:
        *kept, last = expiring(lake, type_, "3 d", *times)
        limit.check(kept)
        assert last == len(times), "a record without a time stays"
