"""A table whose needed compaction cannot start is woken at the moment from which it is unhealthy."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.core.table.observed import TableObserved
from paimon_operator.core.table.run_slots import RunLimit
from tests.core.table.measured import measure, measured_table
from tests.core.table.rescaling import committed_by_flink, rescaling
from tests.support.table_world import TableWorld, delay_of

HOUR = timedelta(hours=1)


def suspended() -> TableWorld:
    seen = measured_table()
    seen.edit(suspend=True)
    return seen


def beside_a_full_limit() -> TableWorld:
    seen = measured_table()
    seen.observed = TableObserved(stopped_by=lambda _: RunLimit(1, "lake"))
    return seen


def while_commits_are_unsafe() -> TableWorld:
    seen = measured_table(bucket={"type": "Fixed", "fixed": {"count": 1}})
    seen.edit(externalWriters="Active")
    return seen


def in_the_middle_of_a_rescale() -> TableWorld:
    seen = rescaling()
    committed_by_flink(seen)
    return seen


@pytest.mark.parametrize(
    ("waiting", "interval"),
    [
        (suspended, HOUR),
        (beside_a_full_limit, HOUR),
        (while_commits_are_unsafe, HOUR),
        (in_the_middle_of_a_rescale, timedelta(minutes=5)),
    ],
)
def test_a_table_that_waits_is_woken_when_its_compaction_becomes_late(
    waiting: Callable[[], TableWorld], interval: timedelta
) -> None:
    seen = waiting()
    seen.now += interval
    measure(seen, sortedRunsMax=9)
    due = seen.now
    decision = seen.settle()
    while seen.now < due + 2 * interval and seen.says("Healthy") != ("False", Reason.THRESHOLD_EXCEEDED):
        seen.now += delay_of(decision)
        decision = seen.settle()
    assert seen.says("Healthy") == ("False", Reason.THRESHOLD_EXCEEDED)
    assert seen.now == due + interval
