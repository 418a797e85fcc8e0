"""The columns that keys and options of a table use: such a column keeps its name and its type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from paimon_schema.table_schema import TableSchema

MANAGED_OPTION: Final = "paimon-operator.options"
"""Table option that lists the options set by the manifest, so that one which leaves the manifest is removed."""
DEFAULTED_OPTION: Final = "paimon-operator.defaults"
"""The same for defaults: the columns whose default the manifest has set."""
OF_FIELDS: Final = "fields."
"""Prefix of options of columns. One column, or several with commas, and the option follow."""
SEQUENCE_GROUP: Final = "sequence-group"
_AGGREGATES: Final = frozenset(
    {"aggregate-function", "ignore-retract", "list-agg-delimiter", "distinct", "nested-key", "count-limit"}
)
_LISTS: Final = {
    "bucket-key": "the bucket key",
    "sequence.field": "the sequence",
    "rowkind.field": "rowkind.field",
    "record-level.time-field": "record-level.time-field",
    "upsert-key": "upsert-key",
    "partial-update.remove-record-on-sequence-group": "a sequence group",
}
"""Option whose value lists columns -> the words for what uses them."""


def columns_in_use(table: TableSchema) -> dict[str, str]:
    """Column -> what uses it, in words. Keys come first."""
    found: dict[str, str] = {}
    for name, use in _uses(table):
        found.setdefault(name, use)
    return found


def columns_of_option(key: str) -> tuple[str, ...]:
    """The columns that the key of an option names: `fields.a,b.sequence-group` is of `a` and `b`."""
    if not key.startswith(OF_FIELDS):
        return ()
    named = key.removeprefix(OF_FIELDS).rpartition(".")[0]
    return listed(named)


def index_of(name: str, options: Mapping[str, str]) -> str | None:
    """The option that names the column as one of a file index; None without one."""
    indexes = (key for key in options if key.startswith("file-index.") and key.endswith(".columns"))
    return next((key for key in indexes if name in listed(options[key])), None)


def listed(value: str) -> tuple[str, ...]:
    """The names in a list with commas."""
    return tuple(name for name in (part.strip() for part in value.split(",")) if name)


def _uses(table: TableSchema) -> Iterator[tuple[str, str]]:
    yield from ((name, "the primary key") for name in table.primary_keys)
    yield from ((name, "the partition keys") for name in table.partition_keys)
    for key, use in _LISTS.items():
        yield from ((name, use) for name in listed(table.options.get(key, "")))
    yield from _uses_of_fields(table.options)


def _uses_of_fields(options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in options.items():
        suffix = key.rpartition(".")[2]
        if suffix == SEQUENCE_GROUP:
            yield from ((name, "a sequence group") for name in (*columns_of_option(key), *listed(value)))
        elif suffix in _AGGREGATES:
            yield from ((name, "an aggregate") for name in columns_of_option(key))
