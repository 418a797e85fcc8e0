"""What a run has measured of its table, in the table's status."""

from __future__ import annotations

from datetime import datetime

from paimon_operator.api.measure import Measure
from paimon_operator.api.table.facts import Health, TableFacts
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.api.units import readable_size
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.base import RunOutcome
from paimon_operator.core.spec.identity import table_name


def record_measures(table: PaimonTable, ended: RunOutcome) -> TableStatus:
    """The status with the facts that the run reports.

    A run that has not counted the files of a snapshot leaves the health as it is.
    """
    measure = ended.result.after
    if measure is None:
        return _in_doubt(table.status, ended)
    update: dict[str, object] = {"table": _kept(table.status, ended, _facts(table, measure))}
    if measure.files is not None or measure.snapshot_id is None:
        update["health"] = _with_pins(table.status.health, health_of(measure, _observed_at(measure, ended)))
    return table.status.model_copy(update=update)


def _with_pins(before: Health | None, health: Health) -> Health:
    """The health of a run that left out the pins, with those that were measured last."""
    if health.pins_count is not None or health.manifests is None or before is None:
        return health
    return health.model_copy(update={"pins": before.pins, "pins_count": before.pins_count})


def _in_doubt(status: TableStatus, ended: RunOutcome) -> TableStatus:
    """After a failure, the last measurement may not hold any more."""
    if status.health is None or ended.succeeded or registry.OPERATIONS.of(ended.active.type).only_reads:
        return status
    return status.model_copy(update={"health": status.health.model_copy(update={"in_doubt_since": ended.at})})


def _kept(status: TableStatus, ended: RunOutcome, facts: TableFacts) -> TableFacts:
    """The facts, but with the buckets that the last run knew which looked at each file's number of buckets.

    A run that only reads knows the option alone, and a rescale follows what the others have found.
    """
    if status.table is None or not registry.OPERATIONS.of(ended.active.type).only_reads:
        return facts
    names = ("bucket_mode", "bucket_count", "rescaling")
    return facts.model_copy(update={name: getattr(status.table, name) for name in names})


def _observed_at(measure: Measure, ended: RunOutcome) -> datetime:
    """By the node's clock, but not before the run began nor after it ended by the operator's."""
    if measure.measured_at is None:
        return ended.at
    began = ended.result.start_time or measure.measured_at
    return min(max(began, measure.measured_at), ended.at)


def _facts(table: PaimonTable, measure: Measure) -> TableFacts:
    return TableFacts(
        identifier=f"{table.spec.database}.{table_name(table)}",
        schema_id=measure.schema_id,
        bucket_mode=measure.bucket_mode,
        bucket_count=measure.bucket_count,
        rescaling=measure.rescaling,
    ).model_copy(update=file_facts(measure))


def file_facts(measure: Measure) -> dict[str, object]:
    """The fields of TableFacts that follow from the files of the latest snapshot."""
    return {
        "snapshot_id": measure.snapshot_id,
        "partitions": measure.partitions,
        "bucket_bytes_median": measure.bucket_bytes_median,
        "bucket_bytes_max": measure.bucket_bytes_max,
        "files": measure.files,
        "rows": measure.rows,
        "size_bytes": measure.bytes,
        "size": None if measure.bytes is None else readable_size(measure.bytes),
    }


def health_of(measure: Measure, at: datetime) -> Health:
    """The health of a table that was measured at this time."""
    return Health(
        sorted_runs_max=measure.sorted_runs_max,
        level0_files_max=measure.level0_files_max,
        small_files=measure.small_files,
        small_files_max=measure.small_files_max,
        delete_ratio=_ratio(measure.delete_percent),
        unmerged_ratio=_ratio(measure.unmerged_percent),
        snapshots=measure.snapshots,
        oldest_snapshot=measure.oldest_snapshot,
        oldest_partition=measure.oldest_partition,
        manifests=measure.manifests,
        buckets=measure.buckets,
        pins=measure.pins,
        pins_count=measure.pins_count,
        snapshot_id=measure.snapshot_id,
        observed_at=at,
    )


def _ratio(percent: int | None) -> str | None:
    return None if percent is None else f"{percent}%"
