"""The description of a catalog's tables: what a driver prints to its log, and the export makes manifests of.

A log can mix the lines of two streams, drops what is older than its last 10 MiB and has no bound on a table's schema.
So the document is compressed, and each of its lines says what it is and how many there are.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from paimon_contract.documents import VERSION, Document, DocumentError, read, to_json, to_text

LINE_LENGTH: Final = 8000
"""Characters of the document in one line: a container runtime splits lines of 16 KiB."""
MAX_BYTES: Final = 2**30
"""Of the whole document. A log is not trusted, and must not fill the memory."""
_LINE: Final = re.compile(r"paimon-description ([0-9]{1,6})/([0-9]{1,6}) ([A-Za-z0-9+/=]+)")


@dataclass(frozen=True, kw_only=True)
class DescribedTable(Document):
    """A table. `schema` is the text of its latest schema file, or `problem` says why there is none."""

    database: str
    name: str
    schema: str | None = None
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class Description(Document):
    """All tables of a catalog. `catalog` is its PaimonCatalog as JSON text, without status; `engine` an engine's id."""

    version: int = VERSION
    catalog: str
    engine: str
    tables: tuple[DescribedTable, ...] = ()


def description_lines(description: Description) -> Iterator[str]:
    """The description as lines for a log, without line ends."""
    packed = base64.b64encode(zlib.compress(to_text(to_json(description)).encode(), 9)).decode()
    parts = [packed[start : start + LINE_LENGTH] for start in range(0, len(packed), LINE_LENGTH)]
    yield from (f"paimon-description {number}/{len(parts)} {part}" for number, part in enumerate(parts, 1))


def read_description(lines: Iterable[str]) -> Description:
    """The description in the lines of a log, among other lines. Raises DocumentError unless it is there as a whole."""
    found = [match for line in lines if (match := _LINE.search(line.strip()))]
    parts = {int(match[1]): match[3] for match in found}
    totals = {int(match[2]) for match in found}
    if not found:
        raise DocumentError("there is no description: the log of a run of type Describe has one when the run succeeded")
    if len(totals) != 1 or sorted(parts) != list(range(1, totals.pop() + 1)):
        raise DocumentError(f"the description is not complete: {len(parts)} of {found[0][2]} lines are there")
    return read(Description, _document("".join(parts[number] for number in sorted(parts))), "description")


def _document(packed: str) -> object:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(base64.b64decode(packed, validate=True), MAX_BYTES)
        if not unpacking.eof:
            raise DocumentError("the description is cut, or larger than 1 GiB")
        return json.loads(text)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise DocumentError(f"the description cannot be read: {error}") from error
