"""After a success, the decision of a block shows how far its thresholds are and what starts the next run."""

from __future__ import annotations

from datetime import timedelta

from tests.core.table.edited_table import ready
from tests.core.table.measured import HOURLY, checks_of, decision_of, due, measured_table
from tests.core.table.skip_cases import decided
from tests.support import builders

LEFT = {"snapshotId": 3, "files": 4, "sortedRunsMax": 2, "level0FilesMax": 1, "smallFilesMax": 1, "deleteRatio": "0%"}
SNAPSHOTS = {"snapshotId": 3, "files": 4, "snapshots": 4, "oldestSnapshot": "2026-01-01T00:00:00Z", "pinsCount": 0}


def test_a_compaction_reports_what_starts_the_next_one() -> None:
    seen = due(measured_table())
    seen.finish("Compact", after=LEFT)
    seen.settle()
    decision = decision_of(seen)
    assert decision.observed_at == seen.now
    assert decision.message.endswith(
        ": done; it waits for its next tick. A run starts at the first tick that finds a threshold reached; "
        "files count after the next commit"
    )


def test_a_compaction_that_deletes_records_reports_the_sorted_runs_that_it_has_left() -> None:
    records = {"expireTime": "9d", "timeField": "order_ts"}
    columns = [{"name": "order_id", "type": "BIGINT"}, {"name": "order_ts", "type": "TIMESTAMP(3)"}]
    full = {"mode": "Dedicated", "full": {"schedule": HOURLY}}
    schema = {"columns": columns, "primaryKeys": ["order_id"]}
    seen = due(measured_table(full, schema=schema, retention={"records": records}))
    seen.finish("Compact", after=LEFT)
    seen.settle()
    assert checks_of(decision_of(seen, "full"))["sortedRunsPerBucket"] == ("2", "2", True)


def test_an_expiry_reports_the_snapshots_that_it_has_left() -> None:
    seen = ready(retention={"snapshots": {"schedule": HOURLY}})
    seen.run_due()
    seen.wait(hours=1)
    seen.settle()
    seen.finish("ExpireSnapshots", after=SNAPSHOTS)
    seen.settle()
    decision = decided(seen.table.status.retention)
    assert checks_of(decision)["numRetainedMin"] == ("4", "10", False)
    assert "A run starts at the first tick that finds more than 10 snapshots of which" in decision.message


def test_the_numbers_are_those_of_then_and_no_later_reconcile_writes_them_again() -> None:
    seen = due(measured_table())
    seen.finish("Compact", after=LEFT)
    seen.settle()
    before = decision_of(seen)
    seen.wait(minutes=20)
    seen.settle()
    assert (decision_of(seen), before.observed_at) == (before, seen.now - timedelta(minutes=20))


def test_a_later_run_of_a_user_for_a_part_of_the_table_says_nothing_twice() -> None:
    seen = due(measured_table())
    seen.finish("Compact", after=LEFT)
    seen.settle()
    before = decision_of(seen)
    asked = {"strategy": "Minor", "partitions": [{"day": "2026-01-01"}]}
    seen.runs.append(builders.run("by-hand", table=seen.table, compact=asked))
    seen.settle()
    assert seen.table.status.active_run is not None
    seen.finish("Compact", after=LEFT)
    seen.settle()
    assert decision_of(seen) == before


def test_without_a_measurement_the_decision_has_no_numbers() -> None:
    seen = due(measured_table())
    seen.finish("Compact")
    seen.settle()
    decision = decision_of(seen)
    assert (decision.checks, decision.observed_at) == ((), None)
    assert decision.message.endswith("it waits for its next tick")
