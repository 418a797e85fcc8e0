"""Scheduled operations of a table: when they start, in which order, and what follows a failure."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.schedule_state import LastDecision, ScheduleState
from paimon_operator.api.table.status import WriteState
from tests.support import builders
from tests.support.table_world import TableWorld, delay_of

DEDICATED = {"mode": "Dedicated", "minor": {"schedule": "*/30 * * * *"}, "full": {"schedule": "0 3 * * *"}}


def world(engine: str = "paimon-1.4", **spec: Any) -> TableWorld:
    """A Ready table whose missed ticks are answered."""
    seen = TableWorld(table=builders.table(**spec), catalog=builders.catalog(engine=engine)).ready()
    seen.run_due()
    return seen


def write_state(seen: TableWorld, index: int = 0) -> WriteState:
    return seen.table.status.writes[index]


def last_decision(seen: TableWorld, index: int = 0) -> LastDecision:
    decision = write_state(seen, index).decision
    assert decision is not None
    return decision


@pytest.mark.parametrize(
    ("sentence", "engine", "compaction", "expected"),
    [
        ("writers compact inline", "paimon-1.4", None, []),
        ("someone else compacts", "paimon-1.4", {"mode": "External"}, []),
        ("both as given", "paimon-1.4", DEDICATED, [("Compact", "Full"), ("Compact", "Minor")]),
        ("only what is given", "paimon-1.4", {"mode": "Dedicated", "full": {"schedule": "0 3 * * *"}}, [("Compact", "Full")]),
        ("the operator's defaults", "paimon-1.4", {"mode": "Dedicated"}, [("Compact", "Full"), ("Compact", "Minor")]),
        ("the engine has no minor one", "paimon-0.9", {"mode": "Dedicated"}, [("Compact", "Full")]),
    ],
)  # fmt: skip
def test_the_compaction_mode_decides_which_compactions_are_scheduled(
    sentence: str, engine: str, compaction: dict[str, Any] | None, expected: list[tuple[str, str]]
) -> None:
    seen = world(engine, compaction=compaction)
    seen.wait(days=1)
    compactions = {work for work in seen.run_due() if work[0] == "Compact"}
    assert compactions == set(expected), sentence


def test_a_table_with_dedicated_compaction_expires_snapshots_by_runs() -> None:
    seen = world(compaction={"mode": "Dedicated"})
    seen.wait(days=1)
    assert ("ExpireSnapshots", "") in seen.run_due()


def test_a_table_without_schedules_starts_no_run() -> None:
    seen = world()
    seen.wait(days=30)
    decision = seen.settle()
    assert decision.requeue_after is None
    assert seen.run_due() == []


def test_one_run_covers_all_missed_ticks_and_answers_the_latest() -> None:
    seen = world(writes=[builders.write()])
    seen.wait(days=3)
    seen.settle()
    active = seen.table.status.active_run
    assert active is not None
    assert active.due_time == seen.now - timedelta(minutes=10)
    assert seen.run_due() == []


def test_ticks_before_the_creation_of_the_object_start_no_run() -> None:
    seen = TableWorld(table=builders.table(writes=[builders.write()]), now=builders.CREATED + timedelta(minutes=5))
    seen.ready()
    assert seen.started == [("Provision", "")]
    assert write_state(seen).next == builders.CREATED + timedelta(minutes=15)


def test_schedules_apply_in_the_tables_time_zone() -> None:
    seen = world(timeZone="America/New_York", retention={"snapshots": {"schedule": "0 6 * * *"}})
    assert seen.table.status.retention is not None
    assert seen.table.status.retention.next == datetime(2026, 11, 21, 11, 0, tzinfo=UTC)


def test_the_tables_time_zone_overrides_the_catalogs() -> None:
    seen = TableWorld(
        table=builders.table(retention={"snapshots": {"schedule": "0 6 * * *"}}),
        catalog=builders.catalog(timeZone="Europe/Berlin"),
    ).ready()
    seen.run_due()
    assert seen.table.status.retention is not None
    assert seen.table.status.retention.next == datetime(2026, 11, 22, 5, 0, tzinfo=UTC)


def test_the_operation_that_is_due_longest_starts_first() -> None:
    seen = world(
        writes=[builders.write(schedule="0 8 * * *")], retention={"snapshots": {"schedule": "0 4 * * *"}}, compaction=DEDICATED
    )  # fmt: skip
    seen.now = datetime(2026, 11, 22, 8, 29, tzinfo=UTC)
    assert seen.run_due() == [("Compact", "Full"), ("ExpireSnapshots", ""), ("Write", "import"), ("Compact", "Minor")]


def test_operations_due_at_the_same_time_start_writes_first_then_full_then_minor_then_expiry() -> None:
    at_three = "0 3 * * *"
    seen = world(
        writes=[builders.write("zebra", schedule=at_three), builders.write("ant", schedule=at_three)],
        retention={"snapshots": {"schedule": at_three}},
        compaction={"mode": "Dedicated", "minor": {"schedule": at_three}, "full": {"schedule": at_three}},
    )
    seen.wait(days=1)
    expected = [
        ("Write", "zebra"),
        ("Write", "ant"),
        ("Compact", "Full"),
        ("Compact", "Minor"),
        ("ExpireSnapshots", ""),
    ]
    assert seen.run_due() == expected


def test_an_operation_that_is_due_during_an_active_run_reports_that_it_waits_and_starts_next() -> None:
    seen = world(writes=[builders.write()], retention={"snapshots": {"schedule": "15 * * * *"}})
    seen.wait(minutes=6)
    seen.settle()
    assert seen.active.spec.type == "Write"
    waiting = seen.table.status.retention
    assert waiting is not None
    assert waiting.decision is not None
    assert (waiting.decision.result, waiting.decision.reason) == ("Waiting", Reason.ANOTHER_RUN_IS_ACTIVE)
    assert seen.active.metadata.name in waiting.decision.message
    seen.finish()
    seen.settle()
    assert seen.active.spec.type == "ExpireSnapshots"


def test_ticks_missed_during_a_suspension_start_one_run() -> None:
    seen = world(writes=[builders.write()])
    seen.edit(suspend=True)
    seen.wait(days=7)
    assert seen.run_due() == []
    assert last_decision(seen).reason == Reason.SUSPENDED
    seen.edit(suspend=False)
    assert seen.run_due() == [("Write", "import")]


def why_not_now(seen: TableWorld) -> str:
    decision = last_decision(seen)
    return f"{decision.result}: {decision.message}"


def test_a_failed_write_makes_the_table_unhealthy_and_keeps_it_ready() -> None:
    seen = world(writes=[builders.write()])
    seen.wait(minutes=15)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.INPUT_NOT_FOUND, "s3://landing/orders/ does not exist")
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert seen.says("Stalled")[0] == "False"
    assert seen.says("Healthy") == ("False", Reason.INPUT_NOT_FOUND)
    assert "s3://landing/orders/ does not exist" in seen.condition("Healthy").message


def test_an_environment_failure_is_retried_before_the_next_tick_and_answers_the_same_tick() -> None:
    seen = world(writes=[builders.write(schedule="0 * * * *")])
    seen.wait(hours=1)
    seen.settle()
    due = seen.table.status.active_run.due_time if seen.table.status.active_run else None
    seen.fail(FailureClass.ENVIRONMENT, Reason.INPUT_NOT_FOUND)
    decision = seen.settle()
    assert timedelta(minutes=1) <= delay_of(decision) <= timedelta(minutes=15)
    assert why_not_now(seen).startswith("Waiting: run orders-write-")
    assert "the next try is at 20" in why_not_now(seen)
    seen.now += delay_of(decision)
    seen.settle()
    active = seen.table.status.active_run
    assert active is not None
    assert active.due_time == due
    seen.finish()
    seen.settle()
    assert seen.says("Healthy")[0] == "True"
    assert write_state(seen).failure is None


@pytest.mark.parametrize("class_", [FailureClass.CONFLICT, FailureClass.SPEC, FailureClass.DEADLINE])
def test_other_failures_of_scheduled_runs_wait_for_the_next_tick(class_: FailureClass) -> None:
    seen = world(writes=[builders.write(schedule="0 * * * *")])
    seen.wait(hours=1)
    seen.settle()
    seen.fail(class_, Reason.DRIVER_FAILED)
    decision = seen.settle()
    assert decision.requeue_after == timedelta(minutes=50), "the next full hour"
    assert why_not_now(seen).endswith("failed and is not repeated; it waits for its next tick")
    seen.now += delay_of(decision)
    assert seen.run_due() == [("Write", "import")]


def test_a_newer_tick_does_not_wait_for_the_retry_of_an_older_one() -> None:
    seen = world(writes=[builders.write(schedule="* * * * *")])
    seen.wait(minutes=1)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.INPUT_NOT_FOUND)
    seen.settle()
    seen.wait(minutes=1)
    seen.settle()
    active = seen.table.status.active_run
    assert active is not None
    assert active.due_time == seen.now


def test_failures_in_a_row_are_counted_until_a_success() -> None:
    seen = world(writes=[builders.write(schedule="0 * * * *")])
    for expected in (1, 2, 3):
        seen.wait(hours=1)
        seen.settle()
        seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST)
        seen.settle()
        failure = write_state(seen).failure
        assert failure is not None
        assert failure.count == expected


def test_a_failing_operation_does_not_block_the_others() -> None:
    seen = world(writes=[builders.write("bad"), builders.write("good")])
    seen.wait(minutes=15)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.INPUT_NOT_FOUND)
    assert seen.run_due() == [], "it waits for the first retries of the write before it"
    seen.wait(hours=1)
    seen.settle()
    for _ in range(4):
        seen.fail(FailureClass.ENVIRONMENT, Reason.INPUT_NOT_FOUND)
        seen.settle()
        seen.wait(minutes=9)
        seen.settle()
    assert seen.table.status.active_run is not None
    assert seen.table.status.active_run.subject == "good", "and not longer"
    assert seen.says("Healthy") == ("False", Reason.INPUT_NOT_FOUND)


def test_a_write_without_new_files_is_reported_as_skipped() -> None:
    seen = world(writes=[builders.write()])
    seen.wait(minutes=15)
    seen.settle()
    seen.finish(write={"skipped": True})
    seen.settle()
    decision = write_state(seen).decision
    assert decision is not None
    assert (decision.result, decision.reason) == ("Skipped", Reason.NOT_NEEDED)


def decisions(seen: TableWorld) -> dict[str, str]:
    """The last decision about each operation, as `kubectl describe` shows it."""
    status = seen.table.status
    states: dict[str, ScheduleState | None] = {"compaction": status.compaction, "retention": status.retention}
    states |= {f"write {state.name}": state for state in status.writes}
    told = {name: state.decision for name, state in states.items() if state is not None}
    return {name: f"{told.result}/{told.reason}: {told.message}" for name, told in told.items() if told is not None}


def test_after_a_success_the_decision_reports_the_result_and_the_next_tick() -> None:
    hourly = "0 * * * *"
    seen = world(
        writes=[builders.write(schedule=hourly)],
        retention={"snapshots": {"schedule": hourly}},
        compaction={"mode": "Dedicated", "full": {"schedule": hourly}},
    )
    ended = {run.spec.type: run.metadata.name for run in seen.created}
    next_tick = "Waiting/RunSucceeded: run {}: done; it waits for its next tick"
    assert decisions(seen) == {
        "write import": next_tick.format(ended["Write"]),
        "compaction": next_tick.format(ended["Compact"]),
        "retention": next_tick.format(ended["ExpireSnapshots"]),
    }


def test_a_failed_compaction_reports_for_both_strategies_why_it_waits() -> None:
    seen = world(compaction=DEDICATED)
    seen.wait(minutes=20)
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.DRIVER_FAILED)
    seen.settle()
    assert "failed and is not repeated" in decisions(seen)["compaction"]


def test_a_write_that_waits_for_an_edit_reports_it_during_another_active_run() -> None:
    seen = world(writes=[builders.write()], retention={"snapshots": {"schedule": "15 * * * *"}})
    seen.edit(schema={**builders.ORDERS, "primaryKeys": ["order_id", "note"]})
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS)
    seen.wait(minutes=6)
    seen.settle()
    assert seen.active.spec.type == "ExpireSnapshots"
    assert decisions(seen)["write import"].startswith("Waiting/TableDiffers")


def test_the_reported_time_of_a_retry_is_never_in_the_past() -> None:
    seen = world(writes=[builders.write("good", schedule="0 0 * * *"), builders.write("bad")])
    seen.wait(minutes=15)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.INPUT_NOT_FOUND)
    seen.now += delay_of(seen.settle())
    seen.settle()
    message = seen.condition("Healthy").message
    assert f"(being tried again by run {seen.active.metadata.name})" in message
    assert "tried again at" not in message


def test_a_write_records_its_commit() -> None:
    seen = world(writes=[builders.write()])
    seen.wait(minutes=15)
    seen.settle()
    name = seen.active.metadata.name
    seen.finish(write={"files": 2, "rows": 9, "committedSnapshot": 17})
    seen.settle()
    assert (write_state(seen).committed_snapshot, write_state(seen).last_run) == (17, name)


def test_a_compaction_is_recorded_for_its_strategy_and_as_the_latest_of_both() -> None:
    seen = world(compaction=DEDICATED)
    seen.wait(minutes=20)
    seen.settle()
    name = seen.active.metadata.name
    seen.finish()
    seen.settle()
    state = seen.table.status.compaction
    assert state is not None
    assert state.minor is not None
    assert state.full is not None
    assert state.last_run == state.minor.last_run == name != state.full.last_run
    assert state.next == state.minor.next == datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


def test_a_failed_compaction_is_reported_until_one_of_the_same_strategy_succeeds() -> None:
    seen = world(compaction=DEDICATED)
    seen.wait(minutes=20)
    seen.settle()
    name = seen.active.metadata.name
    seen.fail(FailureClass.ENVIRONMENT, Reason.STORAGE_UNREACHABLE, "no answer from s3")
    decision = seen.settle()
    state = seen.table.status.compaction
    assert state is not None
    assert state.minor is not None
    assert state.full is not None
    assert state.failure == state.minor.failure
    assert state.last_run == name
    assert state.full.failure is None
    assert seen.says("Healthy") == ("False", Reason.STORAGE_UNREACHABLE)
    assert decision.requeue_after is not None
    seen.now += delay_of(decision)
    assert seen.run_due() == [("Compact", "Minor")]
    assert seen.says("Healthy")[0] == "True"


def test_a_table_that_was_never_ready_starts_no_scheduled_run() -> None:
    seen = TableWorld(table=builders.table(writes=[builders.write()], compaction=DEDICATED))
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS)
    seen.wait(days=2)
    seen.settle()
    assert seen.started == [("Provision", "")]
    assert last_decision(seen).reason == Reason.TABLE_DIFFERS


def test_the_state_and_failure_of_a_removed_operation_are_removed() -> None:
    seen = world(writes=[builders.write()], retention={"snapshots": {"schedule": "*/15 * * * *"}})
    seen.wait(minutes=15)
    for _ in range(2):
        seen.settle()
        seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST)
    seen.settle()
    assert seen.says("Healthy")[0] == "False"
    seen.edit(writes=None, retention=None)
    seen.settle()
    assert seen.says("Healthy")[0] == "True"
    assert seen.table.status.writes == ()


def test_ticks_missed_while_the_catalog_was_missing_start_one_run() -> None:
    """The manifest had the schedule all the time, but no run could start."""
    seen = TableWorld(table=builders.table(retention={"snapshots": {"schedule": "0 * * * *"}}), catalog=None)
    seen.settle()
    seen.wait(hours=5)
    seen.catalog = builders.catalog()
    seen.settle()
    seen.finish("Provision", created=True)
    assert seen.run_due() == [("ExpireSnapshots", "")]
