"""A rescale whose driver is killed between any two steps, or whose table is edited or read in the middle.

The driver is killed on S3, where no rename protects a half-written file.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.lake import Lake
from tests.spark.rescaled_table import COLUMNS, DAYS, load, partitioned, progress, rows_of
from tests.spark.s3_lake import S3Lake
from tests.support.kill_points import OTHER_RESCALE_MOMENTS, RESCALE_MOMENTS, RESCALE_STEPS
from tests.support.spark_process import kill_driver_at

MARKED = set(RESCALE_MOMENTS) - {
    "before the tag",
    "after older tags are deleted",
    "after the tag",
    "after the mark is removed",
    "after the tag is deleted",
}
"""Moments at which the table states that its rescale is unfinished."""
Row = tuple[str, int, str]


def upsert(rows: list[Row], late: list[Row]) -> list[Row]:
    """The rows after late ones have replaced those of their keys."""
    return sorted(({row[:2]: row for row in rows} | {row[:2]: row for row in late}).values())


def test_the_steps_of_a_rescale_are_those_between_which_drivers_are_killed(s3_lake: S3Lake) -> None:
    partitioned(s3_lake, keys=12)
    schemas, snapshots = len(s3_lake.read("orders$schemas")), len(s3_lake.snapshots())

    job = s3_lake.save(s3_lake.rescale_job(5))
    result, _, calls = s3_lake.jvm.ask(job=str(job), record=sorted({*RESCALE_STEPS, "empty"}))

    assert result["rescale"] == {"done": 3, "total": 3, "finished": True}
    assert tuple(calls) == RESCALE_STEPS
    assert len(s3_lake.read("orders$schemas")) == schemas + RESCALE_STEPS.count("alter")
    overwritten = [each for each in s3_lake.snapshots()[snapshots:] if each["commit_kind"] == "OVERWRITE"]
    assert len(overwritten) == RESCALE_STEPS.count("rewrite")


@pytest.mark.some_rows(3)
@pytest.mark.engines_in_turn("moment")
@pytest.mark.parametrize("moment", RESCALE_MOMENTS)
def test_a_driver_killed_between_any_two_steps_is_continued_by_the_next_run(s3_lake: S3Lake, moment: str) -> None:
    rows = partitioned(s3_lake, keys=12)
    s3_lake.die_at(moment, s3_lake.rescale_job(5))

    late = [(day, id_, "in between") for day in DAYS for id_ in (0, 1, 77)]
    written = load(s3_lake, "3", late)
    if moment in MARKED:
        written.blocked("Rescaling")
        assert rows_of(s3_lake) == rows
    else:
        written.ok()
    assert progress(s3_lake.rescale(5)) == (3, 3, True)
    s3_lake.write().ok()
    rows = upsert(rows, late)
    assert rows_of(s3_lake) == rows
    assert s3_lake.read("orders$tags") == []

    after = [(day, id_, "after") for day in DAYS for id_ in range(12)]
    load(s3_lake, "4", after).ok()
    assert rows_of(s3_lake) == upsert(rows, after)


@pytest.mark.newest_engine
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("after the tag", "after older tags are deleted"),
        ("after the first partition", "after the number is altered"),
        pytest.param("after the first partition", "after the last partition", marks=pytest.mark.long),
        pytest.param("after the tag is read", "after the table is read", marks=pytest.mark.long),
        pytest.param("after the comparison", "after the mark is removed", marks=pytest.mark.long),
    ],
)
def test_a_driver_that_is_killed_again_while_it_continues_to_another_number(
    s3_lake: S3Lake, first: str, second: str
) -> None:
    """The second run alters the number first, so its first `alter` is the one of the manifest that was edited."""
    rows = partitioned(s3_lake, keys=12)
    s3_lake.die_at(first, s3_lake.rescale_job(5))
    s3_lake.die_at(second, s3_lake.rescale_job(3))

    done = s3_lake.rescale(3)
    assert progress(done) == (3, 3, True)
    assert done.result["table"]["bucketCount"] == 3
    assert rows_of(s3_lake) == rows
    assert s3_lake.read("orders$tags") == []


@pytest.mark.newest_engine
@pytest.mark.parametrize("moment", OTHER_RESCALE_MOMENTS)
def test_a_driver_killed_beside_a_partition_without_rows_is_continued(lake: Lake, moment: str) -> None:
    rows = [row for row in partitioned(lake, keys=6) if row[0] != "mon"]
    lake.outside("delete from outside.shop.orders where day = 'mon' and id >= 0")  # row by row
    assert rows_of(lake) == rows

    lake.die_at(moment, lake.rescale_job(5))

    assert lake.rescale(5).ok()["rescale"]["finished"]
    assert rows_of(lake) == rows
    load(lake, "4", [("mon", 1, "new")]).ok()
    assert rows_of(lake) == upsert(rows, [("mon", 1, "new")])


@pytest.mark.newest_engine
def test_a_driver_killed_by_sigkill_after_a_partition_is_continued(lake: Lake) -> None:
    rows = partitioned(lake, keys=12)
    job = lake.save(lake.rescale_job(5))
    kill_driver_at("after the first partition", lake.home, job, lake.directory)

    lake.land("orders/3.csv", "day,id,v\nmon,1,twice\n")
    lake.write().blocked("Rescaling")
    assert progress(lake.rescale(5)) == (3, 3, True)
    assert rows_of(lake) == rows


def test_each_run_is_bounded_by_bytes_and_rewrites_at_least_one_partition(lake: Lake) -> None:
    rows = partitioned(lake, keys=12)
    assert progress(lake.rescale(4, most_bytes=1)) == (1, 3, False)
    assert progress(lake.rescale(4, most_bytes=1)) == (2, 3, False)
    assert progress(lake.rescale(4, most_bytes=2**40)) == (3, 3, True)
    assert rows_of(lake) == rows


def test_reads_of_single_keys_find_each_row_once_in_the_middle_of_a_rescale(lake: Lake) -> None:
    """Readers skip buckets by the hash of a key. Partitions have different numbers of buckets then."""
    rows = partitioned(lake, keys=4)
    assert progress(lake.rescale(5, most=2)) == (2, 3, False)

    keys = [(day, id_) for day in DAYS for id_ in range(4)]
    reads = [f"from outside.shop.orders select * where day = '{day}' and id = {id_}" for day, id_ in keys]
    lake.outside(f"create table outside.shop.found as {' union all '.join(reads)}")

    assert sorted((row["day"], row["id"], row["v"]) for row in lake.read("found")) == rows


def provisioned(lake: Lake, count: int, **more: Any) -> dict[str, Any]:
    """The job that verifies the table with this number of buckets."""
    return lake.provision_job(COLUMNS, keys=["day", "id"], partitions=["day"], options={"bucket": str(count)}, **more)


@pytest.mark.engines_in_turn("count")
@pytest.mark.parametrize("count", [2, 5, 8])
def test_a_table_in_the_middle_of_a_rescale_is_verified_for_any_number_and_left_to_the_rescale(
    lake: Lake, count: int
) -> None:
    """Another engine, or a new PaimonTable, verifies the table before the rescale continues."""
    rows = partitioned(lake, keys=9)
    lake.rescale(5, most=1).ok()
    schemas = lake.schemas()

    verified = lake.perform(provisioned(lake, count)).ok()

    assert (verified["table"]["bucketCount"], verified["table"]["rescaling"]) == (5, True)
    assert lake.schemas() == schemas
    assert progress(lake.rescale(count)) == (3, 3, True)
    assert rows_of(lake) == rows


@pytest.mark.newest_engine
def test_another_number_is_left_to_a_rescale_only_where_the_manifest_allows_one(lake: Lake) -> None:
    partitioned(lake, keys=3)

    assert lake.perform(provisioned(lake, 4, rescales=True)).ok()["table"]["bucketCount"] == 2
    assert "option bucket" in lake.perform(provisioned(lake, 4)).refused("TableDiffers")
    foreign = provisioned(lake, 4, rescales=True) | {"owner": "cluster-uid/shop/another"}
    lake.perform(foreign).refused("Conflict")
