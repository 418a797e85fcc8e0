"""The schedules of a table whose manifest is edited: without a table."""

from __future__ import annotations

import pytest

from paimon_engines.loader import load_engine
from paimon_operator.core.validation.table import broken_rules
from tests.support import builders
from tests.support.schedules.edited_schedule import SETTINGS, Edited, edited_schedule, spec_of
from tests.support.schedules.kinds import KINDS, TableKind

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


KEYED = TableKind("deduplicate", 1, partitioned=False)
UNKEYED = TableKind("append", -1, partitioned=False)


def is_admitted(kind: TableKind, engine: str, name: str, value: str) -> bool:
    spec = spec_of(kind, {name: value})
    return broken_rules(builders.context(builders.table(**spec), builders.catalog(engine=engine))) == ()


@pytest.mark.parametrize("engine", ["paimon-0.9", "paimon-1.4"])
def test_each_setting_that_an_engine_has_can_be_applied(engine: str) -> None:
    known = [name for name in SETTINGS if load_engine(engine).option(name) is not None]
    never = [
        name
        for name in known
        if not any(is_admitted(kind, engine, name, value) for kind in (KEYED, UNKEYED) for value in SETTINGS[name])
    ]
    assert len(known) > 60
    assert never == []
