"""Casts a column from the file's type to the table's type, or refuses: no value changes its meaning.

Spark's ANSI store assignment rules apply, and three more: fields of rows match by name, no fraction is cut off in a
cast to an integer, and text is never parsed into another type. A value that does not fit (overflow) fails when its row
is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from spark_apps.failures.errors import RunError, input_failure

if TYPE_CHECKING:
    from pyspark.sql import Column

INTEGERS = (ByteType, ShortType, IntegerType, LongType)
NUMBERS = (*INTEGERS, DecimalType, FloatType, DoubleType)
TIMES = (TimestampType, TimestampNTZType)


FITTING: tuple[tuple[tuple[type[DataType], ...], tuple[type[DataType], ...]], ...] = (
    (INTEGERS, INTEGERS),
    ((DecimalType, FloatType, DoubleType), NUMBERS),
    (TIMES, (*TIMES, DateType)),
    ((StringType,), (StringType, *INTEGERS, DecimalType, DateType)),
)
"""Types of the table -> types of files that can be cast to them."""


@dataclass(frozen=True)
class Conformer:
    """Casts the columns of one write's files.

    `names_only` compares the fields of rows alone: for formats whose reader has converted the values already.
    """

    write: str
    names_only: bool = False

    def conform(self, column: Column, source: DataType, target: DataType, name: str) -> Column:
        """`column` as `target`. Raises RunError (Spec) naming `name` if that cannot be."""
        if isinstance(target, StructType) and isinstance(source, StructType):
            return self._row(column, source, target, name)
        if isinstance(target, ArrayType) and isinstance(source, ArrayType):
            inner = (source.elementType, target.elementType)
            return F.transform(column, lambda each: self.conform(each, *inner, f"{name}[]"))
        if isinstance(target, MapType) and isinstance(source, MapType):
            keys, values = (source.keyType, target.keyType), (source.valueType, target.valueType)
            renewed = F.transform_keys(column, lambda key, _: self.conform(key, *keys, f"{name}.key"))
            return F.transform_values(renewed, lambda _, value: self.conform(value, *values, f"{name}.value"))
        if self.names_only or source == target:
            return column
        if not _fits(source, target):
            raise self._misfit(name, source, target)
        return column.cast(target)

    def _row(self, column: Column, source: StructType, target: StructType, name: str) -> Column:
        unknown = sorted(set(source.names) - set(target.names))
        if unknown:
            raise input_failure(
                "InputSchemaMismatch",
                f"the files of write {self.write} have {name}.{unknown[0]}, which the table has not",
                "add the field to the table, or remove it from the files",
                field=f"spec.writes[{self.write}].from.files",
            )
        fields = [self._field(column, source, field, name).alias(field.name) for field in target.fields]
        return F.when(column.isNull(), F.lit(None)).otherwise(F.struct(*fields))

    def _field(self, column: Column, source: StructType, field: StructField, name: str) -> Column:
        if field.name not in source.names:
            return F.lit(None).cast(field.dataType)
        return self.conform(column[field.name], source[field.name].dataType, field.dataType, f"{name}.{field.name}")

    def _misfit(self, name: str, source: DataType, target: DataType) -> RunError:
        has, wants = source.simpleString(), target.simpleString()
        return input_failure(
            "InputSchemaMismatch",
            f"column {name} is {has} in the files of write {self.write} and {wants} in the table",
            "write the files with the table's type",
            field=f"spec.writes[{self.write}].from.files",
        )


def _fits(source: DataType, target: DataType) -> bool:
    if isinstance(source, NullType):
        return True
    return any(isinstance(target, targets) and isinstance(source, sources) for targets, sources in FITTING)
