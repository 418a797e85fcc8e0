"""Which finished runs are deleted by the history limits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Phase
from paimon_operator.core.table.pruning import outlived
from tests.support import builders

TABLE = builders.table()
OURS: dict[str, Any] = {"trigger": {"type": "Schedule"}}
ONE_EACH = RunPolicy(successful_runs_history_limit=1, failed_runs_history_limit=1)


def ended(name: str, phase: Phase, age: int, **spec: Any) -> PaimonRun:
    time = builders.NOW - timedelta(minutes=age)
    return builders.run(name, table=TABLE, phase=phase, status={"completionTime": time}, **(spec or OURS))


def names(runs: list[PaimonRun], policy: RunPolicy = ONE_EACH, active: str = "") -> set[str]:
    return {delete.name for delete in outlived(runs, (), {active}, policy)}


def test_succeeded_and_failed_runs_have_separate_limits_and_the_newest_are_kept() -> None:
    runs = [
        ended("old", Phase.SUCCEEDED, 9),
        ended("new", Phase.SUCCEEDED, 1),
        ended("old-failure", Phase.FAILED, 5),
        ended("new-failure", Phase.FAILED, 4),
    ]
    assert names(runs) == {"old", "old-failure"}


def test_runs_of_users_are_not_deleted() -> None:
    runs = [ended(f"by-hand-{n}", Phase.SUCCEEDED, n, type="Compact") for n in range(5)]
    assert names(runs) == set()


def test_unfinished_runs_and_runs_with_an_unknown_result_are_kept() -> None:
    runs = [builders.run("active", table=TABLE, phase=Phase.RUNNING, **OURS), ended("unknown", Phase.UNKNOWN, 99)]
    assert names(runs, RunPolicy(successful_runs_history_limit=0, failed_runs_history_limit=0)) == set()


def test_a_run_of_the_operator_without_an_attempt_that_the_table_does_not_name_is_deleted() -> None:
    late = builders.run("late", table=TABLE, phase=Phase.PENDING, **OURS)
    new = builders.run("new", table=TABLE, **OURS)
    asked = builders.run("by-hand", table=TABLE, phase=Phase.PENDING)
    begun = {"attempts": [{"number": 1, "state": "Ended", "pod": "begun-1", "launched": builders.NOW}]}
    retried = builders.run("begun", table=TABLE, phase=Phase.PENDING, status=begun, **OURS)
    assert names([late, new, asked, retried], RunPolicy(), active="new") == {"late"}


def test_the_active_run_is_kept_until_its_result_is_stored() -> None:
    runs = [ended("active", Phase.SUCCEEDED, 9), ended("new", Phase.SUCCEEDED, 1)]
    assert names(runs, active="active") == set()


def test_a_limit_of_zero_keeps_none_and_no_limit_keeps_all() -> None:
    runs = [ended("a", Phase.SUCCEEDED, 1), ended("b", Phase.FAILED, 1)]
    assert names(runs, RunPolicy(successful_runs_history_limit=0)) == {"a"}


def test_a_run_that_is_being_deleted_is_not_deleted_again() -> None:
    gone = ended("gone", Phase.SUCCEEDED, 9)
    gone = gone.model_copy(update={"metadata": gone.metadata.model_copy(update={"deletion_timestamp": builders.NOW})})
    assert names([gone, ended("new", Phase.SUCCEEDED, 1)], RunPolicy(successful_runs_history_limit=0)) == {"new"}
