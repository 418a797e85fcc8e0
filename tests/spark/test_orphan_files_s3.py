"""Orphan files on a real S3 server, found, moved and restored without a JVM."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import JobCatalog, JobRun
from paimon_contract.parameters.remove_orphan_files import RemoveOrphanFilesParameters
from paimon_contract.result import OrphanFiles
from paimon_engines.engine import Engine
from paimon_engines.loader import load_engine
from spark_apps.operations import remove_orphan_files
from spark_apps.orphans import storage_in
from spark_apps.orphans.files import ChangeFailedError, ListedFile, StorageFiles
from spark_apps.orphans.times import Moment, moment_of
from tests.cluster.s3 import REGION
from tests.spark_apps.jobs import job
from tests.support.s3_server import S3Server, s3_server
from tests.support.whole_table import DAY_S, OWNER, WholeTable

TABLE = "s3://lake/warehouse/shop.db/orders"
PREFIX = "warehouse/shop.db/orders/"


@dataclass
class Bucket:
    """A table in S3. `day` is the number of days since the test began."""

    server: S3Server
    table: WholeTable
    catalog: JobCatalog
    engine: Engine
    day: float = 0.0

    @property
    def files(self) -> StorageFiles:
        found = storage_in(self.catalog, self.engine, {})
        assert found is not None
        return found

    def upload(self) -> None:
        """Puts every file of the table that the bucket has not."""
        here = self.keys(PREFIX)
        for path in self.table.paths():
            key = str(path.relative_to(self.table.root))
            if key not in here:
                self.server.client().put_object(Bucket="lake", Key=PREFIX + key, Body=path.read_bytes())

    def keys(self, prefix: str) -> dict[str, bytes]:
        """Keys below a prefix, and their contents."""
        client = self.server.client()
        pages: Any = client.get_paginator("list_objects_v2").paginate(Bucket="lake", Prefix=prefix)
        found = [each["Key"] for page in pages for each in page.get("Contents", ())]
        return {key.removeprefix(prefix): client.get_object(Bucket="lake", Key=key)["Body"].read() for key in found}

    def run(self, mode: str, day: float) -> OrphanFiles:
        """Performs a run on a day."""
        self.day = day
        name = f"r{round(day)}"
        asked = RemoveOrphanFilesParameters(mode=mode, older_than_seconds=3 * DAY_S, max_percent=100)
        of = job(
            run=JobRun(name, "u", "shop"),
            operation="RemoveOrphanFiles",
            catalog=self.catalog,
            owner=OWNER,
            parameters=asked,
        )
        outcome = remove_orphan_files.without_jvm(of, self.engine, self.files)
        assert outcome is not None
        assert outcome.orphan_files is not None
        return outcome.orphan_files


@pytest.fixture(params=["paimon-0.9", "paimon-1.4"], ids=["with 0.9", "with 1.4"])
def bucket(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """A table with three commits. The operators' options of S3 have other names for each engine."""
    engine = load_engine(request.param)
    with s3_server(tmp_path, "lake") as server:
        for name, value in (server.keys | {"AWS_EC2_METADATA_DISABLED": "true"}).items():
            monkeypatch.setenv(name, value)
        keys = engine.s3
        options = {keys.endpoint_key: server.endpoint, keys.region_key: REGION, keys.path_style_key: "true"}
        catalog = JobCatalog("s3://lake/warehouse", "filesystem", options)
        made = Bucket(server, WholeTable(tmp_path / "orders"), catalog, engine)

        def moment(*_: object) -> Moment:
            at = round((time.time() + made.day * DAY_S) * 1000)
            return Moment(at, at)

        monkeypatch.setattr(remove_orphan_files, "moment_of", moment)
        for _ in range(3):
            made.table.write(2)
        yield made


def test_50_planted_orphans_are_found_moved_away_restored_and_removed(bucket: Bucket) -> None:
    planted = bucket.table.plant(5)
    bucket.upload()
    before = bucket.keys(PREFIX)
    found = bucket.run("Report", 4)
    assert (found.orphans, found.files) == (50, len(before))

    assert bucket.run("Delete", 8).moved == 50
    assert sorted(before.keys() - bucket.keys(PREFIX).keys()) == planted
    assert bucket.run("Restore", 9).restored == 50
    assert bucket.keys(PREFIX) == before

    bucket.run("Delete", 13)
    assert bucket.run("Delete", 17).moved == 50
    last = bucket.run("Delete", 21)
    assert (last.removed, last.kept) == (50, 0)
    left = bucket.keys("warehouse/.paimon-operator/shop.orders/_orphan-files/quarantine/")
    assert left == {}
    assert before.keys() - bucket.keys(PREFIX).keys() == set(planted)


def test_the_time_of_the_storage_is_that_of_an_object(bucket: Bucket) -> None:
    before = time.time()
    found = moment_of(bucket.files, "s3://lake/warehouse/.paimon-operator/t/_orphan-files")
    assert abs(found.storage_ms / 1000 - before) < 60


def test_objects_are_listed_read_moved_and_removed(bucket: Bucket) -> None:
    files = bucket.files
    for name, content in (("a", b"1"), ("d=1%2F2/b #?", b"12345"), ("d/", b"")):
        bucket.server.client().put_object(Bucket="lake", Key=f"{PREFIX}{name}", Body=content)
    bucket.server.client().put_object(Bucket="lake", Key="warehouse/shop.db/orders2/x", Body=b"")
    found = sorted(files.walk(TABLE))
    assert [(each.path, each.size) for each in found] == [("a", 1), ("d=1%2F2/b #?", 5)]
    status = files.status(f"{TABLE}/a")
    assert status == ListedFile(f"{TABLE}/a", 1, found[0].modified_ms)
    assert files.status(f"{TABLE}/none") is None
    files.move(f"{TABLE}/d=1%2F2/b #?", f"{TABLE}/x/b #?")
    assert files.read(f"{TABLE}/x/b #?") == b"12345"
    files.delete(f"{TABLE}/a")
    files.delete(f"{TABLE}/a")
    assert [each.path for each in files.walk(TABLE)] == ["x/b #?"]
    with pytest.raises(ChangeFailedError, match="none"):
        files.move(f"{TABLE}/none", f"{TABLE}/there")
