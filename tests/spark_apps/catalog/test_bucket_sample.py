"""Of which buckets a verification compares the rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from paimon_contract.job import JobCatalog
from paimon_schema.table_schema import TableSchema
from spark_apps.catalog.bucket_sample import OTHERS, REWRITTEN, Bucket, Sample, choose, sample_of
from spark_apps.catalog.own_commits import Stretch
from spark_apps.metadata.volume import VolumeFiles
from tests.spark_apps.jobs import job
from tests.support.fabricated_avro import DataFile
from tests.support.fabricated_table import FabricatedTable, schema_of

MANY: list[Bucket] = [(b"day", number) for number in range(100)]


def test_a_few_buckets_are_chosen_of_many_and_most_were_rewritten() -> None:
    chosen = choose(MANY[:50], MANY, "run-a")
    assert len(set(chosen) & set(MANY[:50])) == REWRITTEN
    assert len(set(chosen) & set(MANY[50:])) == OTHERS


def test_each_attempt_of_a_run_chooses_the_same_and_another_run_others() -> None:
    assert choose(MANY[:50], MANY, "run-a") == choose(reversed(MANY[:50]), reversed(MANY), "run-a")
    assert choose(MANY[:50], MANY, "run-a") != choose(MANY[:50], MANY, "run-b")


def test_every_bucket_is_chosen_at_some_time() -> None:
    seen = {bucket for run in range(200) for bucket in choose(MANY, MANY, f"run-{run}")}
    assert seen == set(MANY)


@pytest.mark.parametrize(
    ("sentence", "rewritten", "others", "expected"),
    [
        ("fewer than the sample", 3, 0, 3),
        ("more than the sample", 9, 0, REWRITTEN),
        ("a few others", 1, 1, 2),
        ("many others", 1, 9, 1 + OTHERS),
        ("nothing was rewritten", 0, 9, OTHERS),
    ],
)
def test_the_size_of_the_sample(sentence: str, rewritten: int, others: int, expected: int) -> None:
    assert len(choose(MANY[:rewritten], MANY[: rewritten + others], "run")) == expected, sentence


def sample(root: Path, schema: TableSchema, *, numbered: bool) -> Sample:
    """Of a table whose second commit has rewritten bucket 1 of monday."""
    table = FabricatedTable(root / "shop.db" / "orders")
    files = [("mon", 0), ("mon", 1), ("tue", 2)]
    table.commit([DataFile(name=f"{day}{bucket}", day=day, bucket=bucket) for day, bucket in files])
    table.commit([DataFile(name="new", day="mon", bucket=1, level=5)], remove=["mon1"])
    of = job(catalog=JobCatalog(root.as_uri(), "filesystem"), commit_user="run-uid")
    return sample_of(of, VolumeFiles(), schema, Stretch(1, 2), numbered=numbered)


def test_rows_are_named_by_partition_and_bucket(tmp_path: Path) -> None:
    found = sample(tmp_path, schema_of(), numbered=True)
    assert found.buckets == 3
    assert found.condition == (
        "(`day` = 'mon' AND `__paimon_bucket` = 0) OR (`day` = 'mon' AND `__paimon_bucket` = 1) OR "
        "(`day` = 'tue' AND `__paimon_bucket` = 2)"
    )


def test_without_buckets_rows_are_named_by_partition(tmp_path: Path) -> None:
    assert sample(tmp_path, schema_of(primaryKeys=[]), numbered=False).condition == "(`day` = 'mon') OR (`day` = 'tue')"


def test_a_partition_that_sql_cannot_name_makes_it_all_rows(tmp_path: Path) -> None:
    fields = [{"id": 0, "name": "day", "type": "DOUBLE"}, {"id": 1, "name": "id", "type": "BIGINT NOT NULL"}]
    assert sample(tmp_path, schema_of(fields=fields, primaryKeys=[]), numbered=True) == Sample()


def test_without_partitions_and_buckets_all_rows_are_compared(tmp_path: Path) -> None:
    assert sample(tmp_path, schema_of(partitionKeys=[], primaryKeys=[]), numbered=False) == Sample()


def test_metadata_that_cannot_be_read_makes_it_all_rows(tmp_path: Path) -> None:
    FabricatedTable(tmp_path / "shop.db" / "orders").commit([])
    of = job(catalog=JobCatalog(tmp_path.as_uri(), "filesystem"))
    assert sample_of(of, VolumeFiles(), schema_of(), Stretch(1, 2), numbered=True) == Sample()
