"""What the operator expects of a run, and the sums of what was expected and what became of it."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import Expectation, FailureClass
from paimon_operator.api.table.usage import Usage
from tests.core.table.measured import measure, measured_table
from tests.support import builders
from tests.support.table_world import TableWorld


def expected_of(seen: TableWorld) -> Expectation | None:
    """What the active run carries about it."""
    trigger = seen.active.spec.trigger
    assert trigger is not None
    return trigger.expected


def usage_of(seen: TableWorld) -> Usage:
    found = seen.table.status.usage
    assert found is not None
    return found


def sums_of(seen: TableWorld) -> tuple[int | None, ...]:
    """Expected and actual seconds, expected and actual files."""
    found = usage_of(seen)
    return found.expected_seconds, found.actual_seconds, found.expected_files, found.actual_files


def due_compaction(runs: int = 9, small: int = 4) -> TableWorld:
    """A compaction that has just started, of a table so measured, after one that took 40 s."""
    seen = measured_table()
    seen.wait(hours=1)
    measure(seen, sortedRunsMax=9)
    seen.settle()
    end_after(seen, 40)
    seen.wait(hours=1)
    measure(seen, snapshot=3, sortedRunsMax=runs, smallFiles=small)
    seen.settle()
    return seen


def end_after(seen: TableWorld, seconds: float, **result: Any) -> None:
    started = seen.now
    seen.wait(seconds=seconds)
    seen.finish("Compact", startTime=started, **result)
    seen.settle()


def files(before: int, after: int) -> dict[str, Any]:
    return {"before": {"files": before, "snapshotId": 3}, "after": {"files": after, "snapshotId": 4}}


def test_a_run_carries_the_length_of_the_last_one_and_the_files_that_go_away() -> None:
    assert expected_of(due_compaction()) == Expectation(seconds=40, files=12)


def test_without_a_run_that_succeeded_and_a_measurement_nothing_is_expected() -> None:
    seen = TableWorld(table=builders.table(writes=[builders.write(schedule=None)])).ready()
    assert seen.active.spec.type == "Write"
    assert expected_of(seen) is None


def test_nothing_is_expected_of_a_users_run() -> None:
    seen = measured_table()
    seen.runs.append(builders.run("mine", table=seen.table))
    seen.settle()
    assert seen.table.status.active_run is not None
    assert seen.table.status.active_run.expected is None


@pytest.mark.parametrize(
    ("sentence", "result", "actual"),
    [
        ("fewer files than expected went away", files(30, 20), 10),
        ("a writer has added more than went away", files(30, 33), 0),
    ],
)
def test_expected_and_actual_are_summed(sentence: str, result: dict[str, Any], actual: int) -> None:
    seen = due_compaction()
    seconds, actual_seconds, expected_files, actual_files = (each or 0 for each in sums_of(seen))
    end_after(seen, 55, **result)
    wanted = (seconds + 40, actual_seconds + 55, expected_files + 12, actual_files + actual)
    assert sums_of(seen) == wanted, sentence


def test_files_that_were_not_counted_are_in_neither_sum() -> None:
    seen = due_compaction()
    before = sums_of(seen)
    end_after(seen, 55, after={"snapshotId": 4})
    assert sums_of(seen)[2:] == before[2:]


def test_a_run_that_failed_is_in_no_sum_but_its_cost_is() -> None:
    seen = due_compaction()
    before = usage_of(seen)
    cost = {"podSeconds": 7, "coreSeconds": 14, "gibSeconds": 28}
    seen.fail(FailureClass.DEADLINE, Reason.DEADLINE_EXCEEDED, cost=cost)
    seen.settle()
    after = usage_of(seen)
    assert (after.runs, after.failed, after.pod_seconds) == (
        before.runs + 1,
        before.failed + 1,
        before.pod_seconds + 7,
    )
    assert (after.core_seconds, after.gib_seconds) == (before.core_seconds + 14, before.gib_seconds + 28)
    assert (after.expected_seconds, after.expected_files) == (before.expected_seconds, before.expected_files)


def test_an_expiry_is_compared_by_its_snapshots() -> None:
    seen = TableWorld(table=builders.table(retention={"snapshots": {"schedule": "0 * * * *", "numRetainedMin": 2}}))
    seen.ready().run_due()
    measure(seen, snapshots=9)
    seen.wait(hours=1)
    seen.settle()
    assert expected_of(seen) is not None
    assert (expected_of(seen) or Expectation()).files == 7
    seen.finish("ExpireSnapshots", expired=5)
    seen.settle()
    assert sums_of(seen)[2:] == (7, 5)
