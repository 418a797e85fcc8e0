"""By which signs a rollback would take something from somebody else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import JobCatalog
from paimon_schema.table_schema import schema_file_of
from spark_apps.catalog.foreign_commits import FileCommits
from spark_apps.catalog.own_commits import Stretch
from spark_apps.catalog.rollback_guard import why_not_rolled_back
from spark_apps.metadata.snapshots import SnapshotFiles
from spark_apps.metadata.volume import VolumeFiles
from tests.spark_apps.jobs import job
from tests.support.fabricated_table import FabricatedTable, schema_of

OWN = "run-uid_1"


def _put(table: FabricatedTable, path: str, content: bytes) -> None:
    (table.root / path).parent.mkdir(exist_ok=True)
    (table.root / path).write_bytes(content)


Act = Callable[[FabricatedTable], Any]
CASES: list[tuple[str, Act, str | None]] = [
    ("nobody else", lambda _: None, None),
    ("a tag of the snapshot before", lambda t: t.tag("safe", 2), None),
    ("a tag of a later snapshot", lambda t: t.tag("month-end", 3), "delete tag month-end of snapshot 3"),
    ("a tag that cannot be read", lambda t: _put(t, "tag/tag-x", b""), "it is unknown who else .*tag-x"),
    ("a mark beside the tags", lambda t: _put(t, "tag/tag-success-file", b""), None),
    ("a branch of the snapshot before", lambda t: t.branch("b", 2), None),
    ("a branch of a later snapshot", lambda t: t.branch("b", 4), "branch-b may have been made from snapshot 4"),
    ("a consumer that waits for the first commit", lambda t: t.consumer("c", 3), None),
    ("a consumer that has read it", lambda t: t.consumer("c", 4), "consumer c goes on at snapshot 4, and would skip"),
    ("a consumer that cannot be read", lambda t: _put(t, "consumer/consumer-c", b"{}"), "it is unknown .*consumer-c"),
    ("a commit after it", lambda t: t.commit([], commitUser="etl"), "somebody else has committed snapshot 5"),
]


@pytest.mark.parametrize(("sentence", "act", "said"), CASES, ids=[each[0] for each in CASES])
def test_what_others_would_lose(tmp_path: Path, sentence: str, act: Act, said: str | None) -> None:
    """Commits 3 and 4 are those of the run."""
    table = FabricatedTable(tmp_path / "shop.db" / "orders")
    for user in ("etl", "etl", OWN, OWN):
        table.commit([], commitUser=user)
    act(table)
    found = why(table, tmp_path, Stretch(2, 4), since=2)
    assert found is None if said is None else _matches(found, said), sentence


def why(table: FabricatedTable, root: Path, stretch: Stretch, since: int, **options: str) -> str | None:
    of = job(commit_user="run-uid", user_runs=(), catalog=JobCatalog(root.as_uri(), "filesystem"))
    _put(table, "schema/schema-0", schema_file_of(schema_of(options=options)).encode())
    commits = FileCommits(SnapshotFiles(VolumeFiles(), table.location))
    return why_not_rolled_back(of, VolumeFiles(), commits, stretch, since)


def _matches(found: str | None, said: str) -> bool:
    return found is not None and re.search(said, found) is not None


def test_a_writer_that_has_committed_during_the_run_may_commit_again(tmp_path: Path) -> None:
    table = FabricatedTable(tmp_path / "shop.db" / "orders")
    for user in ("etl", OWN, "etl", OWN):
        table.commit([], commitUser=user)
    assert "snapshot 3" in str(why(table, tmp_path, Stretch(3, 4), since=1))


def test_metadata_of_iceberg_does_not_follow_a_rollback(tmp_path: Path) -> None:
    table = FabricatedTable(tmp_path / "shop.db" / "orders")
    for user in ("etl", OWN):
        table.commit([], commitUser=user)
    stored, off = {"metadata.iceberg.storage": "hive-catalog"}, {"metadata.iceberg.storage": "disabled"}
    assert "Iceberg" in str(why(table, tmp_path, Stretch(1, 2), since=1, **stored))
    assert why(table, tmp_path, Stretch(1, 2), since=1, **off) is None
