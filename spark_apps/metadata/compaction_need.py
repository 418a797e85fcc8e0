"""Partitions that a compaction by its schedule is for: those that reach a threshold of the job."""

from __future__ import annotations

from collections.abc import Mapping

from paimon_contract.parameters.compact import CompactThresholds
from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.file_sums import total_of
from spark_apps.metadata.health import Bucket, buckets_of, percent, small_files_of
from spark_apps.metadata.observation import Contents


def partitions_in_need(contents: Contents, schema: TableSchema, thresholds: CompactThresholds) -> tuple[bytes, ...]:
    """The partitions (serialized BinaryRows) that reach a threshold, those with most sorted runs or small files first.

    All of the table's partitions where the share of deleted rows is reached, as far as these are counted.
    """
    buckets, small = buckets_of(contents.sums), small_files_of(contents.sums)
    worst = _worst_runs(buckets) if schema.primary_keys else {}
    by_need = sorted(small, key=lambda each: (-worst.get(each, 0), -small[each], each))
    if _has_deletes(contents, thresholds):
        return tuple(by_need)
    chosen = _beyond(buckets, thresholds) if schema.primary_keys else set()
    least = thresholds.small_files
    chosen |= {each for each, count in small.items() if least is not None and count >= least}
    return tuple(each for each in by_need if each in chosen)


def _beyond(buckets: Mapping[tuple[bytes, int], Bucket], thresholds: CompactThresholds) -> set[bytes]:
    runs, level0 = thresholds.sorted_runs, thresholds.level0_files
    return {
        partition
        for (partition, _), each in buckets.items()
        if (runs is not None and each.sorted_runs >= runs) or (level0 is not None and each.level0_files >= level0)
    }


def _worst_runs(buckets: Mapping[tuple[bytes, int], Bucket]) -> dict[bytes, int]:
    worst: dict[bytes, int] = {}
    for (partition, _), each in buckets.items():
        worst[partition] = max(worst.get(partition, 0), each.sorted_runs)
    return worst


def _has_deletes(contents: Contents, thresholds: CompactThresholds) -> bool:
    least, total = thresholds.delete_percent, total_of(contents.sums)
    if least is None:
        return False
    return percent(total.delete_rows + (contents.deleted_rows or 0), total.rows) >= least
