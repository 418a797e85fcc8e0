"""Looks at a table: what each one asks for, and that it ends with what the latest snapshot holds."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.file_sums import total_of
from spark_apps.metadata.observation import PROBE_EVERY, Observation, Observer
from spark_apps.metadata.snapshots import MAX_PROBES, ExpiredError
from tests.support.fabricated_avro import data_file
from tests.support.fabricated_table import FabricatedTable, schema_of
from tests.support.recorded_files import Recorded

Change = Callable[[FabricatedTable], object]


@pytest.fixture
def table(tmp_path: Path) -> FabricatedTable:
    """A table with one snapshot: `a` in level 5, `b` in level 0. Its manifest is large beside later ones."""
    made = FabricatedTable(tmp_path)
    made.commit([data_file("a", level=5), *(data_file(f"b{n}", bucket=n) for n in range(50))])
    return made


def observer(table: FabricatedTable, files: Recorded | None = None) -> Observer:
    return Observer(files or Recorded(), table.location, schema_of())


def is_right(table: FabricatedTable, observed: Observation) -> bool:
    """Whether the observation is that of the table's latest snapshot."""
    contents = observed.contents
    assert contents is not None
    total, live = total_of(contents.sums), table.live.values()
    found = (contents.snapshot.id, contents.earliest.id, total.files, total.bytes, total.rows)
    expected = (table.latest, table.earliest, len(live), sum(e.size for e in live), sum(e.rows for e in live))
    assert found == expected
    assert contents == observer(table).observe().contents
    return True


def asked(table: FabricatedTable, previous: Observation | None) -> tuple[list[str], Observation]:
    """What one look asks for, with the names of manifests without their numbers."""
    files = Recorded()
    observed = observer(table, files).observe(previous)
    return [re.sub(r"^(manifest|manifest-list|index-manifest)-\d+$", r"\1", name) for name in files.asked], observed


def one_commit(table: FabricatedTable) -> None:
    table.commit([data_file("c")])


REQUESTS: dict[str, tuple[Change, list[str]]] = {
    "nothing has changed": (lambda _: None, ["LATEST"]),
    "one commit": (
        one_commit,
        ["LATEST", "snapshot-2", "snapshot-1", "manifest-list", "manifest-list", "manifest"],
    ),
    "LATEST was written again": (lambda table: table.write_hint(1), ["LATEST", "snapshot-1"]),
    "a commit with deletion vectors": (
        lambda table: table.commit([data_file("c")], deleted={"c": 1}),
        ["LATEST", "snapshot-2", "snapshot-1", "manifest-list", "manifest-list", "manifest", "index-manifest"],
    ),
}


@pytest.mark.parametrize(("change", "requests"), REQUESTS.values(), ids=REQUESTS)
def test_a_look_asks_for_what_has_changed(table: FabricatedTable, change: Change, requests: list[str]) -> None:
    _, first = asked(table, None)
    change(table)
    names, second = asked(table, first)
    assert names == requests
    assert is_right(table, second)


def test_the_first_look_reads_the_latest_snapshot_and_makes_sure_that_it_is_the_latest(table: FabricatedTable) -> None:
    names, observed = asked(table, None)
    lists = ["manifest-list", "manifest-list", "manifest"]
    assert names == ["LATEST", "snapshot-1", "snapshot-2", *lists, "EARLIEST", "snapshot/", "snapshot-1"]
    assert is_right(table, observed)


def test_every_tenth_look_asks_another_question_than_latest_in_turn(table: FabricatedTable) -> None:
    table.commit([data_file("c")])
    table.expire(2)
    observed, questions = observer(table).observe(), []
    for _ in range(2 * PROBE_EVERY):
        names, observed = asked(table, observed)
        questions.append(names)
    idle = [["LATEST"]] * (PROBE_EVERY - 1)
    assert questions == [*idle[1:], ["snapshot-3"], *idle, ["snapshot-2"], ["LATEST"]]


def look_until(table: FabricatedTable, observed: Observation, looks: int) -> Observation:
    while observed.looks < looks:
        observed = observer(table).observe(observed)
    return observed


def test_a_snapshot_that_latest_does_not_name_is_found_by_the_tenth_look(table: FabricatedTable) -> None:
    observed = observer(table).observe()
    table.commit([data_file("c")], hint=False)
    assert look_until(table, observed, PROBE_EVERY - 1).latest_id == 1
    found = look_until(table, observed, PROBE_EVERY)
    assert is_right(table, found)
    assert is_right(table, observer(table).observe(found))
    table.roll_back(1)
    assert is_right(table, observer(table).observe(found))


def test_an_expiry_without_a_commit_is_found_by_the_twentieth_look(table: FabricatedTable) -> None:
    table.commit([data_file("c")])
    observed = observer(table).observe()
    table.expire(2)
    assert is_right(table, look_until(table, observed, 2 * PROBE_EVERY))


def test_a_hint_that_was_just_written_proves_nothing(table: FabricatedTable) -> None:
    """Within the tick of its time, it can be written again: the look after it reads the snapshot."""
    hint = table.root / "snapshot" / "LATEST"
    os.utime(hint)
    names, second = asked(table, observer(table).observe())
    assert (names, second.stamp) == (["LATEST", "snapshot-1"], None)
    table.write_hint(1)
    names, third = asked(table, second)
    assert (names, asked(table, third)[0]) == (["LATEST", "snapshot-1"], ["LATEST"])


def same_number_again(table: FabricatedTable) -> None:
    table.commit([data_file("c")])
    table.roll_back(1)
    table.commit([data_file("d", size=7)])


def recreated(table: FabricatedTable) -> None:
    shutil.rmtree(table.root)
    new = FabricatedTable(table.root, _names=table._names)
    for n in range(3):
        new.commit([data_file(f"n{n}")])
    vars(table).update(vars(new))


CHANGES: dict[str, Change] = {
    "commits": lambda table: [table.commit([data_file(f"c{n}")]) for n in range(5)],
    "many commits": lambda table: [table.commit([data_file(f"c{n}")]) for n in range(MAX_PROBES + 5)],
    "compaction": lambda table: table.commit([data_file("z", level=5)], remove=["a", "b0"]),
    "a file moves to another level": lambda table: table.commit([data_file("b1", bucket=1, level=5)], remove=["b1"]),
    "overwritten": lambda table: table.commit([data_file("z")], remove=list(table.live)),
    "emptied": lambda table: table.commit([], remove=list(table.live)),
    "nothing was committed": lambda table: table.commit([]),
    "manifests merged": lambda table: table.commit([data_file("c")], merge=True),
    "rolled back": lambda table: table.roll_back(2),
    "another commit with the same number": same_number_again,
    "an older number": lambda table: (table.roll_back(1), table.commit([data_file("e")])),
    "the snapshots in between have expired": lambda table: (
        [table.commit([data_file(f"c{n}")], merge=n == 1) for n in range(4)],
        table.expire(table.latest),
    ),
    "deletion vectors": lambda table: table.commit([], deleted={"a": 3}),
    "deletion vectors are gone": lambda table: table.commit([], deleted={}),
    "another table": recreated,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_next_look_ends_with_the_latest_snapshot(table: FabricatedTable, change: Change) -> None:
    for n in range(3):
        table.commit([data_file(f"more{n}", bucket=n)], deleted={"b2": 5})
    before = observer(table).observe()
    change(table)
    after = observer(table).observe(before)
    assert is_right(table, after)
    assert is_right(table, observer(table).observe(after))


def test_a_change_of_the_target_size_counts_the_small_files_again(table: FabricatedTable) -> None:
    before = observer(table).observe()
    bigger = replace(observer(table), schema=schema_of(options={"target-file-size": "1 kb"}))
    for observed in (bigger.observe(before), bigger.observe()):
        assert observed.contents is not None
        assert total_of(observed.contents.sums).small_files == 51
    assert before.contents is not None
    assert total_of(before.contents.sums).small_files == 0


def without_hint(table: FabricatedTable) -> None:
    (table.root / "snapshot" / "LATEST").unlink()


HINTS: dict[str, Change] = {
    "missing": without_hint,
    "empty": lambda table: table.write_hint(""),
    "garbage": lambda table: table.write_hint("\N{SNOWMAN}"),
    "zero": lambda table: table.write_hint(0),
    "negative": lambda table: table.write_hint(-3),
    "a line end behind it": lambda table: table.write_hint("3\n"),
    "stale": lambda table: table.write_hint(1),
    "far too small": lambda table: (
        [table.commit([data_file(f"c{n}")]) for n in range(MAX_PROBES)],
        table.write_hint(1),
    ),
    "of an expired snapshot": lambda table: (table.expire(3), table.write_hint(1)),
    "too large": lambda table: table.write_hint(9),
}


@pytest.mark.parametrize("change", HINTS.values(), ids=HINTS)
def test_latest_is_only_a_hint(table: FabricatedTable, change: Change) -> None:
    table.commit([data_file("c")])
    before = observer(table).observe()
    table.commit([data_file("d")])
    change(table)
    assert is_right(table, observer(table).observe())
    assert is_right(table, observer(table).observe(before))


EARLIEST: dict[str, Change] = {
    "right": lambda _: None,
    "missing": lambda table: (table.root / "snapshot" / "EARLIEST").unlink(),
    "garbage": lambda table: table.write_hint("x", "EARLIEST"),
    "of an expired snapshot": lambda table: table.write_hint(1, "EARLIEST"),
    "after the latest": lambda table: table.write_hint(99, "EARLIEST"),
}


@pytest.mark.parametrize("change", EARLIEST.values(), ids=EARLIEST)
def test_earliest_is_only_a_hint(table: FabricatedTable, change: Change) -> None:
    for n in range(3):
        table.commit([data_file(f"c{n}")])
    table.expire(2)
    change(table)
    assert is_right(table, observer(table).observe())


@pytest.mark.parametrize("hint", [None, 0])
def test_a_table_without_a_snapshot_has_no_contents(tmp_path: Path, hint: int | None) -> None:
    table = FabricatedTable(tmp_path)
    if hint is not None:
        table.write_hint(hint)
    names, observed = asked(table, None)
    assert (names, observed.contents, observed.latest_id) == (["LATEST", "snapshot/"], None, 0)
    assert asked(table, observed)[0] == ["LATEST"]
    table.commit([data_file("a")])
    assert is_right(table, observer(table).observe(observed))


def test_a_table_that_is_gone_has_no_contents(table: FabricatedTable) -> None:
    before = observer(table).observe()
    shutil.rmtree(table.root)
    assert observer(table).observe(before).contents is None


@pytest.mark.parametrize("of", ["manifest-list", "manifest", "snapshot-1"])
def test_what_expires_meanwhile_is_read_again_from_the_new_latest(table: FabricatedTable, of: str) -> None:
    def expire(name: str) -> None:
        if name.startswith(of) and table.latest == 1:
            table.commit([data_file("z")], remove=["a"], merge=True)
            table.expire(2)

    files = Recorded(expire)
    assert is_right(table, observer(table, files).observe())


def test_files_that_keep_expiring_are_not_read_for_ever(table: FabricatedTable) -> None:
    table.manifests()[0].unlink()
    with pytest.raises(ExpiredError, match="manifest-1 does not exist"):
        observer(table).observe()


def test_a_failure_leaves_the_state_before_as_it_was(table: FabricatedTable) -> None:
    before = observer(table).observe()
    assert before.contents is not None
    sums = dict(before.contents.sums)
    table.commit([data_file("c")])
    table.manifests()[-1].write_bytes(b"")
    with pytest.raises(UnreadableError):
        observer(table).observe(before)
    assert before.contents.sums == sums


def test_the_latest_snapshot_that_is_also_the_earliest_is_read_once(table: FabricatedTable) -> None:
    table.commit([data_file("c")])
    table.expire(table.latest)
    recorded = Recorded()
    assert is_right(table, observer(table, recorded).observe())
    assert recorded.asked.count(f"snapshot-{table.latest}") == 1
