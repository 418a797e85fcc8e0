"""What a run reports of the table's files, compared with the files that pypaimon lists.

The driver counts them from the manifests, or Paimon does. test_observed_tables.py shows all kinds of tables.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from statistics import median_low

import pytest

from paimon_engines.loader import load_engine
from spark_apps.catalog.file_counts import LISTED_MAX
from spark_apps.progress import SPARK_READY
from tests.spark.lake import Lake
from tests.support import lake_reader

COLUMNS = {"day": "STRING", "id": "BIGINT", "v": "STRING"}
MANY = LISTED_MAX
"""Number of buckets. In two partitions, they have more files than LISTED_MAX."""


BY_PAIMON = {"manifest.compression": "snappy"}
"""Manifests that only Paimon and pypaimon can read."""


def upsert_twice(lake: Lake, buckets: int, **options: str) -> None:
    """Writes the same keys twice into two partitions; a file of Monday is not small, one of Tuesday is."""
    options |= {"bucket": str(buckets), "write-only": "true", "target-file-size": "2 kb"}
    lake.provision(COLUMNS, keys=["day", "id"], partitions=["day"], options=options).ok()
    for load in (1, 2):
        values = {"mon": hashlib.shake_128(bytes([load])).hexdigest(1000), "tue": str(load)}
        rows = "".join(f"{day},{id_},{value}\n" for day, value in values.items() for id_ in range(2 * buckets))
        lake.land(f"orders/{load}.csv", f"day,id,v\n{rows}")
        lake.write().ok()


@pytest.mark.parametrize(
    ("buckets", "options"),
    [
        pytest.param(2, {}, id="a few"),
        pytest.param(2, BY_PAIMON, id="a few, by Paimon"),
        pytest.param(
            MANY, BY_PAIMON | {"deletion-vectors.enabled": "true"}, id="many, whose level 0 readers skip, by Paimon"
        ),
    ],
)
def test_files_are_counted_by_partition_and_bucket(lake: Lake, buckets: int, options: dict[str, str]) -> None:
    upsert_twice(lake, buckets, **options)

    counted = lake.expire(timeRetained="1 d").ok()["table"]

    files = lake_reader.read_rows(lake.warehouse, "shop", "orders$files")
    assert (len(files) > LISTED_MAX) == (buckets == MANY)
    assert counted["files"] == len(files)
    assert counted["rows"] == sum(file["record_count"] for file in files) == 8 * buckets
    assert counted["sizeBytes"] == sum(file["file_size_in_bytes"] for file in files)
    assert counted["smallFiles"] == sum(file["file_size_in_bytes"] < 0.7 * 2048 for file in files)
    assert 0 < counted["smallFiles"] < counted["files"]
    assert counted["sortedRunsMax"] == 2
    sizes: Counter[tuple[str, int]] = Counter()
    for file in files:
        sizes[file["partition"], file["bucket"]] += file["file_size_in_bytes"]
    assert (counted["bucketCount"], counted["partitions"]) == (buckets, 2)
    assert ("manifests" in counted) == (options == {})
    assert counted["bucketBytesMedian"] == median_low(sizes.values())
    assert counted["bucketBytesMax"] == max(sizes.values())
    assert counted["bucketBytesMedian"] < counted["bucketBytesMax"]


@pytest.mark.parametrize("options", [{}, BY_PAIMON], ids=["by the driver", "by Paimon"])
@pytest.mark.parametrize("keys", [["id"], []], ids=["Dynamic", "Unaware"])
def test_bytes_per_bucket_are_measured_where_there_are_buckets(
    lake: Lake, keys: list[str], options: dict[str, str]
) -> None:
    lake.provision(COLUMNS, keys=keys, options={"bucket": "-1", **options}).ok()
    lake.land("orders/1.csv", "day,id,v\nmon,1,x\n")

    measured = lake.write(mode="Upsert" if keys else "Append").ok()["table"]

    of_buckets = {each: measured.get(each) for each in ("partitions", "bucketBytesMedian", "bucketBytesMax")}
    size = measured["sizeBytes"]
    assert of_buckets == dict(zip(of_buckets, (1, size, size) if keys else (None,) * 3, strict=True))
    assert (measured["rows"], "bucketCount" in measured, "manifests" in measured) == (1, False, options == {})


@pytest.mark.parametrize("options", [{}, BY_PAIMON], ids=["by the driver", "by Paimon"])
def test_files_without_a_bucket_yet_have_no_bytes_per_bucket(lake: Lake, options: dict[str, str]) -> None:
    postponed = {"bucket": "-2", "postpone.batch-write-fixed-bucket": "false"}
    created = lake.provision(COLUMNS, keys=["id"], options=postponed | options)
    if not load_engine(lake.engine.id).has_postponed_buckets:
        assert "number of buckets" in created.refused("TableRefused")
        return
    lake.land("orders/1.csv", "day,id,v\nmon,1,x\n")

    measured = lake.write().ok()["table"]

    assert (measured["bucketMode"], measured["rows"], "manifests" in measured) == ("Postpone", 1, options == {})
    assert not measured.keys() & {"partitions", "bucketBytesMedian", "bucketBytesMax"}


@pytest.mark.newest_engine
def test_a_run_that_needs_no_query_does_not_start_spark_sql(lake: Lake) -> None:
    upsert_twice(lake, 1)

    done = lake.drive(lake.job("ExpireSnapshots", expireSnapshots={"numRetainedMin": 1, "numRetainedMax": 1}))

    assert done.result is not None, done.log
    assert (done.result["expired"], done.result["table"]["files"]) == (1, 4)
    assert SPARK_READY not in done.log
