"""Runs of mode Report list every orphan and nothing else, and change nothing."""

from __future__ import annotations

import json

import pytest

from spark_apps.failures.errors import RunError
from spark_apps.orphans.references import References
from tests.spark_apps.orphans.world import World
from tests.support.fabricated_avro import data_file
from tests.support.whole_table import UUID


def test_50_planted_orphans_are_found_and_no_other_file_while_a_writer_commits(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = world.table.plant(5)
    read_all = References._read_all

    def with_writer(of: References) -> set[str]:
        """Commits old files before and after each reading, as a writer whose files take long to be committed."""
        world.table.write()
        found = read_all(of)
        world.table.write()
        return found

    monkeypatch.setattr(References, "_read_all", with_writer)
    found = world.run("Report")
    assert (len(planted), found.orphans) == (50, 50)
    assert world.listed() == planted
    assert set(planted) <= set(world.table.names()), "a report removes nothing"


def test_a_writer_that_commits_between_listing_and_reading_loses_no_file(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    uncommitted = world.table.data_name()
    world.table.put(world.table.root / "day=mon" / "bucket-0" / uncommitted)
    read_all = References._read_all
    committed: list[int] = []

    def first_commits(of: References) -> set[str]:
        if not committed:
            committed.append(world.table.commit([data_file(uncommitted)]))
        return read_all(of)

    monkeypatch.setattr(References, "_read_all", first_commits)
    assert world.run("Report").orphans == 0


def test_a_report_says_of_each_file_what_it_is_and_why(world: World) -> None:
    planted = world.table.plant()
    found = world.run("Report")
    header, *lines = [json.loads(each) for each in world.reports()[-1].read_text().splitlines()]
    assert found.report == f"file://{world.reports()[-1]}"
    assert (header["orphans"], header["orphan_bytes"], header["files"]) == (10, 70, found.files)
    assert found.files == len(world.table.names())
    assert {each["kind"] for each in lines} == {"DataFile", "Manifest", "Index", "Statistics", "Temporary"}
    first = next(each for each in lines if each["path"] == planted[0])
    assert (first["size"], first["why"]) == (7, "no snapshot, changelog, tag or branch names it")
    assert abs(first["ageSeconds"] - world.table.age_s) < 60


def test_files_of_users_are_counted_and_listed_and_never_touched(world: World) -> None:
    mine = ["day=mon/bucket-0/data.parquet", "manifest/backup", "notes.txt", f"backup/data-{UUID.format(7)}-0.parquet"]
    for path in mine:
        world.table.put(world.table.root / path)
    for day in (0, 4, 8):
        world.day = day
        found = world.run()
    assert (found.unknown, found.orphans, found.moved) == (4, 0, 0)
    assert world.listed(kinds=False) == sorted(mine)
    assert set(mine) <= set(world.table.names())


def test_young_files_are_no_orphans(world: World) -> None:
    world.table.age_s = 0
    world.table.plant()
    world.day = 2.9
    assert world.run("Report").orphans == 0
    world.day = 3.1
    assert world.run("Report").orphans == 10


def test_a_run_of_less_than_a_day_is_refused(world: World) -> None:
    with pytest.raises(RunError, match="older than 0 s"):
        world.run("Report", days=0)
