"""The bytes that tags, branches and consumers keep: those of data files that the latest snapshot does not have."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_contract.result import Pin
from spark_apps.metadata import manifests, unread_snapshots
from spark_apps.metadata.manifests import ManifestFiles
from spark_apps.metadata.observation import Observer
from spark_apps.metadata.pins import MAX_MEASURED, MAX_SHOWN, Pins, read_pins
from tests.support.fabricated_avro import data_file
from tests.support.fabricated_table import FabricatedTable, schema_of
from tests.support.random_examples import examples
from tests.support.recorded_files import Recorded


@pytest.fixture
def table(tmp_path: Path) -> FabricatedTable:
    """Snapshot 1 has a (1 byte) and b (2 bytes); 2 has b, c (4); 3 has c in another level, d (8); 4 has d, e (16)."""
    made = FabricatedTable(tmp_path)
    made.commit([data_file("a", size=1), data_file("b", size=2)])
    made.commit([data_file("c", size=4)], remove=["a"])
    made.commit([data_file("c", size=4, level=5), data_file("d", size=8)], remove=["b", "c"])
    made.commit([data_file("e", size=16)], remove=["c"])
    return made


def pins_of(table: FabricatedTable, files: Recorded | None = None) -> Pins:
    contents = Observer(Recorded(), table.location, schema_of()).observe().contents
    assert contents is not None
    return read_pins(ManifestFiles(files or Recorded(), table.location), contents.snapshot, contents.earliest)


def shown(table: FabricatedTable) -> dict[tuple[str, str], int | None]:
    return {(each.kind, each.name): each.bytes for each in pins_of(table).shown}


@pytest.mark.parametrize(("snapshot", "size"), [(1, 3), (2, 6), (3, 4), (4, 0)])
def test_a_pin_keeps_the_files_that_the_latest_snapshot_does_not_have(
    table: FabricatedTable, snapshot: int, size: int
) -> None:
    table.tag("t", snapshot)
    table.branch("b", snapshot)
    assert shown(table) == {("Branch", "b"): size, ("Tag", "t"): size}


@pytest.mark.parametrize(("next_", "size"), [(1, 7), (2, 6), (3, 4), (4, 0)])
def test_a_consumer_keeps_the_files_of_all_snapshots_that_it_has_still_to_read(
    table: FabricatedTable, next_: int, size: int
) -> None:
    """Snapshot 2 has added c, and 4 has removed it."""
    table.consumer("c", next_)
    assert shown(table) == {("Consumer", "c"): size}


def test_a_file_that_is_there_again_is_not_kept_by_a_consumer(table: FabricatedTable) -> None:
    table.commit([data_file("c", size=4)])
    table.consumer("c", 3)
    assert shown(table) == {("Consumer", "c"): 0}
    table.commit([], remove=["c"])
    assert shown(table) == {("Consumer", "c"): 4}


def test_the_snapshots_are_read_once_for_all_consumers(table: FabricatedTable) -> None:
    for number in range(5):
        table.consumer(f"c{number}", number)
    files = Recorded()
    sizes = {each.name: each.bytes for each in pins_of(table, files).shown}
    assert sizes == {"c0": 7, "c1": 7, "c2": 6, "c3": 4, "c4": 0}
    kinds = [name.rpartition("-")[0] for name in files.asked]
    assert (kinds.count("snapshot"), kinds.count("manifest-list"), kinds.count("manifest")) == (2, 3, 3)


def test_a_consumer_with_too_many_snapshots_to_read_is_shown_without_bytes(
    table: FabricatedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_snapshots, "MAX_UNREAD", 2)
    table.consumer("far", 1)
    table.consumer("near", 2)
    assert shown(table) == {("Consumer", "far"): None, ("Consumer", "near"): 6}


def test_a_tag_keeps_its_files_after_its_snapshot_has_expired(table: FabricatedTable) -> None:
    table.tag("t", 3)
    table.commit([], merge=True)
    assert shown(table) == {("Tag", "t"): 4}


@pytest.mark.parametrize(("next_", "size"), [(0, 6), (1, 6), (2, 6), (3, 4), (4, 0), (5, 0), (9, 0)])
def test_a_consumer_keeps_no_snapshot_that_has_expired_or_is_still_to_come(
    table: FabricatedTable, next_: int, size: int
) -> None:
    table.expire(2)
    table.consumer("c", next_)
    assert shown(table) == {("Consumer", "c"): size}


def test_the_largest_pins_are_shown_and_all_are_counted(table: FabricatedTable) -> None:
    for n in range(MAX_SHOWN + 3):
        table.tag(f"small-{n:02}", 3)
    table.branch("large", 2)
    found = pins_of(table)
    assert found.count == MAX_SHOWN + 4
    assert found.shown[0] == Pin(kind="Branch", name="large", bytes=6)
    assert [each.name for each in found.shown[1:]] == [f"small-{n:02}" for n in range(MAX_SHOWN - 1)]


def test_a_long_name_is_cut(table: FabricatedTable) -> None:
    table.tag("x" * 200, 1)
    assert [len(each.name) for each in pins_of(table).shown] == [128]


def test_a_table_without_pins_costs_three_listings(table: FabricatedTable) -> None:
    files = Recorded()
    assert pins_of(table, files) == Pins(0, ())
    assert files.asked == ["branch/", "consumer/", "tag/"]


def test_only_the_manifests_that_differ_are_read(table: FabricatedTable) -> None:
    table.tag("t", 3)
    table.tag("same", 3)
    files = Recorded()
    pins_of(table, files)
    of_latest, of_tag = 2, 2
    kinds = [name.rpartition("-")[0] for name in files.asked]
    assert (kinds.count("manifest-list"), kinds.count("manifest")) == (of_latest + of_tag, 1)


def test_what_is_no_tag_does_not_count(table: FabricatedTable) -> None:
    (table.root / "tag" / "tag-success-file").mkdir(parents=True)
    (table.root / "tag" / ".tag-x.tmp").write_text("")
    assert pins_of(table) == Pins(0, ())


BROKEN: dict[str, Callable[[FabricatedTable], Any]] = {
    "a tag of a newer version": lambda t: (t.root / "tag" / "tag-x").write_text('{"version": 4}'),
    "a consumer that is no JSON": lambda t: (t.consumer("x", 1).root / "consumer" / "consumer-x").write_text("{"),
    "a branch whose files have expired": lambda t: (t.branch("x", 1), t.commit([], merge=True), t.expire(5)),
}


@pytest.mark.parametrize("breaks", BROKEN.values(), ids=BROKEN)
def test_a_pin_that_cannot_be_read_is_shown_without_bytes(
    table: FabricatedTable, breaks: Callable[[FabricatedTable], Any]
) -> None:
    table.tag("good", 4)
    breaks(table)
    assert sorted((each.name, each.bytes) for each in pins_of(table).shown if each.name == "x") == [("x", None)]
    assert pins_of(table).count == 2


def test_a_branch_without_a_snapshot_keeps_nothing(table: FabricatedTable) -> None:
    (table.root / "branch" / "branch-new").mkdir(parents=True)
    assert shown(table) == {("Branch", "new"): 0}


def test_all_pins_together_read_so_many_manifests_at_most(
    table: FabricatedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.tag("t1", 1)
    table.tag("t3", 3)
    table.commit([], merge=True)
    monkeypatch.setattr(manifests, "MAX_MANIFESTS", 5)
    assert shown(table) == {("Tag", "t1"): 3, ("Tag", "t3"): None}


STEPS = st.tuples(st.integers(0, 3), st.lists(st.integers(0, 9), max_size=3), st.booleans())


@pytest.mark.worlds
@settings(max_examples=examples(40, most=500), deadline=None)
@given(st.lists(STEPS, min_size=2, max_size=12), st.integers(0, 11))
def test_the_bytes_are_those_of_the_files_of_both_snapshots(steps: list[Any], tagged: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        table = FabricatedTable(Path(directory))
        for number, (adds, removes, merge) in enumerate(steps):
            names = sorted(table.live)
            removed = {names[index % len(names)] for index in removes} if names else set()
            table.commit([data_file(f"f{number}-{n}", size=2**number) for n in range(adds)], removed, merge=merge)
        snapshot = 1 + tagged % table.latest
        table.tag("t", snapshot)
        table.consumer("c", snapshot)
        of_tag = table.files_of(snapshot)
        unread = {name: file for id_ in range(snapshot, table.latest) for name, file in table.files_of(id_).items()}
        assert shown(table) == {
            ("Tag", "t"): sum(of_tag[name].size for name in of_tag.keys() - table.live.keys()),
            ("Consumer", "c"): sum(unread[name].size for name in unread.keys() - table.live.keys()),
        }


def test_of_many_pins_the_first_by_name_are_measured_and_all_are_counted(table: FabricatedTable) -> None:
    for number in range(MAX_MEASURED + 2):
        table.tag(f"{number:03}", 1)
    files = Recorded()
    found = pins_of(table, files)
    assert found.count == MAX_MEASURED + 2
    assert all(each.bytes == 3 for each in found.shown)
    assert sum(name.startswith("tag-") for name in files.asked) == MAX_MEASURED
