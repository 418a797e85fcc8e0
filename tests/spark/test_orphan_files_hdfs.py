"""Orphan files on a real HDFS: reported without a JVM, and moved away only by one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from paimon_contract.job import JobCatalog, JobRun
from paimon_contract.parameters.remove_orphan_files import RemoveOrphanFilesParameters
from paimon_contract.result import OrphanFiles
from paimon_engines.engine import Engine
from spark_apps.metadata import files_in
from spark_apps.operations import remove_orphan_files
from spark_apps.orphans import storage_in
from spark_apps.orphans.files import ChangeFailedError, ListedFile, StorageFiles
from spark_apps.orphans.times import Moment, moment_of
from tests.cluster.hdfs import realm
from tests.cluster.hdfs.servers import Hdfs
from tests.spark.hdfs_lake import pod_environment
from tests.spark_apps.jobs import job
from tests.support.whole_table import DAY_S, OWNER, WholeTable

pytestmark = [
    pytest.mark.newest_engine,
    pytest.mark.some_rows(1),  # of an HDFS without and one with Kerberos: the second one
]
OWN = ".paimon-operator/shop.orders/_orphan-files"


@dataclass
class Folder:
    """A warehouse on HDFS, which a run accesses as a Pod of its catalog does. `day`: days since the test began."""

    hdfs: Hdfs
    directory: str
    catalog: JobCatalog
    options: dict[str, str]
    engine: Engine
    day: float = 0.0

    @property
    def files(self) -> StorageFiles:
        found = storage_in(self.catalog, self.engine, self.options)
        assert found is not None
        return found

    def paths(self, below: str) -> list[str]:
        """Every file and directory below this one, as Hadoop lists them."""
        root = f"{self.directory}/{below}/"
        return sorted(each.removeprefix(root) for each in self.hdfs.shell("-ls", "-R", "-C", root).split())

    def upload(self, table: WholeTable) -> None:
        """Copies the table as it is now."""
        self.hdfs.shell("-put", "-f", str(table.root), f"{self.directory}/shop.db/")
        self.hdfs.shell("-chown", "-R", realm.USER, self.directory)

    def newest_report(self) -> str:
        name = self.paths(f"{OWN}/reports")[-1]
        return f"{self.catalog.warehouse}/{OWN}/reports/{name}"

    def run(self, mode: str, day: float) -> OrphanFiles | None:
        """Performs a run on a day; None: it needs a JVM."""
        self.day = day
        asked = RemoveOrphanFilesParameters(mode=mode, older_than_seconds=3 * DAY_S, max_percent=100)
        of = job(
            run=JobRun(f"r{round(day)}", "u", "shop"),
            operation="RemoveOrphanFiles",
            catalog=self.catalog,
            hadoop=self.options,
            owner=OWNER,
            parameters=asked,
        )
        files = files_in(self.catalog, self.engine, self.options)
        assert files is not None
        outcome = remove_orphan_files.without_jvm(of, self.engine, files)
        return None if outcome is None else outcome.orphan_files


@pytest.fixture
def folder(hdfs: Hdfs, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    for name, value in pod_environment(hdfs, tmp_path).items():
        monkeypatch.setenv(name, value)
    directory = f"/lake/{tmp_path.name}"
    hdfs.shell("-mkdir", "-p", f"{directory}/shop.db")
    hdfs.shell("-chown", "-R", realm.USER, directory)
    options = {"hadoop.security.authentication": "kerberos"} if hdfs.realm else {}
    made = Folder(hdfs, directory, JobCatalog(f"{hdfs.uri}{directory}", "filesystem", {}), options, engine)

    def moment(*_: object) -> Moment:
        at = round((time.time() + made.day * DAY_S) * 1000)
        return Moment(at, at)

    monkeypatch.setattr(remove_orphan_files, "moment_of", moment)
    return made


def test_orphans_are_reported_without_a_jvm_and_moved_away_only_by_one(folder: Folder, tmp_path: Path) -> None:
    table = WholeTable(tmp_path / "orders")
    for _ in range(3):
        table.write(2)
    folder.upload(table)
    found = folder.run("Delete", 4)
    assert found is not None, "there is nothing to do"
    assert (found.files, found.orphans, found.moved) == (len(table.paths()), 0, 0)

    table.plant(5)
    folder.upload(table)
    before = folder.paths("shop.db/orders")
    found = folder.run("Report", 8)
    assert found is not None
    assert (found.files, found.orphans, found.report) == (len(table.paths()), 50, folder.newest_report())
    changes = folder.hdfs.changes
    assert folder.run("Delete", 12) is folder.run("Restore", 12) is None
    assert folder.hdfs.changes == changes, "a run that needs a JVM writes no report before it"
    assert folder.paths("shop.db/orders") == before


def test_files_are_written_listed_and_removed(folder: Folder) -> None:
    files, table = folder.files, f"{folder.hdfs.uri}{folder.directory}/shop.db/orders"
    for name, content in (("a", b"1"), ("d=1%2F2/b #?", b"123"), ("d=1%2F2/b #?", b"12345"), ("d=1%2F2/c", b"c")):
        files.write(f"{table}/{name}", content)
    found = sorted(files.walk(table))
    assert [(each.path, each.size) for each in found] == [("a", 1), ("d=1%2F2/b #?", 5), ("d=1%2F2/c", 1)]
    assert abs(moment_of(files, f"{folder.catalog.warehouse}/{OWN}").storage_ms / 1000 - time.time()) < 60
    assert abs(found[0].modified_ms / 1000 - time.time()) < 60
    assert files.status(f"{table}/a") == ListedFile(f"{table}/a", 1, found[0].modified_ms)
    assert files.status(f"{table}/none") is None
    assert list(files.walk(f"{table}/none")) == []
    assert files.read(f"{table}/d=1%2F2/b #?") == b"12345"

    with pytest.raises(ChangeFailedError, match="Hadoop's client"):
        files.move(f"{table}/a", f"{table}/b")
    for _ in range(2):
        files.delete(f"{table}/d=1%2F2/b #?")
    assert folder.paths("shop.db/orders") == ["a", "d=1%2F2", "d=1%2F2/c"]


def test_without_the_right_to_write_a_change_fails(folder: Folder) -> None:
    folder.hdfs.shell("-chown", "-R", realm.STRANGER, folder.directory)
    with pytest.raises(ChangeFailedError, match="AccessControlException"):
        folder.files.write(f"{folder.hdfs.uri}{folder.directory}/own/report", b"report")


def test_what_is_written_has_the_permissions_that_the_cluster_gives(folder: Folder) -> None:
    folder.options["fs.permissions.umask-mode"] = "027"
    folder.files.write(f"{folder.hdfs.uri}{folder.directory}/own/reports/r1", b"report")
    listed = folder.hdfs.shell("-ls", "-R", f"{folder.directory}").splitlines()
    rights = {line.rpartition("/")[2]: line.split()[0] for line in listed}
    assert (rights["own"], rights["reports"], rights["r1"]) == ("drwxr-x---", "drwxr-x---", "-rw-r-----")
