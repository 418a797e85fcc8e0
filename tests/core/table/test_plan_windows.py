"""Maintenance windows: what waits for them, until when, and what it says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations import registry, schedule_state
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.table.observed import TableObserved
from paimon_operator.core.table.run_slots import RunLimit
from paimon_operator.core.validation.catalog import catalog_problems
from tests.core.table.windowed import (
    EXPIRY,
    NIGHT,
    SPREAD,
    at,
    decision,
    expiry,
    finish_after,
    go_to,
    said,
    wake,
    world,
)
from tests.support import builders
from tests.support.table_world import TableWorld

WAITS = ("Waiting", Reason.WAITING_FOR_WINDOW)
FULL, MINOR = ("Compact", "Full"), ("Compact", "Minor")
COMPACTION = {"mode": "Dedicated", "minor": {"schedule": "5 * * * *"}, "full": {"schedule": "0 * * * *"}}


def test_without_windows_maintenance_starts_at_its_tick() -> None:
    seen = world(retention=EXPIRY)
    go_to(seen, "2026-11-21 09:00")
    assert seen.active.spec.type == "ExpireSnapshots"


def test_outside_every_window_maintenance_waits_and_says_when_it_starts() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    go_to(seen, "2026-11-21 09:00")
    assert seen.table.status.active_run is None
    assert said(seen) == WAITS
    assert decision(seen).message.startswith("due at 2026-11-21T09:00:00Z, starts at 2026-11-22T01:0")
    assert decision(seen).message.endswith(
        "in the window that opens at 2026-11-22T01:00:00Z (spec.maintenanceWindows of PaimonCatalog lake)"
    )


def test_the_message_stays_the_same_while_more_ticks_pass() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    go_to(seen, "2026-11-21 09:00")
    known = seen.table.status
    go_to(seen, "2026-11-21 17:30")
    assert seen.table.status == known, "nothing to store"
    assert expiry(seen).next == at("2026-11-21 09:00"), "the first tick without an answer"


def test_nothing_wakes_the_table_before_its_moment_in_the_window() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    go_to(seen, "2026-11-21 09:00")
    wake(seen)
    assert at("2026-11-22 01:00") <= seen.now < at("2026-11-22 01:00") + SPREAD
    assert seen.active.spec.type == "ExpireSnapshots"


def test_the_missed_ticks_start_one_run_of_the_latest_one() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    before = len(seen.created)
    go_to(seen, "2026-11-21 09:00")
    wake(seen)
    assert seen.run_due() == []
    assert [run.spec.trigger and run.spec.trigger.due_time for run in seen.created[before:]] == [at("2026-11-22 01:00")]


def test_inside_a_window_maintenance_starts_at_its_tick() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    go_to(seen, "2026-11-22 01:30")
    seen.run_due()
    go_to(seen, "2026-11-22 02:00")
    assert seen.active.spec.trigger is not None
    assert seen.active.spec.trigger.due_time == at("2026-11-22 02:00")


@pytest.mark.parametrize(("moment", "starts"), [("2026-11-22 04:59:59", True), ("2026-11-22 05:00", False)])
def test_the_last_second_of_a_window_lets_a_run_start(moment: str, starts: bool) -> None:
    seen = world(NIGHT, retention={"snapshots": {"schedule": "59 4 * * *"}})
    go_to(seen, moment)
    assert (seen.table.status.active_run is not None) is starts


def test_a_run_that_has_started_finishes_after_the_window_has_closed() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    go_to(seen, "2026-11-22 04:00")
    finish_after(seen, hours=2)
    assert decision(seen).reason == Reason.WAITING_FOR_WINDOW, "the ticks of 05:00 and 06:00 wait"
    assert expiry(seen).last_time == at("2026-11-22 06:00")


def test_the_catalogs_time_zone_counts_and_not_the_tables() -> None:
    seen = world(NIGHT, catalog={"timeZone": "Europe/Berlin"}, retention=EXPIRY, timeZone="Asia/Kolkata")
    go_to(seen, "2026-11-21 10:00")
    wake(seen)
    assert at("2026-11-22 00:00") <= seen.now < at("2026-11-22 00:00") + SPREAD


def test_the_windows_of_a_catalog_can_be_edited_and_removed() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    go_to(seen, "2026-11-21 09:00")
    seen.catalog = builders.catalog(maintenanceWindows=[{"schedule": "0 12 * * *", "duration": "1h"}])
    seen.settle()
    assert "opens at 2026-11-21T12:00:00Z" in decision(seen).message
    seen.catalog = builders.catalog()
    seen.settle()
    assert seen.active.spec.type == "ExpireSnapshots"


ALWAYS: list[tuple[str, dict[str, Any], str]] = [
    ("a write", {"writes": [builders.write(schedule="0 * * * *")]}, "Write"),
    ("an edit", {"options": {"file.compression": "zstd"}}, "Provision"),
]


@pytest.mark.parametrize(("sentence", "edit", "type_"), ALWAYS, ids=[each[0] for each in ALWAYS])
def test_what_is_no_maintenance_starts_at_any_time(sentence: str, edit: dict[str, Any], type_: str) -> None:
    seen = world(NIGHT, retention=EXPIRY)
    seen.edit(**edit)
    seen.settle()
    go_to(seen, "2026-11-21 09:00")
    assert seen.active.spec.type == type_, sentence


def test_the_catalog_of_the_example_opens_its_windows_in_its_own_time_zone() -> None:
    text = (Path(__file__).parents[3] / "examples" / "windows.yaml").read_text()
    catalog = PaimonCatalog.model_validate(yaml.safe_load(text))
    assert [*catalog_problems(catalog, builders.operator_facts())] == []
    seen = world(NIGHT, retention=EXPIRY)
    seen.catalog = builders.catalog(
        **{name: catalog.spec.to_json()[name] for name in ("maintenanceWindows", "timeZone")}
    )
    seen.settle()
    go_to(seen, "2026-11-21 22:30")
    assert "in the window that opens at 2026-11-21T23:00:00Z" in decision(seen).message, "Sunday begins in Berlin"


def test_only_maintenance_runs_in_windows() -> None:
    operations = registry.OPERATIONS.operations
    expiries = {"ExpirePartitions", "ExpireSnapshots", "RemoveOrphanFiles"}
    assert {each.type for each in operations if each.in_windows} == {"Compact", *expiries}


def test_a_users_run_starts_at_any_time() -> None:
    seen = world(NIGHT, compaction=COMPACTION)
    seen.runs.append(builders.run("mine", table=seen.table))
    go_to(seen, "2026-11-21 09:00")
    assert seen.active.metadata.name == "mine"


def test_beside_an_active_run_maintenance_says_that_it_waits_for_its_window() -> None:
    seen = world(NIGHT, retention=EXPIRY, writes=[builders.write(schedule="0 * * * *")])
    go_to(seen, "2026-11-21 09:00")
    assert seen.active.spec.type == "Write"
    assert said(seen) == WAITS


def test_inside_the_window_it_waits_for_the_active_run() -> None:
    seen = world(NIGHT, retention=EXPIRY, writes=[builders.write(schedule="30 * * * *")])
    go_to(seen, "2026-11-22 02:30")
    assert said(seen) == ("Started", Reason.STARTED)
    seen.finish()
    seen.settle()
    go_to(seen, "2026-11-22 03:00")
    assert said(seen) == ("Waiting", Reason.ANOTHER_RUN_IS_ACTIVE)


def test_beside_a_full_limit_only_what_its_window_lets_start_waits_for_a_place() -> None:
    seen = world(NIGHT, retention=EXPIRY, writes=[builders.write(schedule="0 * * * *")])
    seen.observed = TableObserved(stopped_by=lambda _: RunLimit(1, "lake"))
    go_to(seen, "2026-11-21 09:00")
    assert seen.table.status.queued_run is not None
    assert seen.table.status.queued_run.type == "Write"
    assert said(seen) == WAITS
    wake(seen)
    assert seen.now >= at("2026-11-22 01:00")
    assert said(seen) == ("Waiting", Reason.RUN_LIMIT_REACHED)


def test_work_that_waits_for_a_place_leaves_the_queue_when_its_window_closes() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    seen.observed = TableObserved(stopped_by=lambda _: RunLimit(1, "lake"))
    go_to(seen, "2026-11-22 04:30")
    assert seen.table.status.queued_run is not None
    wake(seen)
    assert seen.now == at("2026-11-22 05:00")
    assert seen.table.status.queued_run is None
    assert said(seen) == WAITS


def test_a_suspended_table_says_so_and_starts_in_a_window_when_it_is_resumed() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    seen.edit(suspend=True)
    go_to(seen, "2026-11-22 02:00")
    assert said(seen) == ("Waiting", Reason.SUSPENDED)
    seen.edit(suspend=False)
    go_to(seen, "2026-11-22 12:00")
    assert said(seen) == WAITS


def test_a_table_that_was_never_ready_reports_that_and_not_the_window() -> None:
    seen = TableWorld(table=builders.table(retention=EXPIRY), catalog=builders.catalog(maintenanceWindows=[NIGHT]))
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS)
    seen.wait(hours=2)
    seen.settle()
    assert said(seen) == ("Waiting", Reason.TABLE_DIFFERS)


def test_ticks_of_an_empty_table_are_answered_outside_windows_too() -> None:
    seen = TableWorld(table=builders.table(retention=EXPIRY), catalog=builders.catalog(maintenanceWindows=[NIGHT]))
    seen.settle()
    seen.finish("Provision", created=True, after={"schemaId": 0, "bucketMode": "Dynamic", "files": 0})
    go_to(seen, "2026-11-21 09:00")
    assert said(seen) == ("Skipped", Reason.NOT_NEEDED)
    assert expiry(seen).next == at("2026-11-21 10:00")


def test_a_retry_waits_for_the_window_and_the_table_stays_unhealthy_without_a_time_in_the_past() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    go_to(seen, "2026-11-22 04:59")
    seen.fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED)
    seen.settle()
    go_to(seen, "2026-11-22 05:10")
    assert said(seen) == WAITS
    assert seen.says("Healthy") == ("False", Reason.ACCESS_DENIED)
    assert "(its retry is postponed, see its decision)" in seen.condition("Healthy").message
    wake(seen)
    assert at("2026-11-23 01:00") <= seen.now < at("2026-11-23 01:00") + SPREAD
    assert seen.active.spec.type == "ExpireSnapshots"


def test_a_retry_whose_time_comes_inside_the_window_starts_then() -> None:
    seen = world(NIGHT, retention={"snapshots": {"schedule": "0 2 * * *"}})
    go_to(seen, "2026-11-22 02:00")
    seen.fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED)
    seen.settle()
    wake(seen)
    assert at("2026-11-22 02:01") <= seen.now < at("2026-11-22 02:02")
    assert seen.active.spec.type == "ExpireSnapshots"


def test_a_table_that_waits_for_its_window_is_healthy() -> None:
    seen = world(NIGHT, retention=EXPIRY)
    before = seen.says("Healthy")
    go_to(seen, "2026-11-21 17:30")
    assert said(seen) == WAITS
    assert seen.says("Healthy") == before
    assert before[0] == "True"
    assert seen.says("Ready")[0] == "True"


def test_each_strategy_of_compaction_has_its_own_decision() -> None:
    seen = world(NIGHT, compaction=COMPACTION)
    go_to(seen, "2026-11-21 09:10")
    state = seen.table.status.compaction
    assert state is not None
    messages = [each.decision.message for each in (state.full, state.minor) if each and each.decision]
    assert [message[:31] for message in messages] == [
        "due at 2026-11-21T09:00:00Z, st",
        "due at 2026-11-21T09:05:00Z, st",
    ]
    before = len(seen.started)
    wake(seen)
    seen.run_due()
    assert sorted(seen.started[before:]) == [FULL, MINOR]


def test_long_work_does_not_take_every_window_from_other_work() -> None:
    """The newest tick of the expiry is always later than that of the compaction; it has waited longer."""
    full = {"mode": "Dedicated", "full": {"schedule": "0 20 * * *"}}
    seen = world(NIGHT, retention=EXPIRY, compaction=full)
    runs = []
    for day in ("22", "23", "24", "25"):
        go_to(seen, f"2026-11-{day} 01:10")
        runs.append(seen.active.spec.type)
        finish_after(seen, hours=6)
    assert set(runs) == {"Compact", "ExpireSnapshots"}


def with_max_delay(monkeypatch: pytest.MonkeyPatch, **length: float) -> None:
    """Every schedule has this maxDelay."""
    honest = schedule_state.due_run

    def bounded(*arguments: Any) -> DueRun | None:
        work = honest(*arguments)
        return None if work is None else replace(work, max_delay=timedelta(**length))

    monkeypatch.setattr(schedule_state, "due_run", bounded)


def test_max_delay_starts_work_outside_the_windows_and_the_run_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with_max_delay(monkeypatch, hours=3)
    seen = world(NIGHT, retention=EXPIRY)
    go_to(seen, "2026-11-21 09:00")
    assert decision(seen).message.endswith(
        ". It starts at 2026-11-21T12:00:00Z even outside the windows, because of maxDelay (3h)"
    )
    wake(seen)
    assert seen.now == at("2026-11-21 12:00"), "three hours after the first tick, whatever ticks followed"
    waited = "it has waited since 2026-11-21T09:00:00Z, longer than maxDelay (3h)"
    note = f"{waited}, so it does not wait for a maintenance window"
    assert seen.active.spec.trigger is not None
    assert seen.active.spec.trigger.message == f"due at 2026-11-21T12:00:00Z; {note}"
    assert note in decision(seen).message
    seen.finish()
    seen.reconcile()
    assert any(note in event.note for each in seen.decisions for event in each.events)


def test_max_delay_does_not_matter_where_a_window_opens_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    with_max_delay(monkeypatch, days=1)
    seen = world(NIGHT, retention=EXPIRY)
    go_to(seen, "2026-11-21 09:00")
    assert "maxDelay" not in decision(seen).message
    wake(seen)
    assert seen.active.spec.trigger is not None
    assert seen.active.spec.trigger.message == "due at 2026-11-22T01:00:00Z"


def test_max_delay_of_a_retry_counts_from_the_tick_whose_run_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    with_max_delay(monkeypatch, minutes=70)
    seen = world(NIGHT, retention={"snapshots": {"schedule": "0 4 * * *"}})
    go_to(seen, "2026-11-22 04:00")
    seen.now = at("2026-11-22 04:59:30")
    seen.fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED)
    seen.settle()
    wake(seen)
    assert said(seen) == WAITS, "the time of the retry has come after the closing"
    wake(seen)
    assert seen.now == at("2026-11-22 05:10")
    assert seen.active.spec.type == "ExpireSnapshots"
