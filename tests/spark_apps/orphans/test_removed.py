"""Runs of mode Delete move away what two reports name, remove it for good later, and restore it before that."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from spark_apps.failures.errors import RunError
from spark_apps.metadata.base import UnreadableError
from spark_apps.orphans import removal
from spark_apps.orphans.quarantine import MovedFiles, Quarantine
from spark_apps.orphans.references import References
from spark_apps.orphans.volume import VolumeStorage
from tests.spark_apps.orphans.world import World, after, once, run_on
from tests.support.fabricated_avro import data_file


@pytest.mark.parametrize(("second", "moved"), [(2.99, 0), (3.0, 10), (9.0, 10)])
def test_only_what_two_reports_name_that_lie_older_than_apart_is_moved_away(
    world: World, second: float, moved: int
) -> None:
    planted = world.table.plant()
    found = run_on(world, 0, second)
    assert found.moved == moved
    assert (found.compared_with is None) is (moved == 0)
    assert world.quarantined() == planted[:moved]
    assert found.kept == moved


def test_a_report_of_mode_report_counts_as_the_first_one(world: World) -> None:
    planted = world.table.plant()
    run_on(world, 0, mode="Report")
    assert run_on(world, 4).moved == len(planted)


def test_a_file_that_only_the_second_report_names_stays(world: World) -> None:
    planted = world.table.plant()
    run_on(world, 0)
    later = world.table.plant()
    assert run_on(world, 4).moved == 10
    assert world.quarantined() == planted
    assert set(later) <= set(world.table.names())


@pytest.mark.parametrize("change", ["size", "time"])
def test_a_file_that_was_written_again_since_the_first_report_stays(world: World, change: str) -> None:
    world.table.plant()
    run_on(world, 0)
    changed = world.table.root / world.listed()[0]
    if change == "size":
        at = changed.stat().st_mtime_ns
        changed.write_bytes(b"other content")
        os.utime(changed, ns=(at, at))
    else:
        world.table.age_s += 7
        world.table.grow_old(changed)
    assert run_on(world, 4).moved == 9
    assert changed.exists()


def test_a_file_that_changes_after_the_second_report_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = world.table.plant()
    run_on(world, 0)
    changed = world.table.root / planted[0]
    real = World.run

    def alone() -> None:
        changed.write_bytes(b"other content")

    monkeypatch.setattr(removal.Removal, "_move_batch", after(alone, removal.Removal._move_batch))
    world.day = 4
    assert real(world).moved == 9
    assert changed.read_bytes() == b"other content"


def test_what_was_moved_away_is_removed_for_good_after_another_older_than(world: World) -> None:
    planted = world.table.plant()
    assert run_on(world, 0, 4).moved == 10
    assert run_on(world, 6.9).removed == 0
    assert world.quarantined() == planted
    last = run_on(world, 7)
    assert (last.removed, last.removed_bytes, last.kept) == (10, 70, 0)
    assert not list((world.own / "quarantine").iterdir())


def test_restore_moves_back_every_byte(world: World) -> None:
    for number, path in enumerate(world.table.plant()):
        world.table.put(world.table.root / path, b"x" * number)
    before = {name: (world.table.root / name).read_bytes() for name in world.table.names()}
    assert run_on(world, 0, 4).moved == 10
    assert run_on(world, 5, mode="Restore").restored == 10
    assert {name: (world.table.root / name).read_bytes() for name in world.table.names()} == before
    assert run_on(world, 6, mode="Restore").restored == 0, "there is nothing left to restore"


def test_mode_report_removes_nothing_of_what_was_moved_away(world: World) -> None:
    planted = world.table.plant()
    run_on(world, 0, 4)
    found = run_on(world, 20, mode="Report")
    assert (found.kept, found.removed) == (10, None)
    assert world.quarantined() == planted


@pytest.mark.parametrize(("orphans", "is_refused"), [(9, False), (10, True)])
def test_orphans_of_20_percent_of_all_files_or_more_are_not_removed(
    world: World, orphans: int, *, is_refused: bool
) -> None:
    """Of 50 files, 10 are 20 %."""
    for path in world.table.plant()[orphans:]:
        (world.table.root / path).unlink()
    for number in range(50 - len(world.table.names())):
        world.table.put(world.table.root / "consumer" / f"consumer-{number}", b'{"nextSnapshot": 1}')
    assert len(world.table.names()) == 50
    run_on(world, 0, mode="Report")
    world.day = 4
    if not is_refused:
        assert world.run(percent=20).moved == 9
        return
    with pytest.raises(RunError, match="10 of 50 files are orphans") as raised:
        world.run(percent=20)
    assert (raised.value.reason, raised.value.kind) == ("TooManyOrphanFiles", "Spec")
    assert str(world.reports()[-1]) in raised.value.remedy
    assert raised.value.outcome is not None
    assert raised.value.outcome.orphan_files is not None
    assert raised.value.outcome.orphan_files.orphans == 10
    assert world.quarantined() == []
    assert world.run(percent=21).moved == 10, "a user's run allows more"


def test_a_manifest_list_that_goes_missing_after_the_report_ends_the_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """apache/paimon#7710: there, all files of the table count as orphans then."""
    planted = world.table.plant()
    run_on(world, 0)
    lost = world.table.manifest_file("baseManifestList")
    monkeypatch.setattr(removal.Removal, "_move_batch", after(lost.unlink, removal.Removal._move_batch))
    before = set(world.table.names())
    world.day = 4
    with pytest.raises(UnreadableError, match=f"{lost.name} does not exist, although .*snapshot-3 needs it"):
        world.run()
    assert before - set(world.table.names()) == {str(lost.relative_to(world.table.root))}
    assert (world.quarantined(), len(planted)) == ([], 10)


def test_a_file_that_is_committed_while_it_is_moved_away_is_moved_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = [each for each in world.table.plant() if each.endswith(".parquet") and "data-" in each]
    run_on(world, 0)
    name = planted[0].rpartition("/")[2]
    begin = Quarantine.begin

    def commit_then_begin(*given: Any) -> Any:
        world.table.commit([data_file(name)])
        return begin(*given)

    monkeypatch.setattr(Quarantine, "begin", commit_then_begin)
    world.day = 4
    with pytest.raises(RunError, match="is referenced again") as raised:
        world.run()
    assert raised.value.reason == "OrphanReferenced"
    assert (world.table.root / planted[0]).exists()
    assert planted[0] not in world.quarantined()


def test_a_file_that_is_committed_before_its_batch_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = [each for each in world.table.plant() if each.endswith(".parquet") and "data-" in each]
    run_on(world, 0)
    commit = once(lambda: world.table.commit([data_file(planted[0].rpartition("/")[2])]))
    monkeypatch.setattr(removal.Removal, "_move_batch", after(commit, removal.Removal._move_batch))
    assert run_on(world, 4).moved == 9
    assert (world.table.root / planted[0]).exists()


def test_a_foreign_commit_during_the_run_ends_it_before_the_next_batch(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "PER_BATCH", 4)
    world.table.plant()
    run_on(world, 0)
    move = MovedFiles.move_away
    monkeypatch.setattr(MovedFiles, "move_away", after(once(world.table.write), move))
    world.day = 4
    with pytest.raises(RunError, match="snapshot 4 of"):
        world.run(since_snapshot=3, user_runs=())
    assert len(world.quarantined()) == 4


def test_restore_leaves_a_file_that_is_still_in_the_table(world: World) -> None:
    """After a kill between copy and deletion on S3."""
    planted = world.table.plant()
    run_on(world, 0, 4)
    still = world.table.put(world.table.root / planted[0])
    at = still.stat().st_mtime_ns
    assert run_on(world, 5, mode="Restore").restored == 10
    assert still.stat().st_mtime_ns == at
    assert world.quarantined() == []


def test_a_batch_is_moved_back_if_a_file_is_missing_after_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit names a manifest list while it is moved away."""
    planted = world.table.plant()
    run_on(world, 0)
    named = next(each for each in planted if each.startswith("manifest/manifest-list"))
    begin = Quarantine.begin

    def commit_then_begin(*given: Any) -> Any:
        world.table.commit(deltaManifestList=named.rpartition("/")[2])
        return begin(*given)

    monkeypatch.setattr(Quarantine, "begin", commit_then_begin)
    world.day = 4
    with pytest.raises(UnreadableError, match="snapshot-4 needs it"):
        world.run()
    assert world.quarantined() == []
    assert all((world.table.root / each).exists() for each in planted)


@pytest.mark.parametrize("mode", ["Report", "Delete"])
def test_what_was_moved_away_and_is_referenced_later_is_moved_back_by_the_next_run(world: World, mode: str) -> None:
    """A snapshot file that a user has put back."""
    planted = [each for each in world.table.plant() if each.endswith(".parquet") and "data-" in each]
    run_on(world, 0, 4)
    world.table.commit([data_file(planted[0].rpartition("/")[2])])
    with pytest.raises(RunError, match="was moved back, like 0 more"):
        run_on(world, 20, mode=mode)
    assert (world.table.root / planted[0]).exists()
    assert len(world.quarantined()) == 9, "nothing else was removed"


def test_references_are_read_before_each_batch(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "PER_BATCH", 3)
    readings: list[int] = []
    read_all = References._read_all

    def counted(of: References) -> set[str]:
        readings.append(len(world.quarantined()))
        return read_all(of)

    world.table.plant()
    run_on(world, 0)
    monkeypatch.setattr(References, "_read_all", counted)
    assert run_on(world, 4).moved == 10
    assert readings == [0, 0, 3, 3, 6, 6, 9, 9, 10]
    assert len(list((world.own / "quarantine").iterdir())) == 4, "each batch has an undo list"


def test_a_run_moves_at_most_so_many_files_and_the_next_one_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "MOST", 7)
    world.table.plant()
    assert run_on(world, 0, 4).moved == 7
    assert run_on(world, 5).moved == 3


def test_a_file_that_is_too_large_to_be_moved_stays_and_the_others_go(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = world.table.plant()
    world.table.put(world.table.root / planted[0], b"x" * 8)
    monkeypatch.setattr(VolumeStorage, "largest_move", 7)
    assert run_on(world, 0, 4).moved == 9
    assert (world.table.root / planted[0]).exists()


@pytest.mark.parametrize(
    ("sentence", "members", "is_refused"),
    [
        ("nothing is known of the commits so far", {}, False),
        ("all commits were inspected", {"since_snapshot": 3, "user_runs": ()}, False),
        ("the last two are by somebody else", {"since_snapshot": 1, "user_runs": ()}, True),
    ],
)
def test_no_orphan_is_removed_after_a_foreign_commit(
    world: World, sentence: str, members: dict[str, Any], *, is_refused: bool
) -> None:
    world.table.plant()
    run_on(world, 0, mode="Report")
    world.day = 4
    if not is_refused:
        assert world.run(**members).moved == 10, sentence
        return
    with pytest.raises(RunError, match=r"snapshot 2 of .* was made by commit user user") as raised:
        world.run(**members)
    assert (raised.value.reason, raised.value.field) == ("OutsideCommit", "spec.externalWriters")
    assert world.quarantined() == []
    assert len(world.reports()) == 2, "with a report"
    assert world.run("Report", **members).orphans == 10, "reports go on"


def test_nothing_is_removed_of_a_table_that_another_cluster_takes_over(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.table.plant()
    run_on(world, 0)
    takes_over = once(lambda: world.table.put_schema(world.table.root, {"paimon-operator.owner": "x/shop/orders"}, 1))
    monkeypatch.setattr(removal.Removal, "_move_batch", after(takes_over, removal.Removal._move_batch))
    world.day = 4
    with pytest.raises(RunError, match="has another owner now"):
        world.run(since_snapshot=3, user_runs=())
    assert world.quarantined() == []


def test_a_tag_is_held_while_files_are_moved_away(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    tag = world.table.root / "tag" / "tag-paimon-operator-orphan-files"
    held: list[Any] = []
    move = MovedFiles.move_away

    def see(*given: Any) -> None:
        held.append(json.loads(tag.read_text())["id"])
        move(*given)

    monkeypatch.setattr(MovedFiles, "move_away", see)
    world.table.plant()
    run_on(world, 0, 4)
    assert held == [3] * 10
    assert not tag.exists()


@pytest.mark.parametrize("mode", ["Report", "Delete", "Restore"])
def test_the_tag_of_a_killed_run_is_removed_by_the_next_run(world: World, mode: str) -> None:
    world.table.tag("paimon-operator-orphan-files", 1)
    run_on(world, 0, mode=mode)
    assert not (world.table.root / "tag" / "tag-paimon-operator-orphan-files").exists()
