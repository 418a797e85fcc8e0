"""The effective retention and tags of a table: its own blocks, or the catalog's where they apply to the table.

Each member of `retention` is a block of its own. A default of the catalog is for many tables, so that it is left out
where a table has nothing to apply it to. A block of the table itself is kept, and validation refuses it there.
"""

from __future__ import annotations

from typing import TypeVar

from paimon_operator.api.catalog.spec import PaimonCatalog, TableDefaults
from paimon_operator.api.compaction import CompactionMode
from paimon_operator.api.policies import EnforcedBlock, ExternalWriters
from paimon_operator.api.retention import (
    DEFAULT_ORPHAN_AGE,
    OrphanFilesMode,
    PartitionStrategy,
    Retention,
    SnapshotRetention,
)
from paimon_operator.api.table.effective import (
    EffectiveChangelogRetention,
    EffectiveConsumerRetention,
    EffectiveOrphanFiles,
    EffectivePartitionRetention,
    EffectiveRecordRetention,
    EffectiveRetention,
    EffectiveSnapshotRetention,
    EffectiveTags,
    Origin,
)
from paimon_operator.api.table.spec import ChangelogProducerType, PaimonTable, PaimonTableSpec
from paimon_operator.core.config import Defaults
from paimon_operator.core.spec.spread import spread

BlockT = TypeVar("BlockT")


def effective_retention(
    table: PaimonTable, catalog: PaimonCatalog, mode: CompactionMode, defaults: Defaults
) -> EffectiveRetention | None:
    """The retention; None if nothing is set and no schedule of the operator applies."""
    own, inherited = table.spec.retention or Retention(), _defaults_of(catalog).retention or Retention()
    found = EffectiveRetention(
        snapshots=_snapshots(own, inherited, _default_expiry(table, mode, defaults)),
        changelogs=_changelogs(own, inherited, table.spec),
        consumers=_consumers(own, inherited),
        partitions=_partitions(own, inherited, table, defaults),
        records=_records(own, inherited, table.spec),
        orphan_files=_orphan_files(own, inherited, table, catalog, defaults),
    )
    return None if found == EffectiveRetention() else found


def effective_tags(table: PaimonTable, catalog: PaimonCatalog) -> EffectiveTags | None:
    """The automatic tags; None without any."""
    found = _nearest(table.spec.tags, _defaults_of(catalog).tags)
    return None if found is None else EffectiveTags(**found[0].model_dump(), source=found[1])


def _default_expiry(table: PaimonTable, mode: CompactionMode, defaults: Defaults) -> str | None:
    """The operator's schedule of snapshot expiry, where it compacts and so nobody else expires them."""
    return spread(defaults.expiry, table.metadata.uid) if mode is CompactionMode.DEDICATED else None


def _snapshots(own: Retention, inherited: Retention, default: str | None) -> EffectiveSnapshotRetention | None:
    found = _nearest(own.snapshots, inherited.snapshots)
    block, source = found or (SnapshotRetention(), Origin.DEFAULT)
    schedule = block.schedule or default
    if found is None and schedule is None:
        return None
    return EffectiveSnapshotRetention(**block.model_dump() | {"schedule": schedule}, source=source)


def _changelogs(own: Retention, inherited: Retention, spec: PaimonTableSpec) -> EffectiveChangelogRetention | None:
    applies = spec.changelog_producer is not None and spec.changelog_producer.type is not ChangelogProducerType.NONE
    found = _nearest(own.changelogs, inherited.changelogs if applies else None)
    return None if found is None else EffectiveChangelogRetention(**found[0].model_dump(), source=found[1])


def _consumers(own: Retention, inherited: Retention) -> EffectiveConsumerRetention | None:
    found = _nearest(own.consumers, inherited.consumers)
    return None if found is None else EffectiveConsumerRetention(**found[0].model_dump(), source=found[1])


def _partitions(
    own: Retention, inherited: Retention, table: PaimonTable, defaults: Defaults
) -> EffectivePartitionRetention | None:
    applies = bool(table.spec.table_schema.partition_keys)
    found = _nearest(own.partitions, inherited.partitions if applies else None)
    if found is None:
        return None
    block, source = found
    filled = {
        "strategy": block.strategy or PartitionStrategy.VALUES_TIME,
        "schedule": block.schedule or spread(defaults.partition_expiry, table.metadata.uid),
    }
    return EffectivePartitionRetention(**block.model_dump() | filled, source=source)


def _records(own: Retention, inherited: Retention, spec: PaimonTableSpec) -> EffectiveRecordRetention | None:
    default, schema = inherited.records, spec.table_schema
    columns = [column.name for column in schema.columns]
    applies = default is not None and bool(schema.primary_keys) and default.time_field in columns
    found = _nearest(own.records, default if applies else None)
    return None if found is None else EffectiveRecordRetention(**found[0].model_dump(), source=found[1])


def _orphan_files(
    own: Retention, inherited: Retention, table: PaimonTable, catalog: PaimonCatalog, defaults: Defaults
) -> EffectiveOrphanFiles | None:
    """The catalog's where it is enforced. With other writers, a default to delete becomes one to report."""
    is_enforced = EnforcedBlock.ORPHAN_FILES in catalog.spec.enforced and inherited.orphan_files is not None
    found = _nearest(None if is_enforced else own.orphan_files, inherited.orphan_files)
    if found is None:
        return None
    block, source = found
    beside_others = source is Origin.CATALOG and table.spec.external_writers is ExternalWriters.ACTIVE
    filled = {
        "mode": OrphanFilesMode.REPORT if beside_others else block.mode or OrphanFilesMode.REPORT,
        "older_than": block.older_than or DEFAULT_ORPHAN_AGE,
        "schedule": block.schedule or spread(defaults.orphan_files, table.metadata.uid),
    }
    return EffectiveOrphanFiles(**block.model_dump() | filled, source=source)


def _defaults_of(catalog: PaimonCatalog) -> TableDefaults:
    return catalog.spec.table_defaults or TableDefaults()


def _nearest(of_table: BlockT | None, of_catalog: BlockT | None) -> tuple[BlockT, Origin] | None:
    if of_table is not None:
        return of_table, Origin.TABLE
    return None if of_catalog is None else (of_catalog, Origin.CATALOG)
