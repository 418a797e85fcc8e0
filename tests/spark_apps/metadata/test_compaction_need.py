"""Which partitions a compaction by its schedule is for."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.parameters.compact import CompactThresholds
from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.binary_row import partition_values
from spark_apps.metadata.compaction_need import partitions_in_need
from spark_apps.metadata.observation import Observer
from spark_apps.metadata.volume import VolumeFiles
from tests.support.fabricated_avro import DataFile
from tests.support.fabricated_table import FabricatedTable, schema_of

APPEND = schema_of(primaryKeys=[], options={"bucket": "-1", "target-file-size": "100 b"})
Files = Sequence[Mapping[str, Any]]


def mon(count: int, **fields: Any) -> list[Mapping[str, Any]]:
    return [{"day": "mon", **fields}] * count


def tue(count: int, **fields: Any) -> list[Mapping[str, Any]]:
    return [{"day": "tue", **fields}] * count


def chosen(root: Path, files: Files, thresholds: CompactThresholds, schema: TableSchema, **more: Any) -> list[str]:
    table = FabricatedTable(root)
    table.commit([DataFile(name=f"f{n}", **each) for n, each in enumerate(files)], **more)
    contents = Observer(VolumeFiles(), table.location, schema).observe().contents
    assert contents is not None
    types = [schema.by_name[name].type for name in schema.partition_keys]
    return [partition_values(each, types)[0] for each in partitions_in_need(contents, schema, thresholds)]


RUNS = CompactThresholds(sorted_runs=3)
LEVEL0 = CompactThresholds(sorted_runs=3, level0_files=1)
SMALL = CompactThresholds(small_files=2)
DELETED = CompactThresholds(sorted_runs=3, delete_percent=20)


@pytest.mark.parametrize(
    ("sentence", "files", "thresholds", "expected"),
    [
        ("below the threshold", mon(2), RUNS, []),
        ("at the threshold", mon(3), RUNS, ["mon"]),
        ("runs of two buckets do not add up", [*mon(2), *mon(2, bucket=1)], RUNS, []),
        ("only the partition that reaches it", [*mon(3), *tue(2)], RUNS, ["mon"]),
        ("the partition with most runs first", [*mon(3), *tue(4)], RUNS, ["tue", "mon"]),
        ("a level with files is one run", [*mon(5, level=5), *mon(1)], RUNS, []),
        ("a file of level 0, where readers wait for it", [*mon(1), *tue(1, level=5)], LEVEL0, ["mon"]),
        ("small files that share a bucket", [*mon(2, size=1), *tue(1, size=1)], SMALL, ["mon"]),
        ("small files that are alone in their bucket", [*mon(1, size=1), *mon(1, size=1, bucket=1)], SMALL, []),
        ("no threshold is no reason", mon(9, size=1), CompactThresholds(), []),
        ("too many deleted rows: every partition", [*mon(1, rows=50, delete_rows=20), *tue(1, rows=50)], DELETED, ["mon", "tue"]),
        ("fewer deleted rows", [*mon(1, rows=51, delete_rows=20), *tue(1, rows=50)], DELETED, []),
        ("deleted rows that were not counted", [*mon(1, delete_rows=None)], DELETED, []),
    ],
)  # fmt: skip
def test_partitions_of_a_keyed_table(
    tmp_path: Path, sentence: str, files: Files, thresholds: CompactThresholds, expected: list[str]
) -> None:
    assert chosen(tmp_path, files, thresholds, schema_of()) == expected, sentence


@pytest.mark.parametrize(
    ("sentence", "files", "thresholds", "expected"),
    [
        ("sorted runs mean nothing", mon(9), RUNS, []),
        ("small files", [*mon(2, size=1), *tue(3, size=1)], SMALL, ["tue", "mon"]),
        ("one small file", [*mon(1, size=1), *mon(3)], SMALL, []),
    ],
)
def test_partitions_of_a_table_without_primary_key(
    tmp_path: Path, sentence: str, files: Files, thresholds: CompactThresholds, expected: list[str]
) -> None:
    assert chosen(tmp_path, files, thresholds, APPEND) == expected, sentence


@pytest.mark.parametrize(("deleted", "expected"), [(19, []), (20, ["mon"]), (None, [])])
def test_rows_that_deletion_vectors_delete_count(tmp_path: Path, deleted: int | None, expected: list[str]) -> None:
    """A writer of 0.9 does not count them."""
    files = mon(1, rows=100, level=5)
    assert chosen(tmp_path, files, DELETED, schema_of(), deleted={"f0": deleted}) == expected
