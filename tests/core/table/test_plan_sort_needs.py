"""A sort compaction starts at a tick only where files are unsorted, and after an edit of its order."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_contract.parameters.compact import CompactParameters, CompactThresholds, RowOrder
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.outside_writers import OutsideWriters
from paimon_operator.core.operations.need import AFTER_A_COMMIT, AT_A_THRESHOLD
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.spec.context import TableContext
from paimon_operator.errors import SpecError
from tests.core.table.measured import HOURLY, checks_of, decision_of, measure, measured_table, strategy_state
from tests.support import builders
from tests.support.table_world import TableWorld

BY_PAGE: dict[str, Any] = {"order": "ZOrder", "columns": ["what"], "schedule": HOURLY}


def sort(**when: Any) -> dict[str, Any]:
    return {"mode": "Dedicated", "sort": BY_PAGE | ({"when": when} if when else {})}


def sorted_table(**when: Any) -> TableWorld:
    """A table whose first sort compaction has ended now."""
    return measured_table(sort(**when), schema=builders.EVENTS)


def sorts(seen: TableWorld) -> bool:
    """Whether a sort compaction is among the runs that start now."""
    return ("Compact", "Sort") in seen.run_due()


@pytest.mark.parametrize(
    ("sentence", "when", "hours", "unsorted", "starts"),
    [
        ("fewer unsorted files than the default", {}, 1, 4, False),
        ("as many", {}, 1, 5, True),
        ("fewer than the table's own threshold", {"unsortedFilesPerPartition": 9}, 1, 8, False),
        ("as many as the table's own threshold", {"unsortedFilesPerPartition": 9}, 1, 9, True),
        ("before maxDelay", {"maxDelay": "3h"}, 2, 1, False),
        ("after it", {"maxDelay": "3h"}, 3, 1, True),
        ("after it, with every file sorted", {"maxDelay": "3h"}, 3, 0, False),
    ],
)  # fmt: skip
def test_unsorted_files_and_their_age_decide(
    sentence: str, when: dict[str, Any], hours: int, unsorted: int, starts: bool
) -> None:
    seen = sorted_table(**when)
    seen.wait(hours=hours)
    measure(seen, level0FilesMax=unsorted, smallFilesMax=99)
    assert sorts(seen) is starts, sentence


def test_a_skip_names_what_was_measured_and_the_threshold() -> None:
    seen = sorted_table(maxDelay="1d")
    seen.wait(hours=1)
    measure(seen, level0FilesMax=4)
    seen.settle()
    decision = decision_of(seen, "sort")
    assert (decision.result, decision.reason) == ("Skipped", Reason.NOT_NEEDED)
    found = "unsortedFilesPerPartition is 4 (threshold 5), maxDelay is 1h (threshold 1d)"
    assert decision.message == f"{found}. {AT_A_THRESHOLD}"
    assert checks_of(decision) == {
        "unsortedFilesPerPartition": ("4", "5", False),
        "maxDelay": ("1h", "1d", False),
    }


def test_unsorted_files_that_were_not_measured_stop_no_schedule() -> None:
    seen = sorted_table()
    seen.wait(hours=1)
    unknown: dict[str, Any] = {"level0FilesMax": None}
    measure(seen, **unknown)
    assert sorts(seen)


def test_what_a_sort_compaction_has_left_starts_no_other_one() -> None:
    seen = sorted_table()
    seen.wait(hours=1)
    measure(seen, level0FilesMax=9)
    seen.settle()
    seen.finish("Compact", after={"snapshotId": 3})
    seen.settle()
    seen.wait(hours=1)
    measure(seen, snapshot=3, level0FilesMax=9)
    assert not sorts(seen)
    said = f"nothing was committed since the last sort compaction. {AFTER_A_COMMIT}"
    assert decision_of(seen, "sort").message == said


@pytest.mark.parametrize(
    ("sentence", "edit", "starts"),
    [
        ("other columns", {"columns": ["what", "at"], "order": "Order"}, True),
        ("another order", {"order": "Order"}, True),
        ("another schedule", {"schedule": "20 * * * *"}, False),
    ],
)
def test_after_an_edit_of_the_order_the_driver_looks_at_the_files(
    sentence: str, edit: dict[str, Any], starts: bool
) -> None:
    seen = sorted_table()
    seen.edit(compaction={"mode": "Dedicated", "sort": BY_PAGE | edit})
    seen.run_due()
    seen.wait(hours=2)
    measure(seen, level0FilesMax=0)
    assert sorts(seen) is starts, sentence


def test_a_driver_that_found_every_file_in_the_new_order_is_asked_once() -> None:
    seen = sorted_table()
    seen.edit(compaction={"mode": "Dedicated", "sort": BY_PAGE | {"order": "Order"}})
    seen.run_due()
    seen.wait(hours=1)
    measure(seen)
    seen.settle()
    seen.finish("Compact", after={"snapshotId": 2}, compactedPartitions=0)
    seen.settle()
    assert decision_of(seen, "sort").reason == Reason.NOT_NEEDED
    seen.wait(hours=1)
    measure(seen)
    assert not sorts(seen)


def job_of(seen: TableWorld, run: PaimonRun | None = None) -> CompactParameters:
    """The job of this run, by default of the active one."""
    assert seen.catalog is not None
    context = TableContext.build(seen.table, seen.catalog, seen.operator, seen.now)
    parameters = OPERATIONS.of("Compact").job(context, run or seen.active)
    assert isinstance(parameters, CompactParameters)
    return parameters


@pytest.mark.parametrize(("hours", "least"), [(1, 7), (3, 1)])
def test_the_job_has_the_threshold_until_max_delay_is_over(hours: int, least: int) -> None:
    seen = sorted_table(unsortedFilesPerPartition=7, maxDelay="3h")
    seen.wait(hours=hours)
    measure(seen, level0FilesMax=9)
    seen.settle()
    assert job_of(seen).thresholds == CompactThresholds(unsorted_files=least)


def test_a_users_run_sorts_everything_and_answers_the_schedule() -> None:
    seen = sorted_table()
    seen.runs.append(builders.run("mine", table=seen.table, compact={"strategy": "Sort"}))
    seen.settle()
    assert job_of(seen) == CompactParameters(strategy="Sort", order=RowOrder(columns="what", strategy="zorder"))
    seen.finish("Compact", after={"snapshotId": 4})
    seen.settle()
    assert strategy_state(seen, "sort").compacted_snapshot == 4


def test_a_users_run_needs_an_order() -> None:
    seen = measured_table(schema=builders.EVENTS)
    seen.runs.append(builders.run("mine", table=seen.table, compact={"strategy": "Sort"}))
    seen.settle()
    with pytest.raises(Exception, match=r"no compaction\.sort"):
        job_of(seen)


@pytest.mark.parametrize("strategy", ["Minor", "Full"])
def test_a_sorted_table_is_compacted_by_sort_alone(strategy: str) -> None:
    seen = sorted_table()
    seen.runs.append(builders.run("mine", table=seen.table, compact={"strategy": strategy}))
    seen.settle()
    with pytest.raises(SpecError, match=r"which replaces it") as refused:
        job_of(seen)
    assert (refused.value.field, refused.value.remedy) == ("spec.compact.strategy", "Use Sort.")


def test_no_run_sorts_after_a_commit_of_another_writer() -> None:
    seen = sorted_table()
    seen.settle()
    commit = {"snapshotId": 7, "commitUser": "flink", "kind": "APPEND", "time": seen.now}
    record = OutsideWriters.model_validate({"stated": "None", "seenSnapshot": 6, "commit": commit})
    seen.table = seen.table.model_copy(
        update={"status": seen.table.status.model_copy(update={"outside_writers": record})}
    )
    run = builders.run("mine", table=seen.table, compact={"strategy": "Sort"})
    with pytest.raises(SpecError, match=r"snapshot 7 is of another writer") as refused:
        job_of(seen, run)
    assert refused.value.reason == Reason.OUTSIDE_COMMIT


def test_a_failed_sort_that_has_shown_another_writer_starts_no_run_at_each_tick() -> None:
    """Each of these runs would be refused."""
    seen = sorted_table()
    seen.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    seen.wait(hours=1)
    measure(seen, level0FilesMax=9)
    seen.settle()
    commit = {"snapshotId": 7, "commitUser": "flink", "kind": "APPEND", "time": seen.now}
    seen.fail(FailureClass.OUT_OF_MEMORY, Reason.OUT_OF_MEMORY, outsideCommit=commit, seenSnapshot=7)
    seen.settle()
    seen.wait(hours=1)
    seen.settle()
    assert seen.table.status.active_run is None
    decision = decision_of(seen, "sort")
    assert (decision.result, decision.reason) == ("Skipped", Reason.OUTSIDE_COMMIT)
    assert strategy_state(seen, "sort").failure is not None, "only a run that succeeds clears the failure"


def test_sort_replaces_the_default_schedules() -> None:
    seen = sorted_table()
    effective = seen.table.status.effective
    assert effective is not None
    assert effective.compaction is not None
    assert (effective.compaction.minor, effective.compaction.full) == (None, None)
    assert effective.compaction.sort is not None
    assert effective.compaction.sort.when is not None
    assert effective.compaction.sort.when.unsorted_files_per_partition == 5
