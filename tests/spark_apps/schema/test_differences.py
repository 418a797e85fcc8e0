"""What a message says about a table that differs and is another's: the manifest alone.

S9: whoever may create PaimonTables learned the schema of every table of the database.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from paimon_engines.loader import load_engine
from spark_apps.schema.differences import differences

ENGINE = load_engine("paimon-1.4")
Columns = dict[str, str]
OF_TABLE: Columns = {"id": "BIGINT", "salary": "DECIMAL(10, 2)", "iban": "STRING", "note": "STRING"}
OF_MANIFEST: Columns = {"id": "BIGINT", "note": "INT", "mine": "STRING"}
TABLE: dict[str, Any] = {
    "keys": ["id", "iban"],
    "partitions": ["iban"],
    "options": {
        "bucket": "7",
        "sequence.field": "salary",
        "fields.salary.aggregate-function": "sum",
        "fields.note.aggregate-function": "max",
        "fields.salary,iban.sequence-group": "note",
        "file-index.bloom-filter.iban.fpp": "0.1",
    },
}
MANIFEST: dict[str, Any] = {"keys": ["id"], "options": {"bucket": "2"}}
SECRETS = ("salary", "iban", "DECIMAL", "7", "sum", "max")
"""Words of the table that no word of the manifest has."""


def schema(columns: Columns, keys: list[str] = [], partitions: list[str] = [], options: dict[str, str] = {}) -> Any:  # noqa: B006
    """A schema as Paimon's Java classes give it."""

    def field(name: str, type_: str) -> Any:
        return SimpleNamespace(name=lambda: name, type=lambda: SimpleNamespace(asSQLString=lambda: type_))

    return SimpleNamespace(
        fields=lambda: [field(name, type_) for name, type_ in columns.items()],
        primaryKeys=lambda: keys,
        partitionKeys=lambda: partitions,
        options=lambda: options,
    )


def said() -> list[str]:
    found = differences(schema(OF_TABLE, **TABLE), schema(OF_MANIFEST, **MANIFEST), ENGINE)
    return [f"{each.field}: {each.sentence}" for each in found]


def test_the_differences_of_a_foreign_table_disclose_none_of_its_columns_types_or_values() -> None:
    text = " ".join(said())
    assert [word for word in SECRETS if word in text] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "spec.schema.primaryKeys: primary key: the table differs from the manifest, which has id",
        "spec.schema.partitionKeys: partition keys: the table differs from the manifest, which has none",
        "spec.schema.columns: columns: 2 of the table are not in spec.schema.columns",
        "spec.schema.columns[mine]: column mine: only the manifest has it",
        "spec.schema.columns[note].type: column note: the table differs from the manifest, which has INT",
        "spec.options[bucket]: option bucket: the table differs from the manifest, which has 2",
        "option sequence.field: the table differs from the manifest, which has unset",
        "option fields.note.aggregate-function: the table differs from the manifest, which has unset",
        "spec.options: options: 3 of the table are not named, because they may name columns",
    ],
)
def test_they_name_the_fields_of_the_manifest_to_edit(sentence: str) -> None:
    assert any(sentence in each for each in said())


def test_the_order_of_foreign_columns_is_that_of_the_manifest_only() -> None:
    table, wanted = schema({"a": "INT", "b": "INT"}), schema({"b": "INT", "a": "INT"})
    (found,) = differences(table, wanted, ENGINE)
    assert found.sentence == "column order: the table differs from the manifest, which has b, a"
