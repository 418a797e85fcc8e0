"""The schedules of a table that an operator maintains, and what its maintenance has to leave: without a table."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from paimon_engines.loader import load_engine
from tests.support.schedules.ages import Ages
from tests.support.schedules.automatic_tags import tags_after
from tests.support.schedules.effects import Effect, effects_of, reported
from tests.support.schedules.operated_manifest import START, is_done, is_due
from tests.support.schedules.operated_schedule import (
    FULL,
    OF_MARKS,
    OF_PARTITIONS,
    RUNS,
    SORT,
    operated_schedule,
)
from tests.support.schedules.reachable import TableTree

SIXTY: Final = range(64)
HOUR_MS: Final = 3_600_000
NOW_MS: Final = int(START.timestamp() * 1000)


def test_sixty_schedules_request_each_type_of_run_often() -> None:
    steps = [step for seed in SIXTY for step in operated_schedule(seed).steps]
    runs = Counter(step.run for step in steps if step.run)
    assert set(runs) == {*RUNS, OF_PARTITIONS, OF_MARKS}
    assert min(runs.values()) >= 5, runs
    assert {step.strategy for step in steps if step.run == "Compact"} == {FULL, SORT}


def test_sixty_schedules_have_tables_with_each_kind_of_maintenance() -> None:
    kinds = [operated_schedule(seed).kind for seed in SIXTY]
    for name in ("expiring", "changelogs", "tagged", "verify", "marked", "forgetful"):
        assert sum(bool(getattr(each, name)) for each in kinds) >= 10, name
    assert Counter(each.partitioned for each in kinds if each.sorted) == {True: 2, False: 2}
    assert {each.verify for each in kinds} == {"", "Sample", "Always"}


def test_the_first_commit_of_each_hour_is_tagged_and_the_latest_tags_stay() -> None:
    minutes = {1: 0, 2: 59, 3: 60, 4: 200, 5: 201, 6: 300}
    committed = {id_: 60_000 * each for id_, each in minutes.items()}
    assert tags_after({"t": 2}, committed, [1, 2], most=2) == {"t": 2, "1969-12-31 23": 1}
    tags = tags_after({"t": 2}, committed, committed, most=2)
    assert tags == {"t": 2, "1970-01-01 02": 4, "1970-01-01 04": 6}
    assert tags_after(tags, committed, [5, 6], most=2) == tags


def test_the_times_at_which_partitions_are_due_and_done() -> None:
    hours = {(each, case.__name__): first_hour(case, each) for each in range(3) for case in (is_due, is_done)}
    assert hours == {
        (0, "is_due"): 0, (0, "is_done"): 0, (1, "is_due"): 65, (1, "is_done"): 25, (2, "is_due"): None,
        (2, "is_done"): None,
    }  # fmt: skip


def first_hour(case: Any, partition: int) -> int | None:
    return next((hour for hour in range(500) if case(partition, NOW_MS + hour * HOUR_MS)), None)


def file(path: Path, **content: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def test_what_expires_by_time_is_as_old_as_in_the_schedule(tmp_path: Path) -> None:
    ages = Ages(TableTree(tmp_path))
    snapshot = file(tmp_path / "snapshot" / "snapshot-1", id=1, timeMillis=1)
    consumer = file(tmp_path / "consumer" / "consumer-r", nextSnapshot=1)
    tag = file(tmp_path / "tag" / "tag-t", id=1, tagCreateTime=[2000, 1, 1, 0, 0])
    ages.note(NOW_MS)
    assert json.loads(snapshot.read_text())["timeMillis"] == NOW_MS
    changelog = snapshot.rename(file(tmp_path / "changelog" / "changelog-1"))
    ages.note(NOW_MS + HOUR_MS)
    ages.show(NOW_MS + HOUR_MS)
    hour_ago = time.time() - 3600
    assert json.loads(changelog.read_text())["timeMillis"] / 1000 == pytest.approx(hour_ago, abs=60)
    assert consumer.stat().st_mtime == pytest.approx(hour_ago, abs=60)
    assert json.loads(tag.read_text())["tagCreateTime"] == [*time.gmtime(hour_ago)[:5], pytest.approx(30, abs=30)]
    ages.renew("r", NOW_MS + HOUR_MS)
    old = timedelta(minutes=30)
    assert (ages.older("tag", old, NOW_MS + HOUR_MS), ages.older("consumer", old, NOW_MS + HOUR_MS)) == ({"t"}, set())


def test_what_a_run_reports_to_have_done() -> None:
    changed = {"before": {"snapshotId": 1}, "after": {"snapshotId": 2}}
    compact = {"operation": "Compact", "compact": {"strategy": "Sort"}}
    assert set(reported(compact, changed | {"verification": {"commits": 1}})) == {Effect.SORT, Effect.VERIFIED}
    assert set(reported(compact, changed | {"after": {"snapshotId": 1}})) == set()
    marked = {"operation": "MarkPartitionsDone"}
    assert set(reported(marked, {"partitionsDone": {"marked": 0}})) == set()
    assert set(reported(marked, {"partitionsDone": {"marked": 1}})) == {Effect.MARKED}


def test_an_engine_is_asked_for_what_it_supports() -> None:
    assert effects_of(load_engine("paimon-1.4")) == set(Effect)
    without = {Effect.MINOR, Effect.SORT, Effect.MANIFESTS, Effect.STATISTICS}
    assert effects_of(load_engine("paimon-0.9")) == set(Effect) - without
