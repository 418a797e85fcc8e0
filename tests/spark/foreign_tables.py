"""Tables that other programs have made, and one change by hand of each, with what becomes of it."""

# ruff: noqa: E501 - a decision table: one row is one line

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from paimon_schema.paimon_json import paimon_json
from paimon_schema.type_parser import parse
from tests.spark.drift_reports import Change

DATABASE: Final = "shop"
OWNER: Final = "paimon-operator.owner"
NOT_NULL: Final = "by pypaimon, NOT NULL: "
_NESTED_IDS: Final = 100


class End(StrEnum):
    """What becomes of a change with driftPolicy Correct."""

    TAKEN_BACK = "the table is as declared again"
    STAYS = "the change stays and is reported, and the table is Ready"
    NONE = "it is no change, because the values mean the same to Paimon"
    ADOPTED = "the table is adopted again, because it is as declared and has no owner"
    TABLE_DIFFERS = "TableDiffers"
    CONFLICT = "Conflict"


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """A table, and how somebody alters it once a PaimonTable has adopted it."""

    name: str
    columns: Mapping[str, str]
    """Name -> type in Paimon's words, with a comment after #."""
    keys: str = ""
    partitions: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    rows: tuple[tuple[Any, ...], ...] = ()
    by_hand: str = ""
    """A statement of Spark SQL with {} for the table, several with a semicolon, or NOT_NULL and a column."""
    change: Change | None = None
    end: End = End.TAKEN_BACK
    since: str = ""
    """The oldest engine that has what the table or the statement needs; empty: all."""

    @property
    def alterations(self) -> list[str]:
        """The statements that alter the table; none where pypaimon does it."""
        if self.by_hand.startswith(NOT_NULL):
            return []
        return self.by_hand.format(f"outside.{DATABASE}.{self.name}").split(";")

    @property
    def tightened(self) -> str:
        """The column that pypaimon makes NOT NULL, which Spark refuses; empty: none."""
        return self.by_hand.removeprefix(NOT_NULL) if self.by_hand.startswith(NOT_NULL) else ""


class BySpark(Foreign):
    """A table that Spark SQL makes."""

    def statements(self) -> list[str]:
        """What makes the table and its rows."""
        table = f"outside.{DATABASE}.{self.name}"
        columns = ", ".join(f"{name} {_sql_type(text)}" for name, text in self.columns.items())
        keys = {"primary-key": self.keys} if self.keys else {}
        options = ", ".join(f"'{key}'='{value}'" for key, value in {**keys, **self.options}.items())
        create = f"CREATE TABLE {table} ({columns})"
        create += f" PARTITIONED BY ({self.partitions})" if self.partitions else ""
        create += f" COMMENT '{self.comment}'" if self.comment else ""
        create += f" TBLPROPERTIES ({options})" if options else ""
        values = ", ".join(f"({', '.join(map(_literal, row))})" for row in self.rows)
        return [create, *([f"INSERT INTO {table} VALUES {values}"] if values else [])]  # noqa: S608


class ByPypaimon(Foreign):
    """A table that pypaimon makes."""

    def request(self) -> dict[str, Any]:
        """What `create_tables` makes the table of."""
        return {
            "name": self.name,
            "fields": [_field(number, *each) for number, each in enumerate(self.columns.items())],
            "partitionKeys": _names(self.partitions),
            "primaryKeys": _names(self.keys),
            "options": dict(self.options),
            "comment": self.comment,
            "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows],
        }


def _names(text: str) -> list[str]:
    return [each for each in text.split(",") if each]


def _field(number: int, name: str, text: str) -> dict[str, Any]:
    type_, _, comment = text.partition(" # ")
    described = {"description": comment} if comment else {}
    return {"id": number, "name": name, "type": _with_own_ids(paimon_json(parse(type_)))} | described


def _with_own_ids(type_: Any) -> Any:
    """The type with ids of nested fields that no column has. The tables have one level of them."""
    if not isinstance(type_, dict):
        return type_
    return type_ | {"fields": [each | {"id": each["id"] + _NESTED_IDS} for each in type_["fields"]]}


def _sql_type(text: str) -> str:
    type_, _, comment = text.partition(" # ")
    return type_.replace("ROW<", "STRUCT<") + (f" COMMENT '{comment}'" if comment else "")


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return f"named_struct({', '.join(f'{key!r}, {_literal(each)}' for key, each in value.items())})"
    return "NULL" if value is None else repr(value)


KEYED: Final = {"id": "BIGINT NOT NULL", "v": "STRING", "n": "INT"}
PARTED: Final = {"id": "BIGINT NOT NULL", "v": "STRING", "n": "INT", "dt": "STRING NOT NULL"}
EVENTS: Final = {"at": "BIGINT", "what": "STRING", "n": "INT"}
NESTED: Final = {"id": "BIGINT NOT NULL", "address": "ROW<street STRING, zip INT>"}
ROWS: Final = ((1, "one", 10), (2, "two", 20))
PARTED_ROWS: Final = ((1, "one", 10, "d1"), (2, "two", 20, "d2"))
SET, UNSET = "ALTER TABLE {} SET TBLPROPERTIES ", "ALTER TABLE {} UNSET TBLPROPERTIES "
SINCE_1_4: Final = "paimon-1.4"

ALL: Final[tuple[Foreign, ...]] = (
    # deduplicate: fixed, dynamic and cross-partition buckets, and all formats
    BySpark(name="plain", columns=KEYED, keys="id", rows=ROWS, by_hand="ALTER TABLE {} ADD COLUMN extra DATE", change=("ColumnAdded", "extra", None, "DATE"), end=End.STAYS),
    BySpark(name="fixed", columns=KEYED, keys="id", options={"bucket": "2", "file.format": "orc"}, rows=ROWS, by_hand="ALTER TABLE {} DROP COLUMN n", change=("ColumnDropped", "n", "INT", None)),
    BySpark(name="fixed_avro", columns=KEYED, keys="id", options={"bucket": "2", "file.format": "avro", "manifest.format": "avro"}, rows=ROWS, by_hand="ALTER TABLE {} RENAME COLUMN v TO w", change=("ColumnRenamed", "v", "v", "w")),
    BySpark(name="parted", columns=PARTED, keys="dt,id", partitions="dt", options={"bucket": "1", "partition.default-name": "none"}, rows=PARTED_ROWS, by_hand="ALTER TABLE {} ALTER COLUMN n TYPE BIGINT", change=("TypeChanged", "n", "INT", "BIGINT"), end=End.TABLE_DIFFERS),
    BySpark(name="parted_dynamic", columns=PARTED, keys="dt,id", partitions="dt", options={"dynamic-bucket.target-row-num": "1000"}, by_hand=SET + "('dynamic-bucket.target-row-num'='2000')", change=("OptionChanged", "dynamic-bucket.target-row-num", "1000", "2000")),
    BySpark(name="ignoring", columns=KEYED, keys="id", options={"bucket": "1", "deduplicate.ignore-delete": "true"}, rows=ROWS, by_hand=UNSET + "('deduplicate.ignore-delete')", change=("OptionChanged", "ignore-delete", "true", None), end=End.TABLE_DIFFERS),
    BySpark(name="skipping", columns=KEYED, keys="id", options={"bucket": "1", "write.compaction-skip": "true"}, by_hand=UNSET + "('write.compaction-skip')", change=("OptionChanged", "write-only", "true", None)),
    BySpark(name="waiting", columns=KEYED, keys="id", options={"bucket": "1", "changelog-producer": "lookup", "changelog-producer.lookup-wait": "false"}, by_hand=SET + "('changelog-producer.lookup-wait'='true')", change=("OptionChanged", "lookup-wait", "false", "true")),
    BySpark(name="ordered", columns=KEYED, keys="id", options={"bucket": "1", "sequence.field": "n", "rowkind.field": "v"}, by_hand="ALTER TABLE {} ALTER COLUMN n FIRST", change=("ColumnsReordered", "", "id, v, n", "n, id, v")),
    BySpark(name="retained", columns=KEYED, keys="id", options={"bucket": "1", "snapshot.time-retained": "1 h", "snapshot.num-retained.max": "20"}, by_hand=SET + "('snapshot.time-retained'='60 min')", end=End.NONE),
    BySpark(name="full", columns=KEYED, keys="id", options={"bucket": "1", "changelog-producer": "full-compaction", "full-compaction.delta-commits": "3"}, by_hand=SET + "('changelog-producer'='input')", change=("OptionChanged", "changelog-producer", "full-compaction", "input"), since=SINCE_1_4),
    BySpark(name="vectors", columns=KEYED, keys="id", options={"bucket": "1", "deletion-vectors.enabled": "true"}, by_hand=SET + "('bucket'='4')", change=("OptionChanged", "bucket", "1", "4"), end=End.TABLE_DIFFERS),
    BySpark(name="described", columns=KEYED | {"v": "STRING # the text"}, keys="id", options={"bucket": "1"}, comment="all of them", by_hand="ALTER TABLE {} ALTER COLUMN v COMMENT 'theirs'", change=("ColumnCommentChanged", "v", "the text", "theirs")),
    BySpark(name="titled", columns=KEYED, keys="id", options={"bucket": "1"}, comment="all of them", by_hand=SET + "('comment'='theirs')", change=("TableCommentChanged", "", "all of them", "theirs")),
    BySpark(name="nested", columns=NESTED, keys="id", options={"bucket": "1"}, by_hand="ALTER TABLE {} ADD COLUMN address.city STRING", change=("ColumnAdded", "address.city", None, "STRING"), end=End.STAYS, since=SINCE_1_4),
    BySpark(name="lost_mark", columns=KEYED, keys="id", options={"bucket": "1"}, by_hand=UNSET + f"('{OWNER}')", change=("OwnerChanged", "", "PaimonTable lost-mark", "nobody"), end=End.ADOPTED),
    BySpark(name="other_mark", columns=KEYED, keys="id", options={"bucket": "1"}, by_hand=SET + f"('{OWNER}'='another-cluster/shop/other')", change=("OwnerChanged", "", "PaimonTable other-mark", "a PaimonTable of another cluster"), end=End.CONFLICT),
    # the other merge engines
    BySpark(name="partial", columns=KEYED, keys="id", options={"bucket": "2", "merge-engine": "partial-update", "partial-update.ignore-delete": "true"}, by_hand=f"{NOT_NULL}v", change=("NullabilityChanged", "v", "NULL allowed", "NOT NULL")),
    BySpark(name="grouped", columns=KEYED, keys="id", options={"bucket": "1", "merge-engine": "partial-update", "fields.n.sequence-group": "v"}, by_hand=SET + "('fields.v.stats-mode'='none')", change=("OptionChanged", "fields.v.stats-mode", None, "none"), end=End.TABLE_DIFFERS),
    BySpark(name="daily__sums", columns=KEYED, keys="id", options={"bucket": "1", "merge-engine": "aggregation", "fields.n.aggregate-function": "sum"}, rows=ROWS, by_hand=SET + "('fields.n.aggregate-function'='max')", change=("OptionChanged", "fields.n.aggregate-function", "sum", "max"), end=End.TABLE_DIFFERS),
    BySpark(name="first", columns=KEYED, keys="id", options={"bucket": "1", "merge-engine": "first-row", "first-row.ignore-delete": "true", "changelog-producer": "lookup"}, rows=ROWS, by_hand=SET + "('num-sorted-run.compaction-trigger'='9')", change=("OptionChanged", "num-sorted-run.compaction-trigger", None, "9"), end=End.STAYS),
    BySpark(name="renamed_sum", columns=KEYED, keys="id", options={"bucket": "1", "merge-engine": "aggregation", "fields.n.aggregate-function": "sum"}, by_hand="ALTER TABLE {} RENAME COLUMN n TO total", change=("ColumnRenamed", "n", "n", "total"), end=End.TABLE_DIFFERS, since=SINCE_1_4),
    # without keys: unaware and fixed buckets
    BySpark(name="events", columns=EVENTS, rows=ROWS, by_hand=SET + "('snapshot.num-retained.min'='5')", change=("OptionChanged", "snapshot.num-retained.min", None, "5")),
    BySpark(name="events_by_day", columns=EVENTS | {"dt": "STRING"}, partitions="dt", options={"file.format": "orc", "target-file-size": "64 mb"}, rows=PARTED_ROWS, by_hand=UNSET + "('target-file-size')", change=("OptionChanged", "target-file-size", "64 mb", None)),
    BySpark(name="events_fixed", columns=EVENTS, options={"bucket": "2", "bucket-key": "at", "file.format": "avro", "sink.parallelism": "4"}, by_hand=SET + "('sink.parallelism'='8')", change=("OptionChanged", "sink.parallelism", "4", "8")),
    BySpark(name="events_csv", columns=EVENTS, options={"file.format": "csv", "file.compression": "none"}, by_hand=SET + "('file.format'='json')", change=("OptionChanged", "file.format", "csv", "json"), since=SINCE_1_4),
    BySpark(name="events_json", columns=EVENTS, options={"file.format": "json", "file.compression": "none"}, by_hand="ALTER TABLE {} ALTER COLUMN n AFTER at", change=("ColumnsReordered", "", "at, what, n", "at, n, what"), since=SINCE_1_4),
    BySpark(name="postponed", columns=KEYED, keys="id", options={"bucket": "-2", "write.compaction-skip": "true"}, by_hand=SET + "('snapshot.num-retained.max'='30')", change=("OptionChanged", "snapshot.num-retained.max", None, "30"), since=SINCE_1_4),
    BySpark(name="defaulted", columns=KEYED, keys="id", options={"bucket": "1"}, by_hand="ALTER TABLE {} ALTER COLUMN n SET DEFAULT 7", change=("DefaultChanged", "n", None, "7"), since=SINCE_1_4),
    BySpark(name="replaced", columns={"id": "BIGINT", "v": "STRING"}, by_hand="DROP TABLE {0};CREATE TABLE {0} (id BIGINT, v STRING)", change=("TableReplaced", "", "schema 1", "schema 0"), end=End.ADOPTED),
    # by pypaimon
    ByPypaimon(name="py_plain", columns=KEYED, keys="id", options={"bucket": "2"}, rows=ROWS, by_hand="ALTER TABLE {} DROP COLUMN v", change=("ColumnDropped", "v", "STRING", None)),
    ByPypaimon(name="py_dynamic", columns=KEYED | {"v": "STRING NOT NULL # the text"}, keys="id", comment="by Python", rows=ROWS, by_hand="ALTER TABLE {} ALTER COLUMN v DROP NOT NULL", change=("NullabilityChanged", "v", "NOT NULL", "NULL allowed"), end=End.TABLE_DIFFERS),
    ByPypaimon(name="py_parted", columns=PARTED, keys="dt,id", partitions="dt", options={"bucket": "1", "file.format": "orc", "write.compaction-skip": "true"}, rows=PARTED_ROWS, by_hand=SET + "('write-only'='false')", change=("OptionChanged", "write-only", "true", "false")),
    ByPypaimon(name="py_partial", columns=KEYED, keys="id", options={"bucket": "1", "merge-engine": "partial-update"}, rows=ROWS, by_hand=SET + "('tag.automatic-creation'='process-time')", change=("OptionChanged", "tag.automatic-creation", None, "process-time")),
    ByPypaimon(name="py_sums", columns=KEYED, keys="id", options={"bucket": "1", "merge-engine": "aggregation", "fields.n.aggregate-function": "sum", "fields.v.aggregate-function": "last_value"}, rows=ROWS, by_hand="ALTER TABLE {} ALTER COLUMN id COMMENT 'theirs'", change=("ColumnCommentChanged", "id", None, "theirs")),
    ByPypaimon(name="py_first", columns=KEYED, keys="id", options={"bucket": "1", "merge-engine": "first-row"}, by_hand=SET + "('comment'='theirs')", change=("TableCommentChanged", "", None, "theirs")),
    ByPypaimon(name="py_events", columns=EVENTS, options={"file.format": "avro"}, rows=ROWS, by_hand="ALTER TABLE {} ALTER COLUMN what TYPE STRING", end=End.NONE),
    ByPypaimon(name="py_events_by_day", columns=EVENTS | {"dt": "STRING"}, partitions="dt", rows=PARTED_ROWS, by_hand="ALTER TABLE {} ALTER COLUMN what FIRST", change=("ColumnsReordered", "", "at, what, n, dt", "what, at, n, dt")),
    ByPypaimon(name="py_nested", columns=NESTED, keys="id", options={"bucket": "1"}, by_hand="ALTER TABLE {} RENAME COLUMN address.zip TO code", change=("ColumnRenamed", "address.zip", "address.zip", "address.code"), end=End.STAYS, since=SINCE_1_4),
)  # fmt: skip


BESIDE: Final[tuple[tuple[Foreign, str], ...]] = (
    (BySpark(name="across", columns=PARTED, keys="id", partitions="dt"), "spec.schema.partitionKeys[0]: 'dt' is not part of the primary key"),
    (BySpark(name="expiring", columns=PARTED, keys="dt,id", partitions="dt", options={"bucket": "1", "partition.expiration-time": "9999 d"}), "adoptionPolicy to Adopt, which keeps the option"),
    (BySpark(name="owned", columns=KEYED, keys="id", options={"bucket": "1", OWNER: "another-cluster/shop/mine"}), "The PaimonTable below owns it. If that one is gone, export again with --owned."),
    (BySpark(name="postponed_inline", columns=KEYED, keys="id", options={"bucket": "-2"}, since=SINCE_1_4), "spec.compaction.mode: writers never compact the files of postponed buckets"),
)  # fmt: skip
"""Tables that are exported as comments, and why."""


def made_by(tables: Iterable[Foreign]) -> tuple[list[str], list[dict[str, Any]]]:
    """The statements for Spark, and the requests for pypaimon."""
    found = list(tables)
    statements = [each for table in found if isinstance(table, BySpark) for each in table.statements()]
    return statements, [table.request() for table in found if isinstance(table, ByPypaimon)]
