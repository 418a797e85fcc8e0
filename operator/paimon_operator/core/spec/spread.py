"""Spreads the operator's default schedules, so that a fleet of tables does not start all its runs in one minute."""

from __future__ import annotations

import hashlib
from typing import Final

_HOUR: Final = 60


def spread(schedule: str, key: str) -> str:
    """The schedule at a minute that `key` decides: `0 3 * * *` becomes `41 3 * * *`, `*/30 * * * *` `11,41 * * * *`.

    `schedule` is a default: its minute is a number or a step. A hash gives the same minute at every reconcile.
    """
    minute, rest = schedule.split(" ", 1)
    every = int(minute.removeprefix("*/")) if minute.startswith("*/") else _HOUR
    first = int.from_bytes(hashlib.sha256(f"{key}/{schedule}".encode()).digest()[:4], "big") % every
    return f"{','.join(str(each) for each in range(first, _HOUR, every))} {rest}"
