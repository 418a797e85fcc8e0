"""Texts of any length, and runs that somebody deleted: the status stays storable and true."""

from __future__ import annotations

from paimon_operator.api.base import MESSAGE_LENGTH
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.decision import Refusal
from tests.support import builders
from tests.support.table_world import TableWorld


def test_a_named_run_that_is_given_up_for_a_long_reason_leaves_a_status_that_fits() -> None:
    """A quota keeps the run from being made, and then the catalog loses the database among sixty others."""
    seen = TableWorld(table=builders.table(writes=[builders.write()])).ready()
    seen.wait(minutes=15)
    seen.reconcile()
    seen.runs.clear()
    active = seen.table.status.active_run
    assert active is not None
    unmade = seen.table.status.model_copy(update={"active_run": active.model_copy(update={"uid": None})})
    seen.table = seen.table.model_copy(update={"status": unmade})
    seen.observed = type(seen.observed)(refusal=Refusal(reason=Reason.NOT_PERMITTED, message="exceeded quota"))
    seen.catalog = builders.catalog(allowedDatabases=[f"a_database_with_a_long_name_{n:035}" for n in range(60)])
    seen.settle()
    (write,) = seen.table.status.writes
    assert write.failure is not None
    assert len(write.failure.message) == MESSAGE_LENGTH
    assert TableStatus.model_validate(seen.table.status.to_json()) == seen.table.status


def test_a_scheduled_run_that_somebody_deleted_leaves_the_table_healthy() -> None:
    seen = TableWorld(table=builders.table(retention={"snapshots": {"schedule": "0 3 * * 0"}})).ready()
    seen.wait(days=7)
    seen.settle()
    seen.fail(FailureClass.CANCELLED, Reason.CANCELLED, "it was deleted")
    seen.settle()
    assert seen.says("Healthy")[0] == "True"
    assert seen.table.status.retention is not None
    assert seen.table.status.retention.failure is not None, "the status still tells it"


def test_the_result_of_a_write_that_left_a_full_list_fits_and_is_remembered() -> None:
    """An obstacle keeps the list of the edit from being adopted while the result arrives."""
    writes = [builders.write(f"w{number}", schedule=None, path=f"{number}/") for number in range(16)]
    seen = TableWorld(table=builders.table(writes=writes)).ready()
    seen.settle()
    assert seen.table.status.active_run is not None
    assert seen.table.status.active_run.subject == "w0"
    seen.edit(writes=[*writes[1:], builders.write("new", schedule=None, path="new/")])
    seen.settle()
    seen.catalog = None
    seen.finish()
    seen.settle()
    assert len(seen.table.status.writes) == 16
    assert TableStatus.model_validate(seen.table.status.to_json()) == seen.table.status
    seen.catalog = builders.catalog()
    seen.edit(writes=[*writes[1:], builders.write("again", schedule=None, path="0/")])
    loaded = seen.run_due()
    assert ("Write", "again") not in loaded, "what was loaded under another name is not loaded again"
    assert len(loaded) == 15
