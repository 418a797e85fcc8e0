"""Delays before a retry. Which failure classes are retried: core.operations.retries.

A delay doubles with each failure, is bounded, and is spread by a hash of who waits. The spread keeps tables that failed
together from retrying together. A hash instead of a random number gives the same delay at every reconcile and after a
restart.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

SPREAD: Final = 0.25
"""The largest extension of a delay, as a fraction of it."""


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """Delays from `first` to `last`, doubling with each failure in a row."""

    first: timedelta
    last: timedelta

    def delay(self, failures: int, key: str) -> timedelta:
        """The delay after the `failures`-th failure in a row, within [first, last], in whole seconds.

        `key` names who waits (a UID or a run's name) and decides the spread. Raises ValueError for less than 1 failure.
        """
        if failures < 1:
            raise ValueError("a delay follows a failure: failures must be at least 1")
        doublings = min(failures - 1, 30)  # beyond that every bound is reached, and a timedelta would overflow
        base = min(self.first.total_seconds() * 2.0**doublings, self.last.total_seconds() / (1 + SPREAD))
        seconds = base * (1 + SPREAD * _fraction(f"{key}#{failures}"))
        return timedelta(seconds=max(self.first.total_seconds(), round(seconds)))


CONFLICT: Final = Backoff(first=timedelta(seconds=5), last=timedelta(minutes=2))
"""Another commit came first. Such a conflict is over within seconds."""
INFRASTRUCTURE: Final = Backoff(first=timedelta(seconds=10), last=timedelta(minutes=5))
"""A node, a server or the Pod failed."""
ENVIRONMENT: Final = Backoff(first=timedelta(minutes=1), last=timedelta(minutes=15))
"""A Secret, bucket, permission or input is wrong; a human fixes it. Bounds: the API page, "Conditions"."""
OWNERSHIP: Final = Backoff(first=timedelta(hours=1), last=timedelta(minutes=75))
"""Another object owns the table. That ends by an edit, or by a takeover that the operator does not see."""

LONGEST: Final = timedelta(hours=2)
"""Longer than every delay above. A stored retry that is further ahead comes from a clock that was wrong."""
CLOCKS_DIFFER: Final = timedelta(minutes=5)
"""So far the clocks of two nodes may differ. A past event that is stored further ahead comes from a wrong clock."""


def is_ahead(moment: datetime, now: datetime) -> bool:
    """Whether a stored time of something past lies so far ahead that it is not trusted."""
    return moment - now > CLOCKS_DIFFER


def has_come(moment: datetime | None, now: datetime) -> bool:
    """Whether the time of a retry has come. None never comes; a time that is not trusted counts as now."""
    return moment is not None and (moment <= now or moment - now > LONGEST)


def _fraction(key: str) -> float:
    """A number in [0, 1) that depends on `key` only."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:6], "big") / 2**48
