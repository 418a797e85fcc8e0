"""Every reason for which scheduled work does not run, as docs/maintenance.md lists them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.core.operations.causes import Cause
from tests.core.table import skip_cases as cases
from tests.core.table import stopped_cases
from tests.core.table.measured import HOURLY, checks_of, decision_of, due, measure, measured_table, strategy_state
from tests.core.table.skip_cases import CASES

PAGE = Path(__file__).parents[3] / "docs" / "maintenance.md"
ROW = re.compile(r"\| (Skipped|Waiting) \| `(\w+)` \| ([^|]+) \| `(\w+)` \|")


def test_every_cause_of_the_code_has_a_case() -> None:
    assert list(CASES) == list(Cause)


@pytest.mark.parametrize("cause", CASES, ids=lambda cause: cause.name)
def test_work_that_does_not_run_says_so_and_why(cause: Cause) -> None:
    decision = CASES[cause]()
    assert (decision.result, decision.reason) == cause.value[:2]
    assert decision.message


NEXT = {
    cases.no_threshold: "A run starts at the first tick that finds a threshold reached",
    cases.nothing_committed: "that finds a threshold reached; files count after the next commit",
    cases.every_file_sorted: "A run starts at the first tick that finds unsorted files and a threshold reached",
    cases.other_writer: "A run starts once that writer has stopped and externalWriters was edited",
    cases.no_snapshot: "A run starts at the first tick that finds more than 10 snapshots of which the oldest",
    cases.no_partition: "A run starts at the first tick after 2026-12-20T00:00:00Z",
    cases.nothing_written: "A run starts at the first tick after the first commit",
    cases.every_partition_marked: "A run starts at the first tick after the next commit",
    cases.failed_for_good: "it waits for its next tick",
    cases.too_many_orphans: "the condition Stalled says what to do",
    cases.failed_for_now: "the next try is at 2026-11-21T09:1",
    cases.succeeded: "it waits for its next tick",
    cases.another_run: "waits until run mine has ended",
    cases.limit_of_runs: "status.queuedRun.rank decides which table of a namespace starts first. Or raise the limit.",
    cases.outside_windows: "starts at 2026-11-22T01:0",
    cases.spent_budget: "it starts at 2026-11-22T08:1",
    cases.changed_rows: "Repair the table, then set the annotation",
    cases.suspended: "Set suspend to false.",
    cases.not_verified: "Fix what the table's condition Ready names.",
    cases.unsafe_commits: "Stop the other writers and set externalWriters to None or Paused.",
    cases.broken_block: "Write minute, hour, day of month, month and day of week",
    cases.nothing_to_merge: "A run starts at the first tick that finds files to merge and a threshold reached",
    cases.nothing_compacted: "it waits for its next tick",
    cases.already_loaded: "it waits for its next tick",
    cases.done: "it is done until from or mode is edited",
    cases.earlier_write: "waits for the retry of write base",
    cases.different_table: "Edit what the message names",
    cases.unapproved_edit: "Annotate the PaimonTable with paimon-operator.dev/approve",
    cases.rescaled: "28 are left. Wait: the message shows the progress.",
    cases.beside_a_rescale: "Stop that writer, then edit externalWriters.",
    cases.failed_rescale: "Any edit of the manifest continues the rescale.",
    cases.refused_rescale: "Undo the edit of the number",
    cases.broken_windows: "spec.maintenanceWindows[0].schedule",
    cases.unsupported: "or use a catalog with a newer engine.",
    cases.unknown_location: "Use one of: landing",
    stopped_cases.invalid_manifest: "spec.options[nonsense]",
    stopped_cases.no_catalog: "Create the PaimonCatalog",
    stopped_cases.invalid_catalog: "paimon-7.3",
    stopped_cases.overlapping_warehouse: "Give one of the two catalogs another warehouse.",
    stopped_cases.claimed: "Delete one of the two PaimonTables",
    stopped_cases.unknown_result: "Then delete the PaimonRun to continue",
    stopped_cases.taken_name: "Delete or rename that object.",
}
"""What the message of each case says about when or by what the block runs again."""


@pytest.mark.parametrize("make", CASES.values())
def test_a_decision_not_to_run_says_what_starts_the_next_run(make: Callable[[], LastDecision]) -> None:
    assert NEXT[make] in make().message


COMPARED = {
    cases.outside_windows: {"sortedRunsPerBucket": ("9", "5", True)},
    cases.spent_budget: {"sortedRunsPerBucket": ("9", "5", True)},
    cases.another_run: {"sortedRunsPerBucket": ("9", "5", True)},
    cases.limit_of_runs: {"sortedRunsPerBucket": ("9", "5", True)},
    cases.suspended: {"sortedRunsPerBucket": ("9", "5", True)},
    cases.no_threshold: {"sortedRunsPerBucket": ("4", "5", False)},
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
    assert ROW.findall(PAGE.read_text()) == [(*cause.value, make.__name__) for cause, make in CASES.items()]


def test_the_block_of_the_active_run_says_that_it_has_started_also_without_a_catalog() -> None:
    seen = due(measured_table())
    assert decision_of(seen).result == "Started"
    seen.catalog = None
    seen.wait(hours=2)
    seen.settle()
    assert decision_of(seen).result == "Started"


def test_a_table_without_its_catalog_is_reconciled_at_its_next_tick() -> None:
    seen = measured_table()
    seen.catalog = None
    assert seen.settle().requeue_after == timedelta(hours=1)


def test_a_table_whose_last_result_is_unknown_is_reconciled_at_its_next_tick() -> None:
    seen = measured_table()
    seen.wait(hours=1)
    seen.settle()
    seen.lose_result()
    assert seen.settle().requeue_after == timedelta(hours=1)


def test_a_tick_that_an_edit_answers_leaves_no_reason_to_wait() -> None:
    seen = due(measured_table(), options={"nonsense": "1"})
    assert decision_of(seen).reason == "InvalidSpec"
    seen.edit(options=None, compaction={"mode": "Dedicated", "minor": {"schedule": "0 3 * * *"}})
    seen.settle()
    assert strategy_state(seen, "minor").decision is None


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
