"""Plays a schedule on a real table, with a clock of its own, and keeps the model beside it."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from unittest import mock

from paimon_contract.job import Job, JobCatalog, JobRun
from paimon_contract.parameters.remove_orphan_files import DELETE, REPORT, RemoveOrphanFilesParameters
from paimon_contract.result import OrphanFiles
from paimon_engines.loader import load_engine
from paimon_schema.option_changes import OWNER_OPTION
from spark_apps.metadata.base import UnreadableError
from spark_apps.operations import remove_orphan_files
from spark_apps.orphans.times import Moment
from tests.spark.lake import Lake
from tests.spark_apps.jobs import job
from tests.support.kill_points import Died
from tests.support.schedules.dying_storage import DyingStorage
from tests.support.schedules.generator import OLDER_THAN_HOURS
from tests.support.schedules.kinds import DYNAMIC
from tests.support.schedules.model import MORE_CHANGELOGS, Model
from tests.support.schedules.oracle import differences
from tests.support.schedules.reachable import TableTree
from tests.support.schedules.schedule import Do, Schedule, Step

HOUR_MS: Final = 3_600_000
_CONFLICT: Final = "onflict"
"""In each message of Paimon about a commit that conflicts with another one."""


@dataclass
class Player:
    """One schedule on `lake`, in which nothing else happens."""

    lake: Lake
    schedule: Schedule
    played: list[Step] = field(default_factory=list)
    moved: int = 0
    """Orphans that were moved away."""
    conflicts: int = 0
    _level_0: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Write or compaction -> the writes that were in level 0 when it began."""
    _begun: dict[str, Step] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    """Files whose time is that of the schedule's clock."""

    def __post_init__(self) -> None:
        if self.schedule.kind.has_index and not self.lake.engine.expires_changelogs_with_index:
            self.schedule = replace(self.schedule, kind=replace(self.schedule.kind, changelogs=False))
        self.model = Model(self.schedule.kind)
        self.tree = TableTree(self.lake.table_directory)
        self.now_ms = time.time_ns() // 1_000_000
        self._latest = 0

    def play(self) -> None:
        """Creates the table and plays all steps. Raises AssertionError with the steps so far."""
        self.play_steps(self.schedule.steps)
        self.end()

    def play_steps(self, steps: Iterable[Step]) -> None:
        """Plays these steps. The first ones create the table before."""
        if not self.played:
            self._create_table()
        for step in steps:
            self.step(step)

    def _create_table(self) -> None:
        kind = self.schedule.kind
        options = {**kind.options, OWNER_OPTION: self.lake.owner}
        partitions = ["p"] if kind.partitioned else []
        names = {"keys": kind.keys, "required": kind.required, "partitions": partitions}
        self.ask("open", warehouse=self.lake.warehouse, **names, options=options)

    def step(self, step: Step) -> None:
        """Plays one step."""
        self.played.append(step)
        try:
            self._steps[step.do](step)
        except AssertionError:
            raise
        except Exception as error:
            raise AssertionError(f"{self.told()}\n{type(error).__name__}: {error}") from error
        self._note_snapshots({})
        self._stamp()

    def told(self) -> str:
        """Seed, table and steps so far."""
        steps = [f"{number:3} {step}" for number, step in enumerate(self.played)]
        return "\n".join([f"SCHEDULE_SEED={self.schedule.seed}: {self.schedule.kind}", *steps])

    def end(self) -> None:
        """All writers that are left die, and long afterwards nothing is left but what is reachable."""
        for name in list(self._begun):
            self.step(Step(Do.DIE, name=name))
        self.step(Step(Do.EXPIRE_SNAPSHOTS, keep=1))
        for do in (Do.REPORT_ORPHANS, Do.DELETE_ORPHANS):
            self.step(Step(Do.PASS_TIME, hours=2 * OLDER_THAN_HOURS))
            self.step(Step(do))
        self.check_end()

    def check_end(self) -> None:
        """Compares everything with the model, and what is there with what is named."""
        self.step(Step(Do.CHECK))
        left = self.tree.names() - self.tree.named()
        assert not left, f"{self.told()}\nfiles that nothing needs are left: {sorted(left)}"

    def check(self) -> None:
        """Compares everything with the model."""
        found = differences(self.lake, self.model, self.tree, self.ask)
        assert not found, "\n".join([self.told(), *found])

    @property
    def _steps(self) -> dict[StrEnum, Callable[[Step], object]]:
        return {
            Do.BEGIN_WRITE: self._begin_write,
            Do.BEGIN_COMPACTION: self._begin_compaction,
            Do.COMMIT: self._commit,
            Do.DIE: lambda step: self._forget(step.name),
            Do.DIE_IN_COMMIT: self._die_in_commit,
            Do.EXPIRE_SNAPSHOTS: self._expire,
            Do.DIE_IN_EXPIRY: self._die_in_expiry,
            Do.DROP_PARTITION: self._drop_partition,
            Do.CREATE_TAG: self._create_tag,
            Do.DELETE_TAG: self._delete_tag,
            Do.CREATE_BRANCH: self._create_branch,
            Do.DELETE_BRANCH: self._delete_branch,
            Do.CREATE_CONSUMER: self._create_consumer,
            Do.ADVANCE_CONSUMER: lambda step: self._consume(step.name, self._latest + 1),
            Do.DELETE_CONSUMER: self._delete_consumer,
            Do.SORT: lambda _: self._sort(),
            Do.COMPACT_MANIFESTS: lambda _: self.ask("compact_manifests"),
            Do.ANALYZE: lambda _: self.ask("analyze", snapshot=self._latest),
            Do.PASS_TIME: self._pass_time,
            Do.REPORT_ORPHANS: lambda _: self._remove_orphans(REPORT),
            Do.DELETE_ORPHANS: lambda _: self._remove_orphans(DELETE),
            Do.DIE_IN_ORPHANS: lambda step: self._remove_orphans(DELETE, dies_at=step.call),
            Do.CHECK: lambda _: self.check(),
        }

    def ask(self, play: str, **request: Any) -> Any:
        """What a method of the JavaTable returns. Raises AssertionError where it failed."""
        answer = self.lake.jvm.ask(play=play, **request)
        assert "failed" not in (answer or {}), f"{self.told()}\n{play}: {answer['failed']}"
        return (answer or {}).get("ended")

    def _begin_write(self, step: Step) -> None:
        self.begin_files(step)
        self._begin(step)

    def begin_files(self, step: Step) -> None:
        """Writes the files of a write, of which the model does not know."""
        kind = self.schedule.kind
        rows = [(each.p, each.k, each.seq, each.a, each.b, each.gone) for each in step.rows]
        own = 2 if kind.has_key and kind.buckets == DYNAMIC else None
        self.ask("begin_write", name=step.name, rows=rows, buckets=own)

    def _begin_compaction(self, step: Step) -> None:
        kind = self.schedule.kind
        if not kind.has_key and kind.buckets == DYNAMIC:
            self.ask("begin_compaction_without_buckets", name=step.name)
        else:
            self.ask("begin_compaction", name=step.name, full=step.full)
        self._begin(step)

    def _begin(self, step: Step) -> None:
        self._begun[step.name] = step
        self._level_0[step.name] = tuple(self.model.level_0)

    def _forget(self, name: str) -> Step:
        del self._level_0[name]
        return self._begun.pop(name)

    def _commit(self, step: Step) -> None:
        begun, level_0 = self._begun[step.name], self._level_0[step.name]
        error = self.ask("commit", name=step.name)
        assert error is None or _CONFLICT in error, f"{self.told()}\nno conflict: {error}"
        made = self._made()
        if begun.do is Do.BEGIN_WRITE and error is None:
            assert "APPEND" in made, f"{self.told()}\nthe write has no snapshot: {made}"
        self.conflicts += error is not None
        self._note(begun, level_0)
        self._forget(step.name)

    def _made(self) -> list[str]:
        """The kinds of the snapshots that are new."""
        return [each["commitKind"] for id_, each in sorted(self.tree.snapshots().items()) if id_ > self._latest]

    def _note(self, begun: Step, level_0: tuple[str, ...]) -> None:
        """Takes the new snapshots of a write or compaction over into the model."""
        is_write = begun.do is Do.BEGIN_WRITE
        partitions = {each.p for each in begun.rows} if is_write else None
        self._note_snapshots(
            {
                "APPEND": lambda: self.model.append(begun.name, begun.rows),
                "COMPACT": lambda: self.model.compact({*level_0, begun.name}, partitions),
            }
        )

    def _note_snapshots(self, effects: dict[str, Callable[[], None]]) -> None:
        for id_, snapshot in sorted(self.tree.snapshots().items()):
            if id_ > self._latest:
                effects.get(snapshot["commitKind"], lambda: None)()
                self.model.add_snapshot(id_)
                self._latest = id_

    def _die_in_commit(self, step: Step) -> None:
        """Commits, and takes the snapshots back: a writer makes everything else before."""
        hint = self.tree.snapshot_directory / "LATEST"
        begun, level_0 = self._begun[step.name], self._level_0[step.name]
        error = self.ask("commit", name=step.name)
        assert error is None or _CONFLICT in error, f"{self.told()}\nno conflict: {error}"
        for id_ in sorted(self.tree.snapshots())[::-1]:
            if id_ >= self._latest + step.call:
                file = self.tree.snapshot_directory / f"snapshot-{id_}"
                file.rename(file.with_name(f".{file.name}.{uuid.uuid4()}.tmp"))
        hint.write_text(str(max(self.tree.snapshots())))
        self._note(begun, level_0)
        self._forget(step.name)

    def _expire(self, step: Step) -> None:
        self._ask_to_expire(step.keep)
        self.model.expire(step.keep)

    def _ask_to_expire(self, keep: int) -> None:
        """As ExpireSnapshots does: the tags that are due come first."""
        self._tag_automatically()
        more = {"changelogs": keep + MORE_CHANGELOGS} if self.schedule.kind.changelogs else {}
        self.ask("expire", keep=keep, **more)

    def _die_in_expiry(self, step: Step) -> None:
        """Expires, and puts back what an expiry removes at its end: for each snapshot its manifests, then its file.

        Call 1: it has removed data files only. Call 2: all but the file of the last snapshot and the hint.
        """
        directory = self.tree.snapshot_directory
        hints, snapshots = self._contents("snapshot/[EL]*"), self._contents("snapshot/snapshot-*")
        manifests = self._contents("manifest/*", "index/*", "statistics/*")
        changelogs = self._contents("changelog/*")
        self._ask_to_expire(step.keep)
        gone = sorted((each for each in snapshots if not each.exists()), key=lambda each: int(each.name[9:]))
        _restore({each: snapshots[each] for each in (gone if step.call == 1 else gone[-1:])})
        if step.call == 1:
            _restore(manifests)
            for path in directory.with_name("changelog").glob("*"):
                path.unlink()
            _restore(changelogs)
        for path in directory.glob("[EL]*"):
            path.unlink()
        _restore(hints)
        self.model.expire(step.keep)
        self.model.damaged = set(self.tree.snapshots()) - set(self.model.snapshots)

    def _contents(self, *patterns: str) -> dict[Path, bytes]:
        found = (path for each in patterns for path in self.tree.root.glob(each))
        return {path: path.read_bytes() for path in found}

    def _drop_partition(self, step: Step) -> None:
        self.ask("drop", name="drop", partition=step.partition)
        self._note_snapshots({"OVERWRITE": lambda: self.model.drop_partition(step.partition)})

    def _create_tag(self, step: Step) -> None:
        id_ = max(self._latest - step.back, min(self.model.snapshots))
        self.ask("tag", name=step.name, snapshot=id_)
        self.model.tags[step.name] = self.model.snapshots[id_]

    def _delete_tag(self, step: Step) -> None:
        self.ask("untag", name=step.name)
        del self.model.tags[step.name]

    def _create_branch(self, step: Step) -> None:
        self.ask("branch", name=step.name, tag=step.tag)
        self.model.branches[step.name] = self.model.tags[step.tag]

    def _delete_branch(self, step: Step) -> None:
        self.ask("unbranch", name=step.name)
        del self.model.branches[step.name]

    def _tag_automatically(self) -> None:
        """The tag of a day: the first one must come, and at midnight another one may."""
        self.ask("tag_automatically")
        days = {name: id_ for name, id_ in self.tree.tags().items() if name[0].isdigit()}
        assert bool(days) == self.schedule.kind.tagged, f"{self.told()}\nautomatic tags: {days}"
        created = {name: id_ for name, id_ in days.items() if name not in self.model.tags}
        self.model.tags |= {name: self.model.snapshots[id_] for name, id_ in created.items()}

    def _create_consumer(self, step: Step) -> None:
        self._consume(step.name, max(self._latest - step.back, min(self.model.snapshots)))

    def _consume(self, name: str, next_: int) -> None:
        self.ask("consume", name=name, snapshot=next_)
        self.model.consumers[name] = next_

    def _delete_consumer(self, step: Step) -> None:
        self.ask("unconsume", name=step.name)
        del self.model.consumers[step.name]

    def _sort(self) -> None:
        if load_engine(self.lake.engine.id).has_incremental_clustering:
            done = self.lake.compact(strategy="Sort")
            assert done.code == 0, f"{self.told()}\n{done.result}"

    def _pass_time(self, step: Step) -> None:
        self.now_ms += step.hours * HOUR_MS

    def _stamp(self) -> None:
        """Gives new files the time of the schedule's clock."""
        at = self.now_ms / 1000
        for directory, _, names in os.walk(self.lake.table_directory):
            for path in (os.path.join(directory, name) for name in names):
                if path not in self._known:
                    os.utime(path, (at, at))
                    self._known.add(path)

    def _remove_orphans(self, mode: str, dies_at: int | None = None) -> None:
        moment = Moment(self.now_ms, self.now_ms)
        with mock.patch.object(remove_orphan_files, "moment_of", return_value=moment):
            try:
                done = self._run_removal(mode, DyingStorage(dies_at))
            except Died:
                assert dies_at is not None
            except UnreadableError:  # it refuses to remove anything
                if not self.model.damaged:
                    raise
            else:
                self.moved += done.moved or 0

    def _run_removal(self, mode: str, storage: DyingStorage) -> OrphanFiles:
        of: Job = job(
            run=JobRun(f"r{next(self.lake.numbers)}", "u", "shop"),
            operation="RemoveOrphanFiles",
            engine=self.lake.engine.id,
            catalog=JobCatalog(self.lake.warehouse, "filesystem"),
            owner=self.lake.owner,
            parameters=RemoveOrphanFilesParameters(
                mode=mode, older_than_seconds=OLDER_THAN_HOURS * 3600, max_percent=100
            ),
        )
        return remove_orphan_files.perform(of, storage)


def _restore(contents: dict[Path, bytes]) -> None:
    for path, content in contents.items():
        path.write_bytes(content)
