"""Orphan files of tables that Spark has written, of each kind: exactly the planted ones are found.

Paimon's own procedure counts the same, as long as nothing goes missing.
"""

# ruff: noqa: S608 - the only values in SQL are those of the tests

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import JobCatalog, JobRun
from paimon_contract.parameters.remove_orphan_files import RemoveOrphanFilesParameters
from paimon_contract.result import OrphanFiles
from paimon_schema.option_changes import OWNER_OPTION
from spark_apps.metadata.base import UnreadableError
from spark_apps.operations import remove_orphan_files
from spark_apps.orphans.volume import VolumeStorage
from tests.spark.hdfs_lake import HdfsLake
from tests.spark.lake import Ended, Lake
from tests.spark.observed_kinds import KINDS, WRITES, Kind, keyed
from tests.spark.pypaimon_kinds import BY_PYPAIMON, perform_step
from tests.spark_apps.jobs import job
from tests.support.whole_table import DAY_S, UUID

DAY_MS = 1000 * DAY_S
CHANGELOGS = {
    "changelogs that outlive their snapshots": ("input", "true"),
    "changelogs of lookups": ("lookup", "false"),
    "new files as changelogs": ("none", "true"),
}
MADE = KINDS | BY_PYPAIMON
WITHOUT_ORPHANS = [each for each in MADE if each not in ("rolled back", "no snapshot")]


@dataclass
class Orphans:
    """Runs of RemoveOrphanFiles on the lake's table, by Python."""

    lake: Lake

    @property
    def own(self) -> Path:
        return self.lake.ledger_directory.parent / "_orphan-files"

    def run(self, mode: str = "Report") -> OrphanFiles:
        asked = RemoveOrphanFilesParameters(mode=mode, older_than_seconds=3 * DAY_S, max_percent=100)
        of = job(
            run=JobRun(f"r{next(self.lake.numbers)}", "u", "shop"),
            operation="RemoveOrphanFiles",
            engine=self.lake.engine.id,
            catalog=JobCatalog(self.lake.warehouse, "filesystem"),
            owner=self.lake.owner,
            parameters=asked,
        )
        return remove_orphan_files.perform(of, VolumeStorage())

    def listed(self) -> list[str]:
        """Paths of the orphans in the newest report."""
        newest = max((self.own / "reports").glob("*.jsonl"))
        return [each["path"] for each in lines_of(newest)[1:] if each["kind"] != "Unknown"]

    def counted_by_paimon(self) -> int:
        """What Paimon's procedure would remove. That of 0.9 lists the files."""
        before = datetime.now(UTC) - timedelta(days=3)
        in_the_driver = ", mode => 'local'" if self.lake.engine.id != "paimon-0.9" else ""
        rows = self.lake.select(
            "CALL outside.sys.remove_orphan_files(table => 'shop.orders', dry_run => true,"
            f" older_than => '{before:%Y-%m-%d %H:%M:%S}'{in_the_driver})"
        )
        counts = [each["deletedFileCount"] for each in rows if "deletedFileCount" in each]
        return int(counts[0]) if counts else len(rows)

    def grow_old(self) -> None:
        """Makes all files of the table five days old."""
        at = time.time() - 5 * DAY_S
        for each in self.lake.table_directory.rglob("*"):
            os.utime(each, (at, at))

    def plant(self, bucket: str, count: int = 5) -> list[str]:
        """Plants ten orphans so many times. Returns their paths."""
        numbers = iter(range(0xAA0000, 0xBB0000))
        planted = []
        for _ in range(count):
            for kind in ("data-{}-0.parquet", "data-{}-0.parquet.index", "changelog-{}-0.orc"):
                planted.append(f"{bucket}/{kind}")
            planted += [f"manifest/{kind}-{{}}-0" for kind in ("manifest", "manifest-list", "index-manifest")]
            planted += ["index/index-{}-0", "statistics/stat-{}-0"]
            planted += ["snapshot/.snapshot-9.{}.tmp", "snapshot/.LATEST.{}.tmp"]
        named = [path.format(UUID.format(next(numbers))) for path in planted]
        for path in named:
            (self.lake.table_directory / path).parent.mkdir(parents=True, exist_ok=True)
            (self.lake.table_directory / path).write_bytes(b"content")
        return sorted(named)


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(each) for each in file.read_text().splitlines()]


@pytest.fixture
def orphans(lake: Lake) -> Orphans:
    return Orphans(lake)


def make(lake: Lake, kind: Kind) -> None:
    lake.outside("CREATE DATABASE IF NOT EXISTS outside.shop")
    for step in kind.statements:
        perform_step(lake, step)


def a_bucket(lake: Lake) -> str:
    """A bucket directory of the table, below it."""
    found = sorted(each for each in lake.table_directory.rglob("bucket-*") if each.is_dir())
    return str(found[0].relative_to(lake.table_directory))


@pytest.mark.some_rows(6)
@pytest.mark.engines_in_turn("kind")
@pytest.mark.parametrize("kind", WITHOUT_ORPHANS)
def test_exactly_the_planted_orphans_are_found_in_each_kind_of_table(orphans: Orphans, kind: str) -> None:
    make(orphans.lake, MADE[kind])
    orphans.grow_old()
    assert orphans.run().orphans == 0, orphans.listed()
    planted = orphans.plant(a_bucket(orphans.lake))
    orphans.grow_old()
    found = orphans.run()
    assert (len(planted), found.orphans) == (50, 50)
    assert orphans.listed() == planted
    if not (MADE[kind].two_partition_keys and orphans.lake.engine.id == "paimon-0.9"):
        # There, each level of partitions waits for tasks of one pool with a thread per core: for ever with two cores.
        assert orphans.counted_by_paimon() == 50


def test_what_a_rollback_leaves_is_what_paimon_counts(orphans: Orphans) -> None:
    make(orphans.lake, KINDS["rolled back"])
    orphans.grow_old()
    assert orphans.run().orphans == orphans.counted_by_paimon()


@pytest.mark.some_rows(1)
@pytest.mark.parametrize("kind", CHANGELOGS)
def test_long_lived_changelogs_keep_their_files(orphans: Orphans, kind: str) -> None:
    producer, write_only = CHANGELOGS[kind]
    lake = orphans.lake
    kept = {"changelog.time-retained": "3 d", "changelog.num-retained.max": "2147483647"}
    usual = {"bucket": "1", "write-only": write_only, "changelog-producer": producer}
    lake.provision({"id": "BIGINT", "v": "INT"}, keys=["id"], options=usual | kept).ok()
    lake.outside(*[f"INSERT INTO outside.shop.orders VALUES (1, {n})" for n in range(5)])
    lake.expire(timeRetained="1 ms", numRetainedMin=1, numRetainedMax=1).ok()
    assert list((lake.table_directory / "changelog").glob("changelog-[0-9]*"))
    orphans.grow_old()
    found = orphans.run()
    assert (found.orphans, orphans.counted_by_paimon()) == (0, 0), orphans.listed()


def test_50_orphans_are_found_and_no_other_file_while_spark_commits(orphans: Orphans) -> None:
    make(orphans.lake, keyed(*WRITES))
    planted = orphans.plant(a_bucket(orphans.lake))
    orphans.grow_old()
    insert = "INSERT INTO outside.shop.orders SELECT 'mon', id, 3 FROM range(20)"
    compact = "CALL outside.sys.compact(table => 'shop.orders')"
    writer = threading.Thread(target=orphans.lake.outside, args=(*[insert] * 4, compact, insert))
    writer.start()
    looks = 0
    while writer.is_alive() or not looks:
        assert orphans.run().orphans == 50
        assert orphans.listed() == planted
        looks += 1
    writer.join()
    orphans.grow_old()
    assert orphans.run().orphans == 50


def test_after_the_removal_the_table_has_the_same_rows(orphans: Orphans) -> None:
    lake = orphans.lake
    make(lake, keyed(*KINDS["tags"].steps[1:], options={OWNER_OPTION: lake.owner}))
    before = lake.rows()
    planted = orphans.plant(a_bucket(lake))
    orphans.grow_old()
    orphans.run()
    put_back(orphans.own / "reports", days=4)
    assert orphans.run("Delete").moved == 50
    assert not [each for each in planted if (lake.table_directory / each).exists()]
    assert lake.rows() == before
    tagged = "SELECT count(*) AS n FROM outside.shop.orders VERSION AS OF 'one'"
    assert lake.select(tagged)[0]["n"] == 200


def put_back(directory: Path, days: int) -> None:
    """Makes the reports so much older, as if they had been written then."""
    for file in sorted(directory.glob("*.jsonl")):
        head, *rest = file.read_text().splitlines()
        header = json.loads(head)
        earlier = header | {key: header[key] - days * DAY_MS for key in ("storage_ms", "driver_ms")}
        text = "\n".join([json.dumps(earlier), *rest]) + "\n"
        file.unlink()
        file.with_name(f"{earlier['storage_ms']:013d}-{file.name.partition('-')[2]}").write_text(text)


def test_a_manifest_list_that_is_missing_ends_the_run(orphans: Orphans) -> None:
    """apache/paimon#7710: Paimon counts everything that only this list names."""
    make(orphans.lake, keyed(*WRITES))
    snapshot = json.loads((orphans.lake.table_directory / "snapshot" / "snapshot-3").read_text())
    (orphans.lake.table_directory / "manifest" / snapshot["baseManifestList"]).unlink()
    orphans.grow_old()
    with pytest.raises(UnreadableError, match="snapshot-3 needs it"):
        orphans.run()


def removal(lake: Lake, mode: str) -> Ended:
    """Performs a run by Paimon's FileIO."""
    return lake.perform(removal_job(lake, mode))


def removal_job(lake: Lake, mode: str) -> dict[str, Any]:
    asked = {"mode": mode, "olderThanSeconds": 3 * DAY_S, "maxPercent": 100}
    return lake.job("RemoveOrphanFiles", removeOrphanFiles=asked)


def test_a_run_by_paimons_file_io_does_the_same(orphans: Orphans) -> None:
    lake = orphans.lake
    lake.provision({"id": "BIGINT", "v": "INT"}, keys=["id"], options={"bucket": "1"}).ok()
    lake.outside(*["INSERT INTO outside.shop.orders VALUES (1, 1)"] * 3)
    planted = orphans.plant("bucket-0")
    orphans.grow_old()
    found = removal(lake, "Report").ok()["orphanFiles"]
    assert (found["orphans"], orphans.listed()) == (50, planted)
    put_back(orphans.own / "reports", days=4)
    assert removal(lake, "Delete").ok()["orphanFiles"]["moved"] == 50
    assert not [each for each in planted if (lake.table_directory / each).exists()]
    assert removal(lake, "Restore").ok()["orphanFiles"]["restored"] == 50
    assert all((lake.table_directory / each).read_bytes() == b"content" for each in planted)


def test_a_missing_reference_is_an_error_with_its_reason(orphans: Orphans) -> None:
    lake = orphans.lake
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    lake.outside(*["INSERT INTO outside.shop.orders VALUES (1)"] * 3)
    snapshot = json.loads((lake.table_directory / "snapshot" / "snapshot-2").read_text())
    (lake.table_directory / "manifest" / snapshot["deltaManifestList"]).unlink()
    said = removal(lake, "Delete").blocked("ReferenceUnreadable")
    assert "snapshot-2 needs it" in said


def test_another_owners_table_is_left_alone(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    lake.owner = "cluster-uid/shop/another"
    assert removal(lake, "Delete").blocked("Conflict")
    assert not (lake.ledger_directory.parent / "_orphan-files").exists()


@pytest.mark.newest_engine
@pytest.mark.long
def test_orphans_on_hdfs_are_found_moved_away_and_restored(simple_hdfs_lake: HdfsLake) -> None:
    lake = simple_hdfs_lake
    lake.provision({"id": "BIGINT", "v": "INT"}, keys=["id"], options={"bucket": "1"}).ok()
    lake.outside(*["INSERT INTO outside.shop.orders VALUES (1, 1)"] * 2)
    table = f"{lake.warehouse}/shop.db/orders"
    names = [f"bucket-0/data-{UUID.format(7)}-0.parquet", f"manifest/manifest-{UUID.format(7)}-0"]
    content = lake.directory / "content"
    content.write_text("content")
    for name in names:
        lake.hdfs.shell("-put", str(content), f"{table}/{name}")
    long_ago = (datetime.now(UTC) - timedelta(days=9)).strftime("%Y%m%d:%H%M%S")
    lake.hdfs.shell("-touch", "-m", "-t", long_ago, *(f"{table}/{name}" for name in names))
    done = lake.drive(removal_job(lake, "Report"), TRY_WITHOUT_JVM="1")
    assert done.result is not None, done.log
    assert (done.result["orphanFiles"]["orphans"], done.result["ms"]["session"]) == (2, 0), "no JVM has been started"

    reports = f"{lake.warehouse}/.paimon-operator/shop.orders/_orphan-files/reports"
    here = lake.directory / "reports"
    lake.hdfs.shell("-get", reports, str(here))
    put_back(here, days=4)
    lake.hdfs.shell("-put", *(str(each) for each in here.glob("*.jsonl")), reports)
    assert removal(lake, "Delete").ok()["orphanFiles"]["moved"] == 2
    left = lake.hdfs.shell("-ls", "-R", "-C", table)
    assert not [name for name in names if name in left]
    assert removal(lake, "Restore").ok()["orphanFiles"]["restored"] == 2
    assert lake.hdfs.shell("-cat", f"{table}/{names[0]}").strip() == "content"
