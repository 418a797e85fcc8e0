"""A schedule that is new in the manifest: from when on its ticks count."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support import builders
from tests.support.table_world import TableWorld

DEDICATED = {"mode": "Dedicated", "full": {"schedule": "0 3 * * *"}}


def world(**spec: Any) -> TableWorld:
    """A table that is Ready, a day after it was made, with nothing left to do."""
    seen = TableWorld(table=builders.table(**spec)).ready()
    seen.work_off()
    return seen


LATER = builders.write("later", schedule="0 * * * *")
ADDED: list[tuple[str, dict[str, Any], str]] = [
    ("a write", {"writes": [builders.write(), LATER]}, "Write later"),
    ("compaction", {"compaction": {"mode": "Dedicated", "full": {"schedule": "0 * * * *"}}}, "Compact Full"),
    ("expiry", {"retention": {"snapshots": {"schedule": "0 * * * *"}}}, "ExpireSnapshots "),
]


@pytest.mark.parametrize(("sentence", "added", "work"), ADDED, ids=[case[0] for case in ADDED])
def test_a_schedule_that_is_new_in_the_manifest_waits_for_its_next_tick(
    sentence: str, added: dict[str, Any], work: str
) -> None:
    seen = world(writes=[builders.write()])
    seen.edit(**added)
    assert work not in [" ".join(each) for each in seen.work_off()], "ticks from before it was asked for"
    seen.wait(hours=1)
    assert work in [" ".join(each) for each in seen.work_off()], sentence


def test_a_write_that_was_removed_and_is_added_again_waits_for_its_next_tick() -> None:
    seen = world(writes=[builders.write()])
    seen.edit(writes=None)
    seen.wait(days=2)
    assert seen.work_off() == []
    seen.edit(writes=[builders.write()])
    assert seen.work_off() == []
    assert seen.table.status.writes[0].next == seen.now + timedelta(minutes=5)
    seen.wait(minutes=5)
    assert seen.work_off() == [("Write", "import")]


def test_compaction_that_was_someone_elses_for_a_while_waits_for_its_next_tick() -> None:
    seen = world(compaction=DEDICATED)
    seen.edit(compaction={"mode": "External"})
    seen.wait(days=2)
    seen.work_off()
    seen.edit(compaction=DEDICATED)
    assert [work for work in seen.work_off() if work[0] == "Compact"] == []
    seen.wait(days=1)
    assert {work for work in seen.work_off() if work[0] == "Compact"} == {("Compact", "Full")}


def test_another_schedule_for_the_same_work_goes_on_from_the_last_tick() -> None:
    seen = world(writes=[builders.write()])
    seen.edit(writes=[builders.write(schedule="5 * * * *")])
    seen.wait(hours=1)
    assert seen.work_off() == [("Write", "import")]


def test_ticks_that_passed_before_the_operator_first_saw_the_object_run_once() -> None:
    """It was away; the manifest has asked for them since the object was made."""
    seen = TableWorld(table=builders.table(writes=[builders.write()]), now=builders.CREATED + timedelta(hours=3))
    seen.ready()
    seen.work_off()
    assert seen.started == [("Provision", ""), ("Write", "import")]
