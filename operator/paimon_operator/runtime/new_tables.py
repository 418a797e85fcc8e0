"""When a new table is reconciled for the first time: the new tables of one namespace at a steady rate, after a burst.

Its finalizer and its first status are writes at which the API server checks all rules of the CRD. So a user who creates
thousands of tables slows down every request of the other namespaces (docs/benchmarks.md). This limits what the operator
adds to that, and nothing else: no table waits that has conditions or is being deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from paimon_operator.core.ports import Manifest
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
        """Namespace -> when the turns that it was given would have come one by one, without a burst."""
        self._turns: dict[Key, float] = {}
        """When the turn of each new table comes, or came. Its first reconcile may take several passes."""

    def wait(self, table: Key) -> float:
        """Seconds until the first reconcile of the table may begin; 0: now, also for a table that is not limited."""
        if not self._is_limited(table):
            return 0.0
        if table not in self._turns:
            self._turns[table] = self._next_turn(table.namespace)
        return max(0.0, self._turns[table] - self._clock())

    def reconciled(self, table: Key) -> None:
        """A pass over the table has ended. Its turn is over, unless it has stored no conditions yet."""
        if not self._is_new(table):
            self._forget(table)

    def forget_idle(self) -> None:
        """Forgets the namespaces that have their whole burst again."""
        now = self._clock()
        self._used_until = {each: until for each, until in self._used_until.items() if until > now}

    @property
    def waiting(self) -> int:
        """Number of tables that wait for their turn."""
        now = self._clock()
        return sum(turn > now for turn in self._turns.values())

    def _is_limited(self, table: Key) -> bool:
        return self._rate > 0 and self._is_new(table) and self._cache.has_tables_beside(table.namespace)

    def _is_new(self, table: Key) -> bool:
        if self._cache.has_conditions(table):
            return False
        kept = self._cache.get(*table)
        return kept is not None and not is_being_deleted(kept)

    def _next_turn(self, namespace: str) -> float:
        now = self._clock()
        used_until = max(self._used_until.get(namespace, now), now)
        self._used_until[namespace] = used_until + 1 / self._rate
        return max(now, used_until - BURST_S)

    def _forget(self, table: Key) -> None:
        """A turn that has not come goes back to its namespace."""
        turn = self._turns.pop(table, None)
        if turn is not None and turn > self._clock() and table.namespace in self._used_until:
            self._used_until[table.namespace] -= 1 / self._rate


def is_being_deleted(table: Manifest) -> bool:
    """Whether somebody has deleted the table, which a finalizer keeps."""
    return "deletionTimestamp" in table["metadata"]
