"""A run that is killed before any of its changes loses no file, and later runs go on from there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_apps.orphans import removal
from spark_apps.orphans.volume import VolumeStorage
from tests.spark_apps.orphans.world import KilledError, MortalStorage, World, new_world

Contents = dict[str, bytes]
PLANTED = 3
COPIES = pytest.mark.parametrize("copies", [False, True], ids=["by renames", "by copies"])


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "PER_BATCH", 2)


def contents(world: World) -> Contents:
    return {name: (world.table.root / name).read_bytes() for name in world.table.names()}


def in_quarantine(world: World) -> Contents:
    """The files that were moved away and that an undo list names, by their paths in the table."""
    found: Contents = {}
    for undo in (world.own / "quarantine").rglob("undo.jsonl"):
        for file in (undo.parent / "files").rglob("*"):
            path = str(file.relative_to(undo.parent / "files"))
            if file.is_file() and f'"{path}"' in undo.read_text():
                found[path] = file.read_bytes()
    return found


def killed_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: tuple[int, ...], mode: str, *, copies: bool
) -> Iterator[tuple[World, Contents]]:
    """Worlds in which a run on the last of the days was killed, one for each change of that run.

    With each, what the table held at first. Ends with the first run that was not killed.
    """
    for number in range(1, 200):
        world = new_world(tmp_path / f"{number}", monkeypatch)
        for path in world.table.plant()[PLANTED:]:
            (world.table.root / path).unlink()
        before = contents(world)
        for world.day in days[:-1]:
            world.run()
        world.day, world.storage = days[-1], MortalStorage(number - 1, copies=copies)
        try:
            world.run(mode)
        except KilledError:
            world.storage = VolumeStorage()
            yield world, before
        else:
            assert number > PLANTED, "the run was killed before each of its changes"
            return
    pytest.fail("the run has more changes than expected")


@COPIES
def test_after_a_kill_during_the_removal_each_file_is_at_one_of_two_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, copies: bool
) -> None:
    for world, before in killed_runs(tmp_path, monkeypatch, (0, 4), "Delete", copies=copies):
        now = contents(world)
        now.pop("tag/tag-paimon-operator-orphan-files", None)
        assert in_quarantine(world) | now == before
        world.day = 5
        world.run("Restore")
        assert contents(world) == before


@COPIES
def test_after_a_kill_during_the_removal_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, copies: bool
) -> None:
    for world, before in killed_runs(tmp_path, monkeypatch, (0, 4), "Delete", copies=copies):
        world.day = 5
        world.run()
        moved = set(before) - set(contents(world))
        assert moved == set(in_quarantine(world))
        assert len(moved) == PLANTED
        world.day = 9
        assert world.run().kept == 0
        assert len(contents(world)) == len(before) - PLANTED


@COPIES
def test_after_a_kill_during_the_last_removal_the_next_run_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, copies: bool
) -> None:
    for world, before in killed_runs(tmp_path, monkeypatch, (0, 4, 8), "Delete", copies=copies):
        world.day = 12
        assert world.run().kept == 0
        assert len(contents(world)) == len(before) - PLANTED
        assert not list((world.own / "quarantine").iterdir())


@COPIES
def test_after_a_kill_during_a_restore_the_next_one_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, copies: bool
) -> None:
    for world, before in killed_runs(tmp_path, monkeypatch, (0, 4, 5), "Restore", copies=copies):
        world.run("Restore")
        assert contents(world) == before
