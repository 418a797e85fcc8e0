"""The program of lake_reader in pypaimon's environment: a JSON request per line of input, an answer per line."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

import fastavro

Row = dict[str, Any]
ABSENT_BEFORE_1_0: Row = {
    "_VALUE_STATS_COLS": None,
    "_EXTERNAL_PATH": None,
    "_FIRST_ROW_ID": None,
    "_WRITE_COLS": None,
    "_EMBEDDED_FILE_INDEX": None,
    "_DELETE_ROW_COUNT": None,
    "_FILE_SOURCE": None,
    "_CREATION_TIME": None,
    "_EXTRA_FILES": [],
}
"""Fields of a manifest entry that tables of Paimon 0.9 lack, with their defaults."""

_read_avro = fastavro.reader


def _read_with_defaults(*args: Any, **kwargs: Any) -> Iterator[Any]:
    for record in _read_avro(*args, **kwargs):
        if isinstance(record, dict) and isinstance(record.get("_FILE"), dict):
            record["_FILE"] = {**ABSENT_BEFORE_1_0, **record["_FILE"]}
        yield record


def _as_json(value: object) -> str:
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(type(value))


def _rows(catalog: Any, name: str) -> list[Row]:
    name, _, place = name.partition("@")
    table = catalog.get_table(name)
    if place:
        table = table.copy(dict([place.split("=")]))
    builder = table.new_read_builder()
    rows = builder.new_read().to_arrow(builder.new_scan().plan().splits()).to_pylist()
    return sorted(rows, key=_first_value)


def _first_value(row: Row) -> tuple[bool, Any]:
    value = next(iter(row.values()))
    if isinstance(value, (dict, list)):
        value = json.dumps(value, default=_as_json, sort_keys=True)
    return (True, 0) if value is None else (False, value)


def _answer(request: Mapping[str, Any]) -> dict[str, Any]:
    from pypaimon import CatalogFactory  # noqa: PLC0415  (after fastavro is patched)

    try:
        catalog = CatalogFactory.create(request["catalog"])
        return {"rows": [_rows(catalog, name) for name in request["tables"]]}
    except Exception:  # noqa: BLE001  (the calling process raises it)
        return {"error": traceback.format_exc()}


vars(fastavro)["reader"] = _read_with_defaults
answers = os.fdopen(os.dup(1), "w")  # a library's output must not mix with the answers
os.dup2(2, 1)
for line in sys.stdin:
    answers.write(json.dumps(_answer(json.loads(line)), default=_as_json) + "\n")
    answers.flush()
