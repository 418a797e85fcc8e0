"""A random history of edits of one table with data, and what its rows must be after each of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from paimon_engines.loader import load_engine
from paimon_schema.data_types import DataType
from paimon_schema.type_parser import parse
from tests.spark.lake import Lake

FORMATS = ("parquet", "orc", "avro")
ENGINES = ("deduplicate", "partial-update", "aggregation", "first-row", None)
"""Merge engines; None is a table without keys."""
PLAIN = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING", "VARCHAR(20)", "DECIMAL(10,2)")
NESTED = ("ROW<a INT, b STRING>", "ARRAY<INT>", "ARRAY<ROW<a INT>>", "MAP<STRING, INT>", "MAP<STRING, ROW<a INT>>")
WIDER = {
    "TINYINT": "SMALLINT", "SMALLINT": "INT", "INT": "BIGINT", "FLOAT": "DOUBLE", "VARCHAR(20)": "VARCHAR(40)",
    "VARCHAR(40)": "STRING", "DECIMAL(10,2)": "DECIMAL(14,4)", "DECIMAL(14,4)": "DECIMAL(24,4)",
}  # fmt: skip
Row = dict[str, Any]


@dataclass
class Col:
    """A column of the table; `declared`: the manifest has it."""

    name: str
    type: DataType
    comment: str | None = None
    declared: bool = True
    renamed_from: str | None = None


@dataclass
class History:
    """One table. `edit` changes the manifest and the table in one random way, `insert` adds rows."""

    lake: Lake
    seed: int
    columns: list[Col] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    names: int = 0
    next_key: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)  # noqa: S311  (repeatable)
        self.format, self.merging = FORMATS[self.seed % 3], ENGINES[self.seed % 5]
        self.columns = [Col("k", parse("BIGINT NOT NULL" if self.merging else "BIGINT"))]
        self.columns += [Col(self._new_name(), parse(text)) for text in self.random.sample(PLAIN, 3)]
        self.columns += [Col(self._new_name(), parse(self.random.choice(NESTED)))]
        if self.merging == "aggregation":
            self.columns.append(Col("total", parse("INT")))

    @property
    def nested_changes(self) -> bool:
        """Whether the engine changes fields of nested types."""
        return "addNestedField" in load_engine(self.lake.engine.id).schema_changes

    def provision(self, lake: Lake | None = None) -> list[str]:
        """Applies the manifest. Returns the steps that the run reports."""
        declared = [each for each in self.columns if each.declared]
        merge = {"bucket": "1", "merge-engine": self.merging} if self.merging else {"bucket": "-1"}
        if self.merging == "aggregation":
            merge["fields.total.aggregate-function"] = "sum"
        ended = (lake or self.lake).provision(
            {each.name: str(each.type) for each in declared},
            keys=["k"] if self.merging else [],
            options={"file.format": self.format, **merge, **self.options},
            comments={each.name: each.comment for each in declared if each.comment},
            renamed={each.name: each.renamed_from for each in declared if each.renamed_from},
            dropped=self.dropped,
        )
        return [str(each) for each in ended.ok().get("differences", [])]

    def edit(self) -> None:
        """One to three random changes of the manifest. A column that it leaves is not changed in the same edit."""
        changes: list[Callable[[], None]] = [self._add, self._add, self._rename, self._widen, self._drop, self._leave]
        changes += [self._move, self._comment, self._option]
        chosen = self.random.sample(changes, self.random.randint(1, 3))
        for change in sorted(chosen, key=lambda each: each != self._leave):
            change()

    def insert(self) -> None:
        """Three rows of different keys, of which one exists already, if the table has keys."""
        stored = newest_schema(self.lake)
        order = [str(each["name"]) for each in stored["fields"]]
        selected = []
        for number in range(3):
            repeated = bool(self.merging and number == 0 and self.next_key)
            key = self.random.randrange(self.next_key) if repeated else self.next_key
            self.next_key = max(self.next_key, key + 1)
            row = {each.name: key if each.name == "k" else self._value(each.type) for each in self.columns}
            types = {each.name: each.type for each in self.columns}
            values = ", ".join(literal(row[name], types[name]) for name in order)
            selected.append(f"SELECT {values}")
            self._merge(row)
        self.lake.outside(f"INSERT INTO outside.shop.orders {' UNION ALL '.join(selected)}")

    def drop_what_is_kept(self) -> None:
        """The manifest drops every column that it does not declare."""
        for each in [each for each in self.columns if not each.declared]:
            self._forget(each)

    def _merge(self, row: Row) -> None:
        old = next((each for each in self.rows if each["k"] == row["k"]), None) if self.merging else None
        if old is None:
            self.rows.append(row)
        elif self.merging == "deduplicate":
            old.update(row)
        elif self.merging != "first-row":
            given = {name: value for name, value in row.items() if value is not None}
            if self.merging == "aggregation" and "total" in given:
                given["total"] += old["total"] or 0
            old.update(given)

    def _add(self) -> None:
        text = self.random.choice(PLAIN + NESTED)
        new = Col(self._new_name(), parse(text), comment=self.random.choice([None, "new"]))
        self.columns.insert(self.random.randrange(len(self.columns) + 1), new)
        for row in self.rows:
            row[new.name] = None

    def _rename(self) -> None:
        if free := self._free():
            column = self.random.choice(free)
            old, column.name = column.name, self._new_name()
            if self._is_stored(old):
                column.renamed_from = old
            self.dropped = [
                column.name + each.removeprefix(old) if each.startswith(f"{old}.") else each for each in self.dropped
            ]
            for row in self.rows:
                row[column.name] = row.pop(old)

    def _widen(self) -> None:
        for column in self.random.sample(free, min(2, len(free))) if (free := self._free()) else []:
            if column.renamed_from is None:
                column.type = self._wider(column, column.type)

    def _wider(self, column: Col, of: DataType) -> DataType:
        if str(of) in WIDER:
            wider = parse(WIDER[str(of)])
            return wider if load_engine(self.lake.engine.id).widens(of.name, wider.name) else of
        if not of.children or not self.nested_changes or not self._is_stored(column.name):
            return of
        if of.name != "ROW":
            return replace(of, children=(*of.children[:-1], self._wider(column, of.children[-1])))
        if len(of.fields) > 1 and self.random.random() < 0.3:
            return self._without_field(column, of)
        name = self._new_name()
        self._each_row(column, of, lambda value: value.update({name: None}))
        children = [self._wider(column, each) for each in of.children]
        return replace(of, fields=(*of.fields, name), children=(*children, parse("INT")))

    def _without_field(self, column: Col, of: DataType) -> DataType:
        """Only in rows that are the column itself, whose path is short."""
        if column.type is not of:
            return of
        gone = of.fields[-1]
        self.dropped.append(f"{column.name}.{gone}")
        self._each_row(column, of, lambda value: value.pop(gone))
        return replace(of, fields=of.fields[:-1], children=of.children[:-1])

    def _each_row(self, column: Col, of: DataType, change: Callable[[Row], Any]) -> None:
        """Changes each value of the nested row type `of` in the column."""
        for row in self.rows:
            for value in _rows_in(row[column.name], column.type, of):
                change(value)

    def _drop(self) -> None:
        if len(free := self._free()) > 1:
            self._forget(self.random.choice(free))

    def _forget(self, column: Col) -> None:
        self.columns.remove(column)
        self.dropped.append(
            column.renamed_from if column.renamed_from and not self._is_stored(column.name) else column.name
        )
        for row in self.rows:
            del row[column.name]

    def _leave(self) -> None:
        free = [each for each in self._free() if self._is_stored(each.name)]
        if len(free) > 1:
            self.random.choice(free).declared = False

    def _move(self) -> None:
        self.random.shuffle(self.columns)

    def _comment(self) -> None:
        self.random.choice([each for each in self.columns if each.declared]).comment = f"c{self.random.randrange(3)}"

    def _option(self) -> None:
        # Not 10, the default: where the table has no value, that is no difference.
        self.options = {"snapshot.num-retained.min": str(self.random.randint(11, 20))}

    def settled(self) -> None:
        """Forgets the renames that the table has now."""
        for column in self.columns:
            column.renamed_from = None

    def _is_stored(self, name: str) -> bool:
        return any(each["name"] == name for each in newest_schema(self.lake)["fields"])

    def _free(self) -> list[Col]:
        """Columns that the manifest declares and that may change."""
        return [each for each in self.columns if each.declared and each.name not in ("k", "total")]

    def _new_name(self) -> str:
        self.names += 1
        return f"c{self.names}"

    def _value(self, of: DataType) -> Any:
        if self.random.random() < 0.2 and of.nullable:
            return None
        match of.name:
            case "ROW":
                row = {name: self._value(each) for name, each in zip(of.fields, of.children, strict=True)}
                # The reader of 0.9 cannot tell a row of nulls from no row, also in a table that was never altered.
                return row if self.nested_changes or any(each is not None for each in row.values()) else None
            case "ARRAY":
                return [self._value(of.children[0]) for _ in range(self.random.randint(0, 2))]
            case "MAP":
                return {key: self._value(of.children[1]) for key in ("x", "y")}
        return self._plain_value(of.name)

    def _plain_value(self, name: str) -> Any:
        if name in ("STRING", "VARCHAR"):
            return self.random.choice(["", "a", "ä€", "twenty characters ok"])
        if name == "DECIMAL":
            return Decimal(self.random.randrange(-(10**10), 10**10)) / 100
        if name in ("FLOAT", "DOUBLE"):
            return self.random.randrange(-1000, 1000) / 8
        highest = {"TINYINT": 2**7, "SMALLINT": 2**15, "INT": 2**24, "BIGINT": 2**62}[name]
        return self.random.randrange(-highest, highest)


def newest_schema(lake: Lake) -> dict[str, Any]:
    """The newest schema file of the table."""
    newest = max((lake.table_directory / "schema").glob("schema-*"), key=lambda path: int(path.name.partition("-")[2]))
    found: dict[str, Any] = json.loads(newest.read_text(encoding="utf-8"))
    return found


def literal(value: Any, of: DataType) -> str:
    """The value as Spark SQL."""
    if value is None:
        return f"CAST(NULL AS {spark_type(of)})"
    match of.name:
        case "ROW":
            pairs = zip(of.fields, of.children, strict=True)
            return f"named_struct({', '.join(f'{name!r}, {literal(value[name], each)}' for name, each in pairs)})"
        case "ARRAY":
            inner = ", ".join(literal(each, of.children[0]) for each in value)
            return f"CAST(array({inner}) AS {spark_type(of)})"
        case "MAP":
            return f"map({', '.join(f'{key!r}, {literal(each, of.children[1])}' for key, each in value.items())})"
        case "STRING" | "VARCHAR":
            return f"'{value}'"
    return f"CAST('{value}' AS {spark_type(of)})"


def spark_type(of: DataType) -> str:
    """The type in Spark SQL."""
    if of.name == "ROW":
        pairs = zip(of.fields, of.children, strict=True)
        return f"STRUCT<{', '.join(f'{name}: {spark_type(each)}' for name, each in pairs)}>"
    if of.children:
        return f"{of.name}<{', '.join(spark_type(each) for each in of.children)}>"
    return str(of).removesuffix(" NOT NULL")


def normal(value: Any) -> Any:
    """A value of the model, or of pypaimon, in one form."""
    if isinstance(value, dict):
        return {key: normal(each) for key, each in value.items()}
    if isinstance(value, list):
        pairs = all(isinstance(each, list) and len(each) == 2 and isinstance(each[0], str) for each in value)
        return {key: normal(each) for key, each in value} if value and pairs else [normal(each) for each in value]
    if isinstance(value, Decimal):
        return f"{value:.4f}"
    if isinstance(value, str) and value.lstrip("-").replace(".", "", 1).isdigit():
        return f"{Decimal(value):.4f}"
    return value


def _rows_in(value: Any, type_: DataType, of: DataType) -> list[Row]:
    """The values of the row type `of` in a value of type `type_`."""
    if value is None:
        return []
    if type_ is of:
        return [value]
    if type_.name == "ROW":
        pairs = zip(type_.fields, type_.children, strict=True)
        return [each for name, child in pairs for each in _rows_in(value[name], child, of)]
    if type_.children:
        members = value.values() if isinstance(value, dict) else value
        return [each for member in members for each in _rows_in(member, type_.children[-1], of)]
    return []
