"""A driver of MarkPartitionsDone ends without a JVM where no partition is to be marked."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, patch

import pytest

from paimon_contract.job import JobCatalog
from paimon_contract.parameters.mark_partitions_done import MarkPartitionsDoneParameters
from paimon_contract.result import PartitionsDone
from paimon_engines.loader import load_engine
from paimon_schema.table_schema import schema_file_of
from spark_apps.catalog.marked_partitions import directory_of
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.operations import mark_partitions_done
from spark_apps.sql.partition_values import PartitionKey
from tests.spark_apps.jobs import job
from tests.support.fabricated_avro import DataFile
from tests.support.fabricated_table import FabricatedTable, schema_of

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
LONG_AGO = NOON - timedelta(days=9)
OWNED = {"bucket": "4", "paimon-operator.owner": "o"}


def table(root: Path, *files: DataFile, **schema: Any) -> Path:
    """A table of the job's owner with these files."""
    made = FabricatedTable(root / "shop.db" / "orders")
    made.commit(files)
    (made.root / "schema").mkdir()
    known = schema_of(**{"options": OWNED, **schema})
    (made.root / "schema" / "schema-0").write_text(schema_file_of(known))
    return made.root


def mark(table: Path, day: str, at: datetime) -> Path:
    """Marks a partition at this time."""
    path = table / f"day={day}" / "_SUCCESS"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"creationTime": 1, "modificationTime": int(at.timestamp() * 1000)}))
    return path


def found(root: Path, **asked: Any) -> PartitionsDone | None:
    """What the driver reports of partitions at noon; None: it needs a JVM. A day is done an hour after its end."""
    parameters = MarkPartitionsDoneParameters(**{"interval_seconds": 86_400, "idle_seconds": 3_600, **asked})
    of = job(operation="MarkPartitionsDone", catalog=JobCatalog(root.as_uri(), "filesystem"), parameters=parameters)
    with patch.object(mark_partitions_done, "now", return_value=int(NOON.timestamp() * 1000)):
        outcome = mark_partitions_done.without_jvm(of, load_engine("paimon-1.4"), VolumeFiles())
    return None if outcome is None else outcome.partitions_done


def day(value: str | None, made: datetime | None = LONG_AGO) -> DataFile:
    return DataFile(name=f"f-{value}", day=value, made=made)


@pytest.mark.parametrize(
    ("sentence", "value", "made", "ends"),
    [
        ("exactly the idle time after its end", "2026-11-24 11:00:00", LONG_AGO, True),
        ("longer after its end", "2026-11-24 10:59:59", LONG_AGO, False),
        ("exactly the idle time after its newest file", "2026-11-01", NOON - timedelta(hours=1), True),
        ("longer after its newest file", "2026-11-01", NOON - timedelta(hours=1, seconds=1), False),
        ("a newest file without a time", "2026-11-01", None, False),
        ("a time that may be one for Java", "2026-11-9", LONG_AGO, False),
        ("a time whose end is beyond the calendar", "9999-12-31", LONG_AGO, True),
    ],
)
def test_a_partition_without_a_mark(
    tmp_path: Path, sentence: str, value: str, made: datetime | None, *, ends: bool
) -> None:
    table(tmp_path, day(value, made))
    expected = PartitionsDone(marked=0, already_marked=0, not_yet_done=1) if ends else None
    assert found(tmp_path) == expected, sentence


@pytest.mark.parametrize(
    ("sentence", "seconds", "ends"),
    [("a mark after the newest file", 1, True), ("one of the same moment", 0, False), ("one before it", -1, False)],
)
def test_a_mark_counts_if_it_is_newer_than_the_newest_file(
    tmp_path: Path, sentence: str, seconds: int, *, ends: bool
) -> None:
    root = table(tmp_path, day("2026-11-01"), day("2026-11-25"))
    mark(root, "2026-11-01", LONG_AGO + timedelta(seconds=seconds))
    expected = PartitionsDone(marked=0, already_marked=1, not_yet_done=1) if ends else None
    assert found(tmp_path) == expected, sentence


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"modificationTime": "2999-01-01"}',
        b'{"modificationTime": 99999999999999999999}',
        b'"later"',
        bytes([255, 254]),
    ],
)
def test_a_file_that_is_no_mark_needs_a_jvm(tmp_path: Path, content: bytes) -> None:
    root = table(tmp_path, day("2026-11-01"))
    mark(root, "2026-11-01", NOON).write_bytes(content)
    assert found(tmp_path) is None


def test_the_time_zone_of_the_table_counts(tmp_path: Path) -> None:
    table(tmp_path, day("2026-11-24 11:00:00"))
    assert found(tmp_path, time_zone="UTC") is not None
    assert found(tmp_path, time_zone="Asia/Kolkata") is None


def test_partitions_without_a_time_are_counted_and_one_is_named(tmp_path: Path) -> None:
    table(tmp_path, day("2026-11-25"), day(None), day("late"))
    assert found(tmp_path) == PartitionsDone(
        marked=0, already_marked=0, not_yet_done=1, unreadable=2, example="day=late"
    )


@pytest.mark.parametrize(
    ("sentence", "schema", "asked"),
    [
        ("the mark of another owner", {"options": OWNED | {"paimon-operator.owner": "another"}}, {}),
        ("partitions in a metastore", {"options": OWNED | {"metastore.partitioned-table": "true"}}, {}),
        ("a table without partitions", {"partitionKeys": []}, {}),
        ("partitions without a length", {}, {"interval_seconds": 0}),
        ("no idle time", {}, {"idle_seconds": 0}),
    ],
)
def test_what_a_jvm_refuses_is_left_to_it(
    tmp_path: Path, sentence: str, schema: dict[str, Any], asked: dict[str, Any]
) -> None:
    table(tmp_path, day("2026-11-25"), **schema)
    assert found(tmp_path, **asked) is None, sentence


@pytest.mark.parametrize(
    ("sentence", "keys", "options", "directory"),
    [
        ("a text", [PartitionKey("dt", "VARCHAR", "2026-11-25")], {}, "dt=2026-11-25"),
        ("a date", [PartitionKey("dt", "DATE", 18_262)], {}, "dt=18262"),
        ("a date with a name", [PartitionKey("dt", "DATE", 18_262)], {"partition.legacy-name": "false"}, None),
        ("two keys", [PartitionKey("dt", "INTEGER", 1), PartitionKey("c", "CHAR", "x")], {}, "dt=1/c=x"),
        ("NULL", [PartitionKey("dt", "VARCHAR", None)], {}, None),
        ("an empty text, with the directory of NULL", [PartitionKey("dt", "VARCHAR", "")], {}, None),
        ("a text that is escaped", [PartitionKey("dt", "VARCHAR", "a/b")], {}, None),
        ("a text that leads out of the table", [PartitionKey("dt", "VARCHAR", "..")], {}, None),
        ("a name that is escaped", [PartitionKey("d:t", "VARCHAR", "x")], {}, None),
        ("a boolean", [PartitionKey("dt", "BOOLEAN", 1)], {}, None),
        ("a time", [PartitionKey("dt", "TIMESTAMP_WITHOUT_TIME_ZONE", "2026-11-25T12:00")], {}, None),
    ],
)
def test_the_directory_of_a_partition(
    sentence: str, keys: list[PartitionKey], options: dict[str, str], directory: str | None
) -> None:
    assert directory_of(tuple(keys), schema_of(options=OWNED | options)) == directory, sentence


def test_a_run_with_a_jvm_measures_before_it_reads_the_partitions_last() -> None:
    """Nobody may take a snapshot for judged that was committed after the last read."""
    done: list[str] = []
    with (
        patch.object(mark_partitions_done, "_refuse_unsupported"),
        patch.object(mark_partitions_done, "DoneMarks"),
        patch.object(mark_partitions_done, "values_time"),
        patch.object(mark_partitions_done, "PartitionReader") as reader,
        patch.object(mark_partitions_done, "Marking") as marking,
        patch.object(mark_partitions_done, "measure_table", side_effect=lambda *_: done.append("measured")),
        patch.object(mark_partitions_done, "outcome_between"),
    ):
        reader.return_value.read.side_effect = lambda: done.append("read")
        marking.return_value.choose.return_value = []
        mark_partitions_done.run(MagicMock(), MagicMock())
    assert done == ["measured", "read"]
