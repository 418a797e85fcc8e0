"""Companions of a table stay named only while one of its runs is active, or waits."""

from __future__ import annotations

import pytest

from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.status import ActiveRun, QueuedRun, TableStatus
from paimon_operator.core.table.companions import without_leftovers
from tests.support import builders

EXPIRY = ActiveRun(name="a-expiresnapshots-1", type="ExpireSnapshots", trigger=RunTrigger.SCHEDULE)
QUEUED = QueuedRun(type="Compact", since=builders.NOW, message="one run may be active")


@pytest.mark.parametrize(
    ("sentence", "status", "stay"),
    [
        ("no run is active", {}, False),
        ("a run is active", {"active_run": EXPIRY}, True),
        ("a run waits for a place", {"queued_run": QUEUED}, True),
    ],
)
def test_companions_go_with_the_last_run(sentence: str, status: dict[str, object], stay: bool) -> None:
    found = without_leftovers(TableStatus().model_copy(update={"following_runs": (EXPIRY,), **status}))
    assert (found.following_runs is not None) is stay, sentence
