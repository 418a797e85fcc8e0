"""Every reason for which scheduled maintenance does not run, as docs/maintenance.md lists them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, OutsideCommit
from paimon_operator.api.table.outside_writers import OutsideWriters
from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.core.spec.spent_budget import SpentBudget
from paimon_operator.core.table.observed import TableObserved
from paimon_operator.core.table.run_slots import RunLimit
from tests.core.table.edited_table import ready
from tests.core.table.measured import HOURLY, checks_of, decision_of, measure, measured_table
from tests.support import builders
from tests.support.table_world import TableWorld

PAGE = Path(__file__).parents[3] / "docs" / "maintenance.md"
ROW = re.compile(r"\| (Skipped|Waiting) \| `(\w+)` \| ([^|]+) \| `(\w+)` \|")


def due(seen: TableWorld, runs: int = 9, **spec: Any) -> TableWorld:
    """The table an hour later, edited, and with so many sorted runs in a bucket."""
    seen.wait(hours=1)
    if spec:
        seen.edit(**spec)
    measure(seen, sortedRunsMax=runs)
    seen.settle()
    return seen


def no_threshold() -> LastDecision:
    return decision_of(due(measured_table(), runs=4))


def nothing_committed() -> LastDecision:
    seen = due(measured_table())
    seen.finish("Compact", after={"snapshotId": 3})
    seen.settle()
    seen.wait(hours=1)
    measure(seen, snapshot=3, sortedRunsMax=9)
    seen.settle()
    return decision_of(seen)


def no_snapshot() -> LastDecision:
    seen = ready(retention={"snapshots": {"schedule": HOURLY}})
    seen.wait(hours=1)
    measure(seen, snapshots=3, oldestSnapshot=seen.now)
    seen.settle()
    state = seen.table.status.retention
    assert state is not None
    assert state.decision is not None
    return state.decision


def nothing_written() -> LastDecision:
    seen = TableWorld(table=builders.table(compaction={"mode": "Dedicated", "minor": {"schedule": HOURLY}}))
    seen.settle()
    seen.finish("Provision", created=True, after={"schemaId": 0, "files": 0})
    seen.settle()
    seen.wait(hours=1)
    seen.settle()
    return decision_of(seen)


def failed_for_good() -> LastDecision:
    seen = due(measured_table())
    seen.fail(FailureClass.SPEC, Reason.INVALID_SPEC)
    seen.settle()
    return decision_of(seen)


def too_many_orphans() -> LastDecision:
    seen = ready(retention={"orphanFiles": {"mode": "Delete", "schedule": HOURLY}})
    seen.wait(hours=1)
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TOO_MANY_ORPHAN_FILES)
    seen.settle()
    state = seen.table.status.orphan_files
    assert state is not None
    assert state.decision is not None
    return state.decision


def failed_for_now() -> LastDecision:
    seen = due(measured_table())
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST)
    seen.settle()
    return decision_of(seen)


def another_run() -> LastDecision:
    seen = measured_table()
    seen.runs.append(builders.run("mine", table=seen.table))
    seen.settle()
    return decision_of(due(seen))


def limit_of_runs() -> LastDecision:
    seen = measured_table()
    seen.observed = TableObserved(stopped_by=lambda _: RunLimit(1, "lake"))
    return decision_of(due(seen))


def outside_windows() -> LastDecision:
    seen = measured_table()
    seen.catalog = builders.catalog(maintenanceWindows=[{"schedule": "0 1 * * *", "duration": "4h"}])
    return decision_of(due(seen))


def spent_budget() -> LastDecision:
    seen = measured_table()
    tomorrow = seen.now + timedelta(days=1)
    budget = SpentBudget(whose="ours", hours=1, used_seconds=3600, until=tomorrow)
    seen.observed = TableObserved(spent=lambda _: budget)
    return decision_of(due(seen))


def suspended() -> LastDecision:
    return decision_of(due(measured_table(), suspend=True))


def not_verified() -> LastDecision:
    seen = measured_table()
    seen.edit(options={"write-buffer-size": "64 mb"})
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.TABLE_NOT_FOUND)
    return decision_of(due(seen))


def unsafe_commits() -> LastDecision:
    seen = measured_table(bucket={"type": "Fixed", "fixed": {"count": 1}})
    return decision_of(due(seen, externalWriters="Active"))


def broken_block() -> LastDecision:
    compaction = {"mode": "Dedicated", "minor": {"schedule": "0 0 31 2 *"}}
    return decision_of(due(measured_table(), compaction=compaction))


def succeeded() -> LastDecision:
    seen = due(measured_table())
    seen.finish("Compact")
    seen.settle()
    return decision_of(seen)


def sort_by_page(seen: TableWorld, unsorted: int) -> LastDecision:
    seen.wait(hours=1)
    measure(seen, level0FilesMax=unsorted)
    seen.settle()
    return decision_of(seen, "sort")


def sorted_table() -> TableWorld:
    sort = {"order": "Order", "columns": ["what"], "schedule": HOURLY}
    return measured_table({"mode": "Dedicated", "sort": sort}, schema=builders.EVENTS)


def every_file_sorted() -> LastDecision:
    return sort_by_page(sorted_table(), unsorted=0)


def other_writer() -> LastDecision:
    seen = sorted_table()
    known = seen.table.status.outside_writers or OutsideWriters(stated="None")
    commit = OutsideCommit(snapshot_id=2, commit_user="etl", kind="APPEND", time=seen.now)
    changed = seen.table.status.model_copy(update={"outside_writers": known.model_copy(update={"commit": commit})})
    seen.table = seen.table.model_copy(update={"status": changed})
    seen.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    return sort_by_page(seen, unsorted=9)


def changed_rows() -> LastDecision:
    seen = due(measured_table(maintenance={"verify": "Sample"}))
    difference = {"before": 1, "after": 2, "found": "1 row less", "tag": "t"}
    found = {"commits": 1, "rows": 9, "difference": difference}
    seen.fail(FailureClass.SPEC, Reason.VERIFICATION_FAILED, verification=found)
    seen.settle()
    return decision_of(due(seen))


CASES: dict[tuple[str, str, str], Callable[[], LastDecision]] = {
    ("Skipped", "NotNeeded", "no threshold is reached"): no_threshold,
    ("Skipped", "NotNeeded", "nothing was committed since the last compaction"): nothing_committed,
    ("Skipped", "NotNeeded", "every file is sorted"): every_file_sorted,
    ("Skipped", "OutsideCommit", "sort does not run beside another writer"): other_writer,
    ("Skipped", "NotNeeded", "no snapshot may expire"): no_snapshot,
    ("Skipped", "NotNeeded", "nothing was written to the table yet"): nothing_written,
    ("Skipped", "RunFailing", "the last run failed, and only an edit or the next tick repeats it"): failed_for_good,
    ("Skipped", "RunFailing", "the last search found too many orphan files, and a human decides"): too_many_orphans,
    ("Waiting", "RunFailing", "the last run failed, and is repeated at the time in the message"): failed_for_now,
    ("Waiting", "RunSucceeded", "the last run succeeded, and the next tick has not come"): succeeded,
    ("Waiting", "AnotherRunIsActive", "another run of the table is active"): another_run,
    ("Waiting", "RunLimitReached", "as many runs are active as a limit allows"): limit_of_runs,
    ("Waiting", "WaitingForWindow", "no maintenance window of the catalog is open"): outside_windows,
    ("Waiting", "BudgetSpent", "maintenance has used up its budget of today"): spent_budget,
    ("Waiting", "VerificationFailed", "a compaction has changed rows"): changed_rows,
    ("Waiting", "Suspended", "the table or its catalog is suspended"): suspended,
    ("Waiting", "TableNotReady", "the table has to be verified first"): not_verified,
    ("Waiting", "CommitUnsafe", "commits could get lost"): unsafe_commits,
    ("Waiting", "InvalidSpec", "an error in the manifest stops the block"): broken_block,
}


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_maintenance_that_does_not_run_says_so_and_why(case: tuple[str, str, str]) -> None:
    decision = CASES[case]()
    assert (decision.result, decision.reason) == case[:2]
    assert decision.message


NEXT = {
    no_threshold: "A run starts at the first tick that finds a threshold reached",
    nothing_committed: "that finds a threshold reached; files count after the next commit",
    every_file_sorted: "A run starts at the first tick that finds unsorted files and a threshold reached",
    other_writer: "A run starts once that writer has stopped and externalWriters was edited",
    no_snapshot: "A run starts at the first tick that finds more than 10 snapshots of which the oldest",
    nothing_written: "A run starts at the first tick after the first commit",
    failed_for_good: "it waits for its next tick",
    too_many_orphans: "it waits for its next tick",
    failed_for_now: "the next try is at 2026-11-21T09:1",
    succeeded: "it waits for its next tick",
    another_run: "waits until run mine has ended",
    limit_of_runs: "Wait; status.queuedRun.rank decides which table of a namespace starts first. Or raise the limit.",
    outside_windows: "starts at 2026-11-22T01:0",
    spent_budget: "it starts at 2026-11-22T08:1",
    changed_rows: "Repair the table, then set the annotation",
    suspended: "Set suspend to false.",
    not_verified: "Fix what the table's condition Ready names.",
    unsafe_commits: "Stop the other writers and set externalWriters to None or Paused.",
    broken_block: "Write minute, hour, day of month, month and day of week",
}
"""What the message of each case says about when or by what the block runs again."""


@pytest.mark.parametrize("make", CASES.values())
def test_a_decision_not_to_run_says_what_starts_the_next_run(make: Callable[[], LastDecision]) -> None:
    assert NEXT[make] in make().message


COMPARED = {
    outside_windows: {"sortedRunsPerBucket": ("9", "5", True)},
    spent_budget: {"sortedRunsPerBucket": ("9", "5", True)},
    another_run: {"sortedRunsPerBucket": ("9", "5", True)},
    limit_of_runs: {"sortedRunsPerBucket": ("9", "5", True)},
    suspended: {"sortedRunsPerBucket": ("9", "5", True)},
    no_threshold: {"sortedRunsPerBucket": ("4", "5", False)},
}


@pytest.mark.parametrize("make", COMPARED)
def test_a_decision_has_the_numbers_from_which_it_follows(make: Callable[[], LastDecision]) -> None:
    decision = make()
    assert checks_of(decision) == COMPARED[make]
    assert decision.observed_at is not None


def test_a_block_that_waits_writes_its_status_once_for_each_measurement() -> None:
    seen = measured_table({"mode": "Dedicated", "minor": {"schedule": HOURLY, "when": {"maxDelay": "2h"}}})
    due(seen, suspend=True)
    before = decision_of(seen)
    assert checks_of(before)["maxDelay"] == ("1h", "2h", False)
    seen.wait(minutes=30)
    seen.settle()
    assert decision_of(seen) == before, "an age that grows is no news"
    seen.wait(minutes=30)
    seen.settle()
    assert checks_of(decision_of(seen))["maxDelay"] == ("2h", "2h", True)
    measure(seen, sortedRunsMax=7)
    seen.settle()
    assert checks_of(decision_of(seen))["sortedRunsPerBucket"] == ("7", "5", True)


def test_the_page_lists_these_reasons_and_no_others() -> None:
    assert ROW.findall(PAGE.read_text()) == [(*case, make.__name__) for case, make in CASES.items()]


def test_a_decision_does_not_outlive_what_it_waited_for() -> None:
    seen = due(measured_table(), suspend=True)
    seen.edit(suspend=None)
    seen.settle()
    assert decision_of(seen).result == "Started"
    seen.finish("Compact")
    seen.settle()
    seen.wait(hours=1)
    measure(seen, snapshot=5, sortedRunsMax=1)
    seen.settle()
    assert decision_of(seen).result == "Skipped"
