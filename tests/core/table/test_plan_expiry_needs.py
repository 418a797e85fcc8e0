"""Expiry of snapshots starts at a tick only where a snapshot may expire, by the last measurement."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.core.spec.edit_plan import record_of
from paimon_schema.table_schema import TableSchema
from tests.core.table.edited_table import ready, record
from tests.core.table.measured import checks_of, measure
from tests.support.table_world import TableWorld

HOURLY = {"schedule": "10 * * * *"}


def expiring_table(**retention: Any) -> TableWorld:
    """A Ready table with a recorded schema, whose missed ticks are answered."""
    return ready(retention={"snapshots": HOURLY | retention})


def measured(seen: TableWorld, count: int, oldest: timedelta) -> None:
    """An hour later the table has `count` snapshots, the oldest of this age."""
    seen.wait(hours=1)
    measure(seen, snapshots=count, oldestSnapshot=seen.now - oldest)


def expires(seen: TableWorld) -> bool:
    return ("ExpireSnapshots", "") in seen.run_due()


def decision_of(seen: TableWorld) -> LastDecision:
    state = seen.table.status.retention
    assert state is not None
    assert state.decision is not None
    return state.decision


SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("sentence", "retention", "count", "oldest", "expected"),
    [
        ("Paimon's defaults: as many as the smallest number", {}, 10, 5 * HOUR, False),
        ("one more, and older than an hour", {}, 11, HOUR + SECOND, True),
        ("one more, just as old as the time", {}, 11, HOUR, False),
        ("the manifest's time", {"timeRetained": "3h"}, 11, 3 * HOUR, False),
        ("older than it", {"timeRetained": "3h"}, 11, 3 * HOUR + SECOND, True),
        ("the manifest's smallest number", {"numRetainedMin": 2}, 2, 5 * HOUR, False),
        ("more than it", {"numRetainedMin": 2}, 3, 5 * HOUR, True),
        ("the largest number, whatever their age", {"numRetainedMax": 20}, 21, SECOND, True),
        ("as many as the largest number", {"numRetainedMax": 20}, 20, SECOND, False),
        ("a largest number equal to the default of the smallest", {"numRetainedMax": 10}, 11, SECOND, True),
    ],
)  # fmt: skip
def test_number_and_age_of_the_snapshots_decide(
    sentence: str, retention: dict[str, Any], count: int, oldest: timedelta, expected: bool
) -> None:
    seen = expiring_table(**retention)
    measured(seen, count, oldest)
    assert expires(seen) is expected, sentence


def test_a_skip_names_number_age_and_limits() -> None:
    seen = expiring_table(timeRetained="3h", numRetainedMax=20)
    measured(seen, 12, 2 * HOUR)
    seen.settle()
    decision = decision_of(seen)
    assert (decision.result, decision.reason) == ("Skipped", Reason.NOT_NEEDED)
    expected = {
        "numRetainedMax": ("12", "20", False),
        "timeRetained": ("2h", "3h", False),
        "numRetainedMin": ("12", "10", False),
    }
    assert checks_of(decision) == expected


@pytest.mark.parametrize(
    ("sentence", "pins"),
    [
        ("a tag, which may have a time of its own", {"pins": [{"kind": "Tag", "name": "t"}], "pinsCount": 1}),
        ("more pins than are listed", {"pins": [{"kind": "Branch", "name": "b"}], "pinsCount": 2}),
        ("pins that were not measured", {"pinsCount": None}),
    ],
)
def test_a_table_that_may_have_tags_is_looked_at_by_a_run(sentence: str, pins: dict[str, Any]) -> None:
    seen = expiring_table()
    seen.wait(hours=1)
    measure(seen, snapshots=3, oldestSnapshot=seen.now, **pins)
    assert expires(seen), sentence


def test_a_number_that_was_not_measured_stops_no_schedule() -> None:
    seen = expiring_table()
    seen.wait(hours=1)
    measure(seen, oldestSnapshot=seen.now)
    assert expires(seen)


@pytest.mark.parametrize(
    ("sentence", "options"),
    [
        ("another time", {"snapshot.time-retained": "10 min"}),
        ("a largest number", {"snapshot.num-retained.max": "5"}),
        ("changelogs of their own", {"changelog.num-retained.max": "5"}),
        ("automatic tags", {"tag.automatic-creation": "process-time"}),
        ("consumers that expire", {"consumer.expiration-time": "7 d"}),
    ],
)  # fmt: skip
def test_a_table_that_has_a_retention_of_its_own_is_looked_at_by_a_run(sentence: str, options: dict[str, str]) -> None:
    seen = expiring_table()
    with_recorded(seen, options)
    measured(seen, 3, HOUR)
    assert expires(seen), sentence


def with_recorded(seen: TableWorld, options: dict[str, str]) -> None:
    """Stores a schema with these options, as the last run has read it."""
    known = record(seen)
    changed = record_of(TableSchema(**{**vars(known), "options": {**known.options, **options}}))
    state = seen.table.status.provision
    assert state is not None
    status = seen.table.status.model_copy(update={"provision": state.model_copy(update={"schema_record": changed})})
    seen.table = seen.table.model_copy(update={"status": status})
