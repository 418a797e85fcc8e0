"""What a file is, by its path alone: only names of Paimon's in their own directories can be orphans."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from paimon_schema.table_schema import TableSchema, read_schema_file
from spark_apps.metadata.base import UnreadableError
from spark_apps.orphans.kinds import Kind, Layout
from tests.support.whole_table import UUID, schema

U = UUID.format(9)
DATA = f"data-{U}-0.parquet"


def layout(**options: str) -> Layout:
    return Layout.of([schema_of(**options)])


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (f"day=mon/bucket-0/{DATA}", Kind.DATA),
        (f"day=mon/bucket-postpone/data-u-user-s-3-w-{U}-12.avro", Kind.DATA),
        (f"day=mon/bucket--2/data-{U}-0.orc", Kind.DATA),
        (f"day=a%2Fb/bucket-11/changelog-{U}-0.zstd.parquet", Kind.DATA),
        (f"day=mon/bucket-0/data-{U}-0.csv.gz", Kind.DATA),
        (f"day=mon/bucket-0/{DATA}.index", Kind.DATA),
        (f"day=mon/bucket-0/{DATA}-1.index", Kind.DATA),
        (f"day=mon/bucket-0/{DATA}.98.value.v1.lookup", Kind.DATA),
        (f"day=mon/bucket-0/{DATA}.141.position-and-value.v1.lookup", Kind.DATA),
        (f"day=mon/bucket-0/{DATA}.lookup", Kind.UNKNOWN),
        (f"day=mon/bucket-0/data-{U}-0.blob", Kind.DATA),
        (f"day=mon/bucket-0/data-{U}-0.vector.parquet", Kind.DATA),
        (f"day=mon/bucket-0/index-{U}-0", Kind.INDEX),
        (f"day=mon/bucket-0/{DATA}.bak", Kind.UNKNOWN),
        (f"day=mon/bucket-0/copy of {DATA}", Kind.UNKNOWN),
        (f"day=mon/bucket-0/mine-{U}-0.parquet", Kind.UNKNOWN),
        ("day=mon/bucket-0/data-0.parquet", Kind.UNKNOWN),
        (f"day=mon/bucket-0/.{DATA}.crc", Kind.UNKNOWN),
        ("day=mon/_SUCCESS", Kind.COMMITTED),
        ("day=mon/bucket-0/_SUCCESS", Kind.UNKNOWN),
        ("day=mon/hour=1/_SUCCESS", Kind.UNKNOWN),
        ("=mon/_SUCCESS", Kind.UNKNOWN),
        ("_SUCCESS", Kind.UNKNOWN),
        (f"bucket-0/{DATA}", Kind.UNKNOWN),
        (f"day=mon/hour=1/bucket-0/{DATA}", Kind.UNKNOWN),
        (f"day=mon/bucket-x/{DATA}", Kind.UNKNOWN),
        (f"day=mon/bucket-0/inner/{DATA}", Kind.UNKNOWN),
        (f"=mon/bucket-0/{DATA}", Kind.UNKNOWN),
        (f"day=mon/{DATA}", Kind.UNKNOWN),
        (DATA, Kind.UNKNOWN),
        (f"manifest/manifest-{U}-0", Kind.MANIFEST),
        (f"manifest/manifest-list-{U}-1", Kind.MANIFEST),
        (f"manifest/index-manifest-{U}-22", Kind.MANIFEST),
        ("manifest/manifest-1", Kind.UNKNOWN),
        (f"manifest/old/manifest-{U}-0", Kind.UNKNOWN),
        (f"manifest/{DATA}", Kind.UNKNOWN),
        (f"index/index-{U}-0", Kind.INDEX),
        (f"index/btree-global-index-{U}.index", Kind.UNKNOWN),
        (f"statistics/stats-{U}-0", Kind.STATISTICS),
        (f"statistics/stat-{U}-0", Kind.STATISTICS),
        (f"statistics/statistics-{U}-0", Kind.UNKNOWN),
        (f"snapshot/.snapshot-4.{U}.tmp", Kind.TEMPORARY),
        (f"snapshot/.LATEST.{U}.tmp", Kind.TEMPORARY),
        (f"schema/.schema-4.{U}.tmp", Kind.TEMPORARY),
        (f"changelog/.changelog-4.{U}.tmp", Kind.TEMPORARY),
        (f"tag/.tag-one.{U}.tmp", Kind.TEMPORARY),
        (f"consumer/.consumer-one.{U}.tmp", Kind.TEMPORARY),
        (f"branch/branch-b/snapshot/.snapshot-4.{U}.tmp", Kind.TEMPORARY),
        ("snapshot/.snapshot-4.tmp", Kind.UNKNOWN),
        (f"snapshot/.snapshot-4.{U}.tmp.crc", Kind.UNKNOWN),
        (f"schema/.snapshot-4.{U}.tmp", Kind.UNKNOWN),
        ("snapshot/snapshot-4", Kind.COMMITTED),
        ("snapshot/LATEST", Kind.COMMITTED),
        ("changelog/changelog-4", Kind.COMMITTED),
        ("schema/schema-0", Kind.COMMITTED),
        ("tag/tag-2026-11-25 13", Kind.COMMITTED),
        ("tag/tag-success-file/tag-one_SUCCESS", Kind.COMMITTED),
        ("consumer/consumer-one", Kind.COMMITTED),
        ("branch/branch-b/schema/schema-0", Kind.COMMITTED),
        ("branch/branch-b/tag/tag-one", Kind.COMMITTED),
        (f"branch/branch-b/manifest/manifest-{U}-0", Kind.UNKNOWN),
        (f"branch/branch-b/day=mon/bucket-0/{DATA}", Kind.UNKNOWN),
        ("branch/other/schema/schema-0", Kind.UNKNOWN),
        ("metadata/v1.metadata.json", Kind.UNKNOWN),
        ("snapshot/mine", Kind.UNKNOWN),
    ],
)
def test_a_file_is_known_by_its_name_and_its_directory(path: str, kind: Kind) -> None:
    assert layout().kind_of(path) is kind


def test_names_and_directories_follow_the_options_that_the_table_has_ever_had() -> None:
    later = layout(**{"data-file.prefix": "part-", "changelog-file.prefix": "log-", "data-file.path-directory": "data"})
    for prefix in ("part", "log", "data", "changelog"):
        assert later.kind_of(f"data/day=mon/bucket-0/{prefix}-{U}-0.parquet") is Kind.DATA
    assert later.kind_of(f"day=mon/bucket-0/{DATA}") is Kind.UNKNOWN
    both = Layout.of([schema_of(), schema_of(**{"data-file.path-directory": "/data/"})])
    assert both.kind_of(f"data/day=mon/bucket-0/{DATA}") is Kind.DATA
    assert both.kind_of(f"day=mon/bucket-0/{DATA}") is Kind.DATA


def test_a_prefix_is_a_text_and_no_pattern() -> None:
    assert layout(**{"data-file.prefix": ".*"}).kind_of(f"day=mon/bucket-0/mine-{U}-0.parquet") is Kind.UNKNOWN


def test_a_table_without_partitions_has_its_buckets_in_its_directory() -> None:
    plain = Layout.of([replace(schema_of(), partition_keys=())])
    assert plain.kind_of(f"bucket-0/{DATA}") is Kind.DATA
    assert plain.kind_of(f"day=mon/bucket-0/{DATA}") is Kind.UNKNOWN


@pytest.mark.parametrize("directory", ["..", "a/../b", "a//b", "."])
def test_a_directory_outside_of_the_table_ends_the_run(directory: str) -> None:
    with pytest.raises(UnreadableError, match="leads out of the table's directory"):
        layout(**{"data-file.path-directory": directory})


def test_schemas_with_other_partition_keys_end_the_run() -> None:
    with pytest.raises(UnreadableError, match="partition keys"):
        Layout.of([schema_of(), replace(schema_of(), partition_keys=())])


def schema_of(**options: str) -> TableSchema:
    return read_schema_file(json.dumps(schema(options)))
