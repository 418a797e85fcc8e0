"""The real time. Everything that decides by time is handed a Clock; this one is made in `app` only."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """Clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)
