"""Times that a wrong clock has stored: they count as now, and an Event reports them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, OutsideCommit
from paimon_operator.api.table.outside_writers import OutsideWriters
from paimon_operator.core.conditions import replaced, true
from tests.support import builders
from tests.support.table_world import TableWorld

YEAR = timedelta(days=365)
BOTH = [builders.write("base", schedule="*/15 * * * *"), builders.write("delta", schedule="*/15 * * * *")]


def ahead(seen: TableWorld) -> TableWorld:
    """The clock is put forward by a year."""
    seen.now += YEAR
    return seen


def corrected(seen: TableWorld) -> list[str]:
    """The clock is put right. Returns the notes of the Events that report a wrong one."""
    seen.now -= YEAR
    before = len(seen.decisions)
    seen.settle()
    notes = [note for decision in seen.decisions[before:] for note in decision.events]
    return [note.note for note in notes if note.reason == Reason.CLOCK_DIFFERS]


def times(seen: TableWorld) -> list[datetime]:
    """All stored times of what has happened."""
    status = seen.table.status
    assert status.provision
    assert status.ownership
    assert status.health
    found = [status.provision.last_time, status.ownership.since, status.health.observed_at]
    found += [each.last_time for each in status.writes] + [each.last_transition_time for each in status.conditions]
    return [each for each in found if each is not None]


def test_every_stored_time_of_the_past_counts_as_now() -> None:
    seen = ahead(TableWorld(table=builders.table(writes=[builders.write("once", schedule=None)]))).ready()
    seen.run_due()
    notes = corrected(seen)
    assert len(notes) == 1
    assert notes[0].startswith("status.ownership.since: the stored time 2027-")
    assert notes[0].endswith("lies in the future and counts as now")
    assert max(times(seen)) <= seen.now
    assert corrected_again(seen) == []


def corrected_again(seen: TableWorld) -> list[str]:
    seen.now += YEAR
    return corrected(seen)


def test_due_writes_keep_their_order_after_a_wrong_clock() -> None:
    seen = TableWorld(table=builders.table(writes=BOTH)).ready()
    ahead(seen).run_due()
    corrected(seen)
    for _ in range(3):
        seen.wait(minutes=15)
        assert seen.run_due() == [("Write", "base"), ("Write", "delta")]


@pytest.mark.parametrize("minutes", [0, 4])
def test_clocks_that_differ_by_minutes_change_nothing(minutes: int) -> None:
    seen = TableWorld().ready()
    before = seen.table.status
    seen.now -= timedelta(minutes=minutes)
    seen.settle()
    assert seen.table.status.ownership == before.ownership


def test_a_failure_in_the_future_counts_as_now_and_is_retried() -> None:
    seen = TableWorld()
    seen.settle()
    ahead(seen).fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED)
    seen.settle()
    assert seen.table.status.active_run is None
    corrected(seen)
    failure = seen.table.status.provision.failure if seen.table.status.provision else None
    assert failure is not None
    assert failure.time == seen.now
    assert seen.table.status.active_run is not None, "its retry lies a year ahead"


def test_a_condition_of_the_future_counts_as_now() -> None:
    """Of a run too: only a Stalled condition of some minutes lets others use the run's place."""
    finding = [true(ConditionType.SUCCEEDED, Reason.RUN_SUCCEEDED, "done")]
    stored = replaced((), finding, generation=1, now=builders.NOW + YEAR)
    again = replaced(stored, finding, generation=1, now=builders.NOW)
    assert [each.last_transition_time for each in again] == [builders.NOW]
    later = replaced(again, finding, generation=1, now=builders.NOW + timedelta(hours=1))
    assert [each.last_transition_time for each in later] == [builders.NOW]


def test_the_time_of_a_foreign_commit_stays_as_its_writer_gave_it() -> None:
    """It is by another clock, and nothing is compared with it."""
    seen = TableWorld().ready()
    commit = OutsideCommit(snapshot_id=7, commit_user="etl", kind="APPEND", time=seen.now + YEAR)
    found = OutsideWriters(stated=ExternalWriters.NONE, seen_snapshot=6, commit=commit)
    seen.table = seen.table.model_copy(
        update={"status": seen.table.status.model_copy(update={"outside_writers": found})}
    )
    seen.settle()
    assert seen.table.status.outside_writers == found
    assert [note for each in seen.decisions for note in each.events if note.reason == Reason.CLOCK_DIFFERS] == []
