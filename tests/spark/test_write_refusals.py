"""A file that does not match the table fails the run before its commit, with a remedy."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.lake import Lake

pytestmark = pytest.mark.newest_engine
COLUMNS = {"id": "BIGINT", "v": "INT", "note": "STRING", "must": "STRING NOT NULL", "row": "ROW<a INT>"}
GOOD = "id,v,must\n1,2,x\n"


@pytest.fixture
def orders(lake: Lake) -> Lake:
    lake.provision(COLUMNS, keys=["id"], options={"bucket": "1"}).ok()
    return lake


def untouched_and_mendable(lake: Lake, path: str) -> None:
    assert not list((lake.table_directory).glob("snapshot/snapshot-*")), "something was committed"
    lake.land(path, GOOD)
    assert lake.write().ok()["write"]["rows"] == 1, "the same write loads the fixed file"


@pytest.mark.parametrize(
    ("content", "reason", "words"),
    [
        ("id,must,colour\n1,x,red\n", "InputSchemaMismatch", "colour"),
        ("id,v\n1,2\n", "InputSchemaMismatch", "must"),
        ("id,must\n1,\n", "InputMalformed", "must"),
        ("id,must\n,x\n", "InputMalformed", "id"),
        ("id,v,must\n1,2,x\n2,two,x\n", "InputMalformed", "two"),
        ("id,v,must\n1,3000000000,x\n", "InputMalformed", "3000000000"),
        ("id,v,must\n1,1.5,x\n", "InputMalformed", "1.5"),
        ("id,v,must\n1,2,x,more\n", "InputMalformed", ""),
        ("id,v,must\n1,2\n", "InputMalformed", ""),
        ("id,id,must\n1,2,x\n", "InputSchemaMismatch", "a.csv"),
        ("id,row,must\n1,2,x\n", "InputMalformed", "row"),
    ],
    ids=[
        "unknown column",
        "missing column",
        "NULL",
        "NULL key",
        "word",
        "overflow",
        "fraction",
        "long row",
        "short row",
        "twice",
        "nested",
    ],
)
def test_wrong_csv_files_are_refused(orders: Lake, content: str, reason: str, words: str) -> None:
    orders.land("orders/a.csv", content)

    assert words in orders.write().refused(reason)

    untouched_and_mendable(orders, "orders/a.csv")


@pytest.mark.parametrize(
    ("content", "reason", "words"),
    [
        ('{"id":1,"must":"x","colour":"red"}', "InputSchemaMismatch", "colour"),
        ('{"id":1,"must":"x","row":{"b":1}}', "InputSchemaMismatch", "row.b"),
        ('{"id":1,"must":"x","v":"two"}', "InputMalformed", ""),
        ('{"id":1,"must":"x","v":1.5}', "InputMalformed", ""),
        ('{"id":1,"must":', "InputMalformed", ""),
        ('{"id":1,"must":null}', "InputMalformed", "must"),
    ],
    ids=["unknown column", "unknown field", "word", "fraction", "cut off", "NULL"],
)
def test_wrong_json_files_are_refused(orders: Lake, content: str, reason: str, words: str) -> None:
    orders.land("orders/a.json", '{"id":9,"must":"fine"}\n' + content + "\n")

    assert words in orders.write(format="json").refused(reason)

    (orders.directory / "landing" / "orders" / "a.json").unlink()
    untouched_and_mendable(orders, "orders/a.csv")


@pytest.mark.parametrize(
    ("query", "reason", "words"),
    [
        ("SELECT 1 AS id, 'x' AS must, 'two' AS v", "InputSchemaMismatch", "column v is string"),
        ("SELECT 1 AS id, 'x' AS must, 1.5D AS v", "InputSchemaMismatch", "column v is double"),
        ("SELECT 1 AS id, 'x' AS must, named_struct('a', 1L, 'b', 2) AS row", "InputSchemaMismatch", "row.b"),
        ("SELECT 1 AS id, 'x' AS must, 3000000000L AS v", "InputMalformed", "3000000000"),
        ("SELECT 1 AS id, CAST(NULL AS STRING) AS must", "InputMalformed", "must"),
    ],
    ids=["text", "double", "unknown field", "overflow", "NULL"],
)
def test_wrong_parquet_files_are_refused(orders: Lake, query: str, reason: str, words: str) -> None:
    folder = orders.directory / "landing" / "orders"
    orders.outside(f"INSERT OVERWRITE DIRECTORY '{folder}' USING parquet {query}")

    assert words in orders.write(format="parquet").refused(reason)

    for path in folder.iterdir():
        path.unlink()
    untouched_and_mendable(orders, "orders/a.csv")


def test_a_file_of_another_format_is_refused(orders: Lake) -> None:
    orders.land("orders/a.csv", GOOD)

    orders.write(format="parquet").refused("InputMalformed")

    untouched_and_mendable(orders, "orders/a.csv")


def test_a_path_outside_its_location_is_refused(orders: Lake) -> None:
    orders.write(path="../../etc/").refused("InvalidSpec")


@pytest.mark.parametrize(
    "write",
    [{"path": "missing.csv"}, {"path": "missing/", "once": True}, {"path": "missing/", "select": "All"}],
    ids=["file", "once", "all"],
)
def test_a_missing_input_file_is_an_environment_failure(orders: Lake, write: dict[str, Any]) -> None:
    assert f"landing/{write['path'].rstrip('/')} does not exist" in orders.write(**write).refused("InputNotFound")


@pytest.mark.parametrize(
    ("content", "write", "field"),
    [
        ("id,id,must\n1,2,x\n", {}, "spec.writes[import].from.files"),
        (None, {"once": True}, "spec.writes[import].from.files.path"),
    ],
    ids=["a column twice", "no file yet"],
)
def test_the_error_names_the_field_of_the_files(
    orders: Lake, content: str | None, write: dict[str, Any], field: str
) -> None:
    file = orders.land("orders/a.csv", content or "")
    if content is None:
        file.unlink()

    assert orders.write(**write).error["field"] == field


def test_a_write_of_new_files_accepts_a_missing_folder(orders: Lake) -> None:
    assert orders.write(path="later/").ok()["write"]["skipped"] is True


def test_text_too_long_for_its_column_is_refused(lake: Lake) -> None:
    lake.provision({"id": "BIGINT", "v": "VARCHAR(3)", "c": "CHAR(2)"}, keys=["id"], options={"bucket": "1"}).ok()
    lake.land("orders/a.csv", "id,v,c\n1,äöü,ab\n")
    lake.land("orders/b.csv", "id,v\n1,abcd\n")

    assert "v is longer than 3" in lake.write().refused("InputMalformed")

    assert lake.write(path="orders/a.csv").ok()["write"]["rows"] == 1
