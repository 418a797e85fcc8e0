"""The schedules of a table whose manifest is edited: without a table."""

from __future__ import annotations

from tests.support.schedules.edited_schedule import SETTINGS, Edited, edited_schedule
from tests.support.schedules.kinds import KINDS

SEEDS = range(200)
"""Those of `make test-long`."""


def test_each_setting_is_edited_and_removed_again_and_each_kind_of_table_is_edited() -> None:
    schedules = [edited_schedule(seed) for seed in SEEDS]
    edits = [dict(step.settings) for each in schedules for step in each.steps if step.do is Edited.EDIT]
    assert {name for edit in edits for name in edit} >= SETTINGS.keys()
    assert len({name for edit in edits for name, value in edit.items() if value is None}) > len(SETTINGS) // 2
    shapes = {(each.kind.engine, each.kind.buckets, each.kind.producer, each.kind.vectors) for each in schedules}
    assert shapes == {(each.engine, each.buckets, each.producer, each.vectors) for each in KINDS}


def test_a_seed_is_always_the_same_schedule() -> None:
    assert edited_schedule(7) == edited_schedule(7)
