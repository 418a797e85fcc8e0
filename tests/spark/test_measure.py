"""What a run reports of the table's files, compared with the files that pypaimon lists."""

from __future__ import annotations

import pytest

from spark_apps.catalog.file_counts import LISTED_MAX
from spark_apps.progress import SPARK_READY
from tests.spark.lake import Lake
from tests.support import lake_reader

COLUMNS = {"day": "STRING", "id": "BIGINT", "v": "BIGINT"}
MANY = LISTED_MAX
"""So many buckets have, in two partitions, more files than are listed."""


def upsert_twice(lake: Lake, buckets: int) -> None:
    """Writes the same keys twice into two partitions."""
    options = {"bucket": str(buckets), "write-only": "true", "target-file-size": "2 kb"}
    lake.provision(COLUMNS, keys=["day", "id"], partitions=["day"], options=options).ok()
    for value in (1, 2):
        rows = "".join(f"{day},{id_},{value}\n" for day in ("mon", "tue") for id_ in range(2 * buckets))
        lake.land(f"orders/{value}.csv", f"day,id,v\n{rows}")
        lake.write().ok()


@pytest.mark.parametrize("buckets", [2, MANY], ids=["a few", "many"])
def test_files_are_counted_by_partition_and_bucket(lake: Lake, buckets: int) -> None:
    upsert_twice(lake, buckets)

    counted = lake.expire(timeRetained="1 d").ok()["table"]

    files = lake_reader.read_rows(lake.warehouse, "shop", "orders$files")
    assert (len(files) > LISTED_MAX) == (buckets == MANY)
    assert counted["files"] == len(files)
    assert counted["rows"] == sum(file["record_count"] for file in files) == 8 * buckets
    assert counted["sizeBytes"] == sum(file["file_size_in_bytes"] for file in files)
    assert counted["smallFiles"] == sum(file["file_size_in_bytes"] < 0.7 * 2048 for file in files)
    assert counted["sortedRunsMax"] == 2


@pytest.mark.newest_engine
def test_a_run_that_needs_no_query_does_not_start_spark_sql(lake: Lake) -> None:
    upsert_twice(lake, 1)

    done = lake.drive(lake.job("ExpireSnapshots", expireSnapshots={"numRetainedMin": 1, "numRetainedMax": 1}))

    assert done.result is not None, done.log
    assert (done.result["expired"], done.result["table"]["files"]) == (1, 4)
    assert SPARK_READY not in done.log
