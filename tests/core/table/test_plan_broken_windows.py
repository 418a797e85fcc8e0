"""An error in the maintenance windows of a catalog stops maintenance, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from tests.core.table.windowed import EXPIRY, NIGHT, at, decision, go_to, said, wake, world
from tests.support import builders
from tests.support.table_world import TableWorld

HOURLY = {"schedule": "0 * * * *"}
BROKEN: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "a schedule with a wrong minute",
        {"maintenanceWindows": [NIGHT, {"schedule": "61 1 * * *", "duration": "4h"}]},
        "spec.maintenanceWindows[1].schedule",
        "'61 1 * * *' is not a cron schedule",
    ),
    (
        "a time zone that does not exist",
        {"maintenanceWindows": [NIGHT], "timeZone": "Mars/Base"},
        "spec.maintenanceWindows",
        "their timeZone: 'Mars/Base' is not a time zone of the IANA database (PaimonCatalog lake sets it)",
    ),
    (
        "a length that an older CRD has admitted",
        {"maintenanceWindows": [{"schedule": "0 1 * * *", "duration": "8d"}]},
        "spec.maintenanceWindows[0].duration",
        "8d is too long (PaimonCatalog lake sets it). Use at most 7d.",
    ),
]


def broken(catalog: dict[str, Any]) -> TableWorld:
    """A table with a time zone of its own, whose catalog has the error from now on."""
    seen = world(NIGHT, retention=EXPIRY, writes=[builders.write(**HOURLY)], timeZone="UTC")
    seen.catalog = builders.catalog(**catalog)
    seen.settle()
    return seen


@pytest.mark.parametrize(("sentence", "catalog", "field", "problem"), BROKEN, ids=[each[0] for each in BROKEN])
def test_maintenance_waits_for_the_fix_and_the_rest_goes_on(
    sentence: str, catalog: dict[str, Any], field: str, problem: str
) -> None:
    seen = broken(catalog)
    go_to(seen, "2026-11-22 02:00")
    assert seen.active.spec.type == "Write", sentence
    assert seen.run_due() == []
    assert said(seen) == ("Waiting", Reason.INVALID_SPEC)
    assert decision(seen).message.startswith(field)
    assert problem in decision(seen).message
    assert seen.says("Ready")[0] == "True"
    assert seen.says("Stalled") == ("True", Reason.INVALID_SPEC)
    assert seen.condition("Stalled").message.startswith(field)


def test_after_the_fix_the_missed_ticks_start_one_run_in_the_next_window() -> None:
    seen = broken(BROKEN[0][1])
    go_to(seen, "2026-11-22 12:00")
    seen.run_due()
    seen.catalog = builders.catalog(maintenanceWindows=[NIGHT])
    seen.settle()
    assert seen.says("Stalled")[0] == "False"
    while not any(
        run.spec.type == "ExpireSnapshots" for run in seen.runs if run.metadata.creation_timestamp == seen.now
    ):
        seen.run_due()
        wake(seen)
    assert at("2026-11-23 01:00") <= seen.now < at("2026-11-23 01:10")


def test_a_users_run_starts_in_spite_of_the_error() -> None:
    seen = broken(BROKEN[0][1])
    seen.runs.append(builders.run("mine", table=seen.table))
    seen.settle()
    assert seen.active.metadata.name == "mine"
