"""Records of Avro files, of which only the named fields are decoded.

The names of the record types differ by writer, so the reader's schema is the writer's own without the other fields.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, cast

from spark_apps.metadata.base import UnreadableError

Fields = tuple["str | tuple[str, Fields]", ...]
"""Names of fields; of a record inside a record, its name and the fields of it."""
Record = dict[str, Any]
_SCHEMAS: Final = 64
"""Writer's schemas that are kept. One engine has one for each kind of file."""


def records(content: bytes, fields: Fields, path: str, required: Iterable[str]) -> Iterator[Record]:
    """The records of a file with those of `fields` that its writer knew. Raises UnreadableError.

    Also where the writer did not know a field of `required`.
    """
    import fastavro  # noqa: PLC0415  (it takes long to import, and most drivers read no manifest)

    try:
        schema = _projection(fastavro.reader(io.BytesIO(content)).metadata["avro.schema"], fields)
        _require(schema, required)
        for record in fastavro.reader(io.BytesIO(content), reader_schema=schema):
            yield cast("Record", record)
    except Exception as error:  # (fastavro raises whatever the bytes lead to)
        raise UnreadableError(f"{path} is no Avro file that can be read: {type(error).__name__}: {error}") from error


def _require(schema: Record, names: Iterable[str]) -> None:
    missing = set(names) - {field["name"] for field in schema["fields"]}
    if missing:
        raise ValueError(f"it has no field {min(missing)}")


@lru_cache(_SCHEMAS)
def _projection(text: str, fields: Fields) -> Record:
    import fastavro  # noqa: PLC0415

    return cast("Record", fastavro.parse_schema(_without_others(json.loads(text), fields)))


def _without_others(schema: Record, fields: Fields) -> Record:
    wanted = dict((field, None) if isinstance(field, str) else field for field in fields)
    kept = [field for field in schema["fields"] if field["name"] in wanted]
    inner = (
        field if (of := wanted[field["name"]]) is None else field | {"type": _without_others(field["type"], of)}
        for field in kept
    )
    return schema | {"fields": list(inner)}
