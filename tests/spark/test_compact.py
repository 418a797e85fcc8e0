"""Compaction: its result matches the table, and it expires no snapshot."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from paimon_engines.loader import load_engine
from tests.spark.lake import Lake
from tests.support import lake_reader

TIGHT = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}
"""A retention that would let nothing but the latest snapshot live."""


@pytest.fixture
def upserted(lake: Lake) -> Lake:
    """Creates a write-only table of two buckets with three commits of the same keys."""
    options = {"bucket": "2", "write-only": "true", **TIGHT}
    lake.provision({"id": "BIGINT", "v": "INT"}, keys=["id"], options=options).ok()
    for number in range(3):
        lines = "".join(f"{key},{number}\n" for key in range(8))
        lake.land(f"orders/{number}.csv", f"id,v\n{lines}")
        lake.write().ok()
    return lake


def files(lake: Lake) -> list[dict[str, Any]]:
    return lake_reader.read_rows(lake.warehouse, "shop", "orders$files")


def test_a_sort_of_a_table_that_the_engine_does_not_cluster_is_refused(upserted: Lake) -> None:
    """Tables that it clusters: test_sort_compaction.py."""
    sort = upserted.compact(strategy="Sort")
    if load_engine(upserted.engine.id).has_incremental_clustering:
        assert "clustering" in sort.refused("TableAltered")
    else:
        assert upserted.engine.id in sort.refused("UnsupportedByEngine")
    assert len(upserted.snapshots()) == 3


def test_full_compaction_leaves_one_sorted_run_per_bucket(upserted: Lake) -> None:
    before = files(upserted)

    done = upserted.compact().ok()

    after = files(upserted)
    assert {(file["bucket"], file["level"] > 0) for file in after} == {(0, True), (1, True)}
    assert len(after) == 2
    assert done["before"]["files"] == len(before) == 6
    assert done["before"]["sortedRunsMax"] == 3
    assert done["after"] == {
        "files": 2,
        "bytes": sum(file["file_size_in_bytes"] for file in after),
        "rows": 8,
        "sortedRunsMax": 1,
        "snapshotId": 4,
        "snapshots": 4,
        "manifests": len(upserted.select("SELECT file_name FROM outside.shop.`orders$manifests`")),
    }
    assert upserted.rows() == [{"id": key, "v": 2} for key in range(8)]


def test_compaction_expires_nothing_and_a_second_one_does_nothing(upserted: Lake) -> None:
    upserted.compact().ok()
    assert [each["snapshot_id"] for each in upserted.snapshots()] == [1, 2, 3, 4]

    again = upserted.compact().ok()

    assert again["before"] == again["after"]
    assert [each["commit_kind"] for each in upserted.snapshots()] == ["APPEND", "APPEND", "APPEND", "COMPACT"]


def test_minor_compaction_where_the_engine_has_it(upserted: Lake) -> None:
    if load_engine(upserted.engine.id).has_minor_compaction:
        few = {"num-sorted-run.compaction-trigger": "3", "num-levels": "6"}
        options = {"bucket": "2", "write-only": "true", **TIGHT, **few}
        upserted.provision({"id": "BIGINT", "v": "INT"}, keys=["id"], options=options).ok()
        done = upserted.compact(strategy="Minor").ok()
        assert (done["before"]["sortedRunsMax"], done["before"]["rows"]) == (3, 24)
        assert (done["after"]["sortedRunsMax"], done["after"]["rows"]) == (1, 8)
        assert upserted.rows() == [{"id": key, "v": 2} for key in range(8)]
    else:
        assert upserted.engine.id in upserted.compact(strategy="Minor").refused("UnsupportedByEngine")
        assert len(upserted.snapshots()) == 3


def test_partitions_that_are_still_written_are_not_compacted(upserted: Lake) -> None:
    partitioned = upserted
    partitioned.drop().ok()
    options = {"bucket": "1", "write-only": "true"}
    columns = {"id": "BIGINT", "dt": "STRING"}
    partitioned.provision(columns, keys=["dt", "id"], partitions=["dt"], options=options).ok()
    for number in range(2):
        partitioned.land(f"orders/p{number}.csv", "id,dt\n1,a\n")
        partitioned.write(path=f"orders/p{number}.csv").ok()

    assert partitioned.compact(partitionIdleTime="1 h").ok()["after"]["sortedRunsMax"] == 2
    assert partitioned.compact(partitionIdleTime="1 ms").ok()["after"]["sortedRunsMax"] == 1


def test_small_files_of_an_append_table(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "write-only": "true"}).ok()
    for number in range(3):
        lake.land(f"orders/{number}.csv", f"id\n{number}\n")
        lake.write(mode="Append").ok()

    done = lake.compact().ok()

    assert done["before"]["files"] == 3
    assert done["after"]["files"] == len(files(lake)) == 1
    assert [row["id"] for row in lake.rows()] == [0, 1, 2]


def test_a_compaction_of_a_table_without_a_snapshot_does_nothing(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, keys=["id"], options={"bucket": "1"}).ok()

    assert lake.compact().ok()["after"]["files"] == 0


def test_a_table_that_paimon_cannot_compact_is_refused(lake: Lake) -> None:
    columns = {"id": "BIGINT", "dt": "STRING"}
    lake.provision(columns, keys=["id"], partitions=["dt"], options={"bucket": "-1"}).ok()

    assert "partition key" in lake.compact().refused("InvalidSpec")


PARTITIONS: list[tuple[str, list[str]]] = [
    ("STRING", ["a", "it's; dt=b, \\ $x", "2026-11-22"]),
    ("INT", ["20261122", "-5", "0"]),
    ("BIGINT", ["9007199254740993", "1", "2"]),
    ("SMALLINT", ["7", "-7", "0"]),
    ("DATE", ["2026-11-22", "1999-12-31", "2000-02-29"]),
]
"""Type of a partition key, and three values as they stand in a run."""
TEXTS = ("STRING", "DATE")
"""Types whose values are text in JSON too."""


@pytest.mark.engines_in_turn("type_")
@pytest.mark.parametrize(("type_", "values"), PARTITIONS, ids=lambda each: each if isinstance(each, str) else None)
def test_only_the_partitions_of_the_run_are_compacted(lake: Lake, type_: str, values: list[str]) -> None:
    _in_three_partitions(lake, type_, values)

    lake.compact(partitions=[{"dt": values[1]}]).ok()
    assert _files_by_partition(lake) == [1, 3, 3]
    lake.compact(partitions=[{"dt": values[0]}, {"dt": values[1]}]).ok()
    assert _files_by_partition(lake) == [1, 1, 3]
    assert len(lake.rows()) == 3


@pytest.mark.parametrize(
    ("type_", "partition", "words"),
    [
        ("INT", {"dt": "1 OR 1=1"}, "no value of 'dt'"),
        ("INT", {"dt": "3000000000"}, "no value of 'dt'"),
        ("DATE", {"dt": "22.11.2026"}, "no value of 'dt'"),
        ("STRING", {"day": "a"}, "no column 'day'"),
    ],
)
def test_an_invalid_partition_is_refused(lake: Lake, type_: str, partition: dict[str, str], words: str) -> None:
    _in_three_partitions(lake, type_, ["2026-11-22" if type_ == "DATE" else "1"], commits=1)
    assert words in lake.compact(partitions=[partition]).refused("InvalidSpec")


def _in_three_partitions(lake: Lake, type_: str, values: list[str], *, commits: int = 3) -> None:
    options = {"bucket": "1", "write-only": "true"}
    columns = {"id": "BIGINT", "v": "INT", "dt": type_}
    lake.provision(columns, keys=["dt", "id"], partitions=["dt"], options=options).ok()
    for number in range(commits):
        lines = [json.dumps({"id": 1, "v": number, "dt": value if type_ in TEXTS else int(value)}) for value in values]
        lake.land(f"orders/{number}.json", "\n".join(lines))
        lake.write(format="json").ok()


def _files_by_partition(lake: Lake) -> list[int]:
    return sorted(Counter(str(file["partition"]) for file in files(lake)).values())
