"""Of each file one copy is left, whatever else has happened to the two places where it can be."""

from __future__ import annotations

from typing import Any

import pytest

from spark_apps.failures.errors import RunError
from spark_apps.operations import remove_orphan_files
from spark_apps.orphans import removal
from spark_apps.orphans.files import ChangeFailedError, OtherFileError
from spark_apps.orphans.quarantine import MovedFiles
from tests.spark_apps.orphans.world import World, after, once, run_on
from tests.support.fabricated_avro import data_file
from tests.support.whole_table import UUID


def test_restore_keeps_both_files_where_the_table_has_another_one_of_the_path(world: World) -> None:
    """Half a copy that somebody has put back by hand: the whole file is the one that was moved away."""
    planted = world.table.plant()
    world.table.put(world.table.root / planted[0], b"the only whole copy")
    run_on(world, 0, 4)
    half = world.table.put(world.table.root / planted[0], b"the only")
    with pytest.raises(OtherFileError, match=r"has 8 bytes, and .* 19"):
        run_on(world, 5, mode="Restore")
    assert half.read_bytes() == b"the only"
    assert world.quarantined() == planted[:1], "all others were moved back"
    half.unlink()
    run_on(world, 5, mode="Restore")
    assert half.read_bytes() == b"the only whole copy"


@pytest.mark.parametrize("harm", ["lost", "cut off"])
def test_what_was_moved_away_is_restored_without_a_whole_undo_list_and_never_removed(world: World, harm: str) -> None:
    planted = world.table.plant()
    run_on(world, 0, 4)
    undo = next((world.own / "quarantine").rglob("undo.jsonl"))
    if harm == "lost":
        undo.unlink()
    else:
        undo.write_bytes(undo.read_bytes()[:300])
    later = run_on(world, 30)
    assert (later.removed, later.kept) == (0, 10)
    assert run_on(world, 31, mode="Restore").restored == 10
    assert set(planted) <= set(world.table.names())


def test_a_file_that_another_driver_moves_away_during_a_restore_can_be_restored(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that was taken for dead goes on with a batch that the restore has emptied."""
    planted = world.table.plant()
    run_on(world, 0, 4)
    restore, left = MovedFiles.restore, [MovedFiles.move_away]

    def restore_and_move_again(batch: MovedFiles, file: Any) -> None:
        restore(batch, file)
        if left:
            left.pop()(batch, file)

    monkeypatch.setattr(MovedFiles, "restore", restore_and_move_again)
    run_on(world, 5, mode="Restore")
    assert len(world.quarantined()) == 1
    assert run_on(world, 6, mode="Restore").restored == 1
    assert set(planted) <= set(world.table.names())


def test_what_another_driver_has_moved_away_since_the_run_began_is_not_removed_for_good(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has looked for a reference to it."""
    world.table.plant()
    run_on(world, 0, 4)
    batch = next((world.own / "quarantine").iterdir())
    young = f"day=mon/bucket-0/data-{UUID.format(0xABC)}-0.parquet"
    late = once(lambda: world.table.put(batch / "files" / young))
    monkeypatch.setattr(removal.Removal, "remove_old", after(late, removal.Removal.remove_old))
    assert run_on(world, 8).removed == 10
    assert world.quarantined() == [young]
    monkeypatch.undo()
    assert run_on(world, 8, mode="Restore").restored == 1


def test_a_file_that_cannot_be_moved_leaves_none_that_is_referenced_away(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch ends early, and what it has moved is looked at as after a whole one."""
    planted = [each for each in world.table.plant() if each.endswith(".parquet") and "data-" in each]
    run_on(world, 0)
    move = MovedFiles.move_away

    def commit_then_fail(batch: MovedFiles, file: Any) -> None:
        if file.path == planted[0]:
            move(batch, file)
            world.table.commit([data_file(file.name)])
            return
        raise ChangeFailedError(f"{file.path}: it is archived")

    agreed = remove_orphan_files._Work._agreed
    monkeypatch.setattr(MovedFiles, "move_away", commit_then_fail)
    monkeypatch.setattr(
        remove_orphan_files._Work, "_agreed", lambda *given: sorted(agreed(*given), key=lambda f: f.path != planted[0])
    )
    world.day = 4
    with pytest.raises(RunError, match="is referenced again"):
        world.run()
    assert (world.table.root / planted[0]).exists()
