"""MarkPartitionsDone marks all partitions that are done, and no other, and changes nothing else of the table."""

# ruff: noqa: S608 - the only values in SQL are those of the tests

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import JobCatalog, JobRun
from paimon_contract.parameters.remove_orphan_files import RemoveOrphanFilesParameters
from spark_apps.operations import remove_orphan_files
from spark_apps.orphans.volume import VolumeStorage
from tests.spark.due_partitions import without_a_partition_to_mark
from tests.spark.lake import Lake, RefusedBySparkError
from tests.spark.s3_lake import S3Lake
from tests.spark_apps.jobs import job

HOUR = 3_600
DAY = 24 * HOUR
SECOND = timedelta(seconds=1)
LATE = datetime(2999, 1, 1, tzinfo=UTC)
"""A time after which everything is done."""


def partitioned(lake: Lake, *days: str, type_: str = "STRING", **options: str) -> Lake:
    """A table with the partition key `dt`, written by somebody else."""
    lake.provision({"id": "BIGINT", "dt": type_}, partitions=["dt"], options={"bucket": "-1", **options}).ok()
    return load(lake, *days)


def load(lake: Lake, *days: str) -> Lake:
    """A row for each of these literals."""
    lake.outside(f"INSERT INTO outside.shop.orders VALUES {', '.join(f'(1, {day})' for day in days)}")
    return lake


def marks(lake: Lake) -> list[str]:
    """Directories with a mark."""
    return sorted(each.parent.name for each in lake.table_directory.glob("**/_SUCCESS"))


def mark(lake: Lake, directory: str) -> dict[str, int]:
    found: dict[str, int] = json.loads((lake.table_directory / directory / "_SUCCESS").read_text())
    return found


def newest(lake: Lake) -> datetime:
    """When the newest file was made."""
    files = lake.select("SELECT max(creation_time) AS made FROM outside.shop.`orders$files`")
    return datetime.fromisoformat(str(files[0]["made"])).replace(tzinfo=UTC)


def counts(done: dict[str, Any]) -> tuple[int, int, int]:
    found = done["partitionsDone"]
    return found["marked"], found["alreadyMarked"], found["notYetDone"]


def everything(lake: Lake) -> dict[str, bytes]:
    """All files of the table but the marks."""
    return {
        str(each.relative_to(lake.table_directory)): each.read_bytes()
        for each in lake.table_directory.rglob("*")
        if each.is_file() and each.name.lstrip(".").removesuffix(".crc") != "_SUCCESS"
    }


def test_a_partition_is_done_after_its_end_and_the_idle_time_and_nothing_else_changes(lake: Lake) -> None:
    partitioned(lake, "'2900-11-24'", "'2900-11-25'")
    before, rows, snapshots = everything(lake), lake.rows(), lake.snapshots()
    end = datetime(2900, 11, 25, tzinfo=UTC) + timedelta(hours=1)

    early = lake.mark_partitions_done(now=end).ok()
    assert (counts(early), marks(lake)) == ((0, 0, 2), []), "exactly at the idle time it is not yet done"
    done = lake.mark_partitions_done(now=end + SECOND).ok()

    assert (counts(done), marks(lake)) == ((1, 0, 1), ["dt=2900-11-24"])
    assert done["before"] == done["after"]
    assert (everything(lake), lake.rows(), lake.snapshots()) == (before, rows, snapshots), "it commits nothing"
    again = lake.mark_partitions_done(now=end + SECOND).ok()
    assert (counts(again), mark(lake, "dt=2900-11-24")["creationTime"]) == (
        (0, 1, 1), mark(lake, "dt=2900-11-24")["modificationTime"]
    )  # fmt: skip


def test_a_partition_that_ended_long_ago_waits_for_its_newest_file(lake: Lake) -> None:
    partitioned(lake, "'2020-01-01'")
    made = newest(lake)

    assert counts(lake.mark_partitions_done(now=made + timedelta(hours=1)).ok()) == (0, 0, 1)
    assert counts(lake.mark_partitions_done(now=made + timedelta(hours=1) + SECOND).ok()) == (1, 0, 0)


def test_a_table_without_rows_has_nothing_to_mark(lake: Lake) -> None:
    lake.provision({"id": "BIGINT", "dt": "DATE"}, partitions=["dt"], options={"bucket": "-1"}).ok()

    assert counts(lake.mark_partitions_done(now=LATE).ok()) == (0, 0, 0)


def test_a_late_file_renews_the_mark_after_the_idle_time(lake: Lake) -> None:
    partitioned(lake, "'2020-01-01'", "'2020-01-02'")
    assert counts(lake.mark_partitions_done(now=newest(lake) + timedelta(hours=2)).ok()) == (2, 0, 0)
    first = mark(lake, "dt=2020-01-01")

    load(lake, "'2020-01-01'")
    late = newest(lake)
    waits = lake.mark_partitions_done(now=late + timedelta(hours=1)).ok()
    assert (counts(waits), mark(lake, "dt=2020-01-01")) == ((0, 1, 1), first), "the mark stays while it waits"
    renewed = lake.mark_partitions_done(now=late + timedelta(hours=1) + SECOND).ok()

    second = mark(lake, "dt=2020-01-01")
    assert (counts(renewed), second["creationTime"]) == ((1, 1, 0), first["creationTime"])
    assert second["modificationTime"] > first["modificationTime"]


@pytest.mark.parametrize(
    ("type_", "day"), [("STRING", "'2020-01-01'"), ("DATE", "DATE '2020-01-01'"), ("INT", "20200101")]
)
def test_a_driver_ends_without_a_jvm_where_all_partitions_that_are_done_are_marked(
    lake: Lake, type_: str, day: str
) -> None:
    """`Lake` compares what it reports with what the JVM finds, here and in all tests of this file."""
    how = {"timestampFormatter": "yyyyMMdd"} if type_ == "INT" else {}
    partitioned(lake, day, type_=type_)
    made = newest(lake)
    body = {"intervalSeconds": DAY, "idleSeconds": HOUR, "timeZone": "UTC", **how}
    asked = lake.job("MarkPartitionsDone", markPartitionsDone=body)

    def alone(at: datetime) -> dict[str, Any] | None:
        return without_a_partition_to_mark(asked, lake.engine.id, now=int(at.timestamp() * 1000))

    idle = made + timedelta(hours=1)
    assert [alone(idle) is None, alone(idle + SECOND) is None] == [False, True]
    lake.mark_partitions_done(now=idle + SECOND, **how).ok()
    assert alone(idle + SECOND) == {"marked": 0, "alreadyMarked": 1, "notYetDone": 0, "remaining": 0, "unreadable": 0}
    load(lake, day)
    assert [alone(idle) is None, alone(newest(lake) + timedelta(hours=2)) is None] == [False, True]


@pytest.mark.engines_in_turn("zone")
@pytest.mark.parametrize(
    ("zone", "end"),
    [
        ("Asia/Kolkata", datetime(2900, 11, 24, 18, 30, tzinfo=UTC)),
        ("America/New_York", datetime(2900, 11, 25, 5, tzinfo=UTC)),
    ],
)
def test_the_end_is_in_the_time_zone_of_the_table(lake: Lake, zone: str, end: datetime) -> None:
    partitioned(lake, "'2900-11-24'")

    assert counts(lake.mark_partitions_done(now=end, idleSeconds=1, timeZone=zone).ok()) == (0, 0, 1)
    assert counts(lake.mark_partitions_done(now=end + 2 * SECOND, idleSeconds=1, timeZone=zone).ok()) == (1, 0, 0)


def test_partitions_without_a_time_are_counted_and_not_marked(lake: Lake) -> None:
    partitioned(lake, "'2020-01-01'", "'soon'", "NULL")

    done = lake.mark_partitions_done(now=LATE).ok()["partitionsDone"]

    assert (done["marked"], done["unreadable"], done["example"]) == (1, 2, done["example"])
    assert done["example"] in ("dt=soon", "dt=None")
    assert marks(lake) == ["dt=2020-01-01"]


def test_the_mark_lies_beside_the_files_whatever_the_key(lake: Lake) -> None:
    """Paimon's procedure splits a text at its commas, and makes another directory for a DATE."""
    columns = {"id": "BIGINT", "dt": "DATE", "c": "STRING"}
    lake.provision(columns, partitions=["dt", "c"], options={"bucket": "-1"}).ok()
    odd = ("x,y", "a/b=c", "; DROP", "..", "%2E", "''quoted''", "ü")
    load(lake, *(f"DATE '2020-01-01', '{c}'" for c in odd))
    directories = {each.parent.parent for each in lake.table_directory.glob("**/bucket-*/*.parquet")} | {
        each.parent.parent for each in lake.table_directory.glob("**/bucket-*/*.orc")
    }
    assert len(directories) == len(odd)

    assert lake.mark_partitions_done(now=LATE).ok()["partitionsDone"]["marked"] == len(odd)

    assert {each.parent for each in lake.directory.rglob("_SUCCESS")} == directories


def test_a_directory_of_several_partitions_is_done_when_all_of_them_are(lake: Lake) -> None:
    """Paimon has one directory for NULL and for the empty text."""
    columns = {"id": "BIGINT", "dt": "STRING", "c": "STRING"}
    lake.provision(columns, partitions=["dt", "c"], options={"bucket": "-1"}).ok()
    load(lake, "'2020-01-01', NULL")
    first = newest(lake)
    load(lake, "'2020-01-01', ''")
    assert newest(lake) > first

    between = lake.mark_partitions_done(now=first + timedelta(milliseconds=1001), idleSeconds=1).ok()
    both = lake.mark_partitions_done(now=newest(lake) + 2 * SECOND, idleSeconds=1).ok()

    assert (counts(between), counts(both)) == ((0, 0, 1), (1, 0, 0))
    assert marks(lake) == ["c=__DEFAULT_PARTITION__"]


@pytest.mark.some_rows(2)
@pytest.mark.parametrize("content", ["", "{", "written by another program", "[]", '{"creationTime": 1}'])
def test_a_mark_that_paimon_cannot_read_is_replaced(lake: Lake, content: str) -> None:
    """A driver that is killed while it writes one leaves such on a volume."""
    partitioned(lake, "'2020-01-01'")
    path = lake.table_directory / "dt=2020-01-01" / "_SUCCESS"
    path.write_text(content)

    assert counts(lake.mark_partitions_done(now=LATE).ok()) == (1, 0, 0)

    assert mark(lake, "dt=2020-01-01")["creationTime"] > 0
    assert counts(lake.mark_partitions_done(now=LATE).ok()) == (0, 1, 0)


def test_marks_of_paimons_procedure_count(lake: Lake) -> None:
    """Both write the same file, whatever other action the table names."""
    partitioned(lake, "'2020-01-01'", "'2020-01-02'")
    lake.outside("CALL outside.sys.mark_partition_done(table => 'shop.orders', partitions => 'dt=2020-01-01')")
    lake.outside("ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('partition.mark-done-action' = 'mark-event')")

    assert counts(lake.mark_partitions_done(now=LATE).ok()) == (1, 1, 0)
    assert mark(lake, "dt=2020-01-01").keys() == mark(lake, "dt=2020-01-02").keys()


@pytest.mark.parametrize("action", ["done-partition", "mark-event", "success-file,done-partition"])
def test_other_actions_of_paimon_need_a_metastore(lake: Lake, action: str) -> None:
    """So there is one action. Of several, none is carried out where one needs a metastore."""
    partitioned(lake, "'2020-01-01'")
    lake.outside(f"ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('partition.mark-done-action' = '{action}')")
    with pytest.raises(RefusedBySparkError):
        lake.outside("CALL outside.sys.mark_partition_done(table => 'shop.orders', partitions => 'dt=2020-01-01')")
    assert marks(lake) == []


def test_paimons_procedure_marks_another_directory_than_that_of_a_date(lake: Lake) -> None:
    """So runs do not use it, nor for values with a comma."""
    partitioned(lake, "DATE '2020-01-01'", type_="DATE")
    procedure = "CALL outside.sys.mark_partition_done(table => 'shop.orders', partitions => '{}')"
    lake.outside(procedure.format("dt=2020-01-01"))
    assert (marks(lake), (lake.table_directory / "dt=18262").is_dir()) == (["dt=2020-01-01"], True)
    with pytest.raises(RefusedBySparkError, match="Invalid key-value string 'y'"):
        lake.outside(procedure.format("dt=x,y"))

    assert counts(lake.mark_partitions_done(now=LATE).ok()) == (1, 0, 0)
    assert marks(lake) == ["dt=18262", "dt=2020-01-01"]


@pytest.mark.long
def test_marks_in_s3_are_read_again(s3_lake: S3Lake) -> None:
    s3_lake.provision({"id": "BIGINT", "dt": "STRING"}, partitions=["dt"], options={"bucket": "-1"}).ok()
    s3_lake.land("orders/1.csv", "id,dt\n1,2020-01-01\n2,2020-01-02\n3,2999-12-31\n")
    s3_lake.write(mode="Append").ok()

    assert counts(s3_lake.mark_partitions_done(now=LATE).ok()) == (2, 0, 1)
    assert counts(s3_lake.mark_partitions_done(now=LATE).ok()) == (0, 2, 1)


def old(lake: Lake) -> None:
    """Makes all files ten days older."""
    for each in lake.table_directory.rglob("*"):
        at = each.stat().st_mtime - 10 * DAY
        os.utime(each, (at, at))


@pytest.mark.long
def test_marks_are_no_orphan_files(lake: Lake) -> None:
    partitioned(lake, "'2020-01-01'")
    lake.mark_partitions_done(now=LATE).ok()
    old(lake)

    of = job(
        run=JobRun("r", "u", "shop"),
        operation="RemoveOrphanFiles",
        engine=lake.engine.id,
        catalog=JobCatalog(lake.warehouse, "filesystem"),
        owner=lake.owner,
        parameters=RemoveOrphanFilesParameters(mode="Report", older_than_seconds=3 * DAY, max_percent=100),
    )
    found = remove_orphan_files.perform(of, VolumeStorage())
    assert (found.orphans, [each for each in listed(lake) if each.endswith("/_SUCCESS")]) == (0, [])

    before = f"{datetime.now(UTC) - timedelta(days=3):%Y-%m-%d %H:%M:%S}"
    lake.outside(f"CALL outside.sys.remove_orphan_files(table => 'shop.orders', older_than => '{before}')")
    taken = lake.engine.id == "paimon-0.9"
    assert marks(lake) == ([] if taken else ["dt=2020-01-01"]), "Paimon's own procedure of 0.9 takes it for an orphan"
    assert counts(lake.mark_partitions_done(now=LATE).ok()) == ((1, 0, 0) if taken else (0, 1, 0))


def listed(lake: Lake) -> Iterator[str]:
    """Paths in the reports of orphan files."""
    reports: Path = lake.ledger_directory.parent / "_orphan-files" / "reports"
    for report in reports.glob("*.jsonl"):
        yield from (json.loads(line)["path"] for line in report.read_text().splitlines()[1:])


def test_the_mark_of_a_partition_that_expires_stays_and_is_renewed_when_rows_come_again(lake: Lake) -> None:
    partitioned(lake, "'2020-01-01'", "'2999-01-01'")
    lake.mark_partitions_done(now=newest(lake) + timedelta(hours=2)).ok()
    lake.expire_partitions(expirationSeconds=DAY).ok()
    lake.expire(timeRetained="1 ms", numRetainedMin=1, numRetainedMax=1).ok()

    left = [each for each in (lake.table_directory / "dt=2020-01-01").rglob("*") if each.is_file()]
    assert [each.name for each in left if not each.name.endswith(".crc")] == ["_SUCCESS"]
    gone = lake.mark_partitions_done(now=newest(lake) + timedelta(hours=2)).ok()
    assert counts(gone) == (0, 0, 1), "a partition without files is none"

    load(lake, "'2020-01-01'")
    assert counts(lake.mark_partitions_done(now=newest(lake) + timedelta(hours=2)).ok()) == (1, 0, 1)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"intervalSeconds": 0}, ".timeInterval"),
        ({"idleSeconds": 0}, ".idleTime"),
        ({"timestampFormatter": "yyyy-MM-dd]"}, ".timestampFormatter"),
    ],
)
def test_settings_that_nobody_can_mean_are_refused(lake: Lake, asked: dict[str, Any], field: str) -> None:
    partitioned(lake, "'2020-01-01'")

    refused = lake.mark_partitions_done(**asked)

    assert refused.refused("InvalidSpec")
    assert (refused.error["field"], marks(lake)) == (f"spec.markPartitionsDone{field}", [])


def test_a_table_without_partitions_or_with_partitions_in_a_metastore_is_refused(lake: Lake) -> None:
    partitioned(lake, "'2020-01-01'")
    lake.outside("ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('metastore.partitioned-table' = 'true')")
    refused = lake.mark_partitions_done(now=LATE)
    assert "partitions in the metastore" in refused.refused("InvalidSpec")
    assert (refused.error["field"], marks(lake)) == ("spec.markPartitionsDone", [])

    whole = Lake(lake.engine, lake.worker, lake.home, lake.directory / "whole", numbers=lake.numbers)
    whole.directory.mkdir()
    whole.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    refused = whole.mark_partitions_done(now=LATE)
    assert "has no partitions" in refused.refused("InvalidSpec")
    assert refused.error["field"] == "spec.markPartitionsDone"
