"""Rows for the table of any manifest, and what must be in the table after both batches of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from paimon_operator.api.table.columns import AggregateFunction, Column
from paimon_operator.api.table.spec import MergeEngineType, PaimonTableSpec, SortOrder
from paimon_operator.core.validation.columns import column_types
from paimon_operator.core.validation.merging import engine_type, sequence_groups
from tests.spark.manifest_values import UNCHECKED, Row, plain, value

Key = tuple[Any, ...]
_BATCHES: Final = {1: range(4), 2: range(2, 6)}
"""Number of a batch -> its keys."""
_DELETED, _SPARSE = 2, 3
"""Keys of the second batch: one that a row kind deletes, and one whose columns are NULL where they may be."""
_SKETCHES: Final = ("theta_sketch", "hll_sketch", "rbm32", "rbm64")
"""Functions of binary values that only their own library writes."""


@dataclass
class Batches:
    """Two batches of rows for a table, and the table after them."""

    spec: PaimonTableSpec
    table: dict[Key, Row | object] = field(default_factory=dict)
    """Key -> its row after both batches; UNCHECKED: whether there is a row is not known either."""

    def __post_init__(self) -> None:
        self._types = column_types(self.spec)
        self._columns = {column.name: column for column in self.spec.table_schema.columns}
        self._keys = self.spec.table_schema.primary_keys
        self._engine = self.spec.merge_engine
        for batch in _BATCHES:
            for row in self.rows(batch):
                self._merge(tuple(row[key] for key in self._keys) or (len(self.table),), row)

    def rows(self, batch: int) -> list[Row]:
        """The rows of a batch, each with another key."""
        rows = [self._row(batch, number) for number in _BATCHES[batch]]
        if not self._keys:
            return rows
        return list({json.dumps([row.get(key) for key in self._keys]): row for row in reversed(rows)}.values())[::-1]

    def expected(self) -> list[Row]:
        """The rows that are known, in any order."""
        return [row for row in self.table.values() if isinstance(row, dict)]

    def unknown_keys(self) -> set[Key]:
        """Keys of which nothing is known."""
        return {key for key, row in self.table.items() if row is UNCHECKED}

    def normal(self, row: Row, *, hexadecimal: bool = False) -> Row:
        """A row that was read, in the form of the rows of the batches."""
        return {name: plain(self._types[name], read, hexadecimal=hexadecimal) for name, read in row.items()}

    def _row(self, batch: int, number: int) -> Row:
        partitions = self.spec.table_schema.partition_keys
        row: Row = {}
        for name, column in self._columns.items():
            if name in self._keys:
                row[name] = value(self._types[name], number)
            elif name in partitions:
                row[name] = value(self._types[name], number % 2)
            elif self._is_kind(name):
                row[name] = "-D" if (batch, number) == (2, _DELETED) else "+I"
            elif self._is_null(column, batch, number):
                row[name] = None
            else:
                row[name] = value(self._types[name], 10 * batch + number)
        return {name: plain(self._types[name], each) for name, each in row.items()}

    def _is_kind(self, name: str) -> bool:
        kind = self._engine.row_kind_field if self._engine else None
        return name == kind and self._types[name].name in ("STRING", "VARCHAR", "CHAR")

    def _is_null(self, column: Column, batch: int, number: int) -> bool:
        if column.aggregate is not None and column.aggregate.function in _SKETCHES:
            return self._types[column.name].nullable
        sparse = (batch, number) == (2, _SPARSE) and self._types[column.name].nullable
        return sparse and column.name not in self._ordering()

    def _ordering(self) -> set[str]:
        groups = (name for group in sequence_groups(self.spec) for name in group.sequence_fields)
        return {*groups, *(self.spec.sequence.fields if self.spec.sequence else ())}

    def _merge(self, key: Key, row: Row) -> None:
        old = self.table.get(key)
        deletes = any(self._is_kind(name) and row[name] == "-D" for name in row)
        if deletes and self._engine is not None:
            self._delete(key, row)
        elif old is None:
            self.table[key] = self._stored(row)
        elif isinstance(old, dict):
            merge = _MERGES[engine_type(self.spec)]
            older, newer = (old, self._stored(row)) if self._is_newer(row, old) else (self._stored(row), old)
            self.table[key] = merge(self, older, newer) if engine_type(self.spec) != "FirstRow" else old

    def _stored(self, row: Row) -> Row:
        """The row, without knowledge of default values."""
        return {
            name: UNCHECKED if each is None and self._columns[name].default_value is not None else each
            for name, each in row.items()
        }

    def _delete(self, key: Key, row: Row) -> None:
        engine = self._engine
        if engine is None or engine.ignore_delete:
            return
        removes = (engine.partial_update and engine.partial_update.remove_record_on_delete) or (
            engine.aggregation and engine.aggregation.remove_record_on_delete
        )
        old = self.table.get(key)
        if engine.type is MergeEngineType.DEDUPLICATE:
            if isinstance(old, dict) and self._is_newer(row, old):
                del self.table[key]
        elif removes:
            self.table.pop(key, None)
        else:
            self.table[key] = UNCHECKED

    def _is_newer(self, row: Row, old: Row) -> bool:
        sequence = self.spec.sequence
        if sequence is None:
            return True
        names = [name for name in sequence.fields if not self._types[name].is_nested]  # others have no order
        new, before = ([_order(each[name]) for name in names] for each in (row, old))
        return new <= before if sequence.sort_order is SortOrder.DESCENDING else new >= before

    def _deduplicated(self, _: Row, newer: Row) -> Row:
        return newer

    def _updated(self, older: Row, newer: Row) -> Row:
        merged = {**older, **{name: each for name, each in newer.items() if each is not None}}
        for group in sequence_groups(self.spec):
            for name in (*group.sequence_fields, *group.columns):
                aggregated = self._columns[name].aggregate is not None
                merged[name] = UNCHECKED if aggregated else newer[name]
        return merged

    def _aggregated(self, older: Row, newer: Row) -> Row:
        return {name: self._aggregate(self._columns[name], older[name], newer[name]) for name in older}

    def _aggregate(self, column: Column, older: Any, newer: Any) -> Any:
        aggregate = column.aggregate
        ordering = self.spec.sequence.fields if self.spec.sequence else ()
        if column.name in ordering:
            return newer
        if aggregate is None:
            return older if newer is None else newer
        function = _FUNCTIONS.get(aggregate.function)
        if function is None or UNCHECKED in (older, newer):
            return UNCHECKED
        return function(older, newer)


_MERGES: Final[dict[MergeEngineType, Callable[[Batches, Row, Row], Row]]] = {
    MergeEngineType.DEDUPLICATE: Batches._deduplicated,
    MergeEngineType.PARTIAL_UPDATE: Batches._updated,
    MergeEngineType.AGGREGATION: Batches._aggregated,
    MergeEngineType.FIRST_ROW: Batches._deduplicated,
}


def _of_values(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The function of two values; of one value and NULL that value."""
    return lambda old, new: new if old is None else old if new is None else function(old, new)


_FUNCTIONS: Final[dict[AggregateFunction, Callable[[Any, Any], Any]]] = {
    AggregateFunction.SUM: _of_values(lambda old, new: old + new),
    AggregateFunction.MAX: _of_values(max),
    AggregateFunction.MIN: _of_values(min),
    AggregateFunction.LAST_VALUE: lambda old, new: new,  # noqa: ARG005
    AggregateFunction.LAST_NON_NULL_VALUE: _of_values(lambda old, new: new),  # noqa: ARG005
    AggregateFunction.FIRST_VALUE: lambda old, new: old,  # noqa: ARG005
    AggregateFunction.FIRST_NON_NULL_VALUE: _of_values(lambda old, new: old),  # noqa: ARG005
    AggregateFunction.BOOL_AND: _of_values(lambda old, new: old and new),
    AggregateFunction.BOOL_OR: _of_values(lambda old, new: old or new),
    AggregateFunction.MERGE_MAP: _of_values(lambda old, new: {**old, **new}),
}
"""Functions whose result does not depend on their settings."""


def _order(of: Any) -> Any:
    """A value that is compared as Paimon does."""
    return (of is not None, "" if of is None else of)


def differences(expected: list[Row], read: list[Row]) -> Iterator[str]:
    """What was read and not expected, row by row."""
    left = list(read)
    for row in expected:
        found = next((each for each in left if _is_same(row, each)), None)
        if found is None:
            yield f"missing {row}"
        else:
            left.remove(found)
    yield from (f"unexpected {row}" for row in left)


def _is_same(expected: Row, read: Row) -> bool:
    return all(each is UNCHECKED or read[name] == each for name, each in expected.items())
