"""Budgets of maintenance: what counts, whose it is, and what a table does when one is used up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, RunTrigger
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.api.table.usage import Usage
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.spec.spent_budget import SpentBudget
from paimon_operator.core.table.budgets import Budgets
from paimon_operator.core.table.maintenance_start import LONGEST_SPREAD, start_of
from paimon_operator.core.table.observed import TableObserved
from paimon_operator.core.table.run_slots import RunLimit
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


def spent_of(found: Budgets, table: PaimonTable, lake: PaimonCatalog, now: datetime = TODAY) -> SpentBudget | None:
    return found.spent(table, lake, table.status.usage, now)


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
    spent = spent_of(budgets_with(*tables), used("c", 0), catalog())
    assert (spent is not None) == is_spent, sentence


def test_the_budget_that_is_spent_is_named_with_its_numbers() -> None:
    spent = spent_of(budgets_with(used("a", 5400)), used("c", 0), catalog())
    assert spent is not None
    assert spent.until == MIDNIGHT
    assert str(spent) == (
        "maintenance has used 1.5 of 1 pod-hours of today (limits.maintenancePodHoursPerDay of PaimonCatalog lake)"
    )


def test_the_operators_budget_is_for_all_catalogs_of_a_namespace() -> None:
    found = budgets_with(used("a", 1800), used("b", 1800, lake="other"), hours_of_namespace=1)
    spent = spent_of(found, used("c", 0), catalog(None))
    assert spent is not None
    assert "of the operator for namespace shop" in spent.whose
    assert spent_of(found, used("c", 0, namespace="empty"), catalog(None)) is None


def test_what_a_table_has_used_is_replaced_and_goes_with_the_table() -> None:
    found = budgets_with(used("a", HOUR_S))
    found.put(used("a", 1800))
    assert spent_of(found, used("c", 0), catalog()) is None
    found.put(used("a", HOUR_S))
    found.remove("shop", "a")
    assert spent_of(found, used("c", 0), catalog()) is None


@pytest.mark.parametrize(
    ("sentence", "known", "own", "is_spent"),
    [
        ("a run of the table itself has just ended", used("a", 0), used("a", HOUR_S), True),
        ("nothing is counted twice", used("a", 1800), used("a", 1800), False),
        ("its next day has begun", used("a", HOUR_S, day="2026-11-20"), used("a", 0), False),
        ("a wrong clock has stored another day", used("a", HOUR_S), used("a", HOUR_S, day="2027-01-01"), False),
    ],
)
def test_the_tables_own_use_counts_as_it_is_now(
    sentence: str, known: PaimonTable, own: PaimonTable, is_spent: bool
) -> None:
    assert (spent_of(budgets_with(known), own, catalog()) is not None) == is_spent, sentence


def test_without_a_limit_nothing_is_spent() -> None:
    assert spent_of(budgets_with(used("a", 10**6)), used("c", 0), catalog(None)) is None


def spent_at(now: datetime) -> TableObserved:
    """The budget of that day is used up."""
    until = now.replace(hour=0, minute=0) + timedelta(days=1)
    budget = SpentBudget(whose="ours", hours=1, used_seconds=HOUR_S, until=until)
    return TableObserved(spent=lambda _: budget)


SPENT = spent_at(TODAY)


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


def test_a_run_that_uses_up_the_budget_is_not_followed_by_another_one_of_the_same_table() -> None:
    minor = {"schedule": "0 * * * *"}
    seen = world(retention=EXPIRY, compaction={"mode": "Dedicated", "minor": minor})
    found, table = Budgets(), seen.table
    seen.observed = TableObserved(spent=lambda usage: found.spent(table, catalog(), usage, seen.now))
    go_to(seen, "2026-11-21 09:00")
    seen.finish("Compact", **cost(HOUR_S))
    seen.settle()
    assert seen.table.status.active_run is None
    assert said(seen) == ("Waiting", Reason.BUDGET_SPENT)


def test_a_retry_that_waits_for_the_next_day_says_no_time_in_the_past() -> None:
    seen = world(retention=EXPIRY)
    go_to(seen, "2026-11-21 09:00")
    seen.fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED)
    seen.observed = SPENT
    seen.settle()
    go_to(seen, "2026-11-21 09:30")
    assert said(seen) == ("Waiting", Reason.BUDGET_SPENT)
    assert "(its retry is postponed, see its decision)" in seen.condition("Healthy").message


def start_after_midnight(uid: str, *, waiting_days: int, day: datetime = MIDNIGHT) -> timedelta:
    """How long after the beginning of a day maintenance starts that has waited for so many days."""
    table = builders.table()
    table = table.model_copy(update={"metadata": table.metadata.model_copy(update={"uid": uid})})
    spent = SpentBudget(whose="ours", hours=1, used_seconds=HOUR_S, until=day)
    context = replace(builders.context(table, builders.catalog()), now=day - timedelta(hours=1), spent=spent)
    since = day - timedelta(days=waiting_days, hours=2)
    due = day - timedelta(hours=2)
    work = DueRun(type_="ExpireSnapshots", trigger=RunTrigger.SCHEDULE, due=due, first_due=since)
    at = start_of(context, work).at
    assert at is not None
    return at - day


UIDS = [f"uid-{number}" for number in range(50)]


def test_the_tables_that_come_first_after_midnight_are_others_each_day() -> None:
    first = {
        min(UIDS, key=lambda uid: start_after_midnight(uid, waiting_days=0, day=MIDNIGHT + timedelta(days=number)))
        for number in range(10)
    }
    assert len(first) > 5, "a small budget would always go to the same tables"


def test_maintenance_that_a_budget_has_stopped_for_days_comes_before_that_of_yesterday() -> None:
    of_yesterday = sorted(start_after_midnight(uid, waiting_days=0) for uid in UIDS)
    of_last_month = [start_after_midnight(uid, waiting_days=30) for uid in UIDS]
    assert max(of_last_month) < of_yesterday[len(UIDS) // 2]
    assert max(of_yesterday) < LONGEST_SPREAD


def test_a_budget_for_three_of_twelve_tables_lets_none_starve() -> None:
    """Their runs end so soon that the budget is used up while the others still wait for their moment."""
    waiting, longest = dict.fromkeys(UIDS[:12], 0), 0
    for number in range(40):
        day = MIDNIGHT + timedelta(days=number)
        moments = {uid: start_after_midnight(uid, waiting_days=days, day=day) for uid, days in waiting.items()}
        first = sorted(moments, key=moments.__getitem__)[:3]
        waiting = {uid: 0 if uid in first else days + 1 for uid, days in waiting.items()}
        longest = max(longest, *waiting.values())
    assert longest <= 12, "in turns, each would wait for three days"


def test_after_midnight_the_work_that_has_waited_longest_has_the_earliest_place() -> None:
    seen = world(retention=EXPIRY)
    for text in ("2026-11-21 09:00", "2026-11-22 23:00"):
        seen.observed = spent_at(at(text))
        go_to(seen, text)
        seen.run_due()  # looks for drift
    seen.observed = TableObserved(stopped_by=lambda _: RunLimit(1, "lake"))
    go_to(seen, "2026-11-23 00:01")
    place = seen.table.status.queued_run
    assert place is not None
    assert place.since == at("2026-11-21 09:00"), "its newest tick would put it behind work that waits for a day"


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
