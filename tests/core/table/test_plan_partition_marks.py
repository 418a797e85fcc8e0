"""Marks of partitions that are done: when a run starts, what it is given, and what stops it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from paimon_contract.parameters.mark_partitions_done import MarkPartitionsDoneParameters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.schedule_state import DecisionResult, ScheduleState
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.validation.blocks import with_valid_blocks
from paimon_operator.core.validation.table import broken_rules
from paimon_operator.errors import SpecError
from tests.core.table.marked_table import DAILY, HALF_HOURLY, SCHEMA, marked
from tests.core.table.measured import checks_of, measure
from tests.support import builders
from tests.support.table_world import TableWorld

MARKS = ("MarkPartitionsDone", "")


def world(catalog: dict[str, Any] | None = None, *, block: dict[str, Any] | None, **spec: Any) -> TableWorld:
    """A Ready table with partitions, whose missed ticks are answered."""
    table = builders.table(schema=SCHEMA, markPartitionsDone=block, **spec)
    seen = TableWorld(table=table, catalog=builders.catalog(**(catalog or {}))).ready()
    seen.run_due()
    return seen


def state(seen: TableWorld) -> ScheduleState:
    found = seen.table.status.partitions_done
    assert found is not None
    return found


def job(seen: TableWorld) -> MarkPartitionsDoneParameters:
    run = builders.run("mark", table=seen.table, type="MarkPartitionsDone", compact=None)
    parameters = OPERATIONS.of("MarkPartitionsDone").job(builders.context(seen.table, seen.catalog), run)
    assert isinstance(parameters, MarkPartitionsDoneParameters)
    return parameters


def test_partitions_are_marked_by_their_schedule() -> None:
    seen = world(block=HALF_HOURLY)
    seen.wait(minutes=30)
    assert seen.run_due() == [MARKS]
    assert state(seen).next is not None
    assert state(seen).last_run is not None


@pytest.mark.parametrize(("is_safe", "expected"), [(True, [MARKS, ("ExpireSnapshots", "")]), (False, [MARKS])])
def test_where_commits_are_unsafe_nothing_that_commits_shares_the_pod_of_marks(
    is_safe: bool, expected: list[tuple[str, str]]
) -> None:
    seen = world(block=HALF_HOURLY, retention={"snapshots": {"schedule": "*/30 * * * *"}})
    if not is_safe:
        seen.runs.append(builders.run("look", table=seen.table, type="Observe", compact=None))
        seen.settle()
        commit = {"snapshotId": 9, "commitUser": "theirs", "kind": "APPEND", "time": seen.now}
        seen.finish("Observe", seenSnapshot=9, outsideCommit=commit)
        seen.settle()
        assert seen.says("CommitSafe")[0] == "False"
    seen.observed = replace(seen.observed, shares_drivers=True)
    seen.created.clear()
    seen.wait(minutes=30)
    seen.settle()
    assert seen.started == expected


def test_no_run_starts_while_every_partition_is_marked_and_nothing_was_committed() -> None:
    seen = marked()
    assert seen.run_due() == []
    decision = state(seen).decision
    assert decision is not None
    assert (decision.result, decision.reason) == (DecisionResult.SKIPPED, Reason.NOT_NEEDED)
    assert checks_of(decision) == {"unmarkedPartitions": ("0", "1", False)}
    measure(seen, snapshot=8)
    seen.wait(minutes=30)
    assert seen.run_due() == [MARKS], "after a commit there may be another partition, or a newer file"


@pytest.mark.parametrize("left", ["notYetDone", "remaining", "unreadable"])
def test_a_run_starts_while_any_partition_has_no_mark(left: str) -> None:
    seen = marked(**{left: 2})
    seen.settle()
    decision = state(seen).decision
    assert decision is not None
    assert decision.result is DecisionResult.STARTED
    assert checks_of(decision) == {"unmarkedPartitions": ("2", "1", True)}


def test_a_run_starts_after_any_edit() -> None:
    seen = marked()
    seen.edit(markPartitionsDone=HALF_HOURLY | {"idleTime": "2h"})
    seen.settle()
    seen.wait(minutes=30)
    assert seen.run_due() == [MARKS]


def test_a_measurement_that_does_not_hold_any_more_answers_no_tick() -> None:
    seen = marked()
    seen.wait(days=1)
    assert seen.run_due() == [MARKS]


def test_without_a_schedule_they_are_marked_once_an_hour_in_the_minute_of_the_table() -> None:
    minutes = set()
    for number in range(8):
        table = builders.table(schema=SCHEMA, markPartitionsDone=DAILY, metadata={"uid": f"uid-{number}"})
        found = builders.context(table).effective.mark_partitions_done
        assert found is not None
        assert found.schedule is not None
        assert found.schedule.endswith(" * * * *")
        minutes.add(found.schedule)
    assert len(minutes) > 1
    seen = world(block=DAILY)
    seen.wait(hours=1)
    assert seen.run_due() == [MARKS]


def test_a_table_without_the_block_marks_nothing() -> None:
    seen = world(block=None)
    seen.wait(days=30)
    assert seen.run_due() == []
    assert seen.table.status.partitions_done is None


def test_a_block_that_is_removed_leaves_no_next_tick() -> None:
    seen = world(block=HALF_HOURLY)
    seen.edit(markPartitionsDone=None)
    seen.settle()
    assert state(seen).next is None


def test_it_needs_no_window_because_batch_jobs_wait_for_it() -> None:
    seen = world({"maintenanceWindows": [{"schedule": "0 1 * * *", "duration": "1h"}]}, block=HALF_HOURLY)
    seen.wait(minutes=30)
    assert seen.run_due() == [MARKS]


def test_of_runs_that_are_due_together_it_comes_after_the_drop_of_partitions_and_before_compaction() -> None:
    schedule = {"schedule": "15 * * * *"}
    retention = {"partitions": {"expirationTime": "365d", **schedule}}
    full = {"mode": "Dedicated", "full": schedule}
    seen = world(block=DAILY | schedule, retention=retention, compaction=full)
    seen.wait(hours=1)
    assert seen.run_due() == [("ExpirePartitions", ""), MARKS, ("Compact", "Full")]


def test_it_commits_nothing_so_it_starts_by_its_schedule_where_commits_are_unsafe() -> None:
    fixed = {"type": "Fixed", "fixed": {"count": 2, "keys": ["id"]}}
    seen = world({"commitPolicy": "AllowUnsafe"}, block=HALF_HOURLY, externalWriters="Active", bucket=fixed)
    seen.catalog = builders.catalog()
    seen.settle()
    assert seen.says("CommitSafe")[0] == "False"
    seen.wait(minutes=30)
    assert MARKS in seen.run_due()


def test_a_failure_of_the_infrastructure_is_retried_before_the_next_tick() -> None:
    seen = world(block={**DAILY, "schedule": "15 3 * * *"})
    seen.wait(days=1)
    seen.settle()
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED)
    seen.wait(hours=1)
    assert seen.run_due() == [MARKS]


def test_a_user_may_ask_for_it_and_its_failure_changes_no_schedule() -> None:
    seen = world(block=HALF_HOURLY)
    before = state(seen)
    seen.runs.append(builders.run("now", table=seen.table, type="MarkPartitionsDone", compact=None))
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.INVALID_SPEC)
    seen.settle()
    assert state(seen).failure == before.failure


def test_a_run_has_the_block_of_the_table_in_the_tables_time_zone() -> None:
    block = {**DAILY, "timestampPattern": "$dt", "timestampFormatter": "yyyyMMdd"}
    assert job(world({"timeZone": "Asia/Kolkata"}, block=block)) == MarkPartitionsDoneParameters(
        interval_seconds=86_400,
        idle_seconds=3_600,
        time_zone="Asia/Kolkata",
        timestamp_pattern="$dt",
        timestamp_formatter="yyyyMMdd",
    )


def test_a_run_for_a_table_without_it_is_refused() -> None:
    with pytest.raises(SpecError, match="Set timeInterval and idleTime there") as refused:
        job(world(block=None))
    assert refused.value.field == "spec.markPartitionsDone"


@pytest.mark.parametrize(
    ("sentence", "edit", "field"),
    [
        ("its error", {"markPartitionsDone": HALF_HOURLY | {"timestampPattern": "$x"}}, "spec.markPartitionsDone"),
        ("an error in the time zone, in which partitions are read", {"timeZone": "Mars/Base"}, "spec.timeZone"),
    ],
)
def test_an_error_stops_its_runs_and_nothing_else(sentence: str, edit: dict[str, Any], field: str) -> None:
    seen = world(block=HALF_HOURLY)
    seen.edit(**edit)
    seen.settle()
    seen.wait(hours=5)
    assert MARKS not in seen.run_due(), sentence
    decision = state(seen).decision
    assert decision is not None
    assert (decision.result, field in decision.message) == (DecisionResult.WAITING, True)
    context, fatal = with_valid_blocks(builders.context(seen.table, seen.catalog), builders.operator_facts())
    assert fatal == ()
    run = builders.run("now", table=seen.table, type="MarkPartitionsDone")
    with pytest.raises(SpecError) as refused:
        OPERATIONS.of("MarkPartitionsDone").job(context, run)
    assert refused.value.field.startswith(field)


def test_an_error_does_not_stop_a_table_that_does_not_exist_yet() -> None:
    seen = TableWorld(table=builders.table(schema=SCHEMA, markPartitionsDone=DAILY | {"timestampPattern": "$x"}))
    assert seen.run_due() == [("Provision", "")]


@pytest.mark.parametrize(
    ("sentence", "schema", "block", "field", "remedy"),
    [
        ("a key that does not exist", {}, {"timestampPattern": "$x"}, ".timestampPattern", "Use $dt."),
        ("a key that is no time", {"partitionKeys": ["on"]}, {}, "", "with the program that loads them"),
        ("a number without a formatter", {"partitionKeys": ["n"]}, {}, ".timestampFormatter", "yyyyMMdd for 20261125"),
        ("a formatter for months", {}, {"timestampFormatter": "yyyyMM"}, ".timestampFormatter", "$month-01"),
        ("an interval of more than 65 years", {}, {"timeInterval": "24001d"}, ".timeInterval", "at most 24000d"),
        ("an idle time of more than 65 years", {}, {"idleTime": "24001d"}, ".idleTime", "at most 24000d"),
        ("a schedule that is none", {}, {"schedule": "61 * * * *"}, ".schedule", "Write minute, hour"),
    ],
)
def test_an_error_names_the_field_and_what_to_do(
    sentence: str, schema: dict[str, Any], block: dict[str, Any], field: str, remedy: str
) -> None:
    context = builders.context(builders.table(schema=SCHEMA | schema, markPartitionsDone=DAILY | block))
    (error,) = broken_rules(context)
    assert (error.field, remedy in error.remedy) == (f"spec.markPartitionsDone{field}", True), (sentence, error)


def test_a_table_without_partitions_has_none_to_mark() -> None:
    table = builders.table(schema={"columns": SCHEMA["columns"]}, markPartitionsDone=DAILY | {"timestampPattern": "$x"})
    (error,) = broken_rules(builders.context(table))
    assert (error.field, error.problem) == ("spec.markPartitionsDone", "the table has no partitions")
    assert "set partitionKeys" in error.remedy


@pytest.mark.parametrize(
    ("sentence", "edit", "is_asked"),
    [
        ("nothing was edited", {}, True),
        ("another schedule", {"markPartitionsDone": DAILY | {"schedule": "6 * * * *"}}, True),
        ("another idle time", {"markPartitionsDone": HALF_HOURLY | {"idleTime": "2h"}}, False),
        ("another time zone, in which a day ends at another moment", {"timeZone": "Asia/Kolkata"}, False),
        ("no block any more", {"markPartitionsDone": None}, False),
    ],
)
def test_a_run_that_was_decided_is_given_up_when_what_is_done_was_edited(
    sentence: str, edit: dict[str, Any], *, is_asked: bool
) -> None:
    operation = OPERATIONS.of("MarkPartitionsDone")
    spec: dict[str, Any] = {"schema": SCHEMA, "markPartitionsDone": HALF_HOURLY}
    assert operation.scheduled is not None
    before, table = builders.context(builders.table(**spec)), builders.table(**spec | edit)
    (work,) = operation.scheduled.due(before, before.table.status)
    assert work.spec_hash is not None
    run = builders.run("mark", table=table, type="MarkPartitionsDone", compact=None)
    assert operation.is_still_asked_for(builders.context(table), run, work.spec_hash) is is_asked, sentence


def test_a_block_that_can_be_read_breaks_no_rule() -> None:
    for key, block in (
        ("dt", {}),
        ("n", {"timestampFormatter": "yyyyMMdd"}),
        ("dt", {"timestampPattern": "$dt 00:00:00"}),
    ):
        table = builders.table(schema=SCHEMA | {"partitionKeys": [key]}, markPartitionsDone=DAILY | block)
        assert broken_rules(builders.context(table)) == ()
