"""Which file is the same as one that was loaded, although its location has another URI by now.

A location moves when its server gets another address: hdfs://namenode:8020 becomes hdfs://nameservice, s3 becomes s3a.
So a file is known by its URI without the address, and by its place: the location's name in the catalog, and the path
below the location. Size and version belong to both: a replaced file is new wherever it is.
"""

from __future__ import annotations

from typing import Final, Protocol
from urllib.parse import urlsplit

_S3: Final = frozenset({"s3", "s3a", "s3n"})
_WITHOUT_BUCKET: Final = frozenset({"hdfs", "viewfs", "webhdfs", "swebhdfs", "file", ""})
"""Schemes whose authority is only an address. That of an object store is the bucket."""

Identity = tuple[str, int, str]


class File(Protocol):
    """What identifies a version of a file."""

    @property
    def path(self) -> str:
        """Its URI."""

    @property
    def size(self) -> int:
        """Bytes."""

    @property
    def version(self) -> str:
        """Its ETag, or its modification time in milliseconds."""

    @property
    def place(self) -> str:
        """`place_of`; empty if it is not known."""


def identities(file: File) -> list[Identity]:
    """What a file is known by. Two files are the same when they share one of these."""
    known = [without_address(file.path), *([file.place] if file.place else [])]
    return [(each, file.size, file.version) for each in known]


def place_of(path: str, location: str, name: str) -> str:
    """`<location>:<path below it>`; empty for a location without a name, or a file outside it."""
    base, below = without_address(location).rstrip("/") + "/", without_address(path)
    return f"{name}:{below.removeprefix(base)}" if name and below.startswith(base) else ""


def without_address(uri: str) -> str:
    """The URI without what changes when a server gets another address: `hdfs:/landing/1.csv`, `s3://bucket/1.csv`."""
    parts = urlsplit(uri)
    rest = uri.partition(":")[2] if parts.scheme else uri
    path = rest.removeprefix("//" + parts.netloc) if rest.startswith("//") else rest
    if parts.scheme in _S3:
        return f"s3://{parts.netloc}{path}"
    return f"{parts.scheme}:{path}" if parts.scheme in _WITHOUT_BUCKET else f"{parts.scheme}://{parts.netloc}{path}"
