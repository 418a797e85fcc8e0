"""Expiry of partitions: when a run starts, what it is given, and what stops it."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_contract.parameters.expire_partitions import ExpirePartitionsParameters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.schedule_state import ScheduleState
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.validation.blocks import with_valid_blocks
from paimon_operator.errors import SpecError
from tests.support import builders
from tests.support.table_world import TableWorld

EXPIRY = ("ExpirePartitions", "")
SCHEMA: dict[str, Any] = {
    "columns": [{"name": "id", "type": "BIGINT"}, {"name": "dt", "type": "STRING"}],
    "partitionKeys": ["dt"],
}
HOURLY: dict[str, Any] = {"expirationTime": "365d", "schedule": "15 * * * *"}


def world(catalog: dict[str, Any] | None = None, **partitions: Any) -> TableWorld:
    """A Ready table with partitions, whose missed ticks are answered. Without `partitions` it has none to expire."""
    table = builders.table(schema=SCHEMA, retention={"partitions": partitions} if partitions else None)
    seen = TableWorld(table=table, catalog=builders.catalog(**(catalog or {}))).ready()
    seen.run_due()
    return seen


def state(seen: TableWorld) -> ScheduleState:
    found = seen.table.status.partition_expiry
    assert found is not None
    return found


def job(seen: TableWorld, **spec: Any) -> ExpirePartitionsParameters:
    run = builders.run("expire", table=seen.table, type="ExpirePartitions", compact=None, **spec)
    parameters = OPERATIONS.of("ExpirePartitions").job(builders.context(seen.table, seen.catalog), run)
    assert isinstance(parameters, ExpirePartitionsParameters)
    return parameters


def test_partitions_expire_by_their_schedule() -> None:
    seen = world(**HOURLY)
    seen.wait(hours=1)
    assert seen.run_due() == [EXPIRY]
    assert state(seen).next is not None
    assert state(seen).last_run is not None


def test_without_a_schedule_they_expire_once_a_day_before_a_full_compaction_would_rewrite_them() -> None:
    seen = world(expirationTime="365d")
    tick = state(seen).next
    assert tick is not None
    assert tick.hour == 2
    seen.wait(days=1)
    assert seen.run_due() == [EXPIRY]


def test_a_table_without_it_drops_no_partition() -> None:
    seen = world()
    seen.wait(days=30)
    assert seen.run_due() == []
    assert seen.table.status.partition_expiry is None


def test_a_schedule_that_is_removed_leaves_no_next_tick() -> None:
    seen = world(**HOURLY)
    seen.edit(retention=None)
    seen.settle()
    assert state(seen).next is None


def test_of_runs_that_are_due_together_partitions_come_before_compaction_and_snapshots() -> None:
    seen = world(**HOURLY)
    schedule = {"schedule": "15 * * * *"}
    retention = {"partitions": HOURLY, "snapshots": {"timeRetained": "1d", **schedule}}
    seen.edit(compaction={"mode": "Dedicated", "full": schedule}, retention=retention)
    seen.settle()
    seen.run_due()
    seen.wait(hours=1)
    assert seen.run_due() == [EXPIRY, ("Compact", "Full"), ("ExpireSnapshots", "")]


def test_a_failure_of_the_infrastructure_is_retried_before_the_next_tick() -> None:
    seen = world(expirationTime="365d", schedule="15 3 * * *")
    seen.wait(days=1)
    seen.settle()
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED)
    seen.wait(hours=1)
    assert seen.run_due() == [EXPIRY]


def test_a_user_may_ask_for_it_and_its_failure_changes_no_schedule() -> None:
    seen = world(**HOURLY)
    before = state(seen)
    seen.runs.append(builders.run("now", table=seen.table, type="ExpirePartitions", compact=None))
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.INVALID_SPEC)
    seen.settle()
    assert state(seen).failure == before.failure


def test_a_run_has_the_retention_of_the_table_in_the_tables_time_zone() -> None:
    seen = world({"timeZone": "Asia/Kolkata"}, **HOURLY, timestampPattern="$dt", timestampFormatter="yyyyMMdd")
    assert job(seen) == ExpirePartitionsParameters(
        expiration_seconds=365 * 86_400,
        strategy="ValuesTime",
        time_zone="Asia/Kolkata",
        timestamp_pattern="$dt",
        timestamp_formatter="yyyyMMdd",
    )


def test_a_run_for_a_table_without_it_is_refused() -> None:
    with pytest.raises(SpecError, match="no retention of partitions") as refused:
        job(world())
    assert refused.value.field == "spec.retention.partitions"


@pytest.mark.parametrize(
    ("sentence", "edit", "field"),
    [
        ("its error", {"retention": {"partitions": HOURLY | {"timestampPattern": "$x"}}}, "spec.retention.partitions"),
        ("an error in the time zone, in which partitions are read", {"timeZone": "Mars/Base"}, "spec.timeZone"),
    ],
)  # fmt: skip
def test_an_error_stops_the_schedule_and_the_runs_of_users(sentence: str, edit: dict[str, Any], field: str) -> None:
    seen = world(**HOURLY)
    seen.edit(**edit)
    seen.settle()
    seen.wait(hours=5)
    assert EXPIRY not in seen.run_due(), sentence
    decision = state(seen).decision
    assert decision is not None
    assert field in decision.message
    context, fatal = with_valid_blocks(builders.context(seen.table, seen.catalog), builders.operator_facts())
    assert fatal == ()
    with pytest.raises(SpecError) as refused:
        OPERATIONS.of("ExpirePartitions").job(context, builders.run("now", table=seen.table, type="ExpirePartitions"))
    assert refused.value.field.startswith(field)
