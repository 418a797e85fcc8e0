"""What a policy did with one table on that day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tools.benchmarks.maintenance_day.fleet import DayOfTable


@dataclass(frozen=True, kw_only=True)
class RunOfDay:
    """One driver Pod."""

    action: str
    """Minor, Full or ExpireSnapshots."""
    at: datetime
    seconds: float
    has_jvm: bool = True
    changed: bool
    """Whether it merged or expired anything. If not, the run was a no-op."""
    reason: str = ""
    """Why it was started, as the run says."""

    @property
    def ended(self) -> datetime:
        """When the Pod ended."""
        return self.at + timedelta(seconds=self.seconds)


@dataclass(frozen=True, kw_only=True)
class TableDay:
    """The runs of one table, and how bad it became."""

    table: DayOfTable
    runs: tuple[RunOfDay, ...]
    worst: int
    """The most sorted runs of a bucket at any time, or small files of a table without a key."""

    @property
    def bound(self) -> int:
        """Its threshold, and what one bucket receives within one interval."""
        return self.table.threshold + self.table.growth

    @property
    def beyond(self) -> int:
        """By how much it was worse than its threshold and one interval."""
        return max(self.worst - self.bound, 0)
