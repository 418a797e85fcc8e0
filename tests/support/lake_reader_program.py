"""Run by lake_reader in pypaimon's environment: `lake_reader_program.py WAREHOUSE DATABASE.TABLE...`; prints JSON."""

import datetime
import decimal
import json
import os
import sys

import fastavro

ABSENT_BEFORE_1_0 = {
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
"""Fields of a manifest entry that tables of Paimon 0.9 lack, with what they mean when absent."""

_read_avro = fastavro.reader


def _read_with_defaults(*args, **kwargs):
    for record in _read_avro(*args, **kwargs):
        if isinstance(record, dict) and isinstance(record.get("_FILE"), dict):
            record["_FILE"] = {**ABSENT_BEFORE_1_0, **record["_FILE"]}
        yield record


def _catalog_options(warehouse):
    options = {"warehouse": warehouse}
    if warehouse.startswith("s3://"):
        options["s3.endpoint"] = os.environ["AWS_ENDPOINT_URL"]
        options["s3.access-key"] = os.environ["AWS_ACCESS_KEY_ID"]
        options["s3.secret-key"] = os.environ["AWS_SECRET_ACCESS_KEY"]
        options["s3.region"] = os.environ.get("AWS_REGION", "us-east-1")
        options["s3.path.style.access"] = "true"
    return options


def _as_json(value):
    if isinstance(value, decimal.Decimal):
        return str(value)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(type(value))


def _rows(catalog, name):
    table = catalog.get_table(name)
    builder = table.new_read_builder()
    rows = builder.new_read().to_arrow(builder.new_scan().plan().splits()).to_pylist()
    return sorted(rows, key=lambda row: next(iter(row.values()))) if rows else []


def main():
    from pypaimon import CatalogFactory  # noqa: PLC0415  (after fastavro is patched)

    catalog = CatalogFactory.create(_catalog_options(sys.argv[1]))
    print(json.dumps([_rows(catalog, name) for name in sys.argv[2:]], default=_as_json))  # noqa: T201


fastavro.reader = _read_with_defaults
main()
