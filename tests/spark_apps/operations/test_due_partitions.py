"""A driver of ExpirePartitions ends without a JVM where no partition is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from paimon_contract.job import JobCatalog
from paimon_contract.parameters.expire_partitions import ExpirePartitionsParameters
from paimon_contract.result import PartitionExpiry
from paimon_engines.loader import load_engine
from paimon_schema.table_schema import schema_file_of
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.operations import expire_partitions
from tests.spark_apps.jobs import job
from tests.support.fabricated_avro import DataFile
from tests.support.fabricated_table import FabricatedTable, schema_of

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
DAY = 86_400
OWNED = {"bucket": "4", "paimon-operator.owner": "o"}


def table(root: Path, *files: DataFile, **schema: Any) -> None:
    """A table of the job's owner with these files."""
    made = FabricatedTable(root / "shop.db" / "orders")
    made.commit(files)
    (made.root / "schema").mkdir()
    known = schema_of(**{"options": OWNED, **schema})
    (made.root / "schema" / "schema-0").write_text(schema_file_of(known))


def found(root: Path, **expire: Any) -> PartitionExpiry | None:
    """What the driver reports of partitions at noon; None: it needs a JVM."""
    asked = ExpirePartitionsParameters(**{"expiration_seconds": DAY, "strategy": "ValuesTime", **expire})
    of = job(operation="ExpirePartitions", catalog=JobCatalog(root.as_uri(), "filesystem"), parameters=asked)
    with patch.object(expire_partitions, "now", return_value=int(NOON.timestamp() * 1000)):
        outcome = expire_partitions.without_jvm(of, load_engine("paimon-1.4"), VolumeFiles())
    return None if outcome is None else outcome.partitions


def days(*values: str | None) -> list[DataFile]:
    return [DataFile(name=f"f{number}", day=value) for number, value in enumerate(values)]


@pytest.mark.parametrize(
    ("sentence", "values", "ends"),
    [
        ("all are younger", ("2026-11-25", "2026-11-24 13:00:00"), True),
        ("one is exactly at the limit", ("2026-11-25", "2026-11-24 12:00:00"), True),
        ("one is older", ("2026-11-25", "2026-11-24 11:59:59"), False),
        ("one may be a time for Java", ("2026-11-25", "2026-11-9"), False),
    ],
)
def test_the_times_in_the_values(tmp_path: Path, sentence: str, values: tuple[str, ...], *, ends: bool) -> None:
    table(tmp_path, *days(*values))
    expected = PartitionExpiry(expired=0, total=2, remaining=0, unreadable=0) if ends else None
    assert found(tmp_path) == expected, sentence


def test_the_time_zone_of_the_table_counts(tmp_path: Path) -> None:
    table(tmp_path, *days("2026-11-24 13:00:00"))
    assert found(tmp_path, time_zone="UTC") is not None
    assert found(tmp_path, time_zone="Asia/Kolkata") is None


def test_partitions_without_a_time_are_counted_and_one_is_named(tmp_path: Path) -> None:
    table(tmp_path, *days("2026-11-25", None, "late"))
    assert found(tmp_path) == PartitionExpiry(expired=0, total=3, remaining=0, unreadable=2, example="day=late")


@pytest.mark.parametrize(("sentence", "second", "ends"), [("exactly at the limit", 0, True), ("older", -1, False)])
def test_the_newest_file_counts_with_update_time(tmp_path: Path, sentence: str, second: int, *, ends: bool) -> None:
    limit = NOON - timedelta(days=1)
    made = {"mon": limit + timedelta(seconds=second), "tue": NOON}
    table(tmp_path, *(DataFile(name=day, day=day, made=at) for day, at in made.items()))
    assert (found(tmp_path, strategy="UpdateTime") is not None) is ends, sentence


@pytest.mark.parametrize(
    ("sentence", "schema", "expire"),
    [
        ("the mark of another owner", {"options": OWNED | {"paimon-operator.owner": "another"}}, {}),
        ("partitions in a metastore", {"options": OWNED | {"metastore.partitioned-table": "true"}}, {}),
        ("a table without partitions", {"partitionKeys": []}, {}),
        ("a strategy of a later release", {}, {"strategy": "Later"}),
        ("a time that would drop everything", {}, {"expiration_seconds": 0}),
    ],
)
def test_what_a_jvm_refuses_is_left_to_it(
    tmp_path: Path, sentence: str, schema: dict[str, Any], expire: dict[str, Any]
) -> None:
    table(tmp_path, *days("2026-11-25"), **schema)
    assert found(tmp_path, **expire) is None, sentence
