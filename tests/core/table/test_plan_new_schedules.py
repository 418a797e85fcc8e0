"""A schedule that is new in the manifest: its first tick."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support import builders
from tests.support.table_world import TableWorld

DEDICATED = {"mode": "Dedicated", "full": {"schedule": "0 3 * * *"}}


def world(**spec: Any) -> TableWorld:
    """A table that is Ready a day after its creation, with nothing due."""
    seen = TableWorld(table=builders.table(**spec)).ready()
    seen.run_due()
    return seen


LATER = builders.write("later", schedule="0 * * * *")
ADDED: list[tuple[str, dict[str, Any], str]] = [
    ("a write", {"writes": [builders.write(), LATER]}, "Write later"),
    ("compaction", {"compaction": {"mode": "Dedicated", "full": {"schedule": "0 * * * *"}}}, "Compact Full"),
    ("expiry", {"retention": {"snapshots": {"schedule": "0 * * * *"}}}, "ExpireSnapshots "),
]


@pytest.mark.parametrize(("sentence", "added", "operation"), ADDED, ids=[case[0] for case in ADDED])
def test_a_schedule_that_is_new_in_the_manifest_waits_for_its_next_tick(
    sentence: str, added: dict[str, Any], operation: str
) -> None:
    seen = world(writes=[builders.write()])
    seen.edit(**added)
    assert operation not in [" ".join(each) for each in seen.run_due()], "ticks before the edit do not count"
    seen.wait(hours=1)
    assert operation in [" ".join(each) for each in seen.run_due()], sentence


def test_a_write_that_was_removed_and_is_added_again_waits_for_its_next_tick() -> None:
    seen = world(writes=[builders.write()])
    seen.edit(writes=None)
    seen.wait(days=2)
    assert seen.run_due() == []
    seen.edit(writes=[builders.write()])
    assert seen.run_due() == []
    assert seen.table.status.writes[0].next == seen.now + timedelta(minutes=5)
    seen.wait(minutes=5)
    assert seen.run_due() == [("Write", "import")]


def test_compaction_that_was_external_for_some_time_waits_for_its_next_tick() -> None:
    seen = world(compaction=DEDICATED)
    seen.edit(compaction={"mode": "External"})
    seen.wait(days=2)
    seen.run_due()
    seen.edit(compaction=DEDICATED)
    assert [run for run in seen.run_due() if run[0] == "Compact"] == []
    seen.wait(days=1)
    assert {run for run in seen.run_due() if run[0] == "Compact"} == {("Compact", "Full")}


def test_an_edited_schedule_continues_from_the_last_tick() -> None:
    seen = world(writes=[builders.write()])
    seen.edit(writes=[builders.write(schedule="5 * * * *")])
    assert seen.run_due() == []
    seen.wait(hours=1)
    assert seen.run_due() == [("Write", "import")]


def test_ticks_that_passed_before_the_first_reconcile_start_one_run() -> None:
    """No operator ran meanwhile. The manifest has had the schedule since its creation."""
    seen = TableWorld(table=builders.table(writes=[builders.write()]), now=builders.CREATED + timedelta(hours=3))
    seen.ready()
    seen.run_due()
    assert seen.started == [("Provision", ""), ("Write", "import")]
