"""What a table holds, by partition: rows, distinct keys and a checksum that does not depend on the order of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spark_apps.catalog.session import Session
from spark_apps.sql.identifiers import CATALOG, qualified, quote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

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


def _rows(session: Session, tag: str | None) -> DataFrame:
    if tag is None:
        return session.dataframe()
    name = qualified(CATALOG, session.job.table.database, session.job.table.name)
    return session.spark.read.option("scan.tag-name", tag).table(name)


def content_of(session: Session, table: Any, tag: str | None = None) -> dict[str, Content]:
    """Partition (as text) -> its content, at the snapshot of `tag` or now. `table` is Java's."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    rows = _rows(session, tag)
    partition_keys, primary_keys = ([str(k) for k in keys()] for keys in (table.partitionKeys, table.primaryKeys))
    keys = [F.col(quote(each)) for each in primary_keys]
    partition = F.to_json(F.struct(*[F.col(quote(each)).cast("string").alias(each) for each in partition_keys]))
    checksum = F.xxhash64(*_hashable(rows)).cast("decimal(20,0)")
    counted = rows.groupBy(partition.alias("partition")).agg(
        F.count(F.lit(1)).alias("rows"),
        (F.count_distinct(*keys) if keys else F.lit(0)).alias("keys"),
        F.sum(checksum).alias("checksum"),
    )
    return {str(row[0]): (int(row[1]), int(row[2]), int(row[3])) for row in counted.collect()}


def _hashable(rows: DataFrame) -> list[Column]:
    """All columns, each with whether it is NULL: Spark's hash skips NULLs, and it refuses maps."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415

    columns = []
    for field in rows.schema.fields:
        column = F.col(quote(field.name))
        has_map = "map<" in field.dataType.simpleString()
        columns += [F.to_json(F.struct(column)) if has_map else column, column.isNull()]
    return columns
