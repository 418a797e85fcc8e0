"""A rescale 2 -> 8 -> 3 on S3 and HDFS with late upserts before, between and after: pypaimon reads each key once."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.spark.lake import Lake
from tests.spark.rescaled_table import progress

DAYS = ("mon", "tue", "wed", "thu")
COLUMNS = {"id": "BIGINT", "day": "STRING", "v": "STRING", "n": "DECIMAL(12,2)"}
LAYOUTS = [("partitioned", "orc"), ("whole", "parquet"), ("partitioned", "parquet"), ("whole", "orc")]
Rows = dict[int, tuple[str, str]]
"""Key -> day and value."""


def load(lake: Lake, rows: Rows, value: str, ids: Iterable[int]) -> None:
    """Upserts these keys with a value, and remembers them."""
    late = {id_: (DAYS[id_ % len(DAYS)], f"{value}-{id_}") for id_ in ids}
    lines = "".join(f"{id_},{day},{v},{id_ % 997}.25\n" for id_, (day, v) in late.items())
    lake.land(f"orders/{value}.csv", f"id,day,v,n\n{lines}")
    assert lake.write().ok()["write"]["rows"] == len(late)
    rows |= late


def check(lake: Lake, rows: Rows) -> None:
    """Each key is there once, with the value of its last upsert."""
    found = [(row["id"], row["day"], row["v"], row["n"]) for row in lake.rows()]
    assert len(found) == len(rows), "a key is there twice, or is lost"
    assert sorted(found) == sorted((id_, day, v, f"{id_ % 997}.25") for id_, (day, v) in rows.items())


def rescale_with_late_upserts(lake: Lake, keys: int, layout: tuple[str, str]) -> None:
    rows: Rows = {}
    kind, file_format = layout
    by_day = {"keys": ["day", "id"], "partitions": ["day"]} if kind == "partitioned" else {"keys": ["id"]}
    lake.provision(COLUMNS, options={"bucket": "2", "file.format": file_format}, **by_day).ok()
    load(lake, rows, "first", range(keys))
    load(lake, rows, "before", range(0, keys, 3))
    parts = len(DAYS) if kind == "partitioned" else 1

    assert progress(lake.rescale(8)) == (parts, parts, True)
    check(lake, rows)
    load(lake, rows, "between", range(1, keys + keys // 10, 5))
    assert progress(lake.rescale(3)) == (parts, parts, True)
    load(lake, rows, "after", range(2, keys + keys // 5, 7))
    check(lake, rows)


@pytest.mark.some_rows(1)
@pytest.mark.engines_in_turn("layout")
@pytest.mark.parametrize("layout", LAYOUTS[:2], ids=" ".join)
def test_no_key_is_lost_or_doubled_on_s3(s3_lake: Lake, layout: tuple[str, str]) -> None:
    rescale_with_late_upserts(s3_lake, 5_000, layout)


@pytest.mark.long
@pytest.mark.parametrize("layout", LAYOUTS, ids=" ".join)
def test_no_key_of_200_000_is_lost_or_doubled_on_s3(s3_lake: Lake, layout: tuple[str, str]) -> None:
    rescale_with_late_upserts(s3_lake, 200_000, layout)


@pytest.mark.long
@pytest.mark.parametrize("layout", LAYOUTS, ids=" ".join)
def test_no_key_of_200_000_is_lost_or_doubled_on_hdfs(simple_hdfs_lake: Lake, layout: tuple[str, str]) -> None:
    rescale_with_late_upserts(simple_hdfs_lake, 200_000, layout)
