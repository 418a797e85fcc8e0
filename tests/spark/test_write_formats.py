"""The four formats that Write reads, by column name and strictly typed."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.spark.lake import Lake

pytestmark = pytest.mark.newest_engine

NESTED = {"id": "BIGINT", "amount": "DECIMAL(12,2)", "at": "TIMESTAMP(6)", "items": "ARRAY<ROW<sku STRING, n INT>>"}
ROWS: list[dict[str, Any]] = [
    {"id": 1, "amount": "2.50", "at": "2026-01-02T03:04:05.678900", "items": [{"sku": "x", "n": 7}]},
    {"id": 2, "amount": None, "at": None, "items": None},
]


COLUMNAR = """SELECT * FROM VALUES
    (array(named_struct('n', 7, 'sku', 'x')), 1, CAST(2.5 AS DECIMAL(10,2)), timestamp_ntz'2026-01-02 03:04:05.6789'),
    (NULL, 2, NULL, NULL) AS t(items, id, amount, at)"""
"""ROWS with another order of columns and of a row's fields, and narrower types."""


def make_files(lake: Lake, form: str, folder: str, query: str) -> None:
    lake.outside(f"INSERT OVERWRITE DIRECTORY '{lake.directory}/landing/{folder}' USING {form} {query}")


def nested(lake: Lake) -> None:
    lake.provision(NESTED, keys=["id"], options={"bucket": "1"}).ok()


def test_parquet_matches_by_name_and_widens(lake: Lake) -> None:
    nested(lake)
    make_files(lake, "parquet", "orders", COLUMNAR)

    assert lake.write(format="parquet").ok()["write"]["rows"] == 2

    assert lake.rows() == ROWS


def test_orc_without_a_column_leaves_it_null(lake: Lake) -> None:
    nested(lake)
    make_files(lake, "orc", "orders", COLUMNAR.replace("SELECT *", "SELECT at, amount, id"))

    assert lake.write(format="orc").ok()["write"]["rows"] == 2

    assert lake.rows() == [{**row, "items": None} for row in ROWS]


def test_parquet_files_with_different_columns_are_read_together(lake: Lake) -> None:
    nested(lake)
    make_files(lake, "parquet", "orders/1", "SELECT 1 AS id, CAST(2.5 AS DECIMAL(10,2)) AS amount")
    make_files(lake, "parquet", "orders/2", "SELECT 2 AS id")

    assert lake.write(format="parquet").ok()["write"]["files"] == 2

    assert [(row["id"], row["amount"]) for row in lake.rows()] == [(1, "2.50"), (2, None)]


def test_json_lines(lake: Lake) -> None:
    nested(lake)
    lines = [{"id": 1, "amount": 2.5, "at": "2026-01-02T03:04:05.6789", "items": [{"n": 7, "sku": "x"}]}, {"id": 2}]
    lake.land("orders/a.json", "\n".join(map(json.dumps, lines)))

    lake.write(format="json").ok()

    assert lake.rows() == ROWS


def test_csv_matches_by_each_files_own_header(lake: Lake) -> None:
    lake.provision({"id": "BIGINT", "v": "STRING", "d": "DATE", "t": "TIMESTAMP_LTZ(6)"}, keys=["id"]).ok()
    lake.land("orders/a.csv", 'v,id,d,t\n"says ""hi"",\nand goes",1,2026-01-02,2026-01-02T03:04:05Z\n"",2,,\n')
    lake.land("orders/b.csv", "id\n3\n")
    lake.land("orders/c.csv.gz", gzip.compress(b"id,v\r\n4,zipped\r\n"))
    lake.land("orders/empty.csv", "")
    lake.land("orders/sub/*[x].csv", "id,v\n5,odd name\n")
    lake.land("orders/_SUCCESS", "not input")
    lake.land("orders/.hidden/f.csv", "not input")

    written = lake.write().ok()["write"]

    assert (written["files"], written["rows"]) == (5, 5)
    assert lake.rows() == [
        {"id": 1, "v": 'says "hi",\nand goes', "d": "2026-01-02", "t": "2026-01-02T03:04:05+00:00"},
        {"id": 2, "v": None, "d": None, "t": None},
        {"id": 3, "v": None, "d": None, "t": None},
        {"id": 4, "v": "zipped", "d": None, "t": None},
        {"id": 5, "v": "odd name", "d": None, "t": None},
    ]


def test_append_keeps_equal_rows(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    lake.land("orders/a.csv", "id\n1\n1\n")

    assert lake.write(mode="Append").ok()["table"]["bucketMode"] == "Unaware"

    assert lake.rows() == [{"id": 1}, {"id": 1}]


def test_write_options_reach_paimon(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    lake.land("orders/a.csv", "id\n1\n")

    lake.write(mode="Append", options={"file.format": "orc"}).ok()

    assert [path.suffix for path in (lake.table_directory / "bucket-0").iterdir()] == [".orc"]
