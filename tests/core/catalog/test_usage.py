"""What the runs of a catalog's tables have used, summed from the tables as the cache keeps them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from paimon_operator.core.catalog.usage import UsageSums

TODAY = datetime(2026, 11, 21, 9, tzinfo=UTC)


def used(day: str | None = "2026-11-21", **sums: Any) -> dict[str, Any]:
    """A table with these sums."""
    usage = {"runs": 2, "failed": 1, "podSeconds": 100, "maintenancePodSeconds": 60} | sums
    return {"status": {"usage": usage if day is None else usage | {"maintenanceDay": day}}}


def sums_of(*tables: dict[str, Any]) -> UsageSums:
    found = UsageSums()
    for each in tables:
        found.add(each)
    return found


def test_the_sums_of_two_tables() -> None:
    found = sums_of(used(), used(runs=3, failed=0)).at(TODAY)
    assert found is not None
    assert (found.runs, found.failed, found.pod_seconds) == (5, 1, 200)
    assert (found.maintenance_day, found.maintenance_pod_seconds) == ("2026-11-21", 120)


@pytest.mark.parametrize(
    ("sentence", "table"),
    [
        ("another day", used("2026-11-20")),
        ("no maintenance yet", used(None)),
        ("a text in place of a number", used(maintenancePodSeconds="60")),
    ],
)
def test_what_is_not_of_the_budget_of_today(sentence: str, table: dict[str, Any]) -> None:
    found = sums_of(table).at(TODAY)
    assert found is not None
    assert found.maintenance_pod_seconds == 0, sentence


@pytest.mark.parametrize("table", [{}, {"status": None}, {"status": {"usage": None}}, {"status": {"usage": "much"}}])
def test_a_catalog_without_a_run_shows_no_sums(table: dict[str, Any]) -> None:
    assert sums_of(table).at(TODAY) is None
