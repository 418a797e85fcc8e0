"""Budgets of maintenance: what counts, whose it is, and what a table does when one is used up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.api.table.usage import Usage
from paimon_operator.core.spec.spent_budget import SpentBudget
from paimon_operator.core.table.budgets import Budgets
from paimon_operator.core.table.maintenance_start import LONGEST_SPREAD
from paimon_operator.core.table.observed import TableObserved
from tests.core.table.windowed import EXPIRY, at, decision, expiry, finish_after, go_to, said, wake, world
from tests.support import builders

TODAY = datetime(2026, 11, 21, 9, tzinfo=UTC)
MIDNIGHT = datetime(2026, 11, 22, tzinfo=UTC)
HOUR_S = 3600


def catalog(hours: int | None = 1, name: str = "lake") -> PaimonCatalog:
    return builders.catalog(name, limits={} if hours is None else {"maintenancePodHoursPerDay": hours})


def used(name: str, seconds: int, day: str = "2026-11-21", namespace: str = "shop", lake: str = "lake") -> PaimonTable:
    """A table whose maintenance has used so much."""
    usage = Usage(since=TODAY, runs=1, failed=0, pod_seconds=seconds, core_seconds=seconds, gib_seconds=0)
    status = TableStatus(usage=usage.model_copy(update={"maintenance_day": day, "maintenance_pod_seconds": seconds}))
    found = builders.table(namespace=namespace, catalogRef={"name": lake})
    metadata = found.metadata.model_copy(update={"name": name, "uid": f"uid-{name}"})
    return found.model_copy(update={"metadata": metadata, "status": status})


def budgets_with(*tables: PaimonTable, hours_of_namespace: int | None = None) -> Budgets:
    found = Budgets(hours_of_namespace)
    for each in tables:
        found.put(each)
    return found


@pytest.mark.parametrize(
    ("sentence", "tables", "is_spent"),
    [
        ("two tables share the budget", [used("a", 1800), used("b", 1800)], True),
        ("a second is left", [used("a", 1800), used("b", 1799)], False),
        ("yesterday does not count", [used("a", HOUR_S, day="2026-11-20")], False),
        ("nor does another catalog", [used("a", HOUR_S, lake="other")], False),
        ("nor does another namespace", [used("a", HOUR_S, namespace="other")], False),
    ],
)
def test_what_counts_for_the_budget_of_a_catalog(sentence: str, tables: list[PaimonTable], is_spent: bool) -> None:
    spent = budgets_with(*tables).spent(used("c", 0), catalog(), TODAY)
    assert (spent is not None) == is_spent, sentence


def test_the_budget_that_is_spent_is_named_with_its_numbers() -> None:
    spent = budgets_with(used("a", 5400)).spent(used("c", 0), catalog(), TODAY)
    assert spent is not None
    assert spent.until == MIDNIGHT
    assert str(spent) == (
        "maintenance has used 1.5 of 1 pod-hours of today (limits.maintenancePodHoursPerDay of PaimonCatalog lake)"
    )


def test_the_operators_budget_is_for_all_catalogs_of_a_namespace() -> None:
    found = budgets_with(used("a", 1800), used("b", 1800, lake="other"), hours_of_namespace=1)
    spent = found.spent(used("c", 0), catalog(None), TODAY)
    assert spent is not None
    assert "of the operator for namespace shop" in spent.whose
    assert found.spent(used("c", 0, namespace="empty"), catalog(None), TODAY) is None


def test_what_a_table_has_used_is_replaced_and_goes_with_the_table() -> None:
    found = budgets_with(used("a", HOUR_S))
    found.put(used("a", 1800))
    assert found.spent(used("c", 0), catalog(), TODAY) is None
    found.put(used("a", HOUR_S))
    found.remove("shop", "a")
    assert found.spent(used("c", 0), catalog(), TODAY) is None


def test_without_a_limit_nothing_is_spent() -> None:
    assert budgets_with(used("a", 10**6)).spent(used("c", 0), catalog(None), TODAY) is None


SPENT = TableObserved(spent=SpentBudget(whose="ours", hours=1, used_seconds=HOUR_S, until=MIDNIGHT))


def test_maintenance_waits_for_the_next_day_and_says_when() -> None:
    seen = world(retention=EXPIRY)
    seen.observed = SPENT
    go_to(seen, "2026-11-21 09:00")
    assert said(seen) == ("Waiting", Reason.BUDGET_SPENT)
    assert decision(seen).message.startswith("maintenance has used 1.0 of 1 pod-hours of today (ours); it starts at ")
    assert seen.table.status.active_run is None
    seen.observed = TableObserved()
    wake(seen)
    assert MIDNIGHT <= seen.now < MIDNIGHT + LONGEST_SPREAD, "many tables wait for midnight, and do not start at once"
    assert seen.active.spec.type == "ExpireSnapshots"


def test_no_max_delay_overrides_a_budget() -> None:
    minor = {"schedule": "0 * * * *", "when": {"maxDelay": "1m"}}
    seen = world(compaction={"mode": "Dedicated", "minor": minor})
    seen.observed = SPENT
    go_to(seen, "2026-11-21 10:00")
    assert seen.table.status.active_run is None


def test_writes_and_users_runs_start_although_the_budget_is_spent() -> None:
    seen = world(retention=EXPIRY, writes=[builders.write(schedule="0 * * * *")])
    seen.observed = SPENT
    go_to(seen, "2026-11-21 09:00")
    assert seen.active.spec.type == "Write"
    finish_after(seen, minutes=1)
    seen.runs.append(builders.run("mine", table=seen.table))
    seen.settle()
    assert seen.active.metadata.name == "mine"


def test_a_budget_of_the_next_day_finds_the_windows_again() -> None:
    seen = world({"schedule": "0 1 * * *", "duration": "4h"}, retention=EXPIRY)
    seen.observed = SPENT
    go_to(seen, "2026-11-21 09:00")
    assert said(seen) == ("Waiting", Reason.BUDGET_SPENT)
    seen.observed = TableObserved()
    wake(seen)
    assert said(seen) == ("Waiting", Reason.WAITING_FOR_WINDOW)
    assert expiry(seen).next == at("2026-11-21 09:00"), "its first tick without an answer"


def cost(seconds: int) -> dict[str, Any]:
    return {"cost": {"podSeconds": seconds, "coreSeconds": seconds, "gibSeconds": 2 * seconds}}


def test_the_use_of_a_day_is_stored_with_the_end_of_each_run_of_maintenance() -> None:
    seen = world(retention=EXPIRY, writes=[builders.write(schedule="0 * * * *")])
    earlier = seen.table.status.usage
    assert earlier is not None
    go_to(seen, "2026-11-21 09:00")
    for seconds in (100, 50):
        seen.finish(**cost(seconds))
        seen.settle()
    found = seen.table.status.usage
    assert found is not None
    assert (found.runs, found.pod_seconds) == (earlier.runs + 2, earlier.pod_seconds + 150)
    of_expiry = next(run.status.cost for run in seen.runs if run.spec.type == "ExpireSnapshots" and run.status.cost)
    assert (found.maintenance_day, found.maintenance_pod_seconds) == ("2026-11-21", of_expiry.pod_seconds)


def test_the_next_day_begins_with_nothing_used() -> None:
    seen = world(retention=EXPIRY)
    for text in ("2026-11-21 23:00", "2026-11-22 00:00"):
        go_to(seen, text)
        seen.finish("ExpireSnapshots", **cost(60))
        seen.settle()
    found = seen.table.status.usage
    assert found is not None
    assert (found.maintenance_day, found.maintenance_pod_seconds) == ("2026-11-22", 60)


def test_a_run_that_finishes_after_it_was_deleted_is_not_counted() -> None:
    seen = world(retention=EXPIRY)
    before = seen.table.status.usage
    go_to(seen, "2026-11-21 09:00")
    seen.settle()
    seen.now += timedelta(minutes=2)
    seen.remove(seen.active)
    seen.settle()
    assert seen.table.status.usage == before
