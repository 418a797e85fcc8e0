"""Schema files of tables, as Paimon writes them."""

from __future__ import annotations

import json
from typing import Any

KEYED: dict[str, Any] = {"fields": [("id", "BIGINT NOT NULL"), ("v", "STRING")], "keys": ["id"]}
APPEND: dict[str, Any] = {"fields": [("at", "TIMESTAMP(6)"), ("v", "STRING")]}


def schema_file(fields: list[tuple[str, Any]], keys: list[str] | None = None, **more: Any) -> str:
    """The text of a schema file. `more`: partitions, options, comment, or column -> members of its field."""
    document = {
        "version": 3,
        "id": 4,
        "fields": [{"id": n, "name": name, "type": type_} for n, (name, type_) in enumerate(fields)],
        "partitionKeys": more.pop("partitions", []),
        "primaryKeys": keys or [],
        "options": more.pop("options", {}),
        "comment": more.pop("comment", None),
        "timeMillis": 1,
    }
    for name, extra in more.items():
        next(field for field in document["fields"] if field["name"] == name).update(extra)
    return json.dumps(document)
