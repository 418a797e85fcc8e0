"""Foreign commits as the snapshot files show them, without Paimon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import Job
from paimon_contract.result import Seen
from spark_apps.catalog.foreign_commits import FileCommits, inspected
from spark_apps.metadata.snapshots import SnapshotFiles
from spark_apps.metadata.volume import VolumeFiles
from tests.spark_apps.jobs import job
from tests.support.fabricated_table import FabricatedTable

OWNER = "cluster/shop/orders"
UUID = "0f9d5c1a-9f8e-4c5b-8d6a-2b1c3d4e5f60"
OURS = f"orders-write-8f3a91c2-{UUID}_{UUID}"


def inspecting(since: int | None, **more: Any) -> Job:
    return job(owner=OWNER, run_prefix="orders-", user_runs=(), since_snapshot=since, **more)


def table(root: Path, *users: str) -> FabricatedTable:
    made = FabricatedTable(root)
    for user in users:
        made.commit([], commitUser=user)
    return made


def seen(made: FabricatedTable, of: Job, owner: str | None = OWNER) -> Seen:
    return inspected(of, FileCommits(SnapshotFiles(VolumeFiles(), made.location)), owner)


def foreign(found: Seen) -> int | None:
    return None if found.outside_commit is None else found.outside_commit.snapshot_id


@pytest.mark.parametrize(
    ("users", "since", "owner", "expected"),
    [
        pytest.param((OURS, OURS), 0, OWNER, None, id="only own commits"),
        pytest.param((OURS, "etl", "etl"), 0, OWNER, 2, id="the first foreign one"),
        pytest.param((OURS, "etl", OURS), 2, OWNER, None, id="one that was inspected before"),
        pytest.param(("etl",), None, OWNER, None, id="nothing is known of the commits so far"),
        pytest.param(("etl",), 0, "cluster/shop/others", None, id="the table of another owner"),
        pytest.param(("etl",), 0, None, None, id="a table without an owner"),
    ],
)
def test_commits_since_the_last_inspection(
    tmp_path: Path, users: tuple[str, ...], since: int | None, owner: str | None, expected: int | None
) -> None:
    found = seen(table(tmp_path, *users), inspecting(since), owner)
    assert foreign(found) == expected
    is_inspected = since is None or owner == OWNER
    assert found.seen_snapshot == (len(users) if is_inspected else None), "what was not inspected is inspected later"
    assert (found.seen_commit is not None) is is_inspected


@pytest.mark.parametrize("owner", [None, "cluster/shop/others"], ids=["of nobody", "of another owner"])
def test_commits_before_an_adoption_are_known_and_not_foreign(tmp_path: Path, owner: str | None) -> None:
    made = table(tmp_path, "etl", "etl")
    found = inspected(inspecting(0), FileCommits(SnapshotFiles(VolumeFiles(), made.location)), owner, adopts=True)
    assert (found.seen_snapshot, foreign(found)) == (2, None)
    assert found.seen_commit is not None


def test_an_adoption_of_the_own_table_finds_foreign_commits(tmp_path: Path) -> None:
    made = table(tmp_path, OURS, "etl")
    commits = FileCommits(SnapshotFiles(VolumeFiles(), made.location))
    assert foreign(inspected(inspecting(1), commits, OWNER, adopts=True)) == 2


def test_a_table_without_a_snapshot(tmp_path: Path) -> None:
    assert seen(FabricatedTable(tmp_path), inspecting(0)) == Seen(seen_snapshot=0)


def test_a_foreign_commit_that_has_expired_is_not_found(tmp_path: Path) -> None:
    made = table(tmp_path, "etl", OURS, OURS).expire(before=2)
    assert foreign(seen(made, inspecting(0))) is None


def test_after_a_rollback_by_hand_the_commits_in_place_of_the_inspected_ones_are_inspected(tmp_path: Path) -> None:
    made = table(tmp_path, OURS, OURS, OURS)
    known = seen(made, inspecting(0)).seen_commit
    made.roll_back(1)
    made.commit([], commitUser="etl", timeMillis=1_900_000_000_000)
    made.commit([], commitUser=OURS, timeMillis=1_900_000_000_000)
    assert foreign(seen(made, inspecting(3, since_commit=known))) == 2
