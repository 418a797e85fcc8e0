"""What the data files of a table say about its health."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.health import MAX_PARTITION_LENGTH, measures_of, oldest_partition
from spark_apps.metadata.observation import Observer
from spark_apps.metadata.settings import bucket_mode, small_below
from spark_apps.metadata.volume import VolumeFiles
from tests.support.fabricated_avro import DataFile, binary_row
from tests.support.fabricated_table import FabricatedTable, schema_of


def files(*fields: Mapping[str, Any]) -> list[DataFile]:
    return [DataFile(name=f"f{n}", **each) for n, each in enumerate(fields)]


def measured(
    root: Path, *fields: Mapping[str, Any], release: str = "1.4", schema: TableSchema | None = None, **more: Any
) -> dict[str, Any]:
    """The measures of a table with these data files in its one snapshot."""
    table, used = FabricatedTable(root, release), schema or schema_of()
    table.commit(files(*fields), **more)
    return measures_of(Observer(VolumeFiles(), table.location, used).observe().contents, used)


OF_BUCKETS = dict.fromkeys(("partitions", "bucket_bytes_median", "bucket_bytes_max"))
L0, L5 = {"level": 0}, {"level": 5}
MEASURES: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "no files": ([], {"files": 0, "rows": 0, "sorted_runs_max": 0, "buckets": 0, "unmerged_percent": 0}),
    "each file of level 0 is a run": ([L0, L0, L0], {"sorted_runs_max": 3, "level0_files_max": 3, "buckets": 1}),
    "the files of a level above are one run": (
        [L5, L5, {"level": 3}, L0],
        {"sorted_runs_max": 3, "level0_files_max": 1, "files": 4},
    ),
    "the worst bucket counts": (
        [{"bucket": 1}, {"bucket": 1, "level": 4}, {"bucket": 2}, {"bucket": 2}, {"bucket": 2}, L0],
        {"sorted_runs_max": 3, "level0_files_max": 3, "buckets": 3},
    ),
    "one bucket of two partitions is two": ([{"day": "mon"}, {"day": "tue"}], {"buckets": 2, "partitions": 2}),
    "a file of 70 of 100 bytes is not small": (
        [{"size": 69}, {"size": 70}, {"size": 69, "day": "tue"}, {"size": 1, "day": "tue"}],
        {"small_files": 3, "small_files_max": 2, "size_bytes": 209},
    ),
    "bytes of the buckets": (
        [{"size": 5}, {"size": 6, "level": 4}, {"size": 7, "bucket": 1}, {"size": 9, "bucket": 2}],
        {"bucket_bytes_median": 9, "bucket_bytes_max": 11, "size_bytes": 27},
    ),
    "delete rows, rounded down": ([{"rows": 100, "delete_rows": 1}, {"rows": 1}], {"delete_percent": 0, "rows": 101}),
    "all rows are delete rows": ([{"rows": 3, "delete_rows": 3}], {"delete_percent": 100}),
    "delete rows that were not counted": ([{"delete_rows": 3}, {"delete_rows": None}], {"delete_percent": None}),
    "merged": ([L5, {"level": 5, "bucket": 1}], {"unmerged_percent": 0}),
    "one file of level 0 repeats no key": ([L0, {"bucket": 1}], {"unmerged_percent": 0}),
    "two files of level 0 can have the same keys": ([L0, L0], {"unmerged_percent": 100}),
    "rows below the highest level, rounded down": (
        [{"level": 5, "rows": 200}, {"level": 4, "rows": 50}, {"level": 0, "rows": 51}],
        {"unmerged_percent": 33},
    ),
    "a file without a bucket yet can repeat keys": ([{"bucket": -2}], {"unmerged_percent": 100}),
}


@pytest.mark.parametrize(("fields", "expected"), MEASURES.values(), ids=MEASURES)
def test_what_is_measured(tmp_path: Path, fields: list[dict[str, Any]], expected: dict[str, Any]) -> None:
    found = measured(tmp_path, *fields)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("release", "deleted", "percent"),
    [("1.4", {"f0": 3, "f1": 2}, 50), ("1.4", {"f0": 3, "f1": None}, None), ("1.4", {}, 8), ("0.9", {"f0": 3}, None)],
)
def test_deletion_vectors_delete_rows_where_their_writer_has_counted_them(
    tmp_path: Path, release: str, deleted: dict[str, int | None], percent: int | None
) -> None:
    found = measured(tmp_path, {"rows": 8, "delete_rows": 1}, {"rows": 4, "level": 5}, release=release, deleted=deleted)
    assert found["delete_percent"] == percent


@pytest.mark.parametrize("release", ["0.9", "1.4"])
def test_snapshots_are_counted_from_the_earliest(tmp_path: Path, release: str) -> None:
    table = FabricatedTable(tmp_path, release)
    for n in range(5):
        table.commit([DataFile(name=f"f{n}")])
    table.expire(3)
    found = measures_of(Observer(VolumeFiles(), table.location, schema_of()).observe().contents, schema_of())
    expected = {"snapshot_id": 5, "snapshots": 3, "manifests": 5, "oldest_snapshot": "2023-11-14T22:16:20Z"}
    assert {name: found[name] for name in expected} == expected


def test_a_table_without_a_snapshot_has_no_files() -> None:
    found = measures_of(None, schema_of())
    assert found["files"] == found["snapshots"] == found["manifests"] == found["delete_percent"] == 0
    assert found["oldest_partition"] is None
    assert not found.keys() & {"snapshot_id", "oldest_snapshot"}


def test_without_a_primary_key_no_row_waits_to_be_merged(tmp_path: Path) -> None:
    found = measured(tmp_path, L0, L0, schema=schema_of(primaryKeys=[]))
    assert "unmerged_percent" not in found
    assert found["sorted_runs_max"] == 2


@pytest.mark.parametrize("bucket", ["4", "-1", "-2"], ids=["Fixed", "Dynamic", "Postpone"])
def test_bytes_of_buckets_are_measured_whoever_chooses_their_number(tmp_path: Path, bucket: str) -> None:
    fields: list[dict[str, Any]] = [
        {"size": 5},
        {"size": 6, "day": "tue"},
        {"size": 7, "bucket": 1},
        {"size": 2, "bucket": 1, "level": 5},
    ]
    found = measured(tmp_path, *fields, schema=schema_of(options={"bucket": bucket}))
    assert {name: found[name] for name in OF_BUCKETS} == dict(zip(OF_BUCKETS, (2, 6, 9), strict=True))


def test_files_without_a_bucket_yet_have_no_bytes_per_bucket(tmp_path: Path) -> None:
    schema = schema_of(options={"bucket": "-2"})
    waiting: dict[str, Any] = {"size": 5, "bucket": -2}
    assert not measured(tmp_path / "one", waiting, schema=schema).keys() & OF_BUCKETS.keys()
    found = measured(tmp_path / "two", waiting, {"size": 6}, schema=schema)
    assert (found["bucket_bytes_median"], found["bucket_bytes_max"], found["size_bytes"]) == (6, 6, 11)


def test_without_buckets_or_files_there_are_no_bytes_per_bucket(tmp_path: Path) -> None:
    unaware = schema_of(options={"bucket": "-1"}, primaryKeys=[])
    assert not measured(tmp_path / "unaware", L0, schema=unaware).keys() & OF_BUCKETS.keys()
    assert not measured(tmp_path / "empty").keys() & OF_BUCKETS.keys()


def keyed(*types: str) -> TableSchema:
    names = [f"k{n}" for n in range(len(types))]
    columns = [{"id": n, "name": name, "type": type_} for n, (name, type_) in enumerate(zip(names, types, strict=True))]
    return schema_of(fields=columns, partitionKeys=names, primaryKeys=[])


OLDEST: dict[str, tuple[list[tuple[str | None, ...]], str | None]] = {
    "no partition": ([], None),
    "by value and not by order": ([("2026-11-22",), ("2026-03-01",), ("2026-10-05",)], "k0=2026-03-01"),
    "of two keys": ([("b", "1"), ("a", "9"), ("a", "10")], "k0=a/k1=10"),
    "one without a value is not the oldest": ([(None,), ("z",)], "k0=z"),
    "only without a value": ([(None,)], "k0=__DEFAULT_PARTITION__"),
    "cut": ([("x" * 500,)], ("k0=" + "x" * 500)[:MAX_PARTITION_LENGTH]),
}


@pytest.mark.parametrize(("partitions", "text"), OLDEST.values(), ids=OLDEST)
def test_the_oldest_partition_has_the_smallest_values(
    partitions: list[tuple[str | None, ...]], text: str | None
) -> None:
    schema = keyed(*["STRING"] * max((len(each) for each in partitions), default=1))
    assert oldest_partition({binary_row(*each) for each in partitions}, schema) == text


def test_the_values_of_a_partition_are_written_as_people_read_them() -> None:
    types = ("BOOLEAN", "DATE", "TIMESTAMP(3)", "INT", "DECIMAL(4,1)")
    row = (
        (5).to_bytes(4, "big")
        + bytes(8)
        + b"".join(value.to_bytes(8, "little") for value in (1, 20_000, 1_700_000_000_000, 7, 15))
    )
    assert oldest_partition([row], keyed(*types)) == "k0=true/k1=2024-10-04/k2=2023-11-14 22:13:20/k3=7/k4=1.5"


def test_a_partition_that_cannot_be_decoded_leaves_the_oldest_unknown(tmp_path: Path) -> None:
    assert oldest_partition([binary_row("a")], keyed("DOUBLE")) is None
    assert oldest_partition([binary_row()], schema_of(partitionKeys=[])) is None


@pytest.mark.parametrize(
    ("options", "keys", "mode", "small"),
    [
        ({}, ["id"], "Dynamic", int(0.7 * 2**27)),
        ({}, [], "Unaware", int(0.7 * 2**28)),
        ({"bucket": "-1"}, [], "Unaware", int(0.7 * 2**28)),
        ({"bucket": "-2", "target-file-size": "1 mb"}, ["id"], "Postpone", int(0.7 * 2**20)),
        ({"bucket": "4", "target-file-size": " 2 KB "}, ["id"], "Fixed", 1433),
        ({"bucket": "4"}, [], "Fixed", int(0.7 * 2**28)),
    ],
)
def test_the_options_say_how_the_buckets_are_made_and_which_files_are_small(
    options: dict[str, str], keys: list[str], mode: str, small: int
) -> None:
    schema = schema_of(options=options, primaryKeys=keys)
    assert (bucket_mode(schema), small_below(schema)) == (mode, small)
