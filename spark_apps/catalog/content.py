"""What a table holds, by partition: rows, distinct keys and a checksum that does not depend on the order of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_apps.catalog.session import Session
from spark_apps.sql.identifiers import CATALOG, qualified, quote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

Content = tuple[int, int, int]
"""Rows, distinct primary keys (0 without a primary key), and the checksum of all columns."""


@dataclass(frozen=True)
class ContentChange:
    """A partition that does not hold what it held."""

    partition: str
    before: Content
    now: Content

    def __str__(self) -> str:
        names = ("rows", "keys", "checksum")
        different = (
            f"{name} {old} -> {new}" for name, old, new in zip(names, self.before, self.now, strict=True) if old != new
        )
        return f"partition {self.partition}: {', '.join(different) or 'a key appears twice'}"


def content_changes(before: dict[str, Content], now: dict[str, Content], *, has_keys: bool) -> list[ContentChange]:
    """The partitions that differ, or in which a primary key appears twice."""
    nothing: Content = (0, 0, 0)
    return [
        ContentChange(partition, old, new)
        for partition in sorted(before.keys() | now.keys())
        if (old := before.get(partition, nothing)) != (new := now.get(partition, nothing))
        or (has_keys and new[0] != new[1])
    ]


def rows_of(session: Session, **scan: str) -> DataFrame:
    """The rows of the table now, or as Paimon's options `scan.*` say: `tag_name="x"` is `scan.tag-name`."""
    if not scan:
        return session.dataframe()
    reader = session.spark.read
    for name, value in scan.items():
        reader = reader.option(f"scan.{name.replace('_', '-')}", value)
    return reader.table(qualified(CATALOG, session.job.table.database, session.job.table.name))


def content_of(session: Session, table: Any, tag: str | None = None) -> dict[str, Content]:
    """Partition (as text) -> its content, at the snapshot of `tag` or now. `table` is Java's."""
    rows = rows_of(session) if tag is None else rows_of(session, tag_name=tag)
    partition_keys, primary_keys = ([str(k) for k in keys()] for keys in (table.partitionKeys, table.primaryKeys))
    return content_of_rows(rows, partition_keys, rows.columns, primary_keys)


def content_of_rows(
    rows: DataFrame, partition_keys: Sequence[str], columns: Sequence[str], distinct: Sequence[str] = ()
) -> dict[str, Content]:
    """Partition (as text) -> its content. `columns` are in the checksum; combinations of `distinct` are counted."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    keys = [F.col(quote(each)) for each in distinct]
    partition = F.to_json(F.struct(*[F.col(quote(each)).cast("string").alias(each) for each in partition_keys]))
    counted = rows.groupBy(partition.alias("partition")).agg(
        F.count(F.lit(1)).alias("rows"),
        (F.count_distinct(*keys) if keys else F.lit(0)).alias("keys"),
        F.sum(F.xxhash64(*_hashable(rows, columns)).cast("decimal(20,0)")).alias("checksum"),
    )
    return {str(row[0]): (int(row[1]), int(row[2]), int(row[3])) for row in counted.collect()}


def _hashable(rows: DataFrame, columns: Sequence[str]) -> list[Column]:
    """What is hashed of a row. Spark's hash takes -0.0 for 0.0 and every NaN for the same, which Paimon does not alter.

    Without a column it hashes a constant: then the rows are only counted.
    """
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    types = {field.name: field.dataType for field in rows.schema.fields}
    parts = [part for name in columns for part in _parts(F.col(quote(name)), types[name])]
    return parts or [F.lit(0)]


def _parts(value: Column, type_: DataType) -> list[Column]:
    """What is hashed of a value: also whether it is NULL, because Spark's hash skips NULLs at any depth.

    Otherwise the structs (NULL, 1) and (1, NULL) had the same hash. It refuses maps, whose entries have no order.
    """
    from pyspark.sql import functions as F  # noqa: N812, PLC0415
    from pyspark.sql.types import ArrayType, MapType, StructType  # noqa: PLC0415

    if isinstance(type_, StructType):
        fields = [part for each in type_.fields for part in _parts(value.getField(each.name), each.dataType)]
        return [value.isNull(), *fields]
    if isinstance(type_, ArrayType):
        item = type_.elementType
        return [value.isNull(), F.transform(value, lambda each: F.xxhash64(*_parts(each, item)))]
    if isinstance(type_, MapType):
        keys, values = type_.keyType, type_.valueType
        hashes = F.transform(
            F.map_entries(value),
            lambda each: F.xxhash64(*_parts(each.getField("key"), keys), *_parts(each.getField("value"), values)),
        )
        return [value.isNull(), F.sort_array(hashes)]
    return [value, value.isNull()]
