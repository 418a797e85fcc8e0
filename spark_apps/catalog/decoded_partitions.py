"""The keys of partitions as the manifests have them, decoded without a JVM."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.binary_row import Value, partition_values
from spark_apps.sql.partition_values import EPOCH, PartitionKey

_ROOTS: Final = {"INT": "INTEGER", "STRING": "VARCHAR", "TIMESTAMP": "TIMESTAMP_WITHOUT_TIME_ZONE"}
"""Name of a type -> its root, where they differ."""


def keys_of(partition: bytes, schema: TableSchema) -> tuple[PartitionKey, ...]:
    """The keys of a serialized BinaryRow, as `bucket_layout.key_reader` gives them in a JVM.

    A value of a type that is not named in SQL stays what it is. Raises UnreadableError for one that is not decoded.
    """
    types = [schema.by_name[name].type for name in schema.partition_keys]
    values = partition_values(partition, types)
    return tuple(
        PartitionKey(name, _ROOTS.get(type_.name, type_.name), _stored(value))
        for name, type_, value in zip(schema.partition_keys, types, values, strict=True)
    )


def _stored(value: Value) -> str | int | None:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, date):
        return (value - EPOCH).days
    return value  # type: ignore[no-any-return]
