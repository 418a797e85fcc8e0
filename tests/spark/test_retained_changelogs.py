"""ExpireSnapshots keeps changelogs and consumers as long as the table's options say."""

# ruff: noqa: S608 - the only values in SQL are those of the tests

from __future__ import annotations

import os
import shutil
import time

import pytest

from tests.spark.lake import Lake
from tests.spark.observed_kinds import DYNAMIC
from tests.spark.retention_limit import DAY, Limit, create_consumer, set_time

ALL_BUT_ONE = {"timeRetained": "1 ms", "numRetainedMin": 1}


def changing(lake: Lake, count: int, **options: str) -> Lake:
    """A table with a changelog, whose writers do not compact, with `count` snapshots."""
    usual = {"bucket": "1", "write-only": "true", "changelog-producer": "input"}
    lake.provision({"id": "BIGINT", "v": "INT"}, keys=["id"], options=usual | options).ok()
    lake.outside(*[f"INSERT INTO outside.shop.orders VALUES (1, {n})" for n in range(count)])
    return lake


def changelogs(lake: Lake) -> list[int]:
    """Numbers of the changelogs that outlived their snapshots."""
    found = (lake.table_directory / "changelog").glob("changelog-[0-9]*")
    return sorted(int(each.name.removeprefix("changelog-")) for each in found)


def changelog_files(lake: Lake) -> int:
    return len(list((lake.table_directory / "bucket-0").glob("changelog-*")))


def test_changelogs_outlive_their_snapshots(lake: Lake) -> None:
    kept = {"changelog.time-retained": "3 d", "changelog.num-retained.max": "2147483647"}
    changing(lake, 6, **kept)

    done = lake.expire(**ALL_BUT_ONE, numRetainedMax=1).ok()

    assert (done["expired"], changelogs(lake), changelog_files(lake)) == (5, [1, 2, 3, 4, 5], 6)


def test_their_largest_number_is_otherwise_that_of_snapshots(lake: Lake) -> None:
    """So the operator sets it too."""
    changing(lake, 6, **{"changelog.time-retained": "3 d"})

    lake.expire(**ALL_BUT_ONE, numRetainedMax=1).ok()

    assert changelogs(lake) == [5]


@pytest.mark.engines_in_turn("killed")
@pytest.mark.parametrize("killed", [3, 1])
def test_an_expiry_goes_on_after_one_that_was_killed_between_a_changelog_and_its_snapshot(
    lake: Lake, killed: int
) -> None:
    """Paimon 0.9 does not replace the changelog. So every later expiry of the table failed."""
    kept = {"changelog.time-retained": "3 d", "changelog.num-retained.max": "2147483647"}
    changing(lake, 6, **kept)
    if killed > 1:
        left = {"numRetainedMin": 7 - killed, "numRetainedMax": 7 - killed}
        assert lake.expire(timeRetained="1 ms", **left).ok()["expired"] == killed - 1
    changelog = lake.table_directory / "changelog" / f"changelog-{killed}"
    changelog.parent.mkdir(exist_ok=True)
    shutil.copy(lake.table_directory / "snapshot" / f"snapshot-{killed}", changelog)

    done = lake.expire(**ALL_BUT_ONE, numRetainedMax=1).ok()

    assert (done["expired"], changelogs(lake), changelog_files(lake)) == (6 - killed, [1, 2, 3, 4, 5], 6)
    assert lake.rows() == [{"id": 1, "v": 5}]


VECTORS = {"deletion-vectors.enabled": "true", "write-only": "false", "changelog-producer": "lookup"}


@pytest.mark.some_rows(1)
@pytest.mark.parametrize("options", [DYNAMIC, VECTORS], ids=["dynamic buckets", "deletion vectors"])
def test_changelogs_of_snapshots_with_an_index_expire(lake: Lake, options: dict[str, str]) -> None:
    """Where they do not, a table that keeps changelogs is refused, because each run fails after its snapshots."""
    kept = {"time-retained": "3 d", "num-retained.max": "4", "num-retained.min": "1"}
    changing(lake, 0, **options, **{f"changelog.{name}": value for name, value in kept.items()})
    lake.outside("INSERT INTO outside.shop.orders SELECT id, 0 FROM range(200)")
    lake.compact().ok()
    # Each one has a new key, and replaces a row that was compacted, so that each snapshot has an index of its own.
    lake.outside(*[f"INSERT INTO outside.shop.orders VALUES ({n + 200}, {n}), ({n}, {n})" for n in range(4)])
    latest = max(each["snapshot_id"] for each in lake.snapshots())

    done = lake.expire(**ALL_BUT_ONE, numRetainedMax=1)

    if lake.engine.expires_changelogs_with_index:
        assert done.ok()["expired"] == latest - 1
        assert changelogs(lake) == [*range(latest - 3, latest)]
    else:
        assert (done.code, done.error["reason"]) == (30, "TableFileUnreadable")
        assert "index-manifest" in done.error["message"]


@pytest.mark.parametrize("earlier", [0, pytest.param(51, marks=pytest.mark.long)])
def test_changelogs_expire_at_their_limit_and_not_before(lake: Lake, earlier: int) -> None:
    changing(lake, Limit(3 * DAY, earlier=earlier).count + 1, **{"changelog.time-retained": "3 d"})
    lake.expire(**ALL_BUT_ONE).ok()
    limit = Limit(3 * DAY, earlier=earlier)
    assert changelogs(lake) == list(limit.times)
    for number, made in limit.times.items():
        set_time(lake, "changelog", number, made)

    lake.expire(**ALL_BUT_ONE).ok()

    limit.check(changelogs(lake))


def test_changelogs_expire_when_their_time_has_passed(lake: Lake) -> None:
    changing(lake, 6, **{"changelog.time-retained": "3 d"})
    lake.expire(**ALL_BUT_ONE).ok()
    assert changelogs(lake) == [1, 2, 3, 4, 5]
    lake.outside("ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('changelog.time-retained' = '2 ms')")

    lake.expire(**ALL_BUT_ONE).ok()

    assert (changelogs(lake), changelog_files(lake)) == ([5], 2), "Paimon keeps the last one"


def test_a_consumer_expires_at_its_limit_and_holds_snapshots_until_then(lake: Lake) -> None:
    changing(lake, 4, **{"consumer.expiration-time": "2 d"})
    limit = Limit(2 * DAY, earlier=51)
    files = {number: create_consumer(lake, number, made) for number, made in limit.times.items()}

    assert lake.expire(**ALL_BUT_ONE).ok()["expired"] == 0
    limit.check(number for number, file in files.items() if file.exists())

    for file in files.values():
        if file.exists():
            os.utime(file, (time.time() - 3 * DAY,) * 2)
    assert lake.expire(**ALL_BUT_ONE).ok()["expired"] == 3
    assert not any(file.exists() for file in files.values())
