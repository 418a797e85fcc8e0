"""Makes a schedule from a seed.

A writer that is older than OLDEST_WRITE_HOURS is taken for dead, because `olderThan` of RemoveOrphanFiles promises
safety only to writers that commit before.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from tests.support.schedules.kinds import (
    DEDUPLICATE,
    FORMATS,
    KINDS,
    NEVER_EXPIRES,
    PARTIAL_UPDATE,
    TableKind,
)
from tests.support.schedules.schedule import Do, Row, Schedule, Step

OLDER_THAN_HOURS = 72
OLDEST_WRITE_HOURS = 71
KEYS = 12
PARTITIONS = 3
_STRIDE = 97
"""Seeds that follow each other have very different tables. All kinds follow, as it has no divisor with their number."""


def schedule(seed: int) -> Schedule:
    """The schedule of this seed."""
    return Generator(seed).make()


@dataclass
class Generator:
    """Draws the steps, one after the other."""

    seed: int
    steps: list[Step] = field(default_factory=list)
    opened: dict[str, Step] = field(default_factory=dict)
    """Writes and compactions that are neither committed nor dead."""
    age: dict[str, int] = field(default_factory=dict)
    """Their hours."""
    tags: list[str] = field(default_factory=list)
    branches: dict[str, str] = field(default_factory=dict)
    """Branch -> its tag."""
    consumers: list[str] = field(default_factory=list)
    names: int = 0
    seq: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)  # noqa: S311  (repeatable)
        self.kind = self._maintained(KINDS[self.seed * _STRIDE % len(KINDS)])

    def _maintained(self, kind: TableKind) -> TableKind:
        """The kind with a format and what only maintenance makes use of."""
        return replace(
            kind,
            format=self.random.choice(FORMATS),
            changelogs=self.random.random() < 0.5 and kind.producer != "none",
            tagged=self.random.random() < 0.4 and not kind.inline,
            expiring=self.random.random() < 0.3 and kind.engine in (DEDUPLICATE, PARTIAL_UPDATE),
        )

    def make(self) -> Schedule:
        """Begins with rows, and has two checks between."""
        self._write_at_once()
        length = self.length
        checks = self.random.sample(range(length), 2)
        for number in range(length):
            self.random.choices(*zip(*self._choices(), strict=True))[0]()
            if number in checks:
                self._add(Do.CHECK)
        return Schedule(self.seed, self.kind, tuple(self.steps))

    @property
    def length(self) -> int:
        """The number of draws, of which some are two steps."""
        return self.random.randint(10, 25)

    def _choices(self) -> list[tuple[Callable[[], object], int]]:
        """What may come next, and its weight."""
        found: list[tuple[Callable[[], object], int]] = [
            (self._begin_write, 6), (self._write_at_once, 4), (self._begin_compaction, 4), (self._expire, 3),
            (self._create_tag, 2), (self._create_branch, 1), (self._pass_time, 4), (self._die_in_orphans, 2),
            (lambda: self._add(Do.COMPACT_MANIFESTS), 1), (lambda: self._add(Do.ANALYZE), 1),
            (lambda: self._add(Do.REPORT_ORPHANS), 2), (lambda: self._add(Do.DELETE_ORPHANS), 3),
            (self._create_consumer, 1),
        ]  # fmt: skip
        if self.kind.sorted:
            found.append((lambda: self._add(Do.SORT), 8))
        if self.consumers:
            found += [(self._advance_consumer, 2), (self._delete_consumer, 1)]
        if self.opened:
            found += [(self._commit, 9), (self._die, 2), (self._die_in_commit, 2)]
        if self.kind.partitioned:
            found.append((self._drop_partition, 1))
        if self._free_tags():
            found.append((self._delete_tag, 2))
        if self.branches:
            found.append((self._delete_branch, 6))
        return found

    def _add(self, do: StrEnum, **members: object) -> Step:
        step = Step(do, **members)  # type: ignore[arg-type]
        self.steps.append(step)
        return step

    def _name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def _open(self, step: Step) -> None:
        self.opened[step.name], self.age[step.name] = step, 0

    def _close(self, name: str) -> str:
        del self.opened[name], self.age[name]
        return name

    def _begin_write(self) -> None:
        if rows := self._rows():
            self._open(self._add(Do.BEGIN_WRITE, name=self._name("w"), rows=rows))
        else:  # each key is in a write that is open
            self._commit()

    def _write_at_once(self) -> None:
        self._begin_write()
        if self.steps[-1].name in self.opened:
            self._add(Do.COMMIT, name=self._close(self.steps[-1].name))

    def _begin_compaction(self) -> None:
        step = self._add(Do.BEGIN_COMPACTION, name=self._name("c"), full=self.random.random() < 0.6)
        self._open(step)
        if self.random.random() < 0.5:
            self._add(Do.COMMIT, name=self._close(step.name))

    def _any_open(self) -> str:
        return self._close(self.random.choice(list(self.opened)))

    def _commit(self) -> None:
        self._add(Do.COMMIT, name=self._any_open())

    def _die(self) -> None:
        self._add(Do.DIE, name=self._any_open())

    def _die_in_commit(self) -> None:
        self._add(Do.DIE_IN_COMMIT, name=self._any_open(), call=self.random.choice([1, 2]))

    def _expire(self) -> None:
        do = Do.EXPIRE_SNAPSHOTS if self.random.random() < 0.75 else Do.DIE_IN_EXPIRY
        moment = {"call": self.random.choice([1, 2])} if do is Do.DIE_IN_EXPIRY else {}
        self._add(do, keep=self.random.randint(1, 4), **moment)

    def _drop_partition(self) -> None:
        self._add(Do.DROP_PARTITION, partition=self.random.randrange(PARTITIONS))

    def _create_tag(self) -> None:
        self.tags.append(self._add(Do.CREATE_TAG, name=self._name("t"), back=self.random.choice([0, 0, 1, 2])).name)

    def _free_tags(self) -> list[str]:
        """Tags that no branch needs: without its tag on the main branch, Paimon expires a branch's files (#6272)."""
        return [each for each in self.tags if each not in self.branches.values()]

    def _delete_tag(self) -> None:
        name = self.random.choice(self._free_tags())
        self.tags.remove(name)
        self._add(Do.DELETE_TAG, name=name)

    def _create_branch(self) -> None:
        """From a new tag: Paimon 1.4 makes none from a tag whose snapshot has expired (#8748)."""
        name, tag = self._name("b"), self._add(Do.CREATE_TAG, name=self._name("t")).name
        self.tags.append(tag)
        self.branches[name] = tag
        self._add(Do.CREATE_BRANCH, name=name, tag=tag)

    def _delete_branch(self) -> None:
        name = self.random.choice(list(self.branches))
        del self.branches[name]
        self._add(Do.DELETE_BRANCH, name=name)

    def _create_consumer(self) -> None:
        back = self.random.choice([0, 1, 2, 3])
        self.consumers.append(self._add(Do.CREATE_CONSUMER, name=self._name("r"), back=back).name)

    def _advance_consumer(self) -> None:
        self._add(Do.ADVANCE_CONSUMER, name=self.random.choice(self.consumers))

    def _delete_consumer(self) -> None:
        name = self.random.choice(self.consumers)
        self.consumers.remove(name)
        self._add(Do.DELETE_CONSUMER, name=name)

    def _die_in_orphans(self) -> None:
        self._add(Do.DIE_IN_ORPHANS, call=self.random.randint(1, 25))

    def _pass_time(self) -> None:
        hours = self.random.choice([1, 20, 60, 80, 100])
        for name in list(self.opened):
            self.age[name] += hours
            if self.age[name] > OLDEST_WRITE_HOURS:
                self._add(Do.DIE, name=self._close(name))
        self._add(Do.PASS_TIME, hours=hours)

    def _rows(self) -> tuple[Row, ...]:
        """Up to eight rows with keys of their own. The order of what is concurrent must not matter to the result."""
        taken = {(each.p, each.k) for step in self.opened.values() for each in step.rows}
        keys = [(p, k) for p in range(PARTITIONS if self.kind.partitioned else 1) for k in range(KEYS)]
        if self.kind.is_ordered:
            keys = [each for each in keys if each not in taken]
        chosen = self.random.sample(keys, min(self.random.randint(1, 8), len(keys)))
        return tuple(self._row(p, k, may_delete=(p, k) not in taken) for p, k in chosen)

    def _row(self, p: int, k: int, *, may_delete: bool) -> Row:
        self.seq += 1
        gone = self.kind.engine == DEDUPLICATE and may_delete and self.random.random() < 0.15
        a, b = (self._time(k) if self.kind.expiring else self._value(), self._value())
        return Row(p, k, self.seq, a, b, gone)

    def _time(self, k: int) -> int:
        """All records of a key have expired, or none: without a new one, an older one would be seen again."""
        return self.random.randrange(1000) + (NEVER_EXPIRES if k % 2 else 0)

    def _value(self) -> int | None:
        is_null = self.kind.engine == PARTIAL_UPDATE and self.random.random() < 0.4
        return None if is_null else self.random.randrange(1000)
