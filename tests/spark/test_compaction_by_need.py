"""A scheduled compaction on real tables: it takes the partitions that reach a threshold, and changes no row."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from paimon_engines.loader import load_engine
from tests.spark.lake import Lake
from tests.support import lake_reader

COLUMNS = {"id": "BIGINT", "dt": "STRING", "v": "INT"}
THREE_RUNS = {"sortedRuns": 3}


def land_days(lake: Lake, number: int, *days: str, mode: str = "Upsert") -> None:
    """One commit with a row in each of these partitions; an empty day is NULL."""
    lines = "".join(f"1,{day},{number}\n" for day in days)
    lake.land(f"orders/{number}.csv", f"id,dt,v\n{lines}")
    lake.write(path=f"orders/{number}.csv", mode=mode).ok()


@pytest.fixture
def keyed(lake: Lake) -> Lake:
    """Three commits into partition a, two into b, one into c."""
    options = {"bucket": "1", "write-only": "true"}
    lake.provision(COLUMNS, keys=["dt", "id"], partitions=["dt"], options=options).ok()
    for number, days in enumerate(("abc", "ab", "a")):
        land_days(lake, number, *days)
    return lake


def rows_of(lake: Lake) -> list[str]:
    """All rows, in an order of their own."""
    return sorted(map(str, lake.rows()))


def runs_of(lake: Lake) -> dict[str, int]:
    """Partition -> its sorted runs, by an independent reader."""
    levels: defaultdict[str, list[int]] = defaultdict(list)
    for each in lake_reader.read_rows(lake.warehouse, "shop", "orders$files"):
        levels[day_of(each)].append(each["level"])
    return {day: found.count(0) + len({each for each in found if each}) for day, found in levels.items()}


def day_of(file: dict[str, Any]) -> str:
    return str(file["partition"]).strip("{}[]").rpartition("=")[2].strip("'\" ")


def test_only_partitions_that_reach_the_threshold_are_compacted(keyed: Lake) -> None:
    before = rows_of(keyed)
    assert sorted(runs_of(keyed).values()) == [1, 2, 3]
    done = keyed.compact(thresholds=THREE_RUNS).ok()
    assert done["compactedPartitions"] == 1
    assert sorted(runs_of(keyed).values()) == [1, 1, 2]
    assert done["after"]["sortedRunsMax"] == 2
    assert rows_of(keyed) == before


def test_a_minor_compaction_merges_as_few_runs_as_its_threshold(keyed: Lake) -> None:
    if not load_engine(keyed.engine.id).has_minor_compaction:
        keyed.compact(strategy="Minor", thresholds=THREE_RUNS).refused("UnsupportedByEngine")
        return
    keyed.compact(strategy="Minor").ok()
    assert sorted(runs_of(keyed).values()) == [1, 2, 3], "Paimon's own trigger is five"
    keyed.compact(strategy="Minor", thresholds=THREE_RUNS).ok()
    assert sorted(runs_of(keyed).values()) == [1, 1, 2]


@pytest.mark.newest_engine
def test_a_run_without_a_partition_in_need_commits_nothing(keyed: Lake) -> None:
    snapshots = keyed.snapshots()
    done = keyed.compact(thresholds={"sortedRuns": 4}).ok()
    assert done["compactedPartitions"] == 0
    assert done["before"] == done["after"]
    assert keyed.snapshots() == snapshots


def test_a_partition_in_need_that_is_not_idle_is_left(keyed: Lake) -> None:
    keyed.compact(thresholds=THREE_RUNS, partitionIdleTime="1 h").ok()
    assert sorted(runs_of(keyed).values()) == [1, 2, 3]
    keyed.compact(thresholds=THREE_RUNS, partitionIdleTime="1 ms").ok()
    assert sorted(runs_of(keyed).values()) == [1, 1, 2]


@pytest.mark.parametrize("day", ["b", ""], ids=["a partition", "the one without a value"])
def test_small_files_of_a_partition(lake: Lake, day: str) -> None:
    lake.provision(COLUMNS, partitions=["dt"], options={"bucket": "-1", "write-only": "true"}).ok()
    for number in range(5):
        land_days(lake, number, day, *("a" for _ in range(number == 0)), mode="Append")
    before = rows_of(lake)
    done = lake.compact(thresholds={"smallFiles": 5}).ok()
    assert done["compactedPartitions"] == 1
    assert (done["before"]["files"], done["after"]["files"]) == (6, 2)
    assert rows_of(lake) == before
