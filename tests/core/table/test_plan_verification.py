"""A compaction that has changed rows holds all maintenance of its table, until a human accepts the rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_contract.parameters.compact import CompactParameters
from paimon_contract.parameters.verification import VerifyParameters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.status import VerificationState
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.operations.row_checks import ACCEPT
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.blocks import with_valid_blocks
from paimon_operator.errors import SpecError
from tests.core.table.measured import HOURLY, decision_of, measure, measured_table
from tests.support import builders
from tests.support.table_world import TableWorld

DIFFERENCE = {"before": 7, "after": 8, "found": "1 partitions differ: rows 9 -> 8", "tag": "paimon-operator-verify-7-a"}
COMPARED = {"commits": 1, "rows": 9, "buckets": 4}


def verified_table(**spec: Any) -> TableWorld:
    """A table whose next compaction, and whose expiry of snapshots, is due at the next hour."""
    retention = {"snapshots": {"schedule": HOURLY, "numRetainedMin": 1, "timeRetained": "1m"}}
    usual: dict[str, Any] = {"maintenance": {"verify": "Sample"}, "retention": retention}
    return measured_table(**(usual | spec))


def an_hour_later(seen: TableWorld) -> None:
    """Compaction and expiry are due, and needed."""
    seen.wait(hours=1)
    measure(seen, sortedRunsMax=9, snapshots=50, oldestSnapshot=seen.now - timedelta(hours=1))
    seen.settle()


def change_rows(seen: TableWorld, **difference: Any) -> str:
    """The active compaction has changed rows. Returns its name."""
    name = seen.active.metadata.name
    found = COMPARED | {"difference": DIFFERENCE | difference}
    seen.fail(FailureClass.SPEC, Reason.VERIFICATION_FAILED, "rows differ", verification=found)
    seen.settle()
    return name


def held() -> tuple[TableWorld, str]:
    """A table whose compaction has changed rows, with the name of that run. No run is active."""
    seen = verified_table()
    an_hour_later(seen)
    while seen.active.spec.type != "Compact":
        seen.finish()
        seen.settle()
    name = change_rows(seen)
    return seen, name


def verification_of(seen: TableWorld) -> VerificationState:
    found = seen.table.status.verification
    assert found is not None
    return found


def annotate(seen: TableWorld, value: str) -> None:
    """Annotates the PaimonTable to accept the rows that the run of this name has found."""
    metadata = seen.table.metadata.model_copy(update={"annotations": {ACCEPT: value}})
    seen.table = seen.table.model_copy(update={"metadata": metadata})
    seen.settle()


def types(seen: TableWorld) -> set[str]:
    """The types of the runs of the next hour."""
    before = len(seen.created)
    an_hour_later(seen)
    seen.run_due()
    return {type_ for type_, _ in seen.started[before:]}


def test_no_maintenance_starts_after_a_difference() -> None:
    seen, name = held()
    created = len(seen.created)
    an_hour_later(seen)
    assert len(seen.created) == created
    assert seen.table.status.active_run is None
    for type_ in ("MaintenanceHeld", "Stalled"):
        assert seen.says(type_) == ("True", Reason.VERIFICATION_FAILED)
    assert seen.says("Healthy") == ("False", Reason.VERIFICATION_FAILED)
    assert seen.says("Ready")[0] == "True", "the table is as the manifest says"
    message = seen.condition("MaintenanceHeld").message
    for part in (
        name,
        "commit 8",
        "rows 9 -> 8",
        "Tag paimon-operator-verify-7-a keeps snapshot 7",
        f"{ACCEPT}={name}",
    ):
        assert part in message


def test_each_due_tick_says_what_holds_it() -> None:
    seen, _ = held()
    an_hour_later(seen)
    assert (decision_of(seen).result, decision_of(seen).reason) == ("Waiting", Reason.VERIFICATION_FAILED)
    state = seen.table.status.retention
    assert state is not None
    assert state.decision is not None
    assert state.decision.reason == Reason.VERIFICATION_FAILED


def test_writes_and_edits_go_on() -> None:
    seen, _ = held()
    seen.edit(writes=[builders.write(schedule=HOURLY)], options={"write-buffer-size": "64 mb"})
    assert {type_ for type_, _ in seen.run_due()} == {"Provision"}
    seen.wait(hours=1)
    assert ("Write", "import") in seen.run_due()


@pytest.mark.parametrize(
    "type_",
    ["Compact", "CompactManifests", "ExpireSnapshots", "Analyze", "RemoveOrphanFiles", "MarkPartitionsDone"],
)
def test_maintenance_that_a_user_requests_waits_too(type_: str) -> None:
    seen, _ = held()
    compact = {"strategy": "Full"} if type_ == "Compact" else None
    seen.runs.append(builders.run("mine", table=seen.table, type=type_, compact=compact))
    seen.settle()
    assert seen.table.status.active_run is None


def test_a_run_that_only_reads_starts() -> None:
    seen, _ = held()
    seen.runs.append(builders.run("look", table=seen.table, type="Observe", compact=None))
    seen.settle()
    assert seen.active.metadata.name == "look"


def test_the_annotation_with_the_run_releases_maintenance() -> None:
    seen, name = held()
    annotate(seen, "another-run")
    assert seen.says("MaintenanceHeld")[0] == "True"
    annotate(seen, name)
    assert "MaintenanceHeld" not in [each.type for each in seen.table.status.conditions]
    assert seen.says("Stalled")[0] == "False"
    assert types(seen) >= {"Compact", "ExpireSnapshots"}
    assert seen.says("Healthy")[0] == "True"
    assert verification_of(seen).held_by == name, "what was found stays in the status"


def test_an_annotation_that_was_left_behind_releases_no_later_difference() -> None:
    seen, name = held()
    annotate(seen, name)
    seen.run_due()
    an_hour_later(seen)
    while seen.active.spec.type != "Compact":
        seen.finish()
        seen.settle()
    again = change_rows(seen)
    assert again != name
    assert seen.says("MaintenanceHeld")[0] == "True"


def test_a_users_compaction_that_changes_rows_holds_maintenance() -> None:
    seen = verified_table()
    seen.runs.append(builders.run("mine", table=seen.table))
    seen.settle()
    assert change_rows(seen) == "mine"
    assert verification_of(seen).held_by == "mine"
    assert seen.says("Healthy") == ("False", Reason.VERIFICATION_FAILED)


@pytest.mark.parametrize(
    ("rolled_back", "says"),
    [(True, "The table was rolled back to it"), (False, "The table has the rows of the commit")],
)
def test_the_message_says_which_rows_the_table_has(says: str, *, rolled_back: bool) -> None:
    seen = verified_table()
    seen.runs.append(builders.run("mine", table=seen.table))
    seen.settle()
    change_rows(seen, rolledBack=rolled_back)
    assert says in seen.condition("MaintenanceHeld").message


def test_a_comparison_without_a_difference_is_recorded() -> None:
    seen = verified_table()
    an_hour_later(seen)
    while seen.active.spec.type != "Compact":
        seen.finish()
        seen.settle()
    name = seen.active.metadata.name
    seen.finish("Compact", verification=COMPARED)
    seen.settle()
    state = verification_of(seen)
    assert (state.last_run, state.last_time, state.held_by) == (name, seen.now, None)
    assert state.last is not None
    assert (state.last.commits, state.last.rows, state.last.buckets) == (1, 9, 4)


def test_a_result_that_is_recorded_twice_holds_once() -> None:
    seen, name = held()
    before = seen.table.status.verification
    seen.settle()
    assert (seen.table.status.verification, verification_of(seen).held_by) == (before, name)


def job_of(seen: TableWorld) -> CompactParameters:
    assert seen.catalog is not None
    context = TableContext.build(seen.table, seen.catalog, seen.operator, seen.now)
    run = builders.run("mine", table=seen.table)
    parameters = OPERATIONS.of("Compact").job(context, run)
    assert isinstance(parameters, CompactParameters)
    return parameters


AGGREGATED = {
    "columns": [
        {"name": "id", "type": "BIGINT"},
        {"name": "total", "type": "DOUBLE", "aggregate": {"function": "sum"}},
        {"name": "exact", "type": "DECIMAL(12,2)", "aggregate": {"function": "sum"}},
        {"name": "largest", "type": "FLOAT", "aggregate": {"function": "max"}},
        {"name": "seen", "type": "ARRAY<STRING>", "aggregate": {"function": "collect"}},
    ],
    "primaryKeys": ["id"],
}


@pytest.mark.parametrize(
    ("sentence", "spec", "expected"),
    [
        ("by default nothing is compared", {}, None),
        ("Never", {"maintenance": {"verify": "Never"}}, None),
        ("Sample", {"maintenance": {"verify": "Sample"}}, VerifyParameters(whole=False, rolls_back=False)),
        ("Always", {"maintenance": {"verify": "Always"}}, VerifyParameters(whole=True, rolls_back=False)),
        (
            "Rollback",
            {"maintenance": {"verify": "Sample", "onMismatch": "Rollback"}},
            VerifyParameters(whole=False, rolls_back=True),
        ),
        (
            "columns whose value depends on the order of merges are left out",
            {"maintenance": {"verify": "Always"}, "schema": AGGREGATED, "mergeEngine": {"type": "Aggregation"}},
            VerifyParameters(whole=True, rolls_back=False, uncompared=("total", "seen")),
        ),
    ],
)
def test_the_job_states_what_is_compared(
    sentence: str, spec: dict[str, Any], expected: VerifyParameters | None
) -> None:
    assert job_of(TableWorld(table=builders.table(**spec))).verify == expected, sentence


def test_an_error_in_the_block_stops_compactions_and_nothing_else() -> None:
    seen = verified_table(bucket={"type": "Fixed", "fixed": {"count": 1}})
    seen.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    seen.edit(maintenance={"verify": "Sample", "onMismatch": "Rollback"}, externalWriters="Active")
    assert {type_ for type_, _ in seen.run_due()} <= {"Provision"}
    assert types(seen) == {"ExpireSnapshots"}
    assert "spec.maintenance.onMismatch" in seen.condition("Stalled").message
    assert decision_of(seen).reason == Reason.INVALID_SPEC


def test_a_compaction_that_a_user_requests_is_refused_while_the_block_has_an_error() -> None:
    table = builders.table(maintenance={"verify": "Sample"}, mergeEngine={"type": "FirstRow"})
    built = builders.context(table)
    context, fatal = with_valid_blocks(built, builders.operator_facts())
    assert not fatal
    with pytest.raises(SpecError, match="makes rows visible") as refused:
        OPERATIONS.of("Compact").job(context, builders.run("mine", table=table))
    assert (refused.value.field, refused.value.remedy) == ("spec.maintenance.verify", "Set verify to Never.")
