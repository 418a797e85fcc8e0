"""Names and places: a table's name in Paimon, and the normal form of a URI."""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.spec.table_head import NamedTable

_SAME_SCHEME: Final = {"s3a": "s3", "s3n": "s3"}
_DEFAULT_PORT: Final = {"hdfs": 8020}
"""Scheme -> default port. A URI with it and one without it mean the same server."""


def table_name(table: PaimonTable | NamedTable) -> str:
    """The table's name in Paimon: spec.table, or the object's name with `-` as `_`."""
    return table.spec.table or table.metadata.name.replace("-", "_")


def allowed_databases(catalog: PaimonCatalog) -> tuple[str, ...]:
    """Databases that the catalog's tables may use: those it lists, or the one with its namespace's name."""
    return catalog.spec.allowed_databases or (catalog.metadata.namespace,)


@lru_cache(maxsize=4096)
def normalised(uri: str) -> str:
    """The normal form of a URI: scheme and bucket or server in lower case, single slashes, none at the end."""
    parts = urlsplit(uri)
    scheme = _SAME_SCHEME.get(parts.scheme.lower(), parts.scheme.lower())
    server = parts.netloc.lower().removesuffix(f":{_DEFAULT_PORT.get(scheme, '')}")
    path = "/".join(segment for segment in parts.path.split("/") if segment not in ("", "."))
    return f"{scheme}://{server}/{path}"


def inside(uri: str, directory: str) -> bool:
    """Whether `uri` is `directory` or is below it."""
    return f"{normalised(uri)}/".startswith(f"{normalised(directory).rstrip('/')}/")
