"""Compares what a driver of maintenance has left with what it had to leave, and records what it has done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from paimon_engines.engine import Engine
from tests.spark.lake import Lake
from tests.support.schedules.ages import Ages
from tests.support.schedules.automatic_tags import is_automatic, tags_after
from tests.support.schedules.effects import Effect, reported
from tests.support.schedules.generator import PARTITIONS
from tests.support.schedules.kinds import TableKind
from tests.support.schedules.model import Model
from tests.support.schedules.operated_manifest import (
    CHANGELOG_AGE,
    CONSUMER_AGE,
    KEPT,
    TAG_AGE,
    TAGS_KEPT,
    is_done,
)
from tests.support.schedules.operated_schedule import FULL
from tests.support.schedules.reachable import MARK, TableTree


@dataclass(frozen=True)
class Found:
    """What is in the table's directory."""

    snapshots: set[int]
    tags: dict[str, int]
    consumers: set[str]
    changelogs: set[int]
    marks: dict[int, int]
    """Partition -> when it was marked as done."""


@dataclass
class Witness:
    """What the drivers of one table do. The model follows them."""

    lake: Lake
    model: Model
    tree: TableTree
    engine: Engine
    ages: Ages
    effects: set[Effect] = field(default_factory=set)
    """Of the runs that have succeeded."""
    _before: Found | None = None

    @property
    def kind(self) -> TableKind:
        """The kind of the table."""
        return self.model.kind

    def begin(self) -> None:
        """A driver starts."""
        self._before = self._find()

    def end(self, job: dict[str, Any], result: dict[str, Any] | None, now_ms: int) -> list[str]:
        """A sentence for each thing that the driver has left otherwise than it had to.

        `result`: of a driver that has succeeded; None: it has died after its work.
        """
        assert self._before is not None
        before, after, done = self._before, self._find(), set(reported(job, result or {}))
        problems = [*self._after_all(job["operation"], before, after, now_ms)]
        done |= set(_changes(before, after, self._old_tags(now_ms)))
        if job["operation"] == "ExpireSnapshots":
            problems += self._after_expiry(before, after, now_ms)
        if job["operation"] == "MarkPartitionsDone":
            problems += self._after_marking(before, after, now_ms)
        if job["operation"] == "Compact" and job["compact"]["strategy"] == FULL and self.kind.expiring:
            is_whole = job["compact"].get("thresholds") is None
            problems += self._after_compaction(done, is_whole=is_whole)
        self.effects |= done if result is not None else set()
        return problems

    def _find(self) -> Found:
        tree = self.tree
        files = {each: tree.root / f"p={each}" / MARK for each in range(PARTITIONS)}
        texts = {each: file.read_text() for each, file in files.items() if file.exists()}
        marks = {each: int(json.loads(text)["modificationTime"]) for each, text in texts.items()}
        return Found(set(tree.snapshots()), tree.tags(), tree.consumers(), tree.changelogs(), marks)

    def _old_tags(self, now_ms: int) -> set[str]:
        return self.ages.older("tag", TAG_AGE, now_ms) if self.kind.tagged else set()

    def _after_all(self, operation: str, before: Found, after: Found, now_ms: int) -> Iterator[str]:
        """ExpireSnapshots follows the rules of tags and consumers. Each compaction may do so too, as Paimon's do."""
        tags, consumers = self._tags_due(before, now_ms), before.consumers - self._stale_consumers(now_ms)
        may_stay, may_change = operation != "ExpireSnapshots", operation in ("ExpireSnapshots", "Compact")
        for what, old, due, new in (
            ("tags", before.tags, tags, after.tags),
            ("consumers", before.consumers, consumers, after.consumers),
        ):
            if not (may_stay and new == old) and not (may_change and new == due):
                yield f"{what} were {old} and are {new}; due: {due}"
        if operation != "MarkPartitionsDone" and before.marks != after.marks:
            yield f"marks were {before.marks} and are {after.marks}"
        rows = self.model.snapshots | {id_: self.model.tags[name] for name, id_ in before.tags.items()}
        self.model.tags = {name: rows[id_] for name, id_ in after.tags.items()}
        self.model.consumers = {name: id_ for name, id_ in self.model.consumers.items() if name in after.consumers}

    def _tags_due(self, before: Found, now_ms: int) -> dict[str, int]:
        if not self.kind.tagged:
            return before.tags
        found, old = tags_after(before.tags, self.ages.committed, before.snapshots, TAGS_KEPT), self._old_tags(now_ms)
        return {name: id_ for name, id_ in found.items() if name not in old}

    def _stale_consumers(self, now_ms: int) -> set[str]:
        return self.ages.older("consumer", CONSUMER_AGE, now_ms) if self.kind.forgetful else set()

    def _after_expiry(self, before: Found, after: Found, now_ms: int) -> Iterator[str]:
        if before.snapshots:
            self.model.expire(KEPT, self.ages.first_younger(CHANGELOG_AGE, now_ms))
        if set(self.model.snapshots) != after.snapshots:
            yield f"snapshots must be {set(self.model.snapshots)} and are {after.snapshots}"

    def _after_marking(self, before: Found, after: Found, now_ms: int) -> Iterator[str]:
        for partition in range(PARTITIONS):
            newest, mark = self.tree.newest(f"p={partition}"), after.marks.get(partition)
            if newest is None or not is_done(partition, now_ms):
                if mark != before.marks.get(partition):
                    yield f"partition {partition} is marked as done, and is not"
            elif mark is None or mark <= newest:
                yield f"partition {partition} is done, and its mark is of {mark}, that of its newest file {newest}"

    def _after_compaction(self, done: set[Effect], *, is_whole: bool) -> Iterator[str]:
        """It has removed records that have expired: all of them if all files were to be compacted."""
        left = {(row["p"], row["k"]) for row in self.lake.rows()}
        expired = {key for key, row in self.model.merged.items() if not self.model.is_kept(row.a)}
        if is_whole and not self.engine.has_record_times_in_32_bits and expired & left:
            yield f"records that have expired are left: {sorted(expired & left)}"
        if expired - left:
            done.add(Effect.RECORDS)
        self.model.forget(expired - left)


def _changes(before: Found, after: Found, old_tags: set[str]) -> Iterator[Effect]:
    """What was created and removed, beside snapshots."""
    gone = set(before.tags) - set(after.tags)
    changes = {
        Effect.TAGGED: set(after.tags) - set(before.tags),
        Effect.TAGS_BY_TIME: gone & old_tags,
        Effect.TAGS_BY_NUMBER: {each for each in gone - old_tags if is_automatic(each)},
        Effect.CONSUMERS: before.consumers - after.consumers,
        Effect.CHANGELOGS_KEPT: after.changelogs - before.changelogs,
        Effect.CHANGELOGS: before.changelogs - after.changelogs,
        Effect.MARKED_AGAIN: {each for each, mark in before.marks.items() if after.marks[each] != mark},
    }
    yield from (each for each, changed in changes.items() if changed)
