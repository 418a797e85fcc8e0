"""Which partitions a sort compaction covers, and by which calls."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import JobCatalog
from paimon_contract.parameters.compact import CompactParameters, CompactThresholds, RowOrder
from paimon_contract.result import Outcome
from paimon_engines.loader import load_engine
from paimon_schema.table_schema import TableSchema, schema_file_of
from spark_apps.catalog.sort_scope import INCREMENTAL, WHOLE, SortBatch, SortScope, sort_scope_of
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.operations import compact
from tests.spark_apps.jobs import job
from tests.support.fabricated_avro import DataFile
from tests.support.fabricated_table import FabricatedTable, schema_of

LEVELS = 6
NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


def clustered(schema_id: int = 0, columns: str = "id", order: str = "zorder", **options: str) -> TableSchema:
    options = {"bucket": "-1", "clustering.incremental": "true", "paimon-operator.owner": "o"} | options
    options |= {"clustering.columns": columns, "clustering.strategy": order}
    return schema_of(id=schema_id, primaryKeys=[], options=options)


def files(*each: DataFile) -> list[DataFile]:
    """The files under names of their own."""
    return [DataFile(**(vars(file) | {"name": f"f{n}"})) for n, file in enumerate(each)]


def unsorted(count: int, day: str = "mon") -> list[DataFile]:
    return [DataFile(name="", day=day)] * count


def in_order(day: str = "mon", level: int = LEVELS - 1, schema: int = 0) -> DataFile:
    return DataFile(name="", day=day, level=level, schema=schema)


def made(root: Path, added: Iterable[DataFile], *schemas: TableSchema) -> FabricatedTable:
    table = FabricatedTable(root / "shop.db" / "orders")
    table.commit(files(*added))
    (table.root / "schema").mkdir()
    for each in schemas:
        (table.root / "schema" / f"schema-{each.id}").write_text(schema_file_of(each))
    return table


def of(root: Path, least: int | None = 2, idle: str | None = None) -> Any:
    thresholds = None if least is None else CompactThresholds(unsorted_files=least)
    parameters = CompactParameters(strategy="Sort", thresholds=thresholds, partition_idle_time=idle)
    return job(catalog=JobCatalog(root.as_uri(), "filesystem"), parameters=parameters)


def scope(root: Path, added: Iterable[DataFile], *schemas: TableSchema, least: int = 2) -> SortScope:
    made(root, added, *schemas)
    return sort_scope_of(of(root), VolumeFiles(), schemas[-1], least, None)


MON, TUE = "(`day` = 'mon')", "(`day` = 'tue')"


@pytest.mark.parametrize(
    ("sentence", "added", "expected"),
    [
        ("below the threshold", unsorted(1), []),
        ("at the threshold", unsorted(2), [SortBatch(MON, INCREMENTAL)]),
        ("sorted files do not count", [in_order(), in_order()], []),
        ("unsorted files beside sorted ones", [*unsorted(2), in_order()], [SortBatch(MON, INCREMENTAL)]),
        ("only the partition that reaches it", [*unsorted(2), *unsorted(1, "tue")], [SortBatch(MON, INCREMENTAL)]),
        ("most unsorted files first", [*unsorted(2), *unsorted(3, "tue")], [SortBatch(f"{TUE} OR {MON}", INCREMENTAL)]),
    ],
)  # fmt: skip
def test_partitions_with_unsorted_files(
    tmp_path: Path, sentence: str, added: list[DataFile], expected: list[SortBatch]
) -> None:
    assert [*scope(tmp_path, added, clustered()).batches(LEVELS)] == expected, sentence


def test_a_single_unsorted_file_is_sorted_as_a_whole_partition(tmp_path: Path) -> None:
    found = scope(tmp_path, unsorted(1), clustered(), least=1)
    assert [*found.batches(LEVELS)] == [SortBatch(MON, WHOLE)]


OTHER = clustered(0, "day")
"""The schema before an edit of the columns."""


@pytest.mark.parametrize(
    ("sentence", "before", "added", "expected"),
    [
        ("other columns", OTHER, [in_order()], [SortBatch(MON, WHOLE, adds_level=True)]),
        ("another order, whose files lie where Paimon takes them for sorted", clustered(order="order"), [in_order()], [SortBatch(MON, WHOLE, adds_level=True)]),
        ("several sorted runs", OTHER, [in_order(), in_order(level=4)], [SortBatch(MON, WHOLE)]),
        ("above that level, after an earlier edit", OTHER, [in_order(level=LEVELS)], [SortBatch(MON, WHOLE)]),
        ("an edit of something else", clustered(0, **{"file.compression": "zstd"}), [in_order()], []),
        ("only the partition with files in the earlier order", OTHER, [in_order(), in_order("tue", schema=1)], [SortBatch(MON, WHOLE, adds_level=True)]),
        ("unsorted files below the threshold, as before the edit", OTHER, unsorted(1), []),
    ],
)  # fmt: skip
def test_an_edit_of_the_order_makes_sorted_files_unsorted(
    tmp_path: Path, sentence: str, before: TableSchema, added: list[DataFile], expected: list[SortBatch]
) -> None:
    assert [*scope(tmp_path, added, before, clustered(1)).batches(LEVELS)] == expected, sentence


def test_a_file_in_an_earlier_order_that_was_removed_does_not_count(tmp_path: Path) -> None:
    table = made(tmp_path, [in_order()], clustered(0, "day"), clustered(1))
    table.commit([DataFile(name="new", level=LEVELS - 1, schema=1)], remove=["f0"])
    assert sort_scope_of(of(tmp_path), VolumeFiles(), clustered(1), 2, None).partitions == ()


def test_a_schema_that_does_not_exist_any_more_had_another_order(tmp_path: Path) -> None:
    assert scope(tmp_path, [in_order(schema=0)], clustered(1)).partitions


def test_partitions_that_received_a_file_since_are_left(tmp_path: Path) -> None:
    added = [DataFile(name="", day=day, made=at) for day, at in (("mon", NOON - timedelta(seconds=1)), ("tue", NOON))]
    made(tmp_path, added, clustered())
    found = sort_scope_of(of(tmp_path), VolumeFiles(), clustered(), 1, NOON)
    assert [each.condition for each in found.batches(LEVELS)] == [MON]


def without_jvm(root: Path, least: int | None) -> Outcome | None:
    return compact.without_jvm(of(root, least), load_engine("paimon-1.4"), VolumeFiles())


@pytest.mark.parametrize(("least", "ends"), [(3, True), (2, False), (None, False)])
def test_the_driver_ends_without_a_jvm_where_every_partition_is_sorted(
    tmp_path: Path, least: int | None, *, ends: bool
) -> None:
    made(tmp_path, [*unsorted(2), in_order()], clustered())
    found = without_jvm(tmp_path, least)
    assert (found is not None) is ends
    assert found is None or (found.compacted_partitions, found.table and found.table.level0_files_max) == (0, 2)


@pytest.mark.parametrize(("order", "ends"), [("zorder", True), ("order", False)])
def test_a_table_that_is_not_altered_yet_is_left_to_the_jvm_which_refuses_it(
    tmp_path: Path, order: str, *, ends: bool
) -> None:
    made(tmp_path, [in_order()], clustered())
    parameters = replace(of(tmp_path).parameters, order=RowOrder(columns="id", strategy=order))
    done = compact.without_jvm(replace(of(tmp_path), parameters=parameters), load_engine("paimon-1.4"), VolumeFiles())
    assert (done is not None) is ends


def test_an_edited_order_starts_a_jvm_without_any_unsorted_file(tmp_path: Path) -> None:
    made(tmp_path, [in_order()], clustered(0, "day"), clustered(1))
    assert without_jvm(tmp_path, 9) is None
