"""Sort compaction on real tables: it sorts what is not sorted yet, changes no row, and loses none of another commit."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.spark.lake import Ended, Lake

NEEDED_CAPABILITY = "has_incremental_clustering"
"""tests/spark/test_compact.py shows that another engine refuses to sort."""

COLUMNS = {"id": "BIGINT", "dt": "STRING", "v": "INT", "note": "STRING"}


def options(columns: str = "v", order: str = "order", **more: str) -> dict[str, str]:
    clustering = {"clustering.columns": columns, "clustering.strategy": order, "clustering.incremental": "true"}
    return {"bucket": "-1", "write-only": "true"} | clustering | more


def land(lake: Lake, number: int, day: str = "a", rows: int = 20) -> None:
    """One commit of rows in no order into one partition."""
    values = list(range(rows))
    random.Random(number).shuffle(values)  # noqa: S311
    lines = "".join(f"{number * rows + n},{day},{v},{v:040x}\n" for n, v in enumerate(values))
    lake.land(f"orders/{number}.csv", f"id,dt,v,note\n{lines}")
    lake.write(path=f"orders/{number}.csv", mode="Append").ok()


def provision(lake: Lake, **more: Any) -> None:
    lake.provision(COLUMNS, **{"partitions": ["dt"], "options": options()} | more).ok()


@pytest.fixture
def loaded(lake: Lake) -> Lake:
    """Three commits into partition a, one into b."""
    provision(lake)
    for number, day in enumerate("aaab"):
        land(lake, number, day)
    return lake


def sort(lake: Lake, least: int | None = None, **more: Any) -> Ended:
    thresholds = {} if least is None else {"thresholds": {"unsortedFiles": least}}
    return lake.compact(strategy="Sort", **thresholds, **more)


def rows_of(lake: Lake) -> list[str]:
    """All rows, in an order of their own, by an independent reader."""
    return sorted(map(str, lake.rows()))


def levels_of(lake: Lake) -> dict[str, list[int]]:
    """Partition -> the levels of its files, by an independent reader."""
    found: dict[str, list[int]] = {}
    for each in lake.read("orders$files"):
        day = str(each["partition"]).strip("{}[]").rpartition("=")[2].strip("'\" ")
        found.setdefault(day, []).append(each["level"])
    return {day: sorted(levels) for day, levels in found.items()}


def stored_order(lake: Lake, day: str = "a", column: str = "v") -> list[int]:
    """The values of a partition in the order of its rows."""
    found = lake.select(f"SELECT {column} FROM outside.shop.orders WHERE dt = '{day}'")  # noqa: S608
    return [row[column] for row in found]


def test_a_partition_is_sorted_and_no_row_changes(loaded: Lake) -> None:
    before = rows_of(loaded)
    assert stored_order(loaded) != sorted(stored_order(loaded))
    done = sort(loaded, 3).ok()
    assert done["compactedPartitions"] == 1
    assert stored_order(loaded) == sorted(stored_order(loaded))
    assert levels_of(loaded) == {"a": [5], "b": [0]}, "b has fewer unsorted files than the threshold"
    assert rows_of(loaded) == before


def test_its_commit_is_a_compaction_by_the_runs_own_user(loaded: Lake) -> None:
    job = loaded.compact_job(strategy="Sort")
    loaded.perform(job).ok()
    latest = loaded.snapshots()[-1]
    assert latest["commit_kind"] == "COMPACT"
    assert latest["commit_user"].startswith(job["commitUser"])


def test_a_second_attempt_of_the_run_commits_nothing(loaded: Lake) -> None:
    job = loaded.compact_job(strategy="Sort", thresholds={"unsortedFiles": 1})
    loaded.perform(job).ok()
    snapshots = loaded.snapshots()
    assert loaded.perform(job).ok()["compactedPartitions"] == 0
    assert loaded.snapshots() == snapshots


@pytest.mark.long
def test_a_users_run_sorts_every_partition_that_it_asks_for(loaded: Lake) -> None:
    sort(loaded, partitions=[{"dt": "b"}]).ok()
    assert levels_of(loaded) == {"a": [0, 0, 0], "b": [5]}
    sort(loaded).ok()
    assert {max(levels) for levels in levels_of(loaded).values()} == {5}
    assert all(min(levels) > 0 for levels in levels_of(loaded).values())


def test_new_files_are_sorted_without_the_large_run_that_is_sorted_already(lake: Lake) -> None:
    provision(lake)
    land(lake, 0, rows=3_000)
    sort(lake).ok()
    (large,) = lake.read("orders$files")
    for number in (1, 2):
        land(lake, number)
    before = rows_of(lake)
    sort(lake, 2).ok()
    files = lake.read("orders$files")
    assert sorted(each["level"] for each in files) == [4, 5]
    assert large["file_path"] in {each["file_path"] for each in files}
    assert rows_of(lake) == before


@pytest.mark.long
def test_a_single_unsorted_file_is_sorted_once_it_is_late(lake: Lake) -> None:
    provision(lake)
    land(lake, 0)
    assert sort(lake, 1).ok()["compactedPartitions"] == 1
    assert (levels_of(lake), stored_order(lake)) == ({"a": [5]}, sorted(stored_order(lake)))


@pytest.mark.parametrize(
    ("sentence", "columns", "order"),
    [("other columns", "id", "order"), ("another order of the same columns", "v,id", "zorder")],
)
def test_after_an_edit_sorted_partitions_are_sorted_again(lake: Lake, sentence: str, columns: str, order: str) -> None:
    provision(lake, options=options("v,id"))
    for number in range(2):
        land(lake, number)
    sort(lake).ok()
    before, (sorted_file,) = rows_of(lake), lake.read("orders$files")
    provision(lake, options=options(columns, order))
    assert sort(lake, 9).ok()["compactedPartitions"] == 1
    (again,) = lake.read("orders$files")
    assert again["file_path"] != sorted_file["file_path"], sentence
    assert rows_of(lake) == before
    assert sort(lake, 9).ok()["compactedPartitions"] == 0, "the files show that they are in the new order"


@pytest.mark.long
def test_three_edits_leave_a_table_that_is_still_sorted_incrementally(lake: Lake) -> None:
    for edit, order in enumerate(("order", "zorder", "order", "zorder")):
        provision(lake, options=options("v,id", order))
        land(lake, edit)
        before = rows_of(lake)
        sort(lake, 1).ok()
        assert rows_of(lake) == before
        assert min(levels_of(lake)["a"]) > 0


CORRUPTIONS = {
    None: "SELECT 1",
    "a row is lost": "INSERT OVERWRITE paimon.shop.orders PARTITION (dt = 'a')"
    " SELECT id, v, note FROM paimon.shop.orders WHERE dt = 'a' AND v <> 3",
}


@pytest.mark.parametrize("sentence", CORRUPTIONS)
def test_a_sort_is_verified(loaded: Lake, sentence: str | None) -> None:
    before = rows_of(loaded)
    verify = {"whole": True, "rollsBack": True, "uncompared": []}
    job = loaded.compact_job(strategy="Sort", verify=verify) | {"sinceSnapshot": 0}

    ended = loaded.perform(job, corrupt=CORRUPTIONS[sentence], warehouse=loaded.warehouse)

    if sentence is None:
        assert ended.ok()["verification"]["rows"] == len(before)
    else:
        assert "other rows" in ended.refused("VerificationFailed")
        assert ended.result["verification"]["difference"]["rolledBack"] is True
    assert rows_of(loaded) == before


def places(lake: Lake) -> list[tuple[int, int]]:
    """The points of a grid in the order of the rows."""
    found = lake.select("SELECT id, v FROM outside.shop.orders")
    return [(row["id"], row["v"]) for row in found]


@pytest.mark.long
@pytest.mark.parametrize("order", ["zorder", "hilbert"])
def test_points_that_are_near_are_stored_near_each_other(lake: Lake, order: str) -> None:
    """A curve keeps both columns together, where an order of one column keeps that one alone."""
    lake.provision({"id": "INT", "v": "INT"}, options=options("id,v", order)).ok()
    grid = [(x, y) for x in range(32) for y in range(32)]
    random.Random(1).shuffle(grid)  # noqa: S311
    lake.land("orders/grid.csv", "id,v\n" + "".join(f"{x},{y}\n" for x, y in grid))
    lake.write(path="orders/grid.csv", mode="Append").ok()

    sort(lake).ok()

    stored = places(lake)
    assert sorted(stored) == sorted(grid)
    quarters = [stored[first : first + 256] for first in range(0, 1024, 256)]
    spans = [{(x // 16, y // 16) for x, y in quarter} for quarter in quarters]
    assert [len(span) for span in spans] == [1, 1, 1, 1], "each quarter of the file is a quarter of the grid"


def test_rows_that_deletion_vectors_delete_stay_deleted(lake: Lake) -> None:
    provision(lake, options=options(**{"deletion-vectors.enabled": "true"}))
    for number in range(2):
        land(lake, number)
    lake.outside("DELETE FROM outside.shop.orders WHERE v < 5")
    before = rows_of(lake)
    assert len(before) == 30
    sort(lake, 2).ok()
    assert rows_of(lake) == before
    assert len(stored_order(lake)) == 30
    assert lake.read("orders$snapshots")[-1]["commit_kind"] == "COMPACT"


@pytest.mark.long
def test_a_partition_whose_rows_are_all_deleted_does_no_harm(lake: Lake) -> None:
    provision(lake, options=options(**{"deletion-vectors.enabled": "true"}))
    for number, day in enumerate("aabb"):
        land(lake, number, day)
    lake.outside("DELETE FROM outside.shop.orders WHERE dt = 'a' AND v >= 0")
    before = rows_of(lake)
    sort(lake, 1).ok()
    assert rows_of(lake) == before
    assert min(levels_of(lake)["b"]) > 0


def test_a_table_that_lost_its_options_is_refused(lake: Lake) -> None:
    provision(lake)
    land(lake, 0)
    lake.outside("ALTER TABLE outside.shop.orders UNSET TBLPROPERTIES ('clustering.incremental')")
    assert "clustering" in sort(lake).refused("TableAltered")


VALUES = {
    "BOOLEAN": ["true", "false"],
    "TINYINT": ["1", "-5"],
    "SMALLINT": ["1", "-5"],
    "INT": ["1", "-5"],
    "BIGINT": ["1", "-5"],
    "FLOAT": ["1.5", "-0.0"],
    "DOUBLE": ["1.5", "-0.0"],
    "DECIMAL(9,2)": ["1.50", "-2.25"],
    "CHAR(3)": ["abc", "x"],
    "VARCHAR(9)": ["abc", "x"],
    "STRING": ["abc", "x"],
    "BINARY": ["X'0102'", "X'FF'"],
    "DATE": ["2026-11-22", "1999-01-01"],
    "TIMESTAMP(6)": ["2026-11-22 10:00:00", "1999-01-01 00:00:00"],
    "TIMESTAMP_LTZ(6)": ["2026-11-22 10:00:00", "1999-01-01 00:00:00"],
}
ORDERED_BY = [(type_, "order") for type_ in VALUES]
ON_CURVES = [(type_, order) for order in ("zorder", "hilbert") for type_ in VALUES]
FAILS = {
    *(("DECIMAL(9,2)", "zorder"), ("BOOLEAN", "hilbert")),
    *((type_, order) for type_ in ("DATE", "TIMESTAMP(6)") for order in ("zorder", "hilbert")),
}
"""Why core/validation/sorting.py refuses them."""


@pytest.mark.parametrize(
    ("type_", "order"), [*ORDERED_BY, *(pytest.param(*each, marks=pytest.mark.long) for each in ON_CURVES)]
)
def test_columns_of_each_type(lake: Lake, type_: str, order: str) -> None:
    columns = {"id": "BIGINT", "x": "BYTES" if type_ == "BINARY" else type_}
    lake.provision(columns, options=options("x,id", order)).ok()
    written = "SELECT * FROM VALUES {} AS t(id, x)"
    for number, value in enumerate([*VALUES[type_], None]):
        text = "NULL" if value is None else value if value.startswith("X") else f"'{value}'"
        cast = f"CAST({text} AS {spark_type(type_)})"
        lake.outside(f"INSERT INTO outside.shop.orders {written.format(f'({number}, {cast})')}")
    before = rows_of(lake)
    done = sort(lake)
    if (type_, order) in FAILS:
        assert done.code != 0
    else:
        done.ok()
        assert min(each["level"] for each in lake.read("orders$files")) > 0
    assert rows_of(lake) == before
    assert len(before) == 3


def spark_type(type_: str) -> str:
    names = {"TIMESTAMP(6)": "TIMESTAMP_NTZ", "TIMESTAMP_LTZ(6)": "TIMESTAMP"}
    return names.get(type_, type_)


def test_the_engines_own_column_replaces_one_of_its_name(lake: Lake) -> None:
    """So that the operator refuses the name: core/validation/sorting.py."""
    lake.provision({"id": "BIGINT", "zvalue": "BIGINT"}, options=options("id", "zorder")).ok()
    for number in range(2):
        lake.outside(f"INSERT INTO outside.shop.orders VALUES ({number}, 7)")  # noqa: S608
    before = rows_of(lake)
    assert sort(lake).code != 0 or rows_of(lake) != before
