"""File indexes: the types that the engine data lists can be indexed, and no others."""

from __future__ import annotations

import json

import pytest

from paimon_operator.core.validation.table import broken_rules
from tests.spark.lake import Lake
from tests.support import builders

VALUES = {
    "BOOLEAN": True, "TINYINT": 1, "SMALLINT": 1, "INT": 1, "BIGINT": 1, "FLOAT": 1.5, "DOUBLE": 1.5,
    "DECIMAL(6,2)": 1.5, "CHAR(3)": "abc", "VARCHAR(5)": "ab", "STRING": "ab", "BINARY(3)": "YWJj",
    "VARBINARY(5)": "YWI=", "BYTES": "YWI=", "DATE": "2026-01-01", "TIMESTAMP(6)": "2026-01-01T10:00:00",
    "TIMESTAMP_LTZ(6)": "2026-01-01T10:00:00Z", "ARRAY<INT>": [1], "MAP<STRING, STRING>": {"a": "b"},
    "ROW<a INT>": {"a": 1},
}  # fmt: skip
"""Type of a column -> a value in JSON."""
INDEXES = ("bloom-filter", "bitmap", "bsi", "range-bitmap")


def is_written(lake: Lake, columns: dict[str, str], option: dict[str, str]) -> bool:
    """Creates a table and writes a row with a value in each column, and one of NULLs."""
    lake.provision(columns, options=option).ok()
    row = {name: VALUES[type_] for name, type_ in columns.items()}
    lake.land("orders/1.json", json.dumps(row) + "\n" + json.dumps(dict.fromkeys(row)))
    return lake.write(mode="Append", format="json").code == 0


def is_admitted(lake: Lake, columns: dict[str, str], option: dict[str, str]) -> bool:
    schema = {"columns": [{"name": name, "type": type_} for name, type_ in columns.items()]}
    context = builders.context(builders.table(schema=schema, options=option), builders.catalog(engine=lake.engine.id))
    return broken_rules(context) == ()


@pytest.mark.parametrize("index", INDEXES)
def test_columns_of_all_listed_types_are_indexed(lake: Lake, index: str) -> None:
    listed = lake.engine.file_indexes.get(index, frozenset())
    columns = {f"c{n}": type_ for n, type_ in enumerate(VALUES) if type_.partition("(")[0] in listed}
    option = {f"file-index.{index}.columns": ",".join(columns or ["c0"])}
    assert is_admitted(lake, columns or {"c0": "INT"}, option) == bool(listed)
    if columns:
        assert is_written(lake, columns, option)


OTHERS = [
    (index, type_)
    for index, types in builders.engines()["paimon-1.4"].file_indexes.items()
    for type_ in VALUES
    if type_.partition("(")[0] not in types
] + [("bitmap", "BOOLEAN")]


@pytest.mark.some_rows(4)
@pytest.mark.engines_in_turn("type_")
@pytest.mark.parametrize(("index", "type_"), OTHERS)
def test_a_column_of_another_type_fails_the_first_write(lake: Lake, index: str, type_: str) -> None:
    listed = lake.engine.file_indexes.get(index)
    if listed is None or type_ in listed:
        return
    option, columns = {f"file-index.{index}.columns": "v"}, {"v": type_}
    assert not is_admitted(lake, columns, option)
    assert not is_written(lake, columns, option)


def test_the_values_of_a_key_of_a_map_are_indexed_by_their_type(lake: Lake) -> None:
    columns, option = {"v": "MAP<STRING, STRING>"}, {"file-index.bloom-filter.columns": "v[a]"}
    assert is_admitted(lake, columns, option)
    assert is_written(lake, columns, option)
