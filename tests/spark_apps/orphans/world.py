"""A table on a volume with runs of RemoveOrphanFiles, at times that the test chooses."""

from __future__ import annotations

import itertools
import json
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import JobCatalog, JobRun
from paimon_contract.parameters.remove_orphan_files import RemoveOrphanFilesParameters
from paimon_contract.result import OrphanFiles
from spark_apps.metadata.volume import local
from spark_apps.operations import remove_orphan_files
from spark_apps.orphans.files import StorageFiles
from spark_apps.orphans.times import Moment
from spark_apps.orphans.volume import VolumeStorage
from tests.spark_apps.jobs import job
from tests.support.whole_table import DAY_S, OWNER, WholeTable, files_in

DAY_MS = 1000 * DAY_S


class KilledError(BaseException):
    """Ends a run as a kill does: nothing of the run catches it but what a process leaves as well."""


class MortalStorage(VolumeStorage):
    """Files of a volume, for a run that is killed before its change number `lives` and changes nothing afterwards.

    `copies`: a move is a copy and a deletion, as on S3, between which a kill can come as well.
    """

    def __init__(self, lives: int, *, copies: bool) -> None:
        self.lives, self.copies = lives, copies

    def write(self, path: str, content: bytes) -> None:
        self._live()
        super().write(path, content)

    def move(self, source: str, target: str) -> None:
        self._live()
        if not self.copies:
            super().move(source, target)
            return
        local(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(local(source), local(target))
        self._live()
        super().delete(source)

    def delete(self, path: str) -> None:
        self._live()
        super().delete(path)

    def prune(self, directory: str) -> None:
        self._live()
        super().prune(directory)

    def _live(self) -> None:
        if self.lives <= 0:
            raise KilledError
        self.lives -= 1


@dataclass
class World:
    """The table `shop.orders` in a warehouse. `day` is the number of days since the test began."""

    root: Path
    day: float = 0.0
    table: WholeTable = field(init=False)
    storage: StorageFiles = field(default_factory=VolumeStorage)
    _runs: Any = field(default_factory=lambda: itertools.count(1))
    _began: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        self.table = WholeTable(self.root / "shop.db" / "orders")

    @property
    def own(self) -> Path:
        """The operator's directory of the table."""
        return self.root / ".paimon-operator" / "shop.orders" / "_orphan-files"

    def moment(self) -> Moment:
        at = round((self._began + self.day * DAY_S) * 1000)
        return Moment(at, at)

    def run(self, mode: str = "Delete", *, days: int = 3, percent: int = 100, **members: Any) -> OrphanFiles:
        """Performs a run now. By default it removes whatever share of the files the orphans are."""
        asked = RemoveOrphanFilesParameters(mode=mode, older_than_seconds=days * DAY_S, max_percent=percent)
        name = f"r{next(self._runs)}"
        of = job(
            run=JobRun(name, f"u-{name}", "shop"),
            operation="RemoveOrphanFiles",
            catalog=JobCatalog(self.root.as_uri(), "filesystem"),
            owner=OWNER,
            parameters=asked,
            **members,
        )
        return remove_orphan_files.perform(of, self.storage)

    def reports(self) -> list[Path]:
        """The reports, oldest first."""
        return sorted((self.own / "reports").glob("*.jsonl"))

    def listed(self, kinds: bool = True) -> list[str]:
        """The paths in the newest report: of orphans, or of unknown files."""
        _, *lines = [json.loads(each) for each in self.reports()[-1].read_text().splitlines()]
        return [each["path"] for each in lines if (each["kind"] != "Unknown") is kinds]

    def quarantined(self) -> list[str]:
        """Paths of the files that were moved away."""
        return sorted(each.partition("/files/")[2] for each in files_in(self.own / "quarantine") if "/files/" in each)


def new_world(root: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose time is the one of the test. The table has three commits and files that runs do not touch."""
    world = World(root)
    monkeypatch.setattr(remove_orphan_files, "moment_of", lambda *_: world.moment())
    for _ in range(3):
        world.table.write(2)
    return world


def run_on(world: World, *days: float, mode: str = "Delete", **more: Any) -> OrphanFiles:
    """Performs a run on each of the days. Returns the last result."""
    for world.day in days:
        found = world.run(mode, **more)
    return found


def once(act: Any) -> Any:
    """Does it at the first call alone."""
    left = [act]

    def acts() -> None:
        if left:
            left.pop()()

    return acts


def after(first: Any, then: Any) -> Any:
    """What does the one, then the other."""

    def both(*given: Any) -> Any:
        first()
        return then(*given)

    return both
