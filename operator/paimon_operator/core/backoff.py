"""How long to wait before the next try: doubling, bounded, and spread by a hash instead of a random number.

The spread keeps a fleet that failed together from coming back together; the hash keeps it the same after a restart, so
a waiting object is never put off by looking at it again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

SPREAD: Final = 0.25
"""The longest stretch of a delay, as a share of it."""


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """Delays from `first` to `last`, doubling with each failure in a row."""

    first: timedelta
    last: timedelta

    def delay(self, failures: int, key: str) -> timedelta:
        """The wait after the `failures`-th failure in a row (1 or more), within [first, last], whole seconds.

        `key` names who waits (a UID, or a run's name); two keys wait differently long, one key always equally long.
        """
        if failures < 1:
            raise ValueError("a delay follows a failure: failures must be at least 1")
        doublings = min(failures - 1, 30)  # beyond that every bound is reached, and a timedelta would overflow
        base = min(self.first.total_seconds() * 2.0**doublings, self.last.total_seconds() / (1 + SPREAD))
        seconds = base * (1 + SPREAD * _fraction(f"{key}#{failures}"))
        return timedelta(seconds=max(self.first.total_seconds(), round(seconds)))


CONFLICT: Final = Backoff(first=timedelta(seconds=5), last=timedelta(minutes=2))
"""Another committer was faster: it is done within seconds."""
INFRASTRUCTURE: Final = Backoff(first=timedelta(seconds=10), last=timedelta(minutes=5))
"""A node, a server or the Pod failed."""
ENVIRONMENT: Final = Backoff(first=timedelta(minutes=1), last=timedelta(minutes=15))
"""A Secret, bucket, permission or input is wrong: mended by people. Bounds by the API page, "Conditions"."""


def _fraction(key: str) -> float:
    """A number in [0, 1) that only `key` decides."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:6], "big") / 2**48
