"""What the runs of all tables of a catalog have used, from the tables as the cache keeps them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from paimon_operator.api.catalog.spec import CatalogUsage
from paimon_operator.core.ports import Manifest

_SUMMED: Final = ("runs", "failed", "podSeconds")


@dataclass(frozen=True)
class UsageSums:
    """Sums over tables."""

    totals: Counter[str] = field(default_factory=Counter)
    """Field of a table's usage -> its sum."""
    maintenance: Counter[str] = field(default_factory=Counter)
    """Day -> pod-seconds of maintenance."""

    def add(self, table: Manifest) -> None:
        """Adds what a table has used. One whose usage does not fit its model counts as nothing."""
        if not (usage := _usage_of(table)):
            return
        for name in _SUMMED:
            self.totals[name] += _number(usage, name)
        self.maintenance[str(usage.get("maintenanceDay"))] += _number(usage, "maintenancePodSeconds")

    def at(self, now: datetime) -> CatalogUsage | None:
        """The sums as the status shows them; None before the first run."""
        if not self.totals["runs"]:
            return None
        day = now.date().isoformat()
        return CatalogUsage(
            runs=self.totals["runs"],
            failed=self.totals["failed"],
            pod_seconds=self.totals["podSeconds"],
            maintenance_day=day,
            maintenance_pod_seconds=self.maintenance[day],
        )


def ended_runs(table: Manifest) -> int:
    """How many ended runs of `table` (plain JSON) are in the sums."""
    return _number(_usage_of(table), "runs")


def _usage_of(table: Manifest) -> Mapping[str, Any]:
    usage = (table.get("status") or {}).get("usage")
    return usage if isinstance(usage, Mapping) else {}


def _number(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) else 0
