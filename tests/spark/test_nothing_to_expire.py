"""A tick that has nothing to do starts no JVM, also where tags, consumers or changelogs come and go with time.

`Lake.expire` compares each prediction with what Paimon does.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from tests.spark.due_partitions import without_a_due_snapshot
from tests.spark.lake import Lake
from tests.spark.retention_limit import DAY, create_consumer, set_time

HOUR = timedelta(hours=1)
FIRST = datetime.now(UTC).replace(minute=30, second=0, microsecond=0) - 9 * HOUR
"""Half past an hour."""
KEEPS_ALL = {"timeRetained": "9 d", "numRetainedMin": 1}
ONE = {"timeRetained": "1 ms", "numRetainedMin": 1, "numRetainedMax": 1}


def commit(lake: Lake, *times: datetime) -> None:
    """Commits a row at each of these times."""
    for at in times:
        lake.outside("INSERT INTO outside.shop.orders VALUES (1)")
        newest = max(int(each.name.split("-")[1]) for each in (lake.table_directory / "snapshot").glob("snapshot-*"))
        set_time(lake, "snapshot", newest, at.timestamp())


def changing(lake: Lake, most: str) -> dict[str, str]:
    """Makes a table that keeps changelogs, up to so many with its snapshots. Returns its options."""
    kept = {"changelog.time-retained": "3 d", "changelog.num-retained.min": "1", "changelog.num-retained.max": most}
    options = {"bucket": "1", "write-only": "true", "changelog-producer": "input", **kept}
    lake.provision({"id": "BIGINT"}, keys=["id"], options=options).ok()
    return options


def changelogs(lake: Lake) -> list[int]:
    found = (lake.table_directory / "changelog").glob("changelog-[0-9]*")
    return sorted(int(each.name.removeprefix("changelog-")) for each in found)


def ends_without_jvm(lake: Lake, **more: object) -> bool:
    """Whether the next run ends without a JVM; then it runs in one. `Lake.expire` compares both."""
    asked = {**KEEPS_ALL, **more}
    found = without_a_due_snapshot(lake.job("ExpireSnapshots", expireSnapshots=asked), lake.engine.id)
    lake.expire(**asked).ok()
    return found is not None


def tags(lake: Lake) -> list[str]:
    return sorted(each.name.removeprefix("tag-") for each in (lake.table_directory / "tag").glob("tag-*"))


def test_a_table_with_automatic_tags_needs_a_jvm_once_in_each_period(lake: Lake) -> None:
    of_tags = {"tag.automatic-creation": "process-time", "tag.creation-period": "hourly", "tag.num-retained-max": "2"}
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "write-only": "true", **of_tags}).ok()
    found = []
    for at in (FIRST, FIRST + HOUR / 6, FIRST + HOUR, FIRST + 3 * HOUR, FIRST + 3.2 * HOUR):
        commit(lake, at)
        found.append(ends_without_jvm(lake))
        assert ends_without_jvm(lake), "nothing was committed since"
    assert found == [False, True, False, False, True]
    assert tags(lake) == [f"{FIRST + hours * HOUR:%Y-%m-%d %H}" for hours in (0, 2)]


def test_a_consumer_needs_a_jvm_only_when_it_expires(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "consumer.expiration-time": "2 d"}).ok()
    commit(lake, FIRST)
    create_consumer(lake, 1, time.time())
    assert ends_without_jvm(lake)
    file = create_consumer(lake, 1, time.time() - 2 * DAY - 1)
    assert not ends_without_jvm(lake)
    assert not file.exists()


def test_changelogs_need_a_jvm_only_when_they_expire(lake: Lake) -> None:
    changing(lake, "4")
    commit(lake, *(FIRST + hours * HOUR for hours in range(4)))
    assert not ends_without_jvm(lake, **ONE), "three snapshots expire"
    assert changelogs(lake) == [1, 2, 3]
    assert ends_without_jvm(lake, **ONE), "four are kept, counted with the latest snapshot"
    commit(lake, FIRST + 4 * HOUR)
    assert not ends_without_jvm(lake, **ONE)
    assert changelogs(lake) == [2, 3, 4]


def test_a_smallest_number_of_changelogs_beyond_all_that_there_are_is_no_failure(lake: Lake) -> None:
    options = changing(lake, "99")
    commit(lake, *(FIRST + hours * HOUR for hours in range(3)))
    lake.expire(**ONE).ok()
    lake.provision({"id": "BIGINT"}, keys=["id"], options=options | {"changelog.num-retained.min": "9"}).ok()
    assert ends_without_jvm(lake, **ONE)
    assert changelogs(lake) == [1, 2]


def test_a_consumer_that_keeps_the_earliest_snapshot_leaves_nothing_to_a_jvm(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "write-only": "true"}).ok()
    commit(lake, *(FIRST + hours * HOUR for hours in range(3)))
    create_consumer(lake, 1, time.time())
    few = {"timeRetained": "1 ms", "numRetainedMin": 1}
    assert ends_without_jvm(lake, **few)
    create_consumer(lake, 1, time.time(), next_snapshot=2)
    assert not ends_without_jvm(lake, **few)
    assert ends_without_jvm(lake, **few), "snapshot 2 is the earliest one now"
