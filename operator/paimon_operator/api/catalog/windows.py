"""Maintenance windows of a catalog."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import DURATION_PATTERN, ApiModel, Cron, rule, with_rules

MAX_WINDOWS: Final = 16
SHORTEST_WINDOW_S: Final = 60
LONGEST_WINDOW_D: Final = 7
_BOUNDS: Final = [
    rule(f"self >= duration('{SHORTEST_WINDOW_S}s')", "must be at least 1m"),
    rule(f"self <= duration('{24 * LONGEST_WINDOW_D}h')", f"must be at most {LONGEST_WINDOW_D}d"),
]
WindowDuration = Annotated[
    str,
    Field(
        pattern=DURATION_PATTERN,
        max_length=6,
        json_schema_extra={"format": "duration"} | with_rules(*_BOUNDS),
    ),
]


class MaintenanceWindow(ApiModel):
    """A time in which scheduled maintenance may start."""

    schedule: Cron
    """When the window opens. Cron schedule: five fields, in the catalog's timeZone."""
    duration: WindowDuration
    """How long the window is open, from 1m to 7d. It may pass midnight, and windows may overlap."""
