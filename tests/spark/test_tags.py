"""Automatic tags on tables whose writers do not compact: ExpireSnapshots creates them before it expires snapshots."""

# ruff: noqa: S608 - the only values in SQL are those of the tests

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from paimon_engines.loader import load_engine
from tests.spark.lake import Lake

HOURS = 30
FIRST = datetime.now(UTC).replace(minute=30, second=0, microsecond=0) - timedelta(hours=HOURS)
"""Half past an hour, more than a day ago."""
DAY, LEEWAY = timedelta(days=1), timedelta(minutes=15)
"""The leeway is longer than a test takes: what is younger than a limit by this stays so to its end."""
TAGS = {"tag.automatic-creation": "process-time", "tag.creation-period": "hourly"}


def written(lake: Lake, count: int, **options: str) -> Lake:
    """An append table whose writers do not compact, with `count` snapshots of one row, an hour apart."""
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "write-only": "true", **options}).ok()
    lake.outside(*[f"INSERT INTO outside.shop.orders VALUES ({n})" for n in range(1, count + 1)])
    for number in range(1, count + 1):
        file = lake.table_directory / "snapshot" / f"snapshot-{number}"
        made = FIRST + timedelta(hours=number)
        file.write_text(json.dumps(json.loads(file.read_text()) | {"timeMillis": int(made.timestamp() * 1000)}))
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


def test_tags_are_removed_after_their_time(lake: Lake) -> None:
    written(lake, 22, **TAGS, **{"tag.default-time-retained": "1 d"})
    lake.expire(timeRetained="1 ms", numRetainedMin=1).ok()
    assert len(tags(lake)) == 22
    for file in (lake.table_directory / "tag").iterdir():
        tag = json.loads(file.read_text())
        file.write_text(json.dumps(tag | {"tagCreateTime": [2026, 1, 1, 0, 0, 0, 0]}))
    lake.outside("CALL outside.sys.create_tag(table => 'shop.orders', tag => 'of-a-user', time_retained => '9000 d')")

    lake.expire(timeRetained="1 ms", numRetainedMin=1).ok()

    assert list(tags(lake)) == ["of-a-user"], "more than 20 in one run, and none whose time has not passed"


def test_a_tag_is_removed_at_its_limit_and_not_before(lake: Lake) -> None:
    written(lake, 3, **TAGS, **{"tag.default-time-retained": "1 d"})
    lake.expire(timeRetained="1 ms", numRetainedMin=1).ok()
    past, not_yet, _ = sorted((lake.table_directory / "tag").iterdir())
    for file, made in {past: datetime.now() - DAY, not_yet: datetime.now() - DAY + LEEWAY}.items():  # noqa: DTZ005 - as Paimon
        parts = [made.year, made.month, made.day, made.hour, made.minute, made.second, 0]
        file.write_text(json.dumps(json.loads(file.read_text()) | {"tagCreateTime": parts}))

    lake.expire(timeRetained="1 ms", numRetainedMin=1).ok()

    assert sorted(tags(lake)) == [hour(2), hour(3)]


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
