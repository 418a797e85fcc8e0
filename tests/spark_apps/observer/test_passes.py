"""Passes over the tables of a catalog: what they find, what they ask for, and what stops no other table."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from paimon_contract.result import ResultTable
from spark_apps.observer.passes import BLIND_PASSES, MOST_FAILED, THREADS
from spark_apps.observer.table import IDLE_AFTER, MOST_REST, SCHEMA_EVERY, WatchedTable
from tests.support.fabricated_avro import data_file
from tests.support.fabricated_warehouse import FabricatedWarehouse


def measured(table: WatchedTable) -> ResultTable:
    assert isinstance(table.found, ResultTable), table.found
    return table.found


def found_in(warehouse: FabricatedWarehouse, uid: str = "uid-0") -> ResultTable:
    return measured(warehouse.watched.tables[uid])


@pytest.fixture
def warehouse(tmp_path: Path) -> FabricatedWarehouse:
    """Three tables after the first pass."""
    made = FabricatedWarehouse(tmp_path, 3)
    made.watched.look()
    return made


def test_a_pass_over_idle_tables_asks_each_for_its_latest_snapshot_only(warehouse: FabricatedWarehouse) -> None:
    for table in warehouse.watched.tables.values():
        table.turn = 0
    assert warehouse.asked() == {"LATEST": 3}


def test_a_commit_is_found_by_the_next_pass(warehouse: FabricatedWarehouse) -> None:
    before = found_in(warehouse)
    warehouse.tables[0].commit([data_file("c", rows=7)])
    warehouse.watched.look()
    after = found_in(warehouse)
    assert (before.snapshot_id, after.snapshot_id) == (1, 2)
    assert after.files == (before.files or 0) + 1
    assert found_in(warehouse, "uid-1").snapshot_id == 1


def test_an_expiry_is_found_although_no_snapshot_is_added(tmp_path: Path) -> None:
    warehouse = FabricatedWarehouse(tmp_path, 1)
    warehouse.tables[0].commit([data_file("c")])
    warehouse.watched.look()
    assert found_in(warehouse).snapshots == 2
    warehouse.tables[0].expire(2)
    for _ in range(4 * IDLE_AFTER):
        warehouse.watched.look()
    assert found_in(warehouse).snapshots == 1


def test_a_changed_option_is_found_although_no_snapshot_is_added(warehouse: FabricatedWarehouse) -> None:
    assert found_in(warehouse).small_files == 0
    warehouse.put_schema(warehouse.tables[0], id=1, options={"bucket": "4", "target-file-size": "1 mb"})
    for _ in range(SCHEMA_EVERY):
        warehouse.watched.look()
    assert (found_in(warehouse).schema_id, found_in(warehouse).small_files) == (1, 2)


def test_a_snapshot_with_another_schema_is_measured_by_that_schema_at_once(warehouse: FabricatedWarehouse) -> None:
    warehouse.put_schema(warehouse.tables[0], id=1, options={"bucket": "4", "target-file-size": "1 mb"})
    warehouse.tables[0].commit([data_file("c")], schemaId=1)
    warehouse.watched.look()
    assert (found_in(warehouse).schema_id, found_in(warehouse).small_files) == (1, 3)


def test_a_table_that_cannot_be_read_is_unknown_with_the_reason_and_stops_no_other(
    warehouse: FabricatedWarehouse,
) -> None:
    warehouse.tables[0].commit([data_file("c")])
    warehouse.tables[0].snapshot_file(2).write_text('{"version": 9}')
    warehouse.tables[1].commit([data_file("c")])
    warehouse.watched.look()
    assert found_in(warehouse, "uid-0").snapshot_id == 1, "one failure is no news"
    assert found_in(warehouse, "uid-1").snapshot_id == 2
    warehouse.watched.look()
    assert "version 9 of snapshot files is newer" in str(warehouse.watched.tables["uid-0"].found)
    for _ in range(2 * BLIND_PASSES):
        warehouse.watched.look()
    assert not warehouse.watched.is_blind, "the others can be read"


def test_a_table_that_somebody_has_removed_is_unknown_and_not_empty(warehouse: FabricatedWarehouse) -> None:
    warehouse.tables[0].root.rename(warehouse.root / "away")
    warehouse.watched.look()
    warehouse.watched.look()
    assert "holds no table" in str(warehouse.watched.tables["uid-0"].found)


def test_an_unexpected_error_of_one_table_stops_no_other(
    warehouse: FabricatedWarehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("never seen before")

    monkeypatch.setattr(warehouse.watched.tables["uid-0"], "_measured", fail)
    warehouse.tables[1].commit([data_file("c")])
    warehouse.watched.look()
    warehouse.watched.look()
    assert warehouse.watched.tables["uid-0"].found == "RuntimeError: never seen before"
    assert found_in(warehouse, "uid-1").snapshot_id == 2


def test_a_table_that_was_unreadable_is_measured_again(warehouse: FabricatedWarehouse) -> None:
    warehouse.tables[0].commit([data_file("c")])
    hidden = warehouse.tables[0].snapshot_file(2)
    text = hidden.read_text()
    hidden.write_text("{")
    for _ in range(3):
        warehouse.watched.look()
    assert isinstance(warehouse.watched.tables["uid-0"].found, str)
    hidden.write_text(text)
    for _ in range(MOST_REST):
        warehouse.watched.look()
    assert found_in(warehouse).snapshot_id == 2


def test_a_table_that_stays_unreadable_is_asked_for_ever_more_rarely(tmp_path: Path) -> None:
    warehouse = FabricatedWarehouse(tmp_path, 1)
    (warehouse.tables[0].root / "schema" / "schema-0").unlink()
    passes = 2 * MOST_REST
    asked = 0
    for _ in range(passes):
        asked += bool(warehouse.asked())
        warehouse.watched.tables["uid-0"].reported = warehouse.watched.tables["uid-0"].found
    assert 6 <= asked <= 8
    assert "holds no table" in str(warehouse.watched.tables["uid-0"].found)
    assert warehouse.watched.is_blind


def test_a_pass_ends_after_some_failures_in_a_row_and_the_next_goes_on(tmp_path: Path) -> None:
    warehouse = FabricatedWarehouse(tmp_path, MOST_FAILED + 10)
    warehouse.watched.look()
    hidden = [table.root.rename(table.root.with_suffix(".away")) for table in warehouse.tables]
    for watched in _all(warehouse):
        watched.turn = 0  # (none asks for its schema first)
    warehouse.files.asked.clear()
    warehouse.watched.look()
    assert MOST_FAILED <= warehouse.files.asked.count("LATEST") < MOST_FAILED + THREADS
    for table, away in zip(warehouse.tables, hidden, strict=True):
        away.rename(table.root)
    warehouse.watched.look()
    assert [table.looked for table in _all(warehouse)] == [True] * len(hidden)


def _all(warehouse: FabricatedWarehouse) -> list[WatchedTable]:
    return list(warehouse.watched.tables.values())


def test_a_table_whose_sums_were_not_kept_is_measured_right_after_every_change(tmp_path: Path) -> None:
    warehouse = FabricatedWarehouse(tmp_path / "a", 1, most_kept=0)
    table = warehouse.tables[0]
    for n in range(4):
        table.commit([data_file(f"c{n}")])
        warehouse.watched.look()
        assert found_in(warehouse).files == len(table.live)
    assert warehouse.watched.budget.kept == 0
    table.expire(4)
    for _ in range(4 * IDLE_AFTER):
        warehouse.watched.look()
    assert (found_in(warehouse).snapshots, found_in(warehouse).files) == (2, len(table.live))


def test_what_is_kept_of_a_table_is_released_with_it(warehouse: FabricatedWarehouse) -> None:
    assert warehouse.watched.budget.kept > 0
    warehouse.watched.follow([])
    assert (warehouse.watched.budget.kept, warehouse.watched.tables) == (0, {})


def test_a_table_that_the_operator_wants_is_looked_at_and_reported_again(warehouse: FabricatedWarehouse) -> None:
    for table in warehouse.watched.tables.values():
        table.reported = table.found
    warehouse.watched.follow(warehouse.wanted(wanted=True))
    warehouse.watched.look()
    assert [table.looked and table.has_news for table in warehouse.watched.tables.values()] == [True] * 3


def test_a_table_without_a_commit_for_an_hour_is_idle_from_the_first_pass_on(tmp_path: Path) -> None:
    quiet = FabricatedWarehouse(tmp_path / "quiet", 8, written_ago=timedelta(hours=2))
    fresh = FabricatedWarehouse(tmp_path / "fresh", 8, written_ago=timedelta(minutes=30))
    for each in (quiet, fresh):
        each.watched.look()
        _record_all(each)
    looked: dict[str, list[int]] = {"quiet": [], "fresh": []}
    for _ in range(2):
        for name, each in (("quiet", quiet), ("fresh", fresh)):
            each.watched.look()
            looked[name].append(sum(table.looked for table in _all(each)))
    assert (sum(looked["quiet"]), looked["fresh"]) == (8, [8, 8])


def test_a_thousand_tables_of_which_ten_are_written_take_no_more_than_1010_reads_a_pass(tmp_path: Path) -> None:
    warehouse, reads = FabricatedWarehouse(tmp_path, 1000, written_ago=timedelta(days=1)), []
    warehouse.watched.look()  # reads everything
    _record_all(warehouse)
    for n in range(SCHEMA_EVERY):
        for table in warehouse.tables[:10]:
            table.commit([data_file(f"new-{n}")])
        reads.append(sum(warehouse.asked().values()))
        _record_all(warehouse)
        # One look in 20 asks for the earliest snapshot instead.
        assert all((found_in(warehouse, f"uid-{each}").snapshot_id or 0) >= n + 1 for each in range(10))
    assert max(reads) <= 1010, reads


def _record_all(warehouse: FabricatedWarehouse) -> None:
    """The operator has all that was found."""
    for table in warehouse.watched.tables.values():
        table.reported = table.found
