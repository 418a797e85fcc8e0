"""Places for runs: how many runs may be active at once, and which table starts the next one.

A catalog limits the runs of its tables, the operator those of all tables. A table without a free place waits in
`status.queuedRun`. A table waits only for the limit that stops it: the queue of a full catalog keeps no place of the
operator from other catalogs.

Within a namespace the table with the earliest rank starts first: `rank.py`. The places of the operator are shared
between the namespaces: the next one goes to the namespace with the fewest active runs, and of equals to the one whose
last start is the longest ago. A namespace without an active run may always start one, beyond the operator's limit if
need be. Otherwise the long runs of one namespace could hold all places, and nothing would start in another one.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from heapq import nsmallest
from typing import TypeVar

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.naming import ObjectKey
from paimon_operator.core.spec.table_head import AnyTable

Turn = tuple[datetime, ObjectKey]
"""The rank of a table that waits, and which table it is. Of one namespace the smallest turn starts first."""
Rank = tuple[int, int, Turn]
"""The smallest rank gets the operator's next place: active and earlier runs of the namespace, its last start, turn."""
CountedT = TypeVar("CountedT", ObjectKey, str)


@dataclass(frozen=True)
class RunLimit:
    """A limit that stops a run from starting."""

    maximum: int
    """How many runs may be active at once."""
    catalog: str | None = None
    """The catalog that sets it; None: the operator."""

    def __str__(self) -> str:
        whose = "the operator" if self.catalog is None else f"PaimonCatalog {self.catalog}"
        return f"limits.maxConcurrentRuns of {whose} is {self.maximum}"


@dataclass(frozen=True, slots=True)
class _Use:
    """What one table uses, or waits for."""

    catalog: ObjectKey
    active: bool
    """It has an active run that something can come of."""
    waits_at: datetime | None
    """Its rank in the queue; None: it does not wait."""


class RunSlots:
    """The active runs and the waiting tables of all catalogs.

    The cost of a call grows with the catalogs and the free places, not with the tables.
    """

    def __init__(self, maximum: int | None = None) -> None:
        """`maximum` is the operator's limit; None: it has none."""
        self._maximum = maximum
        self._uses: dict[ObjectKey, _Use] = {}
        self._limits: dict[ObjectKey, int | None] = {}
        """Of the catalogs with waiting tables."""
        self._active: Counter[ObjectKey] = Counter()
        self._active_in: Counter[str] = Counter()
        self._waiting: dict[ObjectKey, list[Turn]] = {}
        self._reserved: set[ObjectKey] = set()
        self._starts = 0
        self._last_start: dict[str, int] = {}
        """Namespace -> number of its last start. A new process begins with none."""

    def put(self, table: AnyTable, catalog: PaimonCatalog | None) -> frozenset[ObjectKey]:
        """Records what `table` uses now. Returns the tables that may start if this has changed anything."""
        key, named = _key(table), _catalog_key(table)
        known, limit = self._uses.get(key), _limit_of(catalog)
        use = _use(table, named, reserved=key in self._reserved)
        if known == use and self._limits.get(named, limit) == limit:
            return frozenset()
        self._forget(key)
        self._enter(key, use)
        if named in self._waiting:
            self._limits[named] = limit
        return self.next_tables()

    def remove(self, namespace: str, name: str) -> frozenset[ObjectKey]:
        """Removes a table: it uses nothing, and waits for nothing. Returns the tables that may start now."""
        self._reserved.discard((namespace, name))
        return self.next_tables() if self._forget((namespace, name)) else frozenset()

    def reserve(self, table: AnyTable) -> None:
        """Takes a place for a run that is being stored. No older observation undoes it before `confirm`."""
        key = _key(table)
        self._starts += 1
        self._last_start[key[0]] = self._starts
        self._reserved.add(key)
        self._forget(key)
        self._enter(key, _Use(_catalog_key(table), active=True, waits_at=None))

    def keep_namespaces(self, live: Set[str]) -> None:
        """Forgets when runs of other namespaces have started: they have no objects any more."""
        self._last_start = {each: number for each, number in self._last_start.items() if each in live}

    def confirm(self, namespace: str, name: str) -> None:
        """Ends a reservation: the next `put` shows whether the run was stored."""
        self._reserved.discard((namespace, name))

    def withdraw(self, namespace: str, name: str) -> frozenset[ObjectKey]:
        """A table could not be stored, or read: until its next `put` it keeps no turn from others, which may start now.

        An active run keeps its place.
        """
        key = namespace, name
        use = self._uses.get(key)
        holds_place = use is not None and use.active and key not in self._reserved
        return frozenset() if holds_place else self.remove(namespace, name)

    def stopped_by(self, table: AnyTable, catalog: PaimonCatalog, rank: datetime) -> RunLimit | None:
        """The limit that stops a run of `table` with this rank; None if it may start."""
        key, named, limit = _key(table), _catalog_key(table), _limit_of(catalog)
        known = self._uses.get(key)
        own = (rank if known is None or known.waits_at is None else min(rank, known.waits_at), key)
        # A run of the table itself that has just ended leaves its place to the table that comes first.
        left = 1 if known is not None and known.active else 0
        if limit is not None and bisect_left(self._waiting.get(named, []), own) >= self._free_of(named, limit) + left:
            return RunLimit(limit, catalog.metadata.name)
        free = self._free(left)
        if free is None or self._maximum is None:
            return None
        return None if self._has_turn(own, free, left) else RunLimit(self._maximum)

    def _has_turn(self, own: Turn, free: int, left: int) -> bool:
        """Whether one of the operator's `free` places is for the table with this turn, or its namespace has none."""
        turns = self._turns_of_namespaces(free)
        namespace = own[1][0]
        before = sum(1 for turn in turns.pop(namespace, ()) if turn < own)
        mine = self._rank(namespace, before, own, left)
        ahead = before + sum(1 for rank in self._ranks(turns) if rank < mine)
        return ahead < free or _is_first(mine)

    def is_next(self, namespace: str, name: str) -> bool:
        """Whether the table waits and may start now."""
        use = self._uses.get((namespace, name))
        return use is not None and use.waits_at is not None and (namespace, name) in self.next_tables()

    def next_tables(self) -> frozenset[ObjectKey]:
        """The waiting tables that may start now."""
        free = self._free()
        ranks = list(self._ranks(self._turns_of_namespaces(free)))
        places = max(self._uses_at_most(free), sum(map(_is_first, ranks)))
        return frozenset(key for *_, (_, key) in nsmallest(places, ranks))

    def _free(self, left: int = 0) -> int | None:
        """Free places of the operator, `left` of them just now; None without a limit."""
        return None if self._maximum is None else max(self._maximum - sum(self._active.values()) + left, 0)

    def _uses_at_most(self, free: int | None) -> int:
        return len(self._uses) if free is None else free

    def _turns_of_namespaces(self, free: int | None) -> dict[str, list[Turn]]:
        """Namespace -> turns that no catalog's limit stops, in order: no more of a catalog than it has free places.

        The first turn of a namespace is there even without a free place.
        """
        found: dict[str, list[Turn]] = {}
        at_most = None if free is None else max(free, 1)
        for catalog, turns in self._waiting.items():
            found.setdefault(catalog[0], []).extend(turns[: self._at_most(catalog, at_most)])
        return {namespace: sorted(turns)[:at_most] for namespace, turns in found.items()}

    def _ranks(self, turns: Mapping[str, Sequence[Turn]]) -> Iterator[Rank]:
        """The rank of each turn of `_turns_of_namespaces`."""
        return (self._rank(each, number, turn) for each, of in turns.items() for number, turn in enumerate(of))

    def _rank(self, namespace: str, before: int, turn: Turn, left: int = 0) -> Rank:
        """The rank of a turn: `before` tables of its namespace come first, and `left` of its runs have just ended."""
        active = self._active_in[namespace] - left
        return active + before, self._last_start.get(namespace, 0), turn

    def _at_most(self, catalog: ObjectKey, free: int | None) -> int | None:
        """How many tables of a catalog may start next."""
        limit = self._limits.get(catalog)
        own = None if limit is None else max(self._free_of(catalog, limit), 0)
        return min((each for each in (own, free) if each is not None), default=None)

    def _free_of(self, catalog: ObjectKey, maximum: int) -> int:
        return maximum - self._active[catalog]

    def _enter(self, key: ObjectKey, use: _Use) -> None:
        self._uses[key] = use
        if use.active:
            self._active[use.catalog] += 1
            self._active_in[key[0]] += 1
        elif use.waits_at is not None:
            insort(self._waiting.setdefault(use.catalog, []), (use.waits_at, key))

    def _forget(self, key: ObjectKey) -> bool:
        """Removes what a table uses. Returns whether it used or waited for anything."""
        use = self._uses.pop(key, None)
        if use is None:
            return False
        if use.active:
            _decrease(self._active, use.catalog)
            _decrease(self._active_in, key[0])
        elif use.waits_at is not None:
            turns = self._waiting[use.catalog]
            del turns[bisect_left(turns, (use.waits_at, key))]
            if not turns:
                del self._waiting[use.catalog]
                self._limits.pop(use.catalog, None)
        return use.active or use.waits_at is not None


def _is_first(rank: Rank) -> bool:
    """Whether the turn is the first of a namespace without an active run."""
    return rank[0] == 0


def _decrease(counts: Counter[CountedT], key: CountedT) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


def _use(table: AnyTable, catalog: ObjectKey, *, reserved: bool) -> _Use:
    run, queued = table.status.active_run, table.status.queued_run
    if reserved:
        return _Use(catalog, active=True, waits_at=None)
    active = run is not None and not (run.blocked or run.result_unknown)
    waits = queued is not None and run is None
    return _Use(catalog, active=active, waits_at=(queued.rank or queued.since) if queued and waits else None)


def _limit_of(catalog: PaimonCatalog | None) -> int | None:
    limits = None if catalog is None else catalog.spec.limits
    return None if limits is None else limits.max_concurrent_runs


def _key(table: AnyTable) -> ObjectKey:
    return table.metadata.namespace, table.metadata.name


def _catalog_key(table: AnyTable) -> ObjectKey:
    return table.metadata.namespace, table.spec.catalog_ref.name
