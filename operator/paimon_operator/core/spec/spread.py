"""Spreads the runs of a fleet of tables, so that they do not all start in one minute."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Final

_HOUR: Final = 60


def spread(schedule: str, key: str) -> str:
    """The schedule at a minute that `key` decides: `0 3 * * *` becomes `41 3 * * *`, `*/30 * * * *` `11,41 * * * *`.

    `schedule` is a default: its minute is a number or a step. A hash gives the same minute at every reconcile.
    """
    minute, rest = schedule.split(" ", 1)
    every = int(minute.removeprefix("*/")) if minute.startswith("*/") else _HOUR
    first = _hash(f"{key}/{schedule}") % every
    return f"{','.join(str(each) for each in range(first, _HOUR, every))} {rest}"


def delay(within: timedelta, key: str) -> timedelta:
    """A delay that `key` decides: whole seconds, at least 0 and less than `within`, which is at least a second."""
    return timedelta(seconds=_hash(key) % int(within.total_seconds()))


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big")
