"""The real clock. Code that depends on time takes a Clock; `app` passes this one."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """Clock of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)
