"""Cases in which work does not run, and the cause of each: the table of docs/maintenance.md names these functions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, OutsideCommit
from paimon_operator.api.table.outside_writers import OutsideWriters
from paimon_operator.api.table.schedule_state import LastDecision, ScheduleState
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.spec.spent_budget import SpentBudget
from paimon_operator.core.table.observed import TableObserved
from paimon_operator.core.table.run_slots import RunLimit
from tests.core.table import rescaling, stopped_cases
from tests.core.table.edited_table import ready, refuse, wait_for_approval
from tests.core.table.marked_table import marked
from tests.core.table.measured import HOURLY, decision_of, due, measure, measured_table
from tests.support import builders
from tests.support.table_world import TableWorld


def decided(state: ScheduleState | None) -> LastDecision:
    """The decision in the state of a block."""
    assert state is not None
    assert state.decision is not None
    return state.decision


def of_write(seen: TableWorld, number: int = 0) -> LastDecision:
    """The decision about a write."""
    return decided(seen.table.status.writes[number])


def no_threshold() -> LastDecision:
    return decision_of(due(measured_table(), runs=4))


def nothing_committed() -> LastDecision:
    seen = due(measured_table())
    seen.finish("Compact", after={"snapshotId": 3})
    seen.settle()
    seen.wait(hours=1)
    measure(seen, snapshot=3, sortedRunsMax=9)
    seen.settle()
    return decision_of(seen)


def no_snapshot() -> LastDecision:
    seen = ready(retention={"snapshots": {"schedule": HOURLY}})
    seen.wait(hours=1)
    measure(seen, snapshots=3, oldestSnapshot=seen.now)
    seen.settle()
    return decided(seen.table.status.retention)


def no_partition() -> LastDecision:
    columns = [{"name": "id", "type": "BIGINT"}, {"name": "day", "type": "DATE"}]
    partitions = {"expirationTime": "30d", "schedule": HOURLY}
    schema = {"columns": columns, "partitionKeys": ["day"]}
    seen = TableWorld(table=builders.table(schema=schema, retention={"partitions": partitions})).ready()
    seen.run_due()
    seen.wait(hours=1)
    measure(seen, oldestPartition="day=2026-11-20")
    seen.settle()
    return decided(seen.table.status.partition_expiry)


def every_partition_marked() -> LastDecision:
    seen = marked()
    seen.settle()
    return decided(seen.table.status.partitions_done)


def nothing_written() -> LastDecision:
    seen = TableWorld(table=builders.table(compaction={"mode": "Dedicated", "minor": {"schedule": HOURLY}}))
    seen.settle()
    seen.finish("Provision", created=True, after={"schemaId": 0, "files": 0})
    seen.settle()
    seen.wait(hours=1)
    seen.settle()
    return decision_of(seen)


def failed_for_good() -> LastDecision:
    seen = due(measured_table())
    seen.fail(FailureClass.SPEC, Reason.INVALID_SPEC)
    seen.settle()
    return decision_of(seen)


def too_many_orphans() -> LastDecision:
    seen = ready(retention={"orphanFiles": {"mode": "Delete", "schedule": HOURLY}})
    seen.wait(hours=1)
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TOO_MANY_ORPHAN_FILES)
    seen.settle()
    return decided(seen.table.status.orphan_files)


def failed_for_now() -> LastDecision:
    seen = due(measured_table())
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST)
    seen.settle()
    return decision_of(seen)


def another_run() -> LastDecision:
    seen = measured_table()
    seen.runs.append(builders.run("mine", table=seen.table))
    seen.settle()
    return decision_of(due(seen))


def limit_of_runs() -> LastDecision:
    seen = measured_table()
    seen.observed = TableObserved(stopped_by=lambda _: RunLimit(1, "lake"))
    return decision_of(due(seen))


def outside_windows() -> LastDecision:
    seen = measured_table()
    seen.catalog = builders.catalog(maintenanceWindows=[{"schedule": "0 1 * * *", "duration": "4h"}])
    return decision_of(due(seen))


def spent_budget() -> LastDecision:
    seen = measured_table()
    tomorrow = seen.now + timedelta(days=1)
    budget = SpentBudget(whose="ours", hours=1, used_seconds=3600, until=tomorrow)
    seen.observed = TableObserved(spent=lambda _: budget)
    return decision_of(due(seen))


def suspended() -> LastDecision:
    return decision_of(due(measured_table(), suspend=True))


def not_verified() -> LastDecision:
    seen = measured_table()
    seen.edit(options={"write-buffer-size": "64 mb"})
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.TABLE_NOT_FOUND)
    return decision_of(due(seen))


def unsafe_commits() -> LastDecision:
    seen = measured_table(bucket={"type": "Fixed", "fixed": {"count": 1}})
    return decision_of(due(seen, externalWriters="Active"))


def broken_block() -> LastDecision:
    compaction = {"mode": "Dedicated", "minor": {"schedule": "0 0 31 2 *"}}
    return decision_of(due(measured_table(), compaction=compaction))


def succeeded() -> LastDecision:
    seen = due(measured_table())
    seen.finish("Compact")
    seen.settle()
    return decision_of(seen)


def sort_by_page(seen: TableWorld, unsorted: int) -> LastDecision:
    seen.wait(hours=1)
    measure(seen, level0FilesMax=unsorted)
    seen.settle()
    return decision_of(seen, "sort")


def sorted_table() -> TableWorld:
    sort = {"order": "Order", "columns": ["what"], "schedule": HOURLY}
    return measured_table({"mode": "Dedicated", "sort": sort}, schema=builders.EVENTS)


def every_file_sorted() -> LastDecision:
    return sort_by_page(sorted_table(), unsorted=0)


def other_writer() -> LastDecision:
    seen = sorted_table()
    known = seen.table.status.outside_writers or OutsideWriters(stated="None")
    commit = OutsideCommit(snapshot_id=2, commit_user="etl", kind="APPEND", time=seen.now)
    changed = seen.table.status.model_copy(update={"outside_writers": known.model_copy(update={"commit": commit})})
    seen.table = seen.table.model_copy(update={"status": changed})
    seen.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    return sort_by_page(seen, unsorted=9)


def changed_rows() -> LastDecision:
    seen = due(measured_table(maintenance={"verify": "Sample"}))
    difference = {"before": 1, "after": 2, "found": "1 row less", "tag": "t"}
    found = {"commits": 1, "rows": 9, "difference": difference}
    seen.fail(FailureClass.SPEC, Reason.VERIFICATION_FAILED, verification=found)
    seen.settle()
    return decision_of(due(seen))


def nothing_to_merge() -> LastDecision:
    return decision_of(due(measured_table(), runs=1))


def nothing_compacted() -> LastDecision:
    seen = due(measured_table())
    seen.finish("Compact", after={"snapshotId": 2}, compactedPartitions=0)
    seen.settle()
    return decision_of(seen)


def broken_windows() -> LastDecision:
    seen = measured_table()
    seen.catalog = builders.catalog(maintenanceWindows=[{"schedule": "61 1 * * *", "duration": "4h"}])
    return decision_of(due(seen))


def unsupported() -> LastDecision:
    table = builders.table(schema=builders.EVENTS, compaction={"mode": "Dedicated", "full": {"schedule": HOURLY}})
    seen = TableWorld(table=table, catalog=builders.catalog(engine="paimon-0.9")).ready()
    seen.run_due()
    seen.edit(compaction={"mode": "Dedicated", "sort": {"order": "Order", "columns": ["what"], "schedule": HOURLY}})
    seen.settle()
    return decision_of(seen, "full")


def rescaled() -> LastDecision:
    return _in_a_rescale(rescaling.rescaling())


def beside_a_rescale() -> LastDecision:
    seen = rescaling.rescaling()
    rescaling.committed_by_flink(seen)
    return _in_a_rescale(seen)


def failed_rescale() -> LastDecision:
    seen = rescaling.rescaling()
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.RESCALE_FAILED, "partition mon differs from tag t")
    return _in_a_rescale(seen)


def refused_rescale() -> LastDecision:
    seen = rescaling.ready()
    seen.edit(bucket=rescaling.buckets(8))
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.RESCALE_REFUSED, "the table has deletion vectors")
    seen.wait(minutes=6)
    seen.settle()
    return of_write(seen)


def _in_a_rescale(seen: TableWorld) -> LastDecision:
    seen.wait(minutes=6)
    seen.settle()
    return decision_of(seen, "full")


def different_table() -> LastDecision:
    seen = _written_hourly()
    seen.edit(options={"write-buffer-size": "64 mb"})
    seen.settle()
    refuse(seen)
    seen.wait(hours=1)
    seen.settle()
    return of_write(seen)


def unapproved_edit() -> LastDecision:
    seen = _written_hourly(policy="Approve")
    seen.edit(options={"write-buffer-size": "64 mb"})
    seen.settle()
    wait_for_approval(seen)
    seen.wait(hours=1)
    seen.settle()
    return of_write(seen)


def unknown_location() -> LastDecision:
    seen = _written_hourly()
    seen.edit(writes=[builders.write(schedule=HOURLY, location="nowhere")])
    seen.settle()
    return of_write(seen)


def earlier_write() -> LastDecision:
    writes = [builders.write("base", schedule=HOURLY), builders.write("delta", schedule=HOURLY)]
    seen = ready(writes=writes)
    seen.wait(hours=1)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.INPUT_NOT_FOUND)
    seen.settle()
    return of_write(seen, 1)


def done() -> LastDecision:
    return of_write(ready(writes=[builders.write(schedule=None)]))


def already_loaded() -> LastDecision:
    seen = ready(writes=[builders.write(schedule=HOURLY)])
    seen.wait(hours=1)
    seen.settle()
    seen.finish("Write", write={"skipped": True})
    seen.settle()
    return of_write(seen)


def _written_hourly(policy: str = "Automatic") -> TableWorld:
    return ready(policy=policy, writes=[builders.write(schedule=HOURLY)])


CASES: dict[Cause, Callable[[], LastDecision]] = {
    Cause.NO_THRESHOLD: no_threshold,
    Cause.NOTHING_COMMITTED: nothing_committed,
    Cause.NOTHING_TO_MERGE: nothing_to_merge,
    Cause.NOTHING_COMPACTED: nothing_compacted,
    Cause.EVERY_FILE_SORTED: every_file_sorted,
    Cause.OTHER_WRITER: other_writer,
    Cause.NO_SNAPSHOT: no_snapshot,
    Cause.NO_PARTITION: no_partition,
    Cause.EVERY_PARTITION_MARKED: every_partition_marked,
    Cause.NOTHING_WRITTEN: nothing_written,
    Cause.ALREADY_LOADED: already_loaded,
    Cause.DONE: done,
    Cause.FAILED_FOR_GOOD: failed_for_good,
    Cause.FOR_A_HUMAN: too_many_orphans,
    Cause.FAILED_FOR_NOW: failed_for_now,
    Cause.SUCCEEDED: succeeded,
    Cause.ANOTHER_RUN: another_run,
    Cause.RUN_LIMIT: limit_of_runs,
    Cause.EARLIER_WRITE: earlier_write,
    Cause.OUTSIDE_WINDOWS: outside_windows,
    Cause.SPENT_BUDGET: spent_budget,
    Cause.CHANGED_ROWS: changed_rows,
    Cause.SUSPENDED: suspended,
    Cause.NOT_VERIFIED: not_verified,
    Cause.DIFFERENT_TABLE: different_table,
    Cause.UNAPPROVED_EDIT: unapproved_edit,
    Cause.UNSAFE_COMMITS: unsafe_commits,
    Cause.RESCALING: rescaled,
    Cause.RESCALE_BESIDE_WRITER: beside_a_rescale,
    Cause.RESCALE_FAILED: failed_rescale,
    Cause.RESCALE_REFUSED: refused_rescale,
    Cause.BROKEN_BLOCK: broken_block,
    Cause.BROKEN_WINDOWS: broken_windows,
    Cause.UNSUPPORTED_BLOCK: unsupported,
    Cause.UNKNOWN_LOCATION: unknown_location,
    Cause.INVALID_MANIFEST: stopped_cases.invalid_manifest,
    Cause.NO_CATALOG: stopped_cases.no_catalog,
    Cause.INVALID_CATALOG: stopped_cases.invalid_catalog,
    Cause.OVERLAPPING_WAREHOUSE: stopped_cases.overlapping_warehouse,
    Cause.CLAIMED: stopped_cases.claimed,
    Cause.UNKNOWN_RESULT: stopped_cases.unknown_result,
    Cause.TAKEN_NAME: stopped_cases.taken_name,
}
