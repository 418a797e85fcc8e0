"""Budgets of maintenance: pod-hours a day, of the tables of a catalog and of all tables of a namespace.

A run counts when it ends, on the day (UTC) of its end. So the runs that are active when a budget is used up, no more
than maxConcurrentRuns permits, may exceed it. What was used is stored in the tables' statuses: it outlasts a restart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.table.usage import Usage
from paimon_operator.core.naming import ObjectKey
from paimon_operator.core.spec.spent_budget import SpentBudget
from paimon_operator.core.spec.table_head import AnyTable
from paimon_operator.core.table.usage import day_of

_HOUR_S: Final = 3600


class _Account(NamedTuple):
    """Whose maintenance is summed on which day. `catalog` is empty for all tables of the namespace."""

    day: str
    namespace: str
    catalog: str = ""


@dataclass(frozen=True, slots=True)
class _Spent:
    accounts: tuple[_Account, _Account]
    seconds: int


class Budgets:
    """What the maintenance of all tables has used. The cost of a call does not depend on the number of tables."""

    def __init__(self, hours_of_namespace: int | None = None) -> None:
        """`hours_of_namespace` is the operator's limit for each namespace; None: it has none."""
        self._hours = hours_of_namespace
        self._uses: dict[ObjectKey, _Spent] = {}
        self._used: Counter[_Account] = Counter()

    def put(self, table: AnyTable) -> None:
        """Records what the maintenance of `table` has used."""
        namespace, name = table.metadata.namespace, table.metadata.name
        self.remove(namespace, name)
        usage = table.status.usage
        if usage is None or usage.maintenance_day is None:
            return
        day, catalog = usage.maintenance_day, table.spec.catalog_ref.name
        use = _Spent((_Account(day, namespace), _Account(day, namespace, catalog)), usage.maintenance_pod_seconds or 0)
        self._uses[namespace, name] = use
        for account in use.accounts:
            self._used[account] += use.seconds

    def remove(self, namespace: str, name: str) -> None:
        """Forgets a table that was deleted, with what it has used."""
        use = self._uses.pop((namespace, name), None)
        for account in use.accounts if use is not None else ():
            self._used[account] -= use.seconds if use is not None else 0
            if not self._used[account]:
                del self._used[account]

    def spent(self, table: AnyTable, catalog: PaimonCatalog, usage: Usage | None, now: datetime) -> SpentBudget | None:
        """The budget of `table` that is used up today; None if its maintenance may start.

        `usage` is what the table has used by now: `put` comes only once the end of its last run is stored.
        """
        day = day_of(now)
        newer = _seconds_of(usage, day) - self._known_seconds(table, day)
        for whose, hours, account in self._budgets(table, catalog, day):
            used = self._used[account] + newer
            if used >= hours * _HOUR_S:
                return SpentBudget(whose=whose, hours=hours, used_seconds=used, until=_next_day(now))
        return None

    def _known_seconds(self, table: AnyTable, day: str) -> int:
        """The part of the sums of `day` that is of `table`."""
        known = self._uses.get((table.metadata.namespace, table.metadata.name))
        return known.seconds if known is not None and known.accounts[0].day == day else 0

    def _budgets(self, table: AnyTable, catalog: PaimonCatalog, day: str) -> Iterator[tuple[str, int, _Account]]:
        namespace, name = table.metadata.namespace, catalog.metadata.name
        limits = catalog.spec.limits
        own = None if limits is None else limits.maintenance_pod_hours_per_day
        if own is not None:
            yield f"limits.maintenancePodHoursPerDay of PaimonCatalog {name}", own, _Account(day, namespace, name)
        if self._hours is not None:
            whose = f"limits.maintenancePodHoursPerDay of the operator for namespace {namespace}"
            yield whose, self._hours, _Account(day, namespace)


def _seconds_of(usage: Usage | None, day: str) -> int:
    return (usage.maintenance_pod_seconds or 0) if usage is not None and usage.maintenance_day == day else 0


def _next_day(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
