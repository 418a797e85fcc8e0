"""What a run has measured reaches the table's status: its facts, its health, and when it was read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from paimon_operator.api.base import rfc3339
from paimon_operator.api.run.status import RunStatus, RunTrigger
from paimon_operator.api.table.facts import Health
from paimon_operator.api.table.status import ActiveRun
from paimon_operator.core.operations.base import RunOutcome
from paimon_operator.core.table.measures import record_measures
from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld

MORE: dict[str, Any] = {
    "level0FilesMax": 1,
    "smallFilesMax": 2,
    "deletePercent": 12,
    "unmergedPercent": 100,
    "snapshots": 5,
    "oldestSnapshot": "2026-11-21T08:00:00Z",
    "oldestPartition": "day=2026-11-22",
    "manifests": 4,
    "buckets": 2,
    "pins": [{"kind": "Tag", "name": "t", "bytes": 7}, {"kind": "Branch", "name": "b"}],
    "pinsCount": 9,
}


@pytest.fixture
def seen() -> TableWorld:
    """A table that is Ready and due to be observed."""
    world = TableWorld(table=builders.table())
    world.settle()
    world.finish("Provision", created=True, after=MEASURE | MORE)
    world.settle()
    return world


def health(seen: TableWorld) -> Health:
    found = seen.table.status.health
    assert found is not None
    return found


def test_the_health_is_what_was_measured(seen: TableWorld) -> None:
    shown = health(seen).model_dump(mode="json", by_alias=True)
    assert shown == {
        "sortedRunsMax": 2,
        "level0FilesMax": 1,
        "smallFiles": 3,
        "smallFilesMax": 2,
        "deleteRatio": "12%",
        "unmergedRatio": "100%",
        "snapshots": 5,
        "oldestSnapshot": "2026-11-21T08:00:00Z",
        "oldestPartition": "day=2026-11-22",
        "manifests": 4,
        "buckets": 2,
        "pins": [{"kind": "Tag", "name": "t", "bytes": 7}, {"kind": "Branch", "name": "b", "bytes": None}],
        "pinsCount": 9,
        "snapshotId": 1,
        "observedAt": rfc3339(seen.now),
        "inDoubtSince": None,
        "unread": None,
    }


def observe(seen: TableWorld, **after: Any) -> None:
    """A user's Observe, which takes ten minutes."""
    seen.runs.append(builders.run("look", type="Observe", table=seen.table))
    seen.settle()
    seen.wait(minutes=10)
    seen.finish("Observe", **({"after": after} if after else {"after": None}))
    seen.settle()


def test_a_run_that_could_not_measure_leaves_the_older_health(seen: TableWorld) -> None:
    before = health(seen)
    observe(seen)
    assert health(seen) == before


def test_a_run_that_has_counted_no_files_of_a_snapshot_leaves_the_older_health(seen: TableWorld) -> None:
    before = health(seen)
    observe(seen, snapshotId=7)
    assert health(seen) == before


def test_a_run_that_only_reads_does_not_end_a_rescale() -> None:
    seen = TableWorld(table=builders.table())
    seen.settle()
    seen.finish("Provision", created=True, after=MEASURE | {"bucketMode": "Fixed", "bucketCount": 4, "rescaling": True})
    seen.settle()
    seen.table = seen.table.model_copy(
        update={"status": record_measures(seen.table, observed(MEASURE | {"bucketMode": "Fixed", "bucketCount": 8}))}
    )
    facts = seen.table.status.table
    assert facts is not None
    assert (facts.bucket_count, facts.rescaling, facts.files) == (4, True, 3)


def observed(after: dict[str, Any]) -> RunOutcome:
    """An Observe that has succeeded."""
    active = ActiveRun(name="look", type="Observe", trigger=RunTrigger.USER)
    result, at = RunStatus.model_validate({"after": after}), datetime(2026, 11, 22, tzinfo=UTC)
    return RunOutcome(active=active, at=at, result=result, failure_class=None, reason="RunSucceeded", message="done")


def test_what_only_paimon_could_count_has_no_values_of_an_older_snapshot(seen: TableWorld) -> None:
    observe(seen, **MEASURE | {"snapshotId": 9, "sortedRunsMax": 1})
    found = health(seen)
    assert (found.sorted_runs_max, found.snapshot_id, found.manifests, found.pins) == (1, 9, None, ())


def test_a_run_that_leaves_out_the_pins_keeps_those_that_were_measured_last(seen: TableWorld) -> None:
    more = {name: value for name, value in MORE.items() if name not in ("pins", "pinsCount")}
    observe(seen, **MEASURE | more | {"snapshotId": 9})
    assert (health(seen).snapshot_id, health(seen).pins_count, len(health(seen).pins)) == (9, 9, 2)


@pytest.mark.parametrize(
    ("measured", "observed"),
    [
        pytest.param(-3, -3, id="during the run"),
        pytest.param(2, 0, id="the node's clock is ahead"),
        pytest.param(-60, -10, id="the node's clock is behind"),
        pytest.param(None, 0, id="a driver of an earlier release"),
    ],
)
def test_the_health_is_observed_when_the_metadata_was_read(
    seen: TableWorld, measured: int | None, observed: int
) -> None:
    """Minutes from the end of the run, which took ten."""
    seen.runs.append(builders.run("look", type="Observe", table=seen.table))
    seen.settle()
    began = seen.now
    seen.wait(minutes=10)
    time = {} if measured is None else {"measuredAt": rfc3339(seen.now + timedelta(minutes=measured))}
    seen.finish("Observe", after=MEASURE | time, start_time=rfc3339(began))
    ended = seen.now
    seen.settle()
    assert health(seen).observed_at == ended + timedelta(minutes=observed)
