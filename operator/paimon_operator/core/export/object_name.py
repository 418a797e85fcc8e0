"""The name of the PaimonTable of an existing table: the same at each export, and another one for each table."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from paimon_operator.core.validation.table_shape import MAX_NAME

_PLAIN: Final = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")
"""Names that keep their meaning with `-` for `_`."""
_DIGEST_LENGTH: Final = 8


def object_name(database: str, table: str, namespace: str) -> str:
    """`orders` for a table of the database with the namespace's name, `sales--orders` for one of another database.

    A name that is too long, or that dashes would change, ends with a digest: `orders-v2---5f2b8d1c`. The dashes keep
    the three forms apart.
    """
    parts = [table] if database == namespace else [database, table]
    name = "--".join(part.replace("_", "-") for part in parts)
    if all(_PLAIN.fullmatch(part) for part in parts) and len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(f"{database}.{table}".encode()).hexdigest()[:_DIGEST_LENGTH]
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[: MAX_NAME - _DIGEST_LENGTH - 3].strip("-")
    return f"{readable or 'table'}---{digest}"
