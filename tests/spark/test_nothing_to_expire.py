"""A tick that has nothing to do starts no JVM, also where tags, consumers or changelogs come and go with time.

`Lake.expire` compares each prediction with what Paimon does.
"""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime, timedelta

from tests.spark.due_partitions import without_a_due_snapshot
from tests.spark.lake import Lake

HOUR = timedelta(hours=1)
FIRST = datetime.now(UTC).replace(minute=30, second=0, microsecond=0) - 9 * HOUR
"""Half past an hour."""
KEEPS_ALL = {"timeRetained": "9 d", "numRetainedMin": 1}


def commit(lake: Lake, at: datetime) -> None:
    """Commits a row, at this time."""
    lake.outside("INSERT INTO outside.shop.orders VALUES (1)")
    file = max((lake.table_directory / "snapshot").glob("snapshot-*"), key=lambda each: int(each.name.split("-")[1]))
    file.write_text(json.dumps(json.loads(file.read_text()) | {"timeMillis": int(at.timestamp() * 1000)}))


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
    file = lake.table_directory / "consumer" / "consumer-reader"
    file.parent.mkdir()
    file.write_text('{"nextSnapshot": 1}')
    assert ends_without_jvm(lake)
    old = time.time() - 2 * 86_400 - 1
    os.utime(file, (old, old))
    assert not ends_without_jvm(lake)
    assert not file.exists()


def test_changelogs_need_a_jvm_only_when_they_expire(lake: Lake) -> None:
    kept = {"changelog.time-retained": "3 d", "changelog.num-retained.min": "1", "changelog.num-retained.max": "4"}
    usual = {"bucket": "1", "write-only": "true", "changelog-producer": "input"}
    lake.provision({"id": "BIGINT"}, keys=["id"], options=usual | kept).ok()
    for hours in range(4):
        commit(lake, FIRST + hours * HOUR)
    few = {"timeRetained": "1 ms", "numRetainedMin": 1, "numRetainedMax": 1}
    assert not ends_without_jvm(lake, **few), "three snapshots expire"
    directory = lake.table_directory / "changelog"
    assert len(list(directory.glob("changelog-[0-9]*"))) == 3
    assert ends_without_jvm(lake, **few), "four are kept, counted with the latest snapshot"
    commit(lake, FIRST + 4 * HOUR)
    assert not ends_without_jvm(lake, **few)
    assert sorted(each.name for each in directory.glob("changelog-[0-9]*")) == [f"changelog-{n}" for n in (2, 3, 4)]


def test_a_smallest_number_of_changelogs_beyond_all_that_there_are_is_no_failure(lake: Lake) -> None:
    kept = {"changelog.time-retained": "3 d", "changelog.num-retained.min": "1", "changelog.num-retained.max": "99"}
    usual = {"bucket": "1", "write-only": "true", "changelog-producer": "input"}
    lake.provision({"id": "BIGINT"}, keys=["id"], options=usual | kept).ok()
    for hours in range(3):
        commit(lake, FIRST + hours * HOUR)
    few = {"timeRetained": "1 ms", "numRetainedMin": 1, "numRetainedMax": 1}
    lake.expire(**few).ok()
    lake.provision({"id": "BIGINT"}, keys=["id"], options=usual | kept | {"changelog.num-retained.min": "9"}).ok()
    assert ends_without_jvm(lake, **few)
    assert len(list((lake.table_directory / "changelog").glob("changelog-[0-9]*"))) == 2


def test_a_consumer_that_keeps_the_earliest_snapshot_leaves_nothing_to_a_jvm(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "write-only": "true"}).ok()
    for hours in range(3):
        commit(lake, FIRST + hours * HOUR)
    file = lake.table_directory / "consumer" / "consumer-reader"
    file.parent.mkdir()
    few = {"timeRetained": "1 ms", "numRetainedMin": 1}
    file.write_text('{"nextSnapshot": 1}')
    assert ends_without_jvm(lake, **few)
    file.write_text('{"nextSnapshot": 2}')
    assert not ends_without_jvm(lake, **few)
    assert ends_without_jvm(lake, **few), "snapshot 2 is the earliest one now"
