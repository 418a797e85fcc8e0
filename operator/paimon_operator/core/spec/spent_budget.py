"""A budget of maintenance that is used up for today."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class SpentBudget:
    """A budget that maintenance has used up."""

    whose: str
    """The catalog or the namespace for which it holds, as text."""
    hours: int
    """Pod-hours a day."""
    used_seconds: int
    """Pod-seconds of maintenance that ended today."""
    until: datetime
    """When the next day, and with it the next budget, begins."""

    def __str__(self) -> str:
        used = f"{self.used_seconds / 3600:.1f}"
        return f"maintenance has used {used} of {self.hours} pod-hours of today ({self.whose})"
