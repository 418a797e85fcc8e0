"""What a compaction by its schedule covers: the partitions that need it, in batches of one call each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Final

from paimon_contract.job import Job
from paimon_contract.parameters.compact import CompactThresholds
from paimon_schema.data_types import DataType
from paimon_schema.table_schema import TableSchema
from spark_apps.failures.errors import RunError
from spark_apps.metadata.base import MetadataFiles
from spark_apps.metadata.binary_row import Value, partition_values
from spark_apps.metadata.compaction_need import partitions_in_need
from spark_apps.metadata.observation import Contents, Observer
from spark_apps.metadata.table_files import location_of
from spark_apps.sql.partition_values import EPOCH, PartitionKey, condition_of

PER_CALL: Final = 50
"""Partitions of one call, whose commit holds the files of all of them."""
_ROOTS: Final = {"INT": "INTEGER", "STRING": "VARCHAR"}
"""Name of a type -> its root, where they differ."""


@dataclass(frozen=True)
class Scope:
    """Partitions that need a compaction, most in need first; `contents` is None for a table without a snapshot."""

    schema: TableSchema
    contents: Contents | None
    partitions: tuple[bytes, ...]

    def conditions(self) -> list[str] | None:
        """SQL for the rows of each batch. None: the partitions cannot be told apart by SQL, or there is only one."""
        keys = self.schema.partition_keys
        if not keys or self.contents is None:
            return None
        try:
            each = [f"({condition_of(self._keys(partition))})" for partition in self.partitions]
        except RunError:
            return None
        return [" OR ".join(each[at : at + PER_CALL]) for at in range(0, len(each), PER_CALL)]

    def _keys(self, partition: bytes) -> Iterable[PartitionKey]:
        types = [self.schema.by_name[name].type for name in self.schema.partition_keys]
        values = partition_values(partition, types)
        for name, type_, value in zip(self.schema.partition_keys, types, values, strict=True):
            yield PartitionKey(name, _ROOTS.get(type_.name, type_.name), _stored(value, type_))


def scope_of(job: Job, files: MetadataFiles, schema: TableSchema, thresholds: CompactThresholds) -> Scope:
    """What the latest snapshot shows. Raises UnreadableError where only Paimon could read it."""
    contents = Observer(files, location_of(job), schema).observe().contents
    chosen = () if contents is None else partitions_in_need(contents, schema, thresholds)
    return Scope(schema, contents, chosen)


def _stored(value: Value, type_: DataType) -> str | int | None:
    """As a PartitionKey has it. A value of another type stays what it is, and is refused there."""
    if isinstance(value, date) and type_.name == "DATE":
        return (value - EPOCH).days
    return value  # type: ignore[no-any-return]
