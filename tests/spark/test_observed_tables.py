"""The health that is read from a table's metadata files equals what Spark and pypaimon list of the same table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median_low
from typing import Any

import pytest

from paimon_contract.result import ResultTable
from paimon_engines.loader import load_engine
from paimon_operator.api.table.spec import MergeEngineType
from spark_apps.catalog.measure import measured
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.observation import Observation, Observer
from spark_apps.metadata.table_files import TableFiles
from spark_apps.metadata.volume import VolumeFiles
from tests.spark.lake import Lake, RefusedBySparkError
from tests.spark.observed_cross import CROSS
from tests.spark.observed_kinds import KINDS, PIN, PIN_ON, WRITES, Kind, keyed
from tests.spark.pypaimon_kinds import BY_PYPAIMON, perform_step
from tests.support import lake_reader

SYSTEM = "outside.shop.`orders${}`"
MADE = KINDS | BY_PYPAIMON | CROSS
TARGET_SIZES = {"3 kb": 3 << 10, "1 kb": 1 << 10}
File = dict[str, Any]


def observer(lake: Lake) -> Observer:
    location = f"{lake.warehouse}/shop.db/orders"
    schema = TableFiles(VolumeFiles(), location).latest_schema()
    assert schema is not None
    return Observer(VolumeFiles(), location, schema)


def measure(lake: Lake) -> ResultTable:
    found = observer(lake)
    return measured(found.files, found.location, found.schema).table


def system_table(lake: Lake, name: str, query: str = "SELECT * FROM {}") -> list[dict[str, Any]]:
    """The rows of a system table as Spark reads it."""
    return lake.select(query.format(SYSTEM.format(name)))


def listed(lake: Lake) -> list[File]:
    """The data files as Spark lists them. Without a filter by level, Paimon 0.9 leaves some out."""
    return system_table(lake, "files", "SELECT * FROM {} WHERE level >= -1")


def make(lake: Lake, kind: Kind) -> tuple[list[dict[str, int]], Observation | None]:
    """Makes the table and looks at it after each step.

    Gives the last look, and the bytes of the files at each PIN, at a PIN_ON also of those after each later step.
    """
    pinned: list[dict[str, int]] = []
    growing: list[dict[str, int]] = []
    seen: Observation | None = None
    lake.outside("CREATE DATABASE IF NOT EXISTS outside.shop")
    for step in kind.steps:
        if step in (PIN, PIN_ON):
            pinned.append(sizes(listed(lake)))
            growing += pinned[-1:] if step == PIN_ON else []
            continue
        perform_step(lake, step)
        seen = observer(lake).observe(seen)
        for each in growing:
            each.update(sizes(listed(lake)))
    return pinned, seen


def sizes(files: Iterable[File]) -> dict[str, int]:
    return {Path(file["file_path"]).name: file["file_size_in_bytes"] for file in files}


def by_bucket(files: Iterable[File]) -> list[list[File]]:
    buckets: defaultdict[tuple[str, int], list[File]] = defaultdict(list)
    for file in files:
        buckets[file["partition"], file["bucket"]].append(file)
    return list(buckets.values())


def counts(files: list[File], small_below: float = 0) -> dict[str, Any]:
    """What the listed files say of the table's health."""
    levels = [Counter(file["level"] for file in bucket) for bucket in by_bucket(files)]
    small = Counter((file["partition"], file["bucket"]) for file in files if file["file_size_in_bytes"] < small_below)
    together = Counter[str]()
    for (partition, _), count in small.items():
        together[partition] += count if count > 1 else 0
    return {
        "files": len(files),
        "rows": sum(file["record_count"] for file in files),
        "size_bytes": sum(file["file_size_in_bytes"] for file in files),
        "buckets": len(levels),
        "small_files": small.total(),
        "small_files_max": max(together.values(), default=0),
        "level0_files_max": max((each[0] for each in levels), default=0),
        "sorted_runs_max": max((each[0] + len(set(each) - {0}) for each in levels), default=0),
    }


def of(table: ResultTable) -> dict[str, Any]:
    return {name: getattr(table, name) for name in counts([])}


def rows_of(files: Iterable[File]) -> int:
    return sum(file["record_count"] for file in files)


def unmerged_percent(files: list[File]) -> int:
    """Rows of 100 that are neither in the highest level of their bucket nor in its only file."""
    unmerged = 0
    for bucket in by_bucket(files):
        top = max(file["level"] for file in bucket)
        merged = [file for file in bucket if file["level"] == top and (top > 0 or len(bucket) == 1)]
        unmerged += rows_of(bucket) - rows_of(merged)
    return 100 * unmerged // rows_of(files)


def bucket_bytes(files: list[File]) -> tuple[int | None, ...]:
    """The number of partitions, the median of the bytes per bucket, and their maximum."""
    bytes_ = [sum(file["file_size_in_bytes"] for file in bucket) for bucket in by_bucket(files)]
    partitions = {file["partition"] for file in files}
    return (len(partitions), median_low(bytes_), max(bytes_)) if files else (None,) * 3


def small_below(lake: Lake) -> float:
    schema = observer(lake).schema
    default = 128 << 20 if schema.primary_keys else 256 << 20
    return 0.7 * TARGET_SIZES.get(schema.options.get("target-file-size", ""), default)


@pytest.mark.some_rows(6)
@pytest.mark.engines_in_turn("kind")
@pytest.mark.parametrize("kind", MADE.values(), ids=MADE)
def test_the_health_equals_what_spark_and_pypaimon_list(lake: Lake, kind: Kind) -> None:
    if kind.is_postponed and not load_engine(lake.engine.id).has_postponed_buckets:
        with pytest.raises(RefusedBySparkError, match="number of buckets needs to be greater than 0"):
            make(lake, kind)
        return
    pinned, seen = make(lake, kind)
    found, files = measure(lake), listed(lake)

    assert of(found) == counts(files, small_below(lake))
    compare_with_pypaimon(lake, found)
    compare_snapshots(lake, found)
    compare_ratios(lake, found, files, kind)
    assert found.oldest_partition == kind.oldest
    assert seen is not None
    assert seen.contents == observer(lake).observe().contents, "a look after each step ends as a full read"
    latest = sizes(files)
    kept = sorted(sum(size for name, size in each.items() if name not in latest) for each in pinned)
    assert sorted(each.bytes or 0 for each in found.pins or ()) == kept
    assert (found.pins_count or 0) == len(kept)


def compare_with_pypaimon(lake: Lake, found: ResultTable) -> None:
    names = ["orders$files", "orders$snapshots", "orders$manifests"]
    files, snapshots, manifests = lake_reader.read_many(lake.warehouse, "shop", names)
    assert of(found) == counts(files, small_below(lake))
    assert found.snapshots == len(snapshots)
    assert found.manifests == len(manifests)
    # Spark lists the manifest of the changelog as well.
    has_changelog = bool(snapshots) and snapshots[-1]["changelog_manifest_list"] is not None
    assert found.manifests == len(system_table(lake, "manifests")) - has_changelog


def compare_snapshots(lake: Lake, found: ResultTable) -> None:
    snapshots = system_table(lake, "snapshots")
    assert found.snapshots == len(snapshots)
    if snapshots:
        assert found.snapshot_id == max(each["snapshot_id"] for each in snapshots)
        oldest = min(each["commit_time"] for each in snapshots)
        assert (found.oldest_snapshot or "").rstrip("Z") == oldest[:19]


def compare_ratios(lake: Lake, found: ResultTable, files: list[File], kind: Kind) -> None:
    if observer(lake).schema.primary_keys:
        assert found.unmerged_percent == (unmerged_percent(files) if files else 0)
    expected = bucket_bytes(files) if found.bucket_mode != "Unaware" else (None,) * 3
    assert (found.partitions, found.bucket_bytes_median, found.bucket_bytes_max) == expected
    if kind.has_vectors and lake.engine.id == "paimon-0.9":
        assert found.delete_percent is None
    elif kind.deleted is not None:
        assert found.delete_percent == (100 * kind.deleted // rows_of(files) if files else 0)


def test_the_cross_has_each_merge_engine_with_each_bucket_type_that_fits() -> None:
    tables = Counter(name.partition(",")[0] for name in CROSS)
    assert tables == {"no key": 2 * 2} | {str(each): 3 * 2 for each in MergeEngineType}


def test_a_consumer_keeps_the_bytes_that_an_expiry_leaves(lake: Lake) -> None:
    make(lake, KINDS["a consumer that delays an expiry"])
    latest = sizes(listed(lake))
    left = {each.name: each.stat().st_size for each in lake.table_directory.rglob("data-*") if each.name not in latest}
    assert [(each.kind, each.name, each.bytes) for each in measure(lake).pins or ()] == [
        ("Consumer", "reader", sum(left.values()))
    ]
    assert [each["snapshot_id"] for each in system_table(lake, "snapshots")] == [2, 3, 4, 5, 6]


def test_files_without_a_bucket_yet_are_counted_and_unmerged(lake: Lake) -> None:
    """Paimon's list of files leaves them out, its count of rows does not."""
    columns, more = {"day": "STRING", "id": "BIGINT", "v": "BIGINT"}, {"keys": ["day", "id"], "partitions": ["day"]}
    options = {"bucket": "-2", "postpone.batch-write-fixed-bucket": "false"}
    created = lake.provision(columns, options=options, **more)
    if created.code:  # (Paimon 0.9)
        assert "number of buckets needs to be greater than 0" in created.error["message"]
        return
    lake.outside(*(step.replace("{t}", "outside.shop.orders") for step in WRITES))
    found, snapshot = measure(lake), system_table(lake, "snapshots")[-1]
    assert listed(lake) == []
    assert (found.bucket_mode, found.unmerged_percent, found.rows) == ("Postpone", 100, snapshot["total_record_count"])
    assert (found.partitions, found.bucket_bytes_median, found.bucket_bytes_max) == (None, None, None)
    assert found.rows == 280


@pytest.mark.newest_engine
@pytest.mark.parametrize("options", [{"manifest.format": "orc"}, {"manifest.compression": "snappy"}])
def test_manifests_of_another_form_are_left_to_paimon(lake: Lake, options: dict[str, str]) -> None:
    kind = keyed(options=options)
    lake.outside("CREATE DATABASE outside.shop", kind.steps[0].replace("{t}", "outside.shop.orders"))
    lake.outside(kind.steps[1].replace("{t}", "outside.shop.orders"))
    with pytest.raises(UnreadableError):
        measure(lake)
