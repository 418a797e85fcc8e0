"""Maintenance windows of a catalog: schedules that can be read, and lengths within their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from paimon_operator.api import units
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.catalog.windows import LONGEST_WINDOW_D, SHORTEST_WINDOW_S
from paimon_operator.core import schedule
from paimon_operator.core.spec.context import WINDOWS, TableContext
from paimon_operator.errors import SpecError


def windows_of(context: TableContext) -> Iterator[SpecError]:
    """The windows of the table's catalog, and their time zone, which the table may not use itself."""
    if not context.catalog.spec.maintenance_windows:
        return
    try:
        schedule.time_zone(context.windows_zone)
    except schedule.ScheduleError as error:
        yield SpecError(WINDOWS, f"their timeZone: {error}", "Use an IANA name like Europe/Berlin, or UTC.")
    yield from window_problems(context.catalog)


def window_problems(catalog: PaimonCatalog) -> Iterator[SpecError]:
    """Every rule that the windows break. Their time zone is a field of its own."""
    for index, window in enumerate(catalog.spec.maintenance_windows):
        path = f"{WINDOWS}[{index}]"
        try:
            schedule.parse(window.schedule, "UTC")
        except schedule.ScheduleError as error:
            remedy = "Write minute, hour, day of month, month and day of week, like '0 1 * * *'."
            yield SpecError(f"{path}.schedule", str(error), remedy)
        yield from units.too_long(window.duration, LONGEST_WINDOW_D, field=f"{path}.duration")
        if units.delta(window.duration, field=f"{path}.duration") < timedelta(seconds=SHORTEST_WINDOW_S):
            yield SpecError(f"{path}.duration", f"{window.duration} is too short", "Use at least 1m.")
