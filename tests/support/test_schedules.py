"""The schedules of writes, maintenance and kills, and the model of their rows: without a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.support.schedules.generator import OLDER_THAN_HOURS, schedule
from tests.support.schedules.kinds import ENGINES, FIRST_ROW, KINDS, NEVER_EXPIRES, TableKind
from tests.support.schedules.model import Model, Rows
from tests.support.schedules.schedule import Do, Row, Schedule

A_THOUSAND = range(1000)
_BEGINS = (Do.BEGIN_WRITE, Do.BEGIN_COMPACTION)
_ENDS = (Do.COMMIT, Do.DIE, Do.DIE_IN_COMMIT)
_NEEDS = (Do.DELETE_TAG, Do.DELETE_BRANCH, Do.DELETE_CONSUMER)
ONE, TWO = Row(0, 1, 1, 10, 10), Row(0, 1, 2, 20, None)


def test_a_seed_is_one_schedule() -> None:
    assert schedule(7) == schedule(7)
    assert len({schedule(seed) for seed in A_THOUSAND}) == len(A_THOUSAND)


def test_a_thousand_schedules_have_each_kind_of_step_often_and_each_kind_of_table() -> None:
    made = [schedule(seed) for seed in A_THOUSAND]
    steps = Counter(step.do for each in made for step in each.steps)
    assert set(steps) == set(Do)
    assert min(steps.values()) >= 50, steps
    plain = [replace(each.kind, format="parquet", changelogs=False, expiring=False, tagged=False) for each in made]
    assert set(plain) == set(KINDS)
    assert all(sum(getattr(each.kind, name) for each in made) >= 10 for name in ("changelogs", "expiring", "tagged"))
    assert {each.engine for each in KINDS} == set(ENGINES)


def test_a_step_refers_to_what_is_there() -> None:
    for seed in A_THOUSAND:
        there: set[str] = set()
        for step in schedule(seed).steps:
            if step.do in (*_ENDS, *_NEEDS):
                assert step.name in there, f"seed {seed}: {step}"
                there.remove(step.name)
            elif step.do is Do.ADVANCE_CONSUMER:
                assert step.name in there
            elif step.name:
                assert step.name not in there
                there.add(step.name)
            assert not step.tag or step.tag in there


def test_no_writer_commits_that_is_older_than_the_orphans_that_are_removed() -> None:
    assert max(hours for seed in A_THOUSAND for hours in ages_at_commit(schedule(seed))) in range(40, OLDER_THAN_HOURS)


def ages_at_commit(of: Schedule) -> list[int]:
    """The hours between the beginnings of writes and their commits."""
    now, begun, found = 0, {}, [0]
    for step in of.steps:
        now += step.hours
        if step.do in _BEGINS:
            begun[step.name] = now
        elif step.do is Do.COMMIT:
            found.append(now - begun[step.name])
    return found


@pytest.mark.parametrize(
    ("engine", "rows"),
    [
        ("deduplicate", ((0, 1, 2, 20, None),)),
        ("partial-update", ((0, 1, 2, 20, 10),)),
        ("aggregation", ((0, 1, 2, 30, 10),)),
        ("append", ((0, 1, 1, 10, 10), (0, 1, 2, 20, None))),
    ],
)
def test_two_rows_of_one_key_become_what_the_merge_engine_says(engine: str, rows: Rows) -> None:
    model = Model(TableKind(engine, 1, partitioned=False))
    model.append("w1", (ONE,))
    model.append("w2", (TWO,))
    assert model.rows() == rows


def test_the_first_row_stays_and_is_visible_once_it_is_compacted() -> None:
    model = Model(TableKind(FIRST_ROW, 1, partitioned=False))
    model.append("w1", (ONE,))
    model.append("w2", (TWO,))
    assert model.rows() == ()
    model.compact({"w1"})
    model.compact({"w2"})
    assert model.rows() == ((0, 1, 1, 10, 10),)


def test_a_record_that_has_expired_may_be_seen_until_a_compaction_has_removed_it() -> None:
    model = Model(TableKind("deduplicate", 1, partitioned=True, expiring=True))
    model.append("w1", (ONE, Row(0, 2, 2, NEVER_EXPIRES, 0), Row(1, 3, 3, 30, 30)))
    assert (model.must_be(model.rows()), model.expirable) == (((0, 2, 2, NEVER_EXPIRES, 0),), {(0, 1), (1, 3)})
    model.drop_partition(1)
    assert model.expirable == {(0, 1)}
    model.forget({(0, 1)})
    assert (model.rows(), model.expirable) == (((0, 2, 2, NEVER_EXPIRES, 0),), set())


def test_a_late_commit_changes_nothing_that_is_newer() -> None:
    model = Model(TableKind("deduplicate", 1, partitioned=False))
    model.append("w2", (TWO,))
    model.append("w1", (ONE, replace(ONE, gone=True)))
    assert model.rows() == ((0, 1, 2, 20, None),)


def test_an_expiry_keeps_the_newest_snapshots_and_all_tags() -> None:
    model = Model(TableKind("deduplicate", 1, partitioned=False))
    for id_, row in enumerate((ONE, TWO), 1):
        model.append(f"w{id_}", (row,))
        model.add_snapshot(id_)
    model.tags["t"] = model.snapshots[1]
    model.expire(1)
    assert model.snapshots == {2: ((0, 1, 2, 20, None),)}
    assert model.tags == {"t": ((0, 1, 1, 10, 10),)}
