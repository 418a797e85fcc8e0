"""Automatic tags on tables whose writers do not compact: ExpireSnapshots creates them before it expires snapshots."""

# ruff: noqa: S608 - the only values in SQL are those of the tests

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from paimon_engines.loader import load_engine
from tests.spark.lake import Lake
from tests.spark.retention_limit import DAY, Limit, create_tag, set_time

HOURS = 30
FIRST = datetime.now(UTC).replace(minute=30, second=0, microsecond=0) - timedelta(hours=HOURS)
"""Half past an hour, more than a day ago."""
TAGS = {"tag.automatic-creation": "process-time", "tag.creation-period": "hourly"}


def written(lake: Lake, count: int, **options: str) -> Lake:
    """An append table whose writers do not compact, with `count` snapshots of one row, an hour apart."""
    return written_at(lake, [FIRST + timedelta(hours=number) for number in range(1, count + 1)], **options)


def written_at(lake: Lake, times: Sequence[datetime], **options: str) -> Lake:
    """The same, with snapshots of these times."""
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "write-only": "true", **options}).ok()
    lake.outside(*[f"INSERT INTO outside.shop.orders VALUES ({n})" for n in range(1, len(times) + 1)])
    for number, made in enumerate(times, start=1):
        set_time(lake, "snapshot", number, made.timestamp())
    return lake


def tags(lake: Lake) -> dict[str, int]:
    rows = lake.select("SELECT tag_name, snapshot_id FROM outside.shop.`orders$tags`")
    return {row["tag_name"]: row["snapshot_id"] for row in rows}


def hour(number: int) -> str:
    """The name of the tag of the snapshot: the hour before it was made."""
    return f"{FIRST + timedelta(hours=number - 1):%Y-%m-%d %H}"


def rows_of(lake: Lake, tag: str) -> int:
    (row,) = lake.select(f"SELECT count(*) AS n FROM outside.shop.orders VERSION AS OF '{tag}'")
    return int(row["n"])


def test_one_run_creates_the_tags_of_all_periods_and_keeps_their_number(lake: Lake) -> None:
    written(lake, HOURS, **TAGS, **{"tag.num-retained-max": "5"})
    assert tags(lake) == {}, "a writer that does not compact creates none"

    done = lake.expire(timeRetained="1 ms", numRetainedMin=1).ok()

    assert done["expired"] == HOURS - 1
    kept = range(HOURS - 4, HOURS + 1)
    assert tags(lake) == {hour(number): number for number in kept}, "25 tags more were due and removed"
    assert [rows_of(lake, hour(number)) for number in kept] == list(kept), "each keeps its snapshot"


def test_a_tag_is_removed_at_its_limit_and_not_before(lake: Lake) -> None:
    written(lake, 2, **TAGS, **{"tag.default-time-retained": "1 d"})
    lake.expire(timeRetained="1 ms", numRetainedMin=1).ok()
    lake.outside("CALL outside.sys.create_tag(table => 'shop.orders', tag => 'of-a-user', time_retained => '9000 d')")
    due, young = (lake.table_directory / "tag" / f"tag-{hour(number)}" for number in (1, 2))
    limit = Limit(DAY, earlier=21)
    for number, made in limit.times.items():
        create_tag(due, number, made)
    due.unlink()

    lake.expire(timeRetained="1 ms", numRetainedMin=1).ok()

    found = tags(lake)
    limit.check(int(name) for name in found if name.isdecimal())
    assert {name for name in found if not name.isdecimal()} == {young.name.removeprefix("tag-"), "of-a-user"}


@pytest.mark.some_rows(1)
@pytest.mark.parametrize(
    ("period", "hours", "names"),
    [
        ("hourly", 1, ["2026-02-28 22", "2026-02-28 23"]),
        ("two-hours", 2, ["2026-02-28 20", "2026-02-28 22"]),
        ("daily", 24, ["2026-02-27", "2026-02-28"]),
    ],
)
def test_a_tag_is_created_with_the_first_commit_after_the_delay(
    lake: Lake, period: str, hours: int, names: list[str]
) -> None:
    options = {"tag.automatic-creation": "process-time", "tag.creation-period": period, "tag.creation-delay": "10 m"}
    due = datetime(2026, 3, 1, 0, 10, tzinfo=UTC)
    written_at(lake, [due - timedelta(hours=hours), due - timedelta(milliseconds=1), due], **options)

    lake.expire(timeRetained="9000 d").ok()

    assert tags(lake) == dict(zip(names, [1, 3], strict=True)), "the commit a millisecond before comes too early"


def test_writers_that_compact_create_tags_with_their_commits(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", **TAGS}).ok()
    lake.land("orders/1.csv", "id\n1\n")

    lake.write(mode="Append").ok()

    assert list(tags(lake).values()) == [1]


def test_batch_tags_with_a_number_delete_tags_of_users(lake: Lake) -> None:
    """So the operator refuses the pair."""
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "write-only": "true"}).ok()
    lake.outside(
        "INSERT INTO outside.shop.orders VALUES (1)",
        "CALL outside.sys.create_tag(table => 'shop.orders', tag => 'of-a-user')",
        "ALTER TABLE outside.shop.orders SET TBLPROPERTIES"
        " ('tag.automatic-creation' = 'batch', 'tag.num-retained-max' = '1')",
    )
    lake.land("orders/1.csv", "id\n2\n")

    lake.write(mode="Append").ok()

    (left,) = tags(lake)
    assert left.startswith("batch-write-" if load_engine(lake.engine.id).has_batch_tags else "of-a-user")


def test_batch_tags_are_created_by_writes_of_engines_that_have_them(lake: Lake) -> None:
    options = {"bucket": "-1", "write-only": "true", "tag.automatic-creation": "batch"}
    lake.provision({"id": "BIGINT"}, options=options).ok()
    lake.land("orders/1.csv", "id\n2\n")

    lake.write(mode="Append").ok()

    made = list(tags(lake))
    assert bool(made) == load_engine(lake.engine.id).has_batch_tags
