"""The effective settings of a table: its own, the catalog's and the operator's, and the origin of each block.

A block of the table replaces the catalog's block as a whole; each member of `retention` and `spark` is such a block.
Operator defaults then fill what the block leaves open. Rule: the API page, "Conventions".
"""

from __future__ import annotations

from typing import Final, TypeVar

from paimon_engines.engine import Engine
from paimon_operator.api.catalog.spec import PaimonCatalog, TableDefaults
from paimon_operator.api.compaction import (
    CompactionDefault,
    CompactionMode,
    FullCompaction,
    FullThresholds,
    MinorCompaction,
    MinorThresholds,
    SortThresholds,
)
from paimon_operator.api.mark_partitions_done import MarkPartitionsDone
from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.spark import Driver, Executor, SparkMode
from paimon_operator.api.table.effective import (
    Effective,
    EffectiveCompaction,
    EffectiveDriver,
    EffectiveExecutor,
    EffectiveMode,
    EffectiveRunPolicy,
    Origin,
)
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.config import Defaults
from paimon_operator.core.spec.effective_retention import effective_retention, effective_tags
from paimon_operator.core.spec.spark_limits import mode_within, spark_limits, within
from paimon_operator.core.spec.spread import spread

BlockT = TypeVar("BlockT")
ThresholdsT = TypeVar("ThresholdsT", bound=MinorThresholds)

WRITE_ONLY_MODES: Final = (CompactionMode.DEDICATED, CompactionMode.EXTERNAL)
"""Modes in which writers neither compact nor expire snapshots."""
_MINOR_FROM: Final = 5
"""Sorted runs or small files: Paimon's defaults of num-sorted-run.compaction-trigger and compaction.min.file-num."""
_SORT_FROM: Final = 5
"""Unsorted files, as many as small files."""
_FULL_FROM: Final = 2
"""Anything that can be merged."""


def effective_settings(
    table: PaimonTable,
    catalog: PaimonCatalog,
    engine: Engine,
    defaults: Defaults,
    *,
    compaction: EffectiveCompaction | None = None,
) -> Effective:
    """The whole of `status.effective`. `compaction` replaces that of the manifests."""
    compaction = compaction or _compaction(table, catalog, engine, defaults)
    return Effective(
        engine=engine.id,
        time_zone=table.spec.time_zone or catalog.spec.time_zone or defaults.time_zone,
        compaction=compaction,
        retention=effective_retention(table, catalog, compaction.mode, defaults),
        mark_partitions_done=_mark_partitions_done(table, defaults),
        tags=effective_tags(table, catalog),
        driver=driver(table, catalog, defaults),
        mode=(where := mode(table, catalog, defaults)),
        executor=None if where.mode is SparkMode.LOCAL else executor(table, catalog, defaults),
        run_policy=run_policy(table, catalog, defaults),
    )


def driver(table: PaimonTable, catalog: PaimonCatalog | None, defaults: Defaults) -> EffectiveDriver:
    """The size of the next driver Pod."""
    of_table = table.spec.spark.driver if table.spec.spark else None
    of_catalog = catalog.spec.spark.driver if catalog and catalog.spec.spark else None
    block, source = _nearest(of_table, of_catalog, Driver())
    filled = defaults.driver.model_dump() | block.model_dump(exclude_none=True)
    return EffectiveDriver(**within(filled, spark_limits(catalog).driver), source=source)


def executor(table: PaimonTable, catalog: PaimonCatalog | None, defaults: Defaults) -> EffectiveExecutor:
    """The number and size of the next executor Pods."""
    of_table = table.spec.spark.executor if table.spec.spark else None
    of_catalog = catalog.spec.spark.executor if catalog and catalog.spec.spark else None
    block, source = _nearest(of_table, of_catalog, Executor())
    filled = defaults.executor.model_dump() | block.model_dump(exclude_none=True)
    return EffectiveExecutor(**within(filled, spark_limits(catalog).executor), source=source)


def mode(table: PaimonTable, catalog: PaimonCatalog | None, defaults: Defaults) -> EffectiveMode:
    """Where Spark runs its tasks."""
    of_table = table.spec.spark.mode if table.spec.spark else None
    of_catalog = catalog.spec.spark.mode if catalog and catalog.spec.spark else None
    found, source = _nearest(of_table, of_catalog, defaults.mode)
    return EffectiveMode(mode=mode_within(found, spark_limits(catalog)), source=source)


def run_policy(table: PaimonTable, catalog: PaimonCatalog | None, defaults: Defaults) -> EffectiveRunPolicy:
    """Deadline, retries and history of the table's runs."""
    block, source = _nearest(table.spec.run_policy, _defaults_of(catalog).run_policy, RunPolicy())
    filled = defaults.run_policy.model_dump() | block.model_dump(exclude_none=True)
    return EffectiveRunPolicy(**filled, source=source)


def _compaction(table: PaimonTable, catalog: PaimonCatalog, engine: Engine, defaults: Defaults) -> EffectiveCompaction:
    inherited = _defaults_of(catalog).compaction
    default = CompactionDefault(mode=CompactionMode.INLINE)
    block, source = _nearest(table.spec.compaction, inherited, default)
    minor, full, sort = block.minor, block.full, table.spec.compaction and table.spec.compaction.sort
    if block.mode is CompactionMode.DEDICATED and minor is None and full is None and sort is None:
        full = FullCompaction(schedule=spread(defaults.full_compaction, table.metadata.uid))
        if engine.has_minor_compaction:
            minor = MinorCompaction(schedule=spread(defaults.minor_compaction, table.metadata.uid))
    return EffectiveCompaction(
        mode=block.mode,
        minor=minor and minor.model_copy(update={"when": _filled(table, minor.when or MinorThresholds(), _MINOR_FROM)}),
        full=full and full.model_copy(update={"when": _filled(table, full.when or FullThresholds(), _FULL_FROM)}),
        sort=sort and sort.model_copy(update={"when": _filled_sort(sort.when or SortThresholds())}),
        partition_idle_time=block.partition_idle_time,
        source=source,
    )


def _mark_partitions_done(table: PaimonTable, defaults: Defaults) -> MarkPartitionsDone | None:
    """The table's block with its schedule. A catalog has no default of it: each table has its own length of time."""
    block = table.spec.mark_partitions_done
    if block is None or block.schedule is not None:
        return block
    return block.model_copy(update={"schedule": spread(defaults.partition_marks, table.metadata.uid)})


def _filled(table: PaimonTable, given: ThresholdsT, default: int) -> ThresholdsT:
    """The thresholds with the default of the one that every table of its kind has."""
    has_keys = bool(table.spec.table_schema.primary_keys)
    name = "sorted_runs_per_bucket" if has_keys else "small_files_per_partition"
    return given if getattr(given, name) is not None else given.model_copy(update={name: default})


def _filled_sort(given: SortThresholds) -> SortThresholds:
    """The thresholds with the default number of files."""
    if given.unsorted_files_per_partition is not None:
        return given
    return given.model_copy(update={"unsorted_files_per_partition": _SORT_FROM})


def _defaults_of(catalog: PaimonCatalog | None) -> TableDefaults:
    return (catalog.spec.table_defaults if catalog else None) or TableDefaults()


def _nearest(of_table: BlockT | None, of_catalog: BlockT | None, default: BlockT) -> tuple[BlockT, Origin]:
    if of_table is not None:
        return of_table, Origin.TABLE
    if of_catalog is not None:
        return of_catalog, Origin.CATALOG
    return default, Origin.DEFAULT
