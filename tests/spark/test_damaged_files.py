"""Files of a table that are missing or damaged: the run names the file and what to do, and a copy heals the table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.spark.lake import Lake

COLUMNS = {"id": "BIGINT", "v": "INT"}
PARTS: Final = ("data", "a manifest", "a list of manifests")


def file_of(table: Path, part: str) -> Path:
    """A file that the latest snapshot needs."""
    if part == "a list of manifests":
        snapshot = json.loads((table / "snapshot" / "snapshot-2").read_text())
        return table / "manifest" / str(snapshot["deltaManifestList"])
    return next(table.glob("bucket-0/data-*" if part == "data" else "manifest/manifest-[0-9a-f]*"))


def remove(file: Path) -> None:
    file.unlink()


def garble(file: Path) -> None:
    file.write_bytes(b"no file of Paimon" * 30)


@pytest.mark.parametrize(
    ("part", "damage", "format_"),
    [*((part, remove, "parquet") for part in PARTS), ("data", remove, "avro"), ("data", garble, "orc")],
)
def test_a_file_that_cannot_be_read_is_named_until_it_is_back(
    lake: Lake, part: str, damage: Callable[[Path], None], format_: str
) -> None:
    options = {"bucket": "1", "file.format": format_, "write-only": "true"}
    lake.provision(COLUMNS, keys=["id"], options=options).ok()
    for number in range(2):
        lake.land(f"orders/{number}.csv", f"id,v\n1,{number}\n")
        lake.write().ok()
    file = file_of(lake.table_directory, part)
    content = file.read_bytes()
    damage(file)

    ended = lake.compact()

    assert (ended.code, ended.error["class"], ended.error["reason"]) == (30, "Infrastructure", "TableFileUnreadable")
    assert file.name in ended.error["message"]
    file.write_bytes(content)
    lake.compact().ok()
    assert [row["v"] for row in lake.rows()] == [1]


def test_a_file_of_the_input_is_none_of_the_table(lake: Lake) -> None:
    lake.provision(COLUMNS, keys=["id"], options={"bucket": "1"}).ok()
    lake.land("orders/1.parquet", b"no Parquet")
    assert "is not a Parquet file" in lake.write(format="parquet").blocked("InputMalformed")
