"""The Avro records of Paimon's manifests, by release of their writer."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import fastavro

Record = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A data file as a manifest describes it."""

    name: str
    day: str | None = "mon"
    bucket: int = 0
    level: int = 0
    size: int = 100
    rows: int = 10
    delete_rows: int | None = 0
    made: datetime | None = None
    """In the time zone of the writer's JVM."""
    extra: tuple[str, ...] = ()
    """Names of the files beside it that belong to it."""
    external: str | None = None
    """Where it lies, if not in its bucket."""
    schema: int = 0
    """Id of the schema that it was written with."""
    least: tuple[int | None, ...] = ()
    """The least value of each column that has statistics, as numbers of 8 bytes."""
    columns: tuple[str, ...] | None = None
    """The names of these columns. None: they are all of the schema."""


def data_file(name: str, **fields: Any) -> DataFile:
    """A file of 100 bytes and 10 rows in level 0 of bucket 0 of Monday. `fields` replace these."""
    return DataFile(name=name, **fields)


def _optional(type_: Any) -> list[Any]:
    return ["null", type_]


def _array(items: Any) -> Record:
    return {"type": "array", "items": items}


def _record(name: str, **fields: Any) -> Record:
    return {"type": "record", "name": name, "fields": [{"name": key, "type": type_} for key, type_ in fields.items()]}


_STATS = _record("record_STATS", _MIN_VALUES="bytes", _MAX_VALUES="bytes", _NULL_COUNTS=_optional("long"))
_VALUE_STATS = _record(
    "record_VALUE_STATS", _MIN_VALUES="bytes", _MAX_VALUES="bytes", _NULL_COUNTS=_optional(_array(_optional("long")))
)
_NO_STATS = {"_MIN_VALUES": b"", "_MAX_VALUES": b"", "_NULL_COUNTS": None}
_LIST = _record(
    "record",
    _VERSION="int",
    _FILE_NAME="string",
    _FILE_SIZE="long",
    _NUM_ADDED_FILES="long",
    _NUM_DELETED_FILES="long",
    _PARTITION_STATS=_STATS,
    _SCHEMA_ID="long",
)
_FILE = {
    "_FILE_NAME": "string",
    "_FILE_SIZE": "long",
    "_ROW_COUNT": "long",
    "_KEY_STATS": _STATS,
    "_VALUE_STATS": _VALUE_STATS,
    "_SCHEMA_ID": "long",
    "_LEVEL": "int",
    "_EXTRA_FILES": _array("string"),
    "_DELETE_ROW_COUNT": _optional("long"),
    "_CREATION_TIME": _optional({"type": "long", "logicalType": "timestamp-millis"}),
}
_RANGE = {"f0": "string", "f1": "int", "f2": "int"}
FORMATS: dict[str, tuple[Record, Record]] = {
    "0.9": (_FILE, _RANGE),
    "1.4": (
        _FILE
        | {
            "_VALUE_STATS_COLS": _optional(_array("string")),
            "_EXTERNAL_PATH": _optional("string"),
            "_WRITE_COLS": _optional(_array("string")),
        },
        _RANGE | {"_CARDINALITY": _optional("long")},
    ),
}
"""Release -> fields of a data file and of a deletion vector."""


def avro(form: Record, records: Iterable[Mapping[str, Any]], codec: str = "zstandard") -> bytes:
    """An Avro file."""
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(dict(form)), records, codec=codec)
    return out.getvalue()


def manifest_of(entries: Iterable[tuple[int, DataFile]], release: str, version: int = 2) -> bytes:
    """A manifest. An entry is 0 for a file that was added or 1 for one that was removed, and the file."""
    form = _record(
        "record",
        _VERSION="int",
        _KIND="int",
        _PARTITION="bytes",
        _BUCKET="int",
        _TOTAL_BUCKETS="int",
        _FILE=_record("record__FILE", **FORMATS[release][0]),
    )
    head = {"_VERSION": version, "_TOTAL_BUCKETS": 4}
    records = (
        head | {"_KIND": kind, "_PARTITION": binary_row(each.day), "_BUCKET": each.bucket, "_FILE": _of_file(each)}
        for kind, each in entries
    )
    return avro(form, records)


def manifest_list_of(manifests: Sequence[Mapping[str, Any]]) -> bytes:
    """A manifest list of records by `listed`."""
    return avro(_LIST, manifests)


def listed(name: str, content: bytes, entries: Sequence[tuple[int, DataFile]]) -> Record:
    """A manifest as its list describes it."""
    added = sum(kind == 0 for kind, _ in entries)
    counts = {"_NUM_ADDED_FILES": added, "_NUM_DELETED_FILES": len(entries) - added}
    head = {"_VERSION": 2, "_FILE_NAME": name, "_FILE_SIZE": len(content)}
    return head | counts | {"_PARTITION_STATS": _NO_STATS, "_SCHEMA_ID": 0}


def index_manifest_of(
    deleted: Mapping[str, int | None],
    release: str,
    *,
    version: int = 1,
    kind: int = 0,
    names: tuple[str, str] = ("index-vectors", "index-hash"),
) -> bytes:
    """The index manifest of a table with one file of deletion vectors and one of the index of a dynamic bucket."""
    form = _record(
        "record",
        _VERSION="int",
        _KIND="int",
        _PARTITION="bytes",
        _BUCKET="int",
        _INDEX_TYPE="string",
        _FILE_NAME="string",
        _DELETIONS_VECTORS_RANGES=_optional(_array(_record("range", **FORMATS[release][1]))),
    )
    head = {"_VERSION": version, "_KIND": kind, "_PARTITION": binary_row("mon"), "_BUCKET": 0}
    ranges = [{"f0": name, "f1": 0, "f2": 1, "_CARDINALITY": rows} for name, rows in deleted.items()]
    vectors = {"_INDEX_TYPE": "DELETION_VECTORS", "_FILE_NAME": names[0], "_DELETIONS_VECTORS_RANGES": ranges}
    hashes = {"_INDEX_TYPE": "HASH", "_FILE_NAME": names[1], "_DELETIONS_VECTORS_RANGES": None}
    return avro(form, [head | vectors, head | hashes])


def binary_row(*values: str | None) -> bytes:
    """A serialized BinaryRow of strings."""
    nulls = sum(1 << (8 + i) for i, value in enumerate(values) if value is None)
    head, fixed, rest = nulls.to_bytes((len(values) + 71) // 64 * 8, "little"), b"", b""
    for text in (value and value.encode() for value in values):
        if not text:
            fixed += bytes(7) + b"\x80" if text == b"" else bytes(8)
        elif len(text) < 8:
            fixed += text.ljust(7, b"\0") + bytes([0x80 | len(text)])
        else:
            fixed += struct.pack("<ii", len(text), len(head) + 8 * len(values) + len(rest))
            rest += text.ljust(-(-len(text) // 8) * 8, b"\0")
    return struct.pack(">i", len(values)) + head + fixed + rest


def number_row(values: Sequence[int | None]) -> bytes:
    """A serialized BinaryRow of numbers of up to 8 bytes, and of timestamps in milliseconds."""
    nulls = sum(1 << (8 + i) for i, value in enumerate(values) if value is None)
    fixed = b"".join(struct.pack("<q", value or 0) for value in values)
    return struct.pack(">i", len(values)) + nulls.to_bytes((len(values) + 71) // 64 * 8, "little") + fixed


def _of_file(file: DataFile) -> Record:
    least = number_row(file.least)
    return {
        "_FILE_NAME": file.name,
        "_FILE_SIZE": file.size,
        "_ROW_COUNT": file.rows,
        "_KEY_STATS": _NO_STATS,
        "_VALUE_STATS": {"_MIN_VALUES": least, "_MAX_VALUES": least, "_NULL_COUNTS": None},
        "_VALUE_STATS_COLS": file.columns and list(file.columns),
        "_SCHEMA_ID": file.schema,
        "_LEVEL": file.level,
        "_EXTRA_FILES": list(file.extra),
        "_DELETE_ROW_COUNT": file.delete_rows,
        "_CREATION_TIME": file.made and file.made.replace(tzinfo=UTC),
        "_EXTERNAL_PATH": file.external,
        "_WRITE_COLS": None,
    }
