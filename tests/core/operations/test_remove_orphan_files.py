"""RemoveOrphanFiles: what its jobs ask for, when nothing may be removed, and what the status keeps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.parameters.remove_orphan_files import RemoveOrphanFilesParameters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.result import read_result
from paimon_operator.api.run.status import FailureClass, RunStatus, RunTrigger
from paimon_operator.api.table.effective import Origin
from paimon_operator.api.table.status import ActiveRun, OrphanFilesState, TableStatus
from paimon_operator.core.operations.base import RunOutcome
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.blocks import with_valid_blocks
from paimon_operator.errors import SpecError
from tests.support import builders

OPERATION = OPERATIONS.of("RemoveOrphanFiles")
SAMPLE = Path(__file__).parents[2] / "contract" / "samples" / "result-remove-orphan-files.json"
DELETE = {"mode": "Delete", "olderThan": "5d"}
DAY_S = 24 * 3600


def context(block: dict[str, Any] | None = None, default: dict[str, Any] | None = None, **spec: Any) -> TableContext:
    """A table with this block, in a catalog with this default."""
    enforced = spec.pop("enforced", ())
    table = builders.table(retention=None if block is None else {"orphanFiles": block}, **spec)
    defaults = None if default is None else {"retention": {"orphanFiles": default}}
    built = builders.context(table, builders.catalog(tableDefaults=defaults, enforced=enforced))
    return with_valid_blocks(built, builders.operator_facts())[0]


def parameters(of: TableContext, **asked: Any) -> RemoveOrphanFilesParameters:
    run = builders.run("r", table=of.table, type="RemoveOrphanFiles", compact=None, removeOrphanFiles=asked)
    found = OPERATION.job(of, run)
    assert isinstance(found, RemoveOrphanFilesParameters)
    return found


@pytest.mark.parametrize(
    ("sentence", "block", "asked", "expected"),
    [
        ("by default it reports what is older than 3d", {}, {}, ("Report", 3, 20)),
        ("without a block, a user's run does the same", None, {}, ("Report", 3, 20)),
        ("the block of the table", DELETE, {}, ("Delete", 5, 20)),
        ("a user's run may do less", DELETE, {"mode": "Report"}, ("Report", 5, 20)),
        ("or move back", DELETE, {"mode": "Restore"}, ("Restore", 5, 20)),
        ("also without a block", None, {"mode": "Restore"}, ("Restore", 3, 20)),
        ("or allow more orphans", DELETE, {"mode": "Delete", "maxPercent": 60}, ("Delete", 5, 60)),
    ],
)
def test_a_run_does_what_it_asks_for_or_what_the_table_says(
    sentence: str, block: dict[str, Any] | None, asked: dict[str, Any], expected: tuple[str, int, int]
) -> None:
    found = parameters(context(block), **asked)
    assert (found.mode, found.older_than_seconds // DAY_S, found.max_percent) == expected, sentence


def outside_commit(stated: str) -> TableStatus:
    commit = {"snapshotId": 7, "commitUser": "flink", "kind": "APPEND", "time": "2026-11-21T08:00:00Z"}
    return TableStatus.model_validate({"outsideWriters": {"stated": stated, "seenSnapshot": 7, "commit": commit}})


@pytest.mark.parametrize(
    ("sentence", "of", "asked", "field"),
    [
        ("the table only reports", {"block": {}}, {"mode": "Delete"}, "spec.removeOrphanFiles.mode"),
        ("there is no block", {"block": None}, {"mode": "Delete"}, "spec.removeOrphanFiles.mode"),
        (
            "somebody else has committed",
            {"block": DELETE, "status": outside_commit("None")},
            {},
            "spec.externalWriters",
        ),
        (
            "the block has an error",
            {"block": DELETE | {"schedule": "61 * * * *"}, "status": TableStatus()},
            {"mode": "Report"},
            "spec.retention.orphanFiles.schedule",
        ),
    ],
)
def test_a_run_that_may_remove_nothing_is_refused_with_its_field(
    sentence: str, of: dict[str, Any], asked: dict[str, Any], field: str
) -> None:
    if sentence == "the block has an error":
        known = context(DELETE).effective
        of = of | {"status": TableStatus(effective=known)}
    with pytest.raises(SpecError) as raised:
        parameters(context(**of), **asked)
    assert raised.value.field == field, sentence


def test_a_foreign_commit_that_an_edit_has_declared_stops_nothing() -> None:
    assert parameters(context(DELETE, status=outside_commit("Paused"))).mode == "Delete"


def test_the_commit_of_somebody_else_has_a_reason_of_its_own() -> None:
    with pytest.raises(SpecError) as raised:
        parameters(context(DELETE, status=outside_commit("None")))
    assert raised.value.reason is Reason.OUTSIDE_COMMIT


ENFORCED: dict[str, Any] = {"enforced": ["OrphanFiles"]}
WITH_OTHERS: dict[str, Any] = {
    "bucket": {"type": "Fixed", "fixed": {"count": 2}},
    "externalWriters": "Active",
}


@pytest.mark.parametrize(
    ("sentence", "own", "spec", "expected"),
    [
        ("the table's block replaces the catalog's", {"olderThan": "9d"}, {}, ("Report", "9d", Origin.TABLE)),
        ("without one the catalog's holds", None, {}, ("Delete", "5d", Origin.CATALOG)),
        ("an enforced one holds anyway", {"olderThan": "9d"}, ENFORCED, ("Delete", "5d", Origin.CATALOG)),
        ("with other writers the default only reports", None, WITH_OTHERS, ("Report", "5d", Origin.CATALOG)),
    ],
)  # fmt: skip
def test_the_effective_block_comes_from_table_or_catalog(
    sentence: str, own: dict[str, Any] | None, spec: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    retention = context(own, DELETE, **spec).effective.retention
    assert retention is not None
    assert retention.orphan_files is not None
    found = retention.orphan_files
    assert (found.mode, found.older_than, found.source) == expected, sentence


def test_without_a_schedule_it_runs_once_a_week_at_a_minute_of_its_own() -> None:
    found = context({}).effective.retention
    assert found is not None
    assert found.orphan_files is not None
    minute, *rest = (found.orphan_files.schedule or "").split()
    assert rest == ["5", "*", "*", "0"]
    assert 0 <= int(minute) < 60


def ended(*, failed: str | None = None, trigger: RunTrigger = RunTrigger.SCHEDULE, **changed: Any) -> RunOutcome:
    document = json.loads(SAMPLE.read_text())
    document["orphanFiles"] = document["orphanFiles"] | changed
    result = RunStatus.model_validate(dict(OPERATION.status_fields(read_result(json.dumps(document)))))
    return RunOutcome(
        active=ActiveRun(name="r", type="RemoveOrphanFiles", trigger=trigger),
        at=builders.NOW,
        result=result,
        failure_class=None if failed is None else FailureClass.SPEC,
        reason=failed or "RunSucceeded",
        message="m",
    )


def recorded(outcome: RunOutcome, before: OrphanFilesState | None = None) -> OrphanFilesState:
    after = OPERATION.record_result(TableStatus(orphan_files=before), outcome, "t").orphan_files
    assert after is not None
    return after


def test_the_status_keeps_the_numbers_of_the_last_report() -> None:
    state = recorded(ended())
    assert (state.files, state.bytes, state.unknown, state.kept, state.kept_bytes) == (50, 52428800, 2, 60, 60000000)
    assert state.report is not None
    assert state.report.endswith("1795615200000-r-u.jsonl")
    assert state.last_run == "r"


def test_after_too_many_orphans_the_status_has_the_report_and_the_failure() -> None:
    state = recorded(ended(failed="TooManyOrphanFiles"))
    assert (state.files, state.failure and state.failure.reason) == (50, "TooManyOrphanFiles")
    assert state.failure is not None
    assert state.failure.next_try is None, "the next tick tries again"


def test_the_failure_of_a_users_run_is_not_recorded() -> None:
    before = OrphanFilesState(files=3)
    assert recorded(ended(failed="TooManyOrphanFiles", trigger=RunTrigger.USER), before) == before


def test_after_a_restore_nothing_is_kept_and_the_report_stays() -> None:
    document = {"restored": 60}
    text = json.dumps(json.loads(SAMPLE.read_text()) | {"orphanFiles": document})
    outcome = ended()
    result = RunStatus.model_validate(dict(OPERATION.status_fields(read_result(text))))
    after = recorded(
        RunOutcome(**{**vars(outcome), "result": result}), OrphanFilesState(files=50, report="r.jsonl", kept=60)
    )
    assert (after.files, after.report, after.kept) == (50, "r.jsonl", 0)
