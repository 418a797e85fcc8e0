"""Sessions of several threads in one JVM, and what a session reads of its table."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from paimon_contract.job import JobCatalog
from paimon_engines.loader import load_engine
from spark_apps.catalog import foreign_commits
from spark_apps.catalog import session as module
from spark_apps.catalog.metastores.filesystem import Filesystem
from spark_apps.catalog.session import Session
from spark_apps.failures.errors import RunError
from spark_apps.metadata.remembered import RememberedFiles
from spark_apps.metadata.volume import VolumeFiles
from tests.spark_apps.jobs import job


def test_one_thread_at_a_time_opens_its_session() -> None:
    """A login and the connection to a metastore are those of the whole process."""
    opening, second = threading.Lock(), threading.Event()

    def log_in(_: Session) -> None:
        if not opening.acquire(blocking=False):
            second.set()
            return
        second.wait(0.1)  # (only another thread that opens its session ends it sooner)
        opening.release()

    def opened(_: object) -> None:
        storage: Any = SimpleNamespace(log_in=log_in)
        unused: Any = None
        session = Session(unused, unused, unused, storage)
        session.__dict__["jvm"] = None
        session.open()

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(opened, range(3)))
    assert not second.is_set()


class Catalog:
    """A catalog (Java) that counts how often the table is read."""

    def __init__(self, owner: str) -> None:
        self.owner, self.reads, self.latest = owner, 0, 0

    def getTable(self, _: object) -> Any:  # noqa: N802
        self.reads += 1
        schema = SimpleNamespace(options=lambda: {"paimon-operator.owner": self.owner})
        return SimpleNamespace(schema=lambda: schema, snapshotManager=lambda: self)

    def latestSnapshotId(self) -> int:  # noqa: N802
        return self.latest

    def snapshot(self, number: int) -> Any:
        kind = SimpleNamespace(toString=lambda: "APPEND")
        return SimpleNamespace(
            commitUser=lambda: "u", commitIdentifier=lambda: number, commitKind=lambda: kind, timeMillis=lambda: 5
        )


def session_of(catalog: Catalog, warehouse: str = "file:///nowhere") -> Session:
    unused: Any = None
    of = job(catalog=JobCatalog(warehouse, "filesystem"))
    session = Session(of, load_engine("paimon-1.4"), Filesystem(), unused)
    session.__dict__.update(catalog=catalog, jvm=MagicMock())
    return session


def test_an_operation_begins_with_the_table_that_the_look_for_foreign_commits_has_read() -> None:
    catalog = Catalog(owner="o")
    session = session_of(catalog)
    foreign_commits.inspect_commits(session.job, session, adopts=False)
    session.table_at_start()
    assert catalog.reads == 1
    session.table()
    assert catalog.reads == 2, "what has changed since"


def test_a_table_of_another_owner_is_no_start() -> None:
    with pytest.raises(RunError, match="is owned by"):
        session_of(Catalog(owner="cluster/shop/other")).table_at_start()


@pytest.mark.parametrize(("written", "seen"), [("", 0), ("none of Paimon's", 7)], ids=["by the files", "by Java"])
def test_commits_whose_files_only_java_can_read_are_inspected_by_it(tmp_path: Path, written: str, seen: int) -> None:
    catalog = Catalog(owner="o")
    catalog.latest = 7
    session = session_of(catalog, tmp_path.as_uri())
    if written:
        snapshots = tmp_path / "shop.db" / "orders" / "snapshot"
        snapshots.mkdir(parents=True)
        (snapshots / "LATEST").write_text("7")
        (snapshots / "snapshot-7").write_text(written)
    assert foreign_commits.inspect_commits(session.job, session, adopts=False).seen_snapshot == seen


@pytest.mark.parametrize(("waited", "kept"), [(1, True), (60, False)])
def test_what_was_found_before_a_long_wait_for_the_jvm_is_read_again(
    monkeypatch: pytest.MonkeyPatch, waited: int, kept: bool
) -> None:
    seconds = iter([0, waited])
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    unused: Any = None
    storage: Any = SimpleNamespace(log_in=lambda _: None)
    session = Session(unused, unused, unused, storage, RememberedFiles(VolumeFiles()))
    session.__dict__["jvm"] = None
    session.open()
    assert (session.files_found is not None) is kept
