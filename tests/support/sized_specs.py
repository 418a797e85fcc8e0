"""Specs of a given size: each shape has another part that grows, and is valid at any size that the CRD admits."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable
from typing import Final

from tests.support.manifests import Manifest, append_table, keyed_table, run

Shape = Callable[[int], Manifest]
"""The manifest whose part has the size `dial`."""


def _columns(count: int, **more: object) -> list[Manifest]:
    return [{"name": f"c{number:0>19}", "type": "INT"} | more for number in range(count)]


def _aggregated(columns: list[Manifest]) -> Manifest:
    keys = keyed_table()["spec"]["schema"]["columns"]
    return keyed_table(spec__mergeEngine={"type": "Aggregation"}, spec__schema__columns=[*keys, *columns])


def _comments(dial: int) -> Manifest:
    return append_table(spec__schema__columns=_columns(500, comment="x" * dial))


def _snowmen(dial: int) -> Manifest:
    return append_table(spec__schema__columns=_columns(500, comment="☃" * dial))


def _types(dial: int) -> Manifest:
    return append_table(spec__schema__columns=_columns(300, type="INT" + " " * dial))


def _names(dial: int) -> Manifest:
    aggregate = {"function": "listagg", "delimiter": "☃" * 16, "distinct": False, "ignoreRetract": False}
    more = {"type": "STRING", "aggregate": aggregate, "comment": "x" * dial}
    return _aggregated([{"name": f"c{number:0>59}"} | more for number in range(490)])


def _renamed_and_dropped(dial: int) -> Manifest:
    columns = [each | {"renamedFrom": f"o{each['name']}"} for each in _columns(500, comment="x" * dial)]
    return append_table(
        spec__schema__columns=columns, spec__schema__droppedColumns=[f"d{number:0>254}" for number in range(200)]
    )


def _nested_keys(dial: int) -> Manifest:
    aggregate = {"function": "nested_update", "nestedKey": [f"k{n:0>{dial + 2}}" for n in range(16)], "countLimit": 9}
    return _aggregated(_columns(200, type="ARRAY<ROW<k INT>>", aggregate=aggregate))


def _groups(dial: int) -> Manifest:
    name = f"c{{:0>{dial + 3}}}"
    columns = [{"name": name.format(n), "type": "INT", "comment": "x" * 500} for n in range(136)]
    names = [column["name"] for column in columns]
    group = {"sequenceFields": names[:8], "columns": names[8:]}
    engine = {"type": "PartialUpdate", "partialUpdate": {"sequenceGroups": [group] * 12}}
    table = _aggregated(columns)
    table["spec"]["mergeEngine"] = engine
    return table


def _options(dial: int) -> Manifest:
    return append_table(spec__options={f"option.{n}": "☃" * dial for n in range(100)})


def _writes(dial: int) -> Manifest:
    write = keyed_table()["spec"]["writes"][0]
    many = [write | {"name": f"w{n}", "options": {f"o{k:0>40}": "v" * dial for k in range(100)}} for n in range(16)]
    return keyed_table(spec__writes=many)


def _partitions(dial: int) -> Manifest:
    entry = {f"{'k' * 40}{n}": "v" * dial for n in range(16)}
    return run(spec__compact__partitions=[entry] * 100)


def _partition_values(dial: int) -> Manifest:
    return run(spec__compact__partitions=[{f"k{n}": "☃" * dial for n in range(8)}] * 60)


SHAPES: Final[dict[str, Shape]] = {
    "comments": _comments, "comments in Unicode": _snowmen, "types": _types, "names with aggregates": _names,
    "renamed and dropped columns": _renamed_and_dropped, "nested keys": _nested_keys, "sequence groups": _groups,
    "options in Unicode": _options, "writes": _writes,
    "partitions": _partitions, "partitions in Unicode": _partition_values,
}  # fmt: skip


def size_of(manifest: Manifest) -> int:
    """Bytes of the spec as compact JSON in UTF-8."""
    return len(json.dumps(manifest["spec"], ensure_ascii=False, separators=(",", ":")).encode())


def of_size(shape: Shape, size: int) -> Manifest:
    """The smallest manifest of a shape whose spec has at least `size` bytes."""
    return shape(bisect_left(range(2048), size, key=lambda dial: size_of(shape(dial))))
