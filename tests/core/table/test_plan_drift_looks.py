"""When a look starts beside other work, what is said until then, and which changes are reported again."""

from __future__ import annotations

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from tests.core.table.drifting import CORRECTABLE, EXTRA, OBSERVE, OPTION, drift, found, look, notes, ready
from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld

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
