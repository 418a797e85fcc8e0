"""Which commits of a table are of this run, and with which snapshots they are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_apps.catalog.foreign_commits import FileCommits
from spark_apps.catalog.own_commits import Stretch, own_stretches
from spark_apps.metadata.snapshots import SnapshotFiles
from spark_apps.metadata.volume import VolumeFiles
from tests.spark_apps.jobs import job
from tests.support.fabricated_table import FabricatedTable

OWN, OTHER = "run-uid_1", "etl"


@pytest.mark.parametrize(
    ("sentence", "users", "since", "expected"),
    [
        ("nothing was committed", [], None, []),
        ("others alone", [OTHER, OTHER], 0, []),
        ("one commit", [OTHER, OWN], 0, [Stretch(1, 2)]),
        ("two commits one after the other are compared at once", [OTHER, OWN, OWN], 0, [Stretch(1, 3)]),
        ("another attempt has another suffix", [OTHER, OWN, "run-uid_2"], 0, [Stretch(1, 3)]),
        ("a commit in between is excluded", [OTHER, OWN, OTHER, OWN], 0, [Stretch(1, 2), Stretch(3, 4)]),
        ("a commit after it is excluded", [OTHER, OWN, OTHER], 0, [Stretch(1, 2)]),
        ("a run whose name goes on is another one", [OTHER, "run-uid-2_1"], 0, []),
        ("commits before the run before", [OTHER, OWN, OTHER], 2, []),
        ("a rollback has given the number to another commit", [OTHER, OWN], 9, [Stretch(1, 2)]),
        ("nothing is known of the commits so far", [OTHER, OWN], None, [Stretch(1, 2)]),
    ],
)
def test_stretches(tmp_path: Path, sentence: str, users: list[str], since: int | None, expected: list[Stretch]) -> None:
    table = FabricatedTable(tmp_path)
    for user in users:
        table.commit([], commitUser=user)
    commits = FileCommits(SnapshotFiles(VolumeFiles(), table.location))
    assert own_stretches(job(commit_user="run-uid", since_snapshot=since), commits) == expected, sentence


def test_only_commits_after_a_known_one(tmp_path: Path) -> None:
    table = FabricatedTable(tmp_path)
    for user in (OTHER, OWN, OWN, OWN):
        table.commit([], commitUser=user)
    commits = FileCommits(SnapshotFiles(VolumeFiles(), table.location))
    found = own_stretches(job(commit_user="run-uid", since_snapshot=0), commits, since=2)
    assert (found, found[0].commits) == ([Stretch(2, 4)], 2)
