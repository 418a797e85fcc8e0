"""The hash of the desired table. Every table of a fleet stores it in its status, so an upgrade must not change it."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any

import pytest
from pydantic import Field

from paimon_operator.api.policies import AdoptionPolicy
from paimon_operator.api.table.writes import Files, Source, Write
from paimon_operator.core.operations.write_ledgers import write_hash
from paimon_operator.core.spec.desired_table import DesiredColumn, DesiredTable, desired_table, fingerprint
from tests.support import builders

NESTED = {
    "columns": [
        {"name": "id", "type": "bigint not null", "comment": "identity"},
        {"name": "day", "type": "DATE"},
        {"name": "address", "type": "ROW<street STRING, lines ARRAY<VARCHAR(20)>, by_name MAP<STRING, DECIMAL(10, 2)>>"},
        {"name": "seen", "type": "timestamp(3)", "comment": ""},
    ],
    "primaryKeys": ["id", "day"],
    "partitionKeys": ["day"],
    "comment": "nested, with \"quotes\" and ümlauts",
}  # fmt: skip
GOLDEN: dict[str, tuple[dict[str, Any], str]] = {
    "plain": ({}, "8bcdc53e91f0c6df"),
    "no key": ({"schema": {"columns": [{"name": "a", "type": "INT"}]}}, "301a9e8332bf5b60"),
    "comments, partition keys and nested types": ({"schema": NESTED}, "2e85975e4cb8823f"),
    "options": ({"options": {"file.format": "orc", "target-file-size": "64 mb"}}, "4114387333382818"),
    "bucket and merge engine": ({"bucket": {"type": "Fixed", "fixed": {"count": 4}}, "mergeEngine": {"type": "FirstRow"}}, "1ae49468fe97ac4b"),
    "retention and compaction": ({"retention": {"snapshots": {"timeRetained": "1d", "numRetainedMin": 10}}, "compaction": {"mode": "Dedicated"}}, "5f0e43737f96d2a4"),
}  # fmt: skip
"""Manifests, and the hashes that release 0.1 (commit d125279) stored for them."""


def desired(**spec: Any) -> DesiredTable:
    context = builders.context(builders.table(**spec))
    return desired_table(context.spec, context.effective)


@pytest.mark.parametrize(("spec", "stored"), GOLDEN.values(), ids=GOLDEN)
def test_the_hash_of_a_table_equals_the_one_of_release_0_1(spec: dict[str, Any], stored: str) -> None:
    assert fingerprint(desired(**spec)) == stored


@dataclass(frozen=True, kw_only=True)
class ColumnOfTheNextRelease(DesiredColumn):
    default_value: str | None = None


@dataclass(frozen=True, kw_only=True)
class TableOfTheNextRelease(DesiredTable):
    renamed_from: str | None = None
    labels: dict[str, str] = field(default_factory=dict)


def of_the_next_release(table: DesiredTable) -> TableOfTheNextRelease:
    """The same table in models with additional optional fields."""
    values = {each.name: getattr(table, each.name) for each in fields(table)}
    columns = tuple(ColumnOfTheNextRelease(**vars(column)) for column in table.columns)
    return TableOfTheNextRelease(**values | {"columns": columns})


@pytest.mark.parametrize(("spec", "stored"), GOLDEN.values(), ids=GOLDEN)
def test_a_new_optional_field_changes_no_hash_of_a_table_that_does_not_use_it(
    spec: dict[str, Any], stored: str
) -> None:
    assert fingerprint(of_the_next_release(desired(**spec))) == stored


def test_a_new_field_that_is_used_changes_the_hash() -> None:
    table = of_the_next_release(desired())
    column = ColumnOfTheNextRelease(**vars(table.columns[0]) | {"default_value": "0"})
    changes: list[dict[str, Any]] = [
        {"renamed_from": "o"},
        {"labels": {"a": "b"}},
        {"columns": (column, *table.columns[1:])},
    ]
    hashes = {fingerprint(replace(table, **change)) for change in changes}
    assert len(hashes) == 3
    assert fingerprint(table) not in hashes


def test_every_part_of_the_table_but_its_adoption_changes_the_hash() -> None:
    table = desired()
    changes: dict[str, Any] = {
        "columns": table.columns[:-1], "primary_keys": (), "partition_keys": ("a",), "comment": "c", "options": {"a": "b"},
            "dropped": ("x",),
    }  # fmt: skip
    hashes = {fingerprint(replace(table, **{name: value})) for name, value in changes.items()}
    assert changes.keys() | {"adoption"} == {each.name for each in fields(table)}
    assert len(hashes - {fingerprint(table)}) == len(changes)
    assert {fingerprint(replace(table, adoption=each)) for each in AdoptionPolicy} == {fingerprint(table)}


WRITES = [
    (builders.write(), "609e62b893f64b10"),
    (builders.write("seed", schedule=None, path=None), "3f945b5da65cefb3"),
    (builders.write(mode="Append", format="csv", select="All", path="a/b"), "b00b75af42b26588"),
]
"""Writes, and the hashes that release 0.1 stored in status and in their ledgers."""


@pytest.mark.parametrize(("manifest", "stored"), WRITES)
def test_the_hash_of_a_write_equals_the_one_of_release_0_1(manifest: dict[str, Any], stored: str) -> None:
    assert write_hash(Write.model_validate(manifest)) == stored


class FilesOfTheNextRelease(Files):
    recursive: bool = False
    pattern: str | None = None


class SourceOfTheNextRelease(Source):
    files: FilesOfTheNextRelease


class WriteOfTheNextRelease(Write):
    source: Annotated[SourceOfTheNextRelease, Field(alias="from")]


@pytest.mark.parametrize(("manifest", "stored"), WRITES)
def test_a_new_optional_field_changes_no_hash_of_a_write(manifest: dict[str, Any], stored: str) -> None:
    later = WriteOfTheNextRelease.model_validate(manifest)
    assert write_hash(later) == stored
    files = later.source.files.model_copy(update={"recursive": True})
    assert write_hash(later.model_copy(update={"source": later.source.model_copy(update={"files": files})})) != stored
