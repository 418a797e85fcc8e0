"""Reads input files into a DataFrame with exactly the table's columns. Anything that does not fit fails.

Columns match by name. A column that the table lacks, or a value that the column cannot hold, fails the run; a column
that the files lack is NULL if it may be.
"""

from __future__ import annotations

import csv
import functools
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType, StructField, StructType

from paimon_contract.parameters.write import WriteParameters
from spark_apps.catalog.session import Session
from spark_apps.failures.errors import input_failure
from spark_apps.loading.cast import Conformer
from spark_apps.loading.input_files import InputFile
from spark_apps.sql.identifiers import quote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader

LITERAL_PATHS = ("__globPaths__", "false")
"""Spark's option that keeps a * or [ in a file's name from being read as a pattern."""


BOUNDED = frozenset({"CHAR", "VARCHAR", "BINARY", "VARBINARY"})
"""Types with a length, which the corresponding types of Spark do not have."""

UNBOUNDED = 2**31 - 1


def read_files(write: WriteParameters, files: list[InputFile], session: Session) -> DataFrame:
    """The rows of `files` in the table's columns. Raises RunError (Spec) for an unknown or missing column."""
    schema = session.dataframe().schema
    types = {field.name(): field.type() for field in session.table().schema().fields()}
    paths = [file.path for file in files]
    read = {"csv": _read_csv, "json": _read_json, "parquet": _read_parquet, "orc": _read_orc}[write.format]
    raw = read(write, paths, schema, session)
    _refuse_unknown_columns(write, raw.columns, schema)
    columns = [_column(write, raw, field, types[field.name]) for field in schema.fields]
    return raw.select(*columns)


def _column(write: WriteParameters, raw: DataFrame, field: StructField, paimon_type: Any) -> Column:
    nullable = bool(paimon_type.isNullable())
    if field.name not in raw.columns:
        if nullable:
            return F.lit(None).cast(field.dataType).alias(field.name)
        raise input_failure(
            "InputSchemaMismatch",
            f"the files of write {write.name} have no column {field.name}, which may not be NULL",
            "add the column to the files",
            field=f"spec.writes[{write.name}].from.files",
        )
    source = raw.schema[field.name].dataType
    column = Conformer(write.name).conform(F.col(quote(field.name)), source, field.dataType, field.name)
    if not nullable:
        column = _refuse(column.isNull(), f"{field.name} is NULL in a row", column, field)
    if str(paimon_type.getTypeRoot().toString()) in BOUNDED and paimon_type.getLength() < UNBOUNDED:
        length = int(paimon_type.getLength())
        column = _refuse(F.length(column) > length, f"{field.name} is longer than {length} in a row", column, field)
    return column.alias(field.name)


def _refuse(when: Column, what: str, column: Column, field: StructField) -> Column:
    """`column`, but a row for which `when` holds fails the run. Spark and Paimon would let these pass."""
    refusal = F.raise_error(F.lit(f"{what}, which the column may not be"))
    return F.when(when, refusal.cast(field.dataType)).otherwise(column)


def _refuse_unknown_columns(write: WriteParameters, names: list[str], schema: StructType) -> None:
    unknown = sorted(set(names) - set(schema.names))
    if unknown:
        raise input_failure(
            "InputSchemaMismatch",
            f"the files of write {write.name} have the column {unknown[0]}, which the table has not",
            "add the column to the table, or remove it from the files",
            field=f"spec.writes[{write.name}].from.files",
        )


def _reader(session: Session, schema: StructType | None = None) -> DataFrameReader:
    reader = session.spark.read.option(*LITERAL_PATHS).option("mode", "FAILFAST")
    return reader.schema(schema) if schema is not None else reader


def _part_of(schema: StructType, names: list[str]) -> StructType:
    """The table's columns by these names in this order; a name it lacks stays, as text, to be refused by name later."""
    fields = {field.name: field for field in schema.fields}
    return StructType([fields.get(name, StructField(name, StringType())) for name in names])


def _read_csv(write: WriteParameters, paths: list[str], schema: StructType, session: Session) -> DataFrame:
    """Each file has its own header; files with the same header are read together."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        groups.setdefault(tuple(_csv_header(write, path, session)), []).append(path)
    groups.pop((), None)  # empty files
    frames = []
    for header, group in groups.items():
        _refuse_unknown_columns(write, list(header), schema)
        frames.append(_csv_reader(session, _part_of(schema, list(header))).csv(group))
    if not frames:
        return session.spark.createDataFrame([], schema)
    return functools.reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def _csv_reader(session: Session, schema: StructType) -> DataFrameReader:
    """RFC 4180, UTF-8, with a header that must be the schema's names; empty is NULL, quoted or not."""
    reader = _reader(session, schema).options(header=True, enforceSchema=False, multiLine=True)
    return reader.options(escape='"', nullValue="", emptyValue="")


def _csv_header(write: WriteParameters, path: str, session: Session) -> list[str]:
    """The names in a file's first line; none for an empty file."""
    jvm = session.jvm
    hadoop_path = jvm.org.apache.hadoop.fs.Path(path)
    codecs = jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(session.hadoop_configuration)
    stream = hadoop_path.getFileSystem(session.hadoop_configuration).open(hadoop_path)
    try:
        codec = codecs.getCodec(hadoop_path)
        plain = codec.createInputStream(stream) if codec is not None else stream
        line = jvm.java.io.BufferedReader(jvm.java.io.InputStreamReader(plain, "UTF-8")).readLine()
    finally:
        stream.close()
    names = next(csv.reader([line.removeprefix("\ufeff")])) if line else []
    if len(set(names)) < len(names):
        field = f"spec.writes[{write.name}].from.files"
        raise input_failure("InputSchemaMismatch", f"{path} names a column twice", "correct its header", field=field)
    return names


def _read_json(write: WriteParameters, paths: list[str], schema: StructType, session: Session) -> DataFrame:
    """Read twice: once for the names that occur, once with the table's types."""
    occurring = _reader(session).option("primitivesAsString", True).json(paths).schema
    _refuse_unknown_columns(write, occurring.names, schema)
    wanted = _part_of(schema, occurring.names)
    names = Conformer(write.name, names_only=True)
    for field in wanted.fields:
        names.conform(F.lit(None), occurring[field.name].dataType, field.dataType, field.name)
    return _reader(session, wanted).json(paths)


def _read_parquet(write: WriteParameters, paths: list[str], schema: StructType, session: Session) -> DataFrame:
    del write, schema
    return _reader(session).option("mergeSchema", True).parquet(*paths)


def _read_orc(write: WriteParameters, paths: list[str], schema: StructType, session: Session) -> DataFrame:
    del write, schema
    return _reader(session).option("mergeSchema", True).orc(paths)
