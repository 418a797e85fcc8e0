"""Writes of type Once: they run once, and what retries one that is not done."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from tests.support import builders
from tests.support.table_world import TableWorld

ONCE = builders.write(schedule=None)


def waiting_once() -> TableWorld:
    """A Ready table whose write is the active run."""
    return TableWorld(table=builders.table(writes=[ONCE])).ready()


def why_not_now(seen: TableWorld) -> str:
    decision = seen.table.status.writes[0].decision
    assert decision is not None
    return f"{decision.result}: {decision.message}"


def test_a_write_once_never_waits_for_its_own_run_and_reports_when_it_is_done() -> None:
    seen = waiting_once()
    name = seen.active.metadata.name
    assert why_not_now(seen).startswith("Started: ")
    seen.finish()
    seen.settle()
    assert why_not_now(seen) == f"Skipped: run {name}: done; it is done until from or mode is edited"


def test_a_write_once_that_found_no_table_runs_after_the_table_is_recreated() -> None:
    seen = waiting_once()
    seen.fail(FailureClass.SPEC, Reason.TABLE_NOT_FOUND)
    seen.settle()
    seen.finish("Provision", created=True)
    seen.wait(minutes=16)
    assert seen.run_due() == [("Write", "import")]


def test_a_write_once_runs_once_as_soon_as_the_table_is_ready() -> None:
    seen = waiting_once()
    assert seen.run_due() == []
    seen.wait(days=9)
    assert seen.run_due() == []
    assert seen.started == [("Provision", ""), ("Write", "import")]


@pytest.mark.parametrize(
    ("sentence", "write", "again"),
    [
        ("another path", builders.write(schedule=None, path="more/"), True),
        ("another selection", builders.write(schedule=None, select="All"), True),
        ("options only", ONCE | {"options": {"write-buffer-size": "64 mb"}}, False),
    ],
)
def test_a_write_once_runs_again_only_after_an_edit_of_from_or_mode(
    sentence: str, write: dict[str, Any], again: bool
) -> None:
    seen = waiting_once()
    seen.run_due()
    seen.edit(writes=[write])
    assert (seen.run_due() == [("Write", "import")]) is again, sentence


@pytest.mark.parametrize(
    ("class_", "again"),
    [
        (FailureClass.ENVIRONMENT, True),
        (FailureClass.INFRASTRUCTURE, True),
        (FailureClass.CONFLICT, True),
        (FailureClass.OUT_OF_MEMORY, True),
        (FailureClass.SPEC, False),
        (FailureClass.CANCELLED, False),
    ],
)
def test_a_failed_write_once_is_retried_unless_it_needs_an_edit(class_: FailureClass, again: bool) -> None:
    seen = waiting_once()
    seen.fail(class_, Reason.INPUT_NOT_FOUND)
    seen.settle()
    assert why_not_now(seen).endswith("it waits for an edit") is not again
    seen.wait(minutes=16)
    seen.settle()
    assert (seen.started[2:] == [("Write", "import")]) is again


@pytest.mark.parametrize("class_", [FailureClass.SPEC, FailureClass.CANCELLED])
@pytest.mark.parametrize(
    "edit", [{"writes": [ONCE | {"options": {"write-buffer-size": "64 mb"}}]}, {"runPolicy": {"backoffLimit": 2}}]
)
def test_any_edit_restarts_a_write_once_that_is_not_done(class_: FailureClass, edit: dict[str, Any]) -> None:
    seen = waiting_once()
    seen.fail(class_, Reason.INVALID_SPEC)
    seen.wait(days=1)
    seen.settle()
    assert seen.table.status.active_run is None
    first = seen.created[-1].metadata.name
    seen.edit(**edit)
    assert seen.run_due() == [("Write", "import")]
    assert seen.created[-1].metadata.name != first
    seen.edit(timeZone="Europe/Berlin")
    assert seen.run_due() == [], "what is done stays done"


@pytest.mark.parametrize("write", [ONCE, builders.write()], ids=["once", "scheduled"])
def test_after_the_deletion_of_a_run_with_an_unknown_result_the_write_runs_at_once(write: dict[str, Any]) -> None:
    seen = TableWorld(table=builders.table(writes=[write])).ready()
    lost = seen.active
    seen.lose_result()
    seen.settle()
    seen.remove(seen.active)
    seen.settle()
    assert seen.active.spec.type == "Write"
    assert seen.active.metadata.name != lost.metadata.name
    seen.finish(write={"alreadyCommitted": True})
    seen.settle()
    assert (seen.table.status.active_run, seen.says("Healthy")[0]) == (None, "True")


def test_the_deletion_of_an_active_run_cancels_the_write_and_reports_what_restarts_it() -> None:
    seen = waiting_once()
    seen.remove(seen.active)
    seen.settle()
    assert seen.table.status.active_run is None
    assert why_not_now(seen).endswith("it waits for an edit")
    assert "any edit" in Reason.CANCELLED.remedy
