"""When a look starts beside other work, what is said until then, and which changes are reported again."""

from __future__ import annotations

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations.drift_state import for_job
from tests.core.table.drifting import (
    CORRECTABLE,
    EXTRA,
    HOUR,
    OBSERVE,
    OPTION,
    PROVISION,
    drift,
    found,
    look,
    notes,
    ready,
)
from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld, delay_of

WRITE = ("Write", "import")


def busy() -> TableWorld:
    """A table whose writes take longer than their interval, so that one is always due."""
    seen = ready(writes=[builders.write(schedule="* * * * *")])
    seen.wait(minutes=1)
    seen.settle()
    return seen


def write(seen: TableWorld, schema_id: int) -> None:
    seen.wait(minutes=2)
    seen.finish("Write", after=MEASURE | {"schemaId": schema_id})
    seen.settle()


def test_another_schema_is_compared_also_where_other_work_is_always_due() -> None:
    seen = busy()
    write(seen, 1)
    assert seen.says("Drifted") == ("Unknown", Reason.SCHEMA_NOT_COMPARED)
    assert OBSERVE not in seen.started, "the write was due before"
    write(seen, 1)
    assert seen.started[-1] == OBSERVE
    seen.finish("Observe", after=None, **found(1))
    seen.settle()
    assert seen.says("Drifted") == ("False", Reason.TABLE_UNALTERED)


def test_a_look_of_a_user_starts_also_where_other_work_is_always_due() -> None:
    seen = busy()
    seen.wait(minutes=1)
    asked = builders.run("look", table=seen.table, type="Observe", compact=None)
    created = {"uid": "look", "creation_timestamp": seen.now}
    seen.runs.append(asked.model_copy(update={"metadata": asked.metadata.model_copy(update=created)}))
    for _ in range(2):
        if seen.active.metadata.name != "look":
            write(seen, 0)
    assert seen.active.metadata.name == "look"


def test_a_look_that_was_overdue_for_an_interval_comes_before_younger_work() -> None:
    seen = busy()
    state = drift(seen)
    assert state.next is not None
    seen.wait(hours=2)
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED)
    seen.settle()
    assert seen.started[-1] == WRITE, "it yields"
    seen.wait(hours=1)
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED)
    seen.settle()
    assert seen.started[-1] == OBSERVE


def test_a_newer_schema_leaves_known_changes_reported() -> None:
    seen = ready(retention={"snapshots": {"schedule": "*/30 * * * *"}})
    seen.wait(minutes=30)
    seen.settle()
    seen.finish("ExpireSnapshots", after=MEASURE | {"schemaId": 1})
    seen.settle()
    seen.finish("Observe", after=None, **found(1, EXTRA))
    seen.wait(minutes=30)
    seen.settle()
    seen.finish("ExpireSnapshots", after=MEASURE | {"schemaId": 2})
    seen.settle()
    assert seen.says("Drifted") == ("True", Reason.TABLE_ALTERED)
    assert "There is a newer schema, which no run has compared yet." in seen.condition("Drifted").message


def test_a_change_is_reported_once_also_when_only_a_look_says_what_is_correctable() -> None:
    seen = ready()
    look(seen, 1, CORRECTABLE, EXTRA)
    seen.edit(schema=builders.ORDERS | {"comment": "all"})
    seen.settle()
    seen.finish("Provision", **found(2, EXTRA, OPTION))
    seen.settle()
    look(seen, 2, CORRECTABLE, EXTRA, baseline=2)
    assert len(notes(seen, Reason.TABLE_ALTERED)) == 1


def test_a_look_is_told_how_many_changes_the_status_does_not_list() -> None:
    seen = ready()
    look(seen, 1, EXTRA, count=12)
    seen.edit(schema=builders.ORDERS | {"comment": "all"})
    seen.settle()
    seen.finish("Provision", **found(2, EXTRA, count=12))
    seen.settle()
    job = for_job(seen.table.status)
    assert job is not None
    assert (len(job.known), job.hidden) == (1, 11)


def test_a_verification_is_a_look_at_the_schema_that_a_run_has_found_before_it() -> None:
    seen = ready(retention={"snapshots": {"schedule": "*/30 * * * *"}})
    seen.wait(minutes=30)
    seen.settle()
    seen.edit(schema=builders.ORDERS | {"comment": "all"})
    seen.finish("ExpireSnapshots", after=MEASURE | {"schemaId": 1})
    seen.settle()
    assert seen.says("Drifted") == ("Unknown", Reason.SCHEMA_NOT_COMPARED)
    seen.finish("Provision", **found(2))
    seen.settle()
    assert seen.says("Drifted") == ("False", Reason.TABLE_UNALTERED)
    assert seen.started == [("ExpireSnapshots", ""), PROVISION]


def unsafe() -> TableWorld:
    """A table to which somebody else has committed without being declared."""
    seen = ready(retention={"snapshots": {"schedule": "0 * * * *"}})
    seen.wait(hours=1)
    seen.settle()
    commit = {"snapshotId": 9, "commitUser": "theirs", "kind": "APPEND", "time": "2026-11-21T09:00:00Z"}
    seen.finish("ExpireSnapshots", seenSnapshot=9, outsideCommit=commit)
    seen.settle()
    assert seen.says("CommitSafe")[0] == "False"
    seen.created.clear()
    return seen


def test_where_commits_are_unsafe_the_operator_wakes_up_for_the_next_look_and_starts_nothing_else() -> None:
    seen = unsafe()
    moment = drift(seen).next
    assert moment is not None
    assert delay_of(seen.settle()) == moment - seen.now
    seen.wait(hours=2)
    seen.settle()
    assert seen.started == [OBSERVE], "maintenance is due since before"


def test_where_commits_are_unsafe_a_suspended_table_is_not_observed() -> None:
    seen = unsafe()
    seen.edit(suspend=True)
    seen.wait(hours=5)
    seen.settle()
    assert seen.started == []


def test_a_look_that_is_decided_is_created_also_where_commits_are_unsafe() -> None:
    seen = unsafe()
    seen.wait(hours=2)
    seen.reconcile()
    seen.runs = [each for each in seen.runs if each.spec.type != "Observe"]
    seen.created.clear()
    seen.settle()
    assert seen.started == [OBSERVE], "the operator was killed before it has created the run"
    assert seen.says("CommitSafe")[0] == "False"
    assert seen.says("Stalled")[0] == "True", "as without the look"


def test_a_failed_look_is_repeated_at_a_time_for_which_the_operator_wakes_up() -> None:
    seen = ready()
    seen.wait(hours=2)
    seen.settle()
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED)
    decision = seen.settle()
    state = drift(seen)
    assert state.failure is not None
    assert state.failure.next_try is not None
    assert delay_of(decision) == state.failure.next_try - seen.now


def test_the_failed_look_of_a_user_is_not_repeated() -> None:
    seen = ready()
    asked = builders.run("look", table=seen.table, type="Observe", compact=None)
    seen.runs.append(asked)
    seen.settle()
    assert seen.active.metadata.name == "look"
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED)
    seen.wait(minutes=20)
    seen.settle()
    assert drift(seen).failure is None
    assert seen.started == []


def test_the_first_looks_at_the_tables_of_an_earlier_release_are_spread_over_the_interval() -> None:
    delays = []
    for number in range(12):
        seen = ready()
        uid = {"uid": f"uid-{number}"}
        status = seen.table.status.model_copy(update={"drift": None})
        metadata = seen.table.metadata.model_copy(update=uid)
        seen.table = seen.table.model_copy(update={"status": status, "metadata": metadata})
        seen.settle()
        moment = drift(seen).next
        assert moment is not None
        delays.append((moment - seen.now) / HOUR)
    assert all(0 <= each <= 1 for each in delays)
    assert max(delays) - min(delays) > 0.3
