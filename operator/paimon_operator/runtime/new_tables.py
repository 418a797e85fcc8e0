"""When a new table is reconciled for the first time: the new tables of one namespace at a steady rate, after a burst.

Its finalizer and its first status are writes at which the API server checks all rules of the CRD. So a user who creates
thousands of tables slows down every request of the other namespaces (docs/benchmarks.md). This limits what the operator
adds to that, and nothing else: no known table waits, and no run.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Final

from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.keys import Key

BURST_S: Final = 10.0
"""The tables of so many seconds are reconciled at once."""


class NewTables:
    """The turns of new tables, `rate` per second in each namespace; 0: no limit. `clock` is in seconds.

    A namespace that has all tables of the operator is not limited, because nobody waits for it.
    """

    def __init__(self, cache: Cache, *, rate: float, clock: Callable[[], float]) -> None:
        self._cache, self._rate, self._clock = cache, rate, clock
        self._used_until: dict[str, float] = {}
        """Namespace -> when its turns that are given are used up, at the rate."""
        self._turns: dict[Key, float] = {}
        """When it is the turn of each table that waits."""

    def wait(self, table: Key) -> float:
        """Seconds until the first reconcile of the table may begin; 0: now, also for a table that is not new."""
        if not self._is_new(table):
            return 0.0
        turn = self._turns[table] if table in self._turns else self._next_turn(table.namespace)
        left = turn - self._clock()
        if left <= 0:
            return 0.0
        self._turns[table] = turn
        return left

    def forget(self, table: Key) -> None:
        """The table is reconciled now, or does not exist."""
        self._turns.pop(table, None)

    def keep_namespaces(self, live: Set[str]) -> None:
        """Forgets the namespaces without an object, and the tables in them."""
        self._used_until = {each: until for each, until in self._used_until.items() if each in live}
        self._turns = {key: turn for key, turn in self._turns.items() if key.namespace in live}

    @property
    def waiting(self) -> int:
        """Number of tables that wait for their turn."""
        return len(self._turns)

    def _is_new(self, table: Key) -> bool:
        return self._cache.version(table) is not None and not self._cache.has_conditions(table)

    def _next_turn(self, namespace: str) -> float:
        now = self._clock()
        if not self._rate or not self._cache.has_tables_beside(namespace):
            return now
        used_until = max(self._used_until.get(namespace, now), now)
        self._used_until[namespace] = used_until + 1 / self._rate
        return max(now, used_until - BURST_S)
