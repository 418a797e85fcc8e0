"""A run that Python performs: its outcome, and when the JVM's program reports more."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from paimon_contract.job import Job, JobCatalog
from paimon_contract.parameters.remove_orphan_files import RemoveOrphanFilesParameters
from paimon_contract.result import Outcome
from paimon_engines.loader import load_engine
from spark_apps.driver import without_jvm
from spark_apps.failures.errors import RunError
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.operations import remove_orphan_files
from spark_apps.orphans import held_tag
from spark_apps.orphans.volume import VolumeStorage
from tests.spark_apps.jobs import job
from tests.spark_apps.orphans.world import World
from tests.support.whole_table import DAY_S, OWNER, files_in


def asked(world: World, mode: str = "Report", **members: Any) -> Job:
    usual: dict[str, Any] = {
        "operation": "RemoveOrphanFiles",
        "catalog": JobCatalog(world.root.as_uri(), "filesystem"),
        "owner": OWNER,
        "parameters": RemoveOrphanFilesParameters(mode=mode, older_than_seconds=3 * DAY_S),
    }
    return job(**usual | members)


def outcome(of: Job) -> Outcome | None:
    return remove_orphan_files.without_jvm(of, load_engine("paimon-1.4"), VolumeFiles())


def test_the_driver_ends_without_a_jvm(world: World) -> None:
    world.table.plant()
    performed = without_jvm.perform(asked(world))
    assert performed is not None
    document, code = performed
    assert (code, document["orphanFiles"]["orphans"], document["seenSnapshot"]) == (0, 10, 3)


def test_a_refusal_ends_without_a_jvm_too(world: World) -> None:
    world.table.plant(5)
    performed = without_jvm.perform(asked(world, "Delete"))
    assert performed is not None
    document, code = performed
    assert (code, document["error"]["reason"]) == (20, "TooManyOrphanFiles")
    assert document["orphanFiles"]["orphans"] == 50, "with the numbers of its report"


@pytest.mark.parametrize(
    ("sentence", "members"),
    [
        ("another owner", {"owner": "cluster/shop/another"}),
        ("a warehouse on HDFS", {"catalog": JobCatalog("hdfs://lake/warehouse", "filesystem")}),
        ("a table that does not exist", {"catalog": JobCatalog("file:///none", "filesystem")}),
    ],
)
def test_the_jvm_is_needed_for_a_table_that_is_not_as_expected(
    world: World, sentence: str, members: dict[str, Any]
) -> None:
    assert outcome(asked(world, **members)) is None, sentence
    assert not world.own.exists()


class ReportsOnly(VolumeStorage):
    """Files of a storage that only a JVM may change, as HDFS. Fails at a change of anything but reports."""

    may_change_tables: ClassVar[bool] = False

    def write(self, path: str, content: bytes) -> None:
        assert "/_orphan-files/reports/" in path, path
        super().write(path, content)

    def delete(self, path: str) -> None:
        assert "/_orphan-files/reports/" in path, path
        super().delete(path)

    def move(self, source: str, target: str) -> None:
        raise AssertionError(f"{source} is moved to {target}")


@pytest.fixture
def reports_only(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    world.table.plant()
    for day in (0, 4):
        world.day = day
        world.run("Delete")
    assert world.quarantined()
    world.day = 8
    monkeypatch.setattr(remove_orphan_files, "storage_in", lambda *_: ReportsOnly())
    return world


def as_it_is(world: World) -> None:
    """Files that were moved away are still kept."""


def nothing_kept(world: World) -> None:
    shutil.rmtree(world.own / "quarantine")


def orphans(world: World) -> None:
    nothing_kept(world)
    world.table.plant()


def left_tag(world: World) -> None:
    nothing_kept(world)
    world.table.put(world.table.root / "tag" / f"tag-{held_tag.NAME}", b"{}")


@pytest.mark.parametrize(
    ("mode", "prepare", "ends"),
    [
        pytest.param("Delete", nothing_kept, True, id="nothing to do"),
        pytest.param("Report", nothing_kept, True, id="a report of no orphans"),
        pytest.param("Report", orphans, True, id="a report of orphans"),
        pytest.param("Delete", orphans, False, id="orphans to move away"),
        pytest.param("Delete", as_it_is, False, id="files that were moved away"),
        pytest.param("Report", as_it_is, False, id="files that may have to be moved back"),
        pytest.param("Restore", nothing_kept, False, id="a restore"),
        pytest.param("Report", left_tag, False, id="a tag that a killed run has left"),
    ],
)
def test_where_only_a_jvm_may_change_the_table_a_run_without_one_only_writes_its_report(
    reports_only: World, mode: str, prepare: Callable[[World], None], *, ends: bool
) -> None:
    world = reports_only
    prepare(world)
    before, last = list(files_in(world.root)), world.reports()[-1]
    found = outcome(asked(world, mode))
    assert (found is not None) == ends
    if ends:
        assert world.reports()[-1] != last
    else:
        assert list(files_in(world.root)) == before


def test_the_jvm_reports_a_foreign_commit(world: World) -> None:
    assert outcome(asked(world, "Delete", since_snapshot=1, user_runs=())) is None


def test_the_jvm_looks_once_more_for_a_file_that_is_missing(world: World) -> None:
    world.table.manifests()[0].unlink()
    assert without_jvm.perform(asked(world)) is None
    assert not world.reports()


def test_a_mode_that_the_image_does_not_know_is_refused(world: World) -> None:
    with pytest.raises(RunError, match="cannot do Archive"):
        outcome(asked(world, "Archive"))
