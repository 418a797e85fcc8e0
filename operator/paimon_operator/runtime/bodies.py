"""Whole objects as last delivered, compressed and bounded: what a reconcile reads without a request.

The bounds are of memory alone. An object that is not kept is read live.
"""

from __future__ import annotations

import json
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from paimon_operator.api.base import MAX_SPEC_BYTES
from paimon_operator.core.ports import Manifest
from paimon_operator.core.spec.size import packed
from paimon_operator.runtime.keys import Key

LARGEST: Final = 16 * 1024
"""Bytes of the largest object that is kept. A small table takes a KiB or two, one of 500 columns about six."""
LIMIT: Final = 48 * 1024 * 1024
"""Bytes of all kept objects. Those that were not used for the longest time go first."""
LIMIT_OF_PODS: Final = 16 * 1024 * 1024
"""Bytes of all kept Pods. Every past run has one, and a list of them all must not displace a table."""
_FASTEST: Final = 1
_NOT_READ: Final = "managedFields"
"""The part of the metadata that no decision reads, often larger than the rest."""


@dataclass(frozen=True, slots=True)
class _Body:
    version: int
    document: bytes


def compressed(body: Manifest) -> bytes | None:
    """The object as it is kept; None for one that is too large, or whose spec is larger than the API allows."""
    metadata = {name: value for name, value in body["metadata"].items() if name != _NOT_READ}
    whole = packed({**body, "metadata": metadata})
    if len(whole) > MAX_SPEC_BYTES and len(packed(body.get("spec"))) > MAX_SPEC_BYTES:
        return None
    document = zlib.compress(whole, _FASTEST)
    return document if len(document) <= LARGEST else None


class Bodies:
    """The kept objects. A newer version replaces an older one, never the other way round."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit, self._size = limit, 0
        self._kept: OrderedDict[Key, _Body] = OrderedDict()

    @property
    def size(self) -> int:
        """Bytes of all kept objects."""
        return self._size

    def put(self, key: Key, version: int, document: bytes | None) -> None:
        """Keeps a version of the object. With None, which is too large, its older version is forgotten."""
        known = self._kept.get(key)
        if known is not None and known.version > version:
            return
        self.drop(key)
        if document is None:
            return
        self._kept[key] = _Body(version, document)
        self._size += len(document)
        while self._size > self._limit:
            self.drop(next(iter(self._kept)))

    def drop(self, key: Key) -> None:
        """Forgets the object."""
        known = self._kept.pop(key, None)
        if known is not None:
            self._size -= len(known.document)

    def get(self, key: Key) -> Manifest | None:
        """The object as last delivered; None if it is not kept, which does not mean that there is none."""
        known = self._kept.get(key)
        if known is None:
            return None
        self._kept.move_to_end(key)
        body: dict[str, Any] = json.loads(zlib.decompress(known.document))
        return body

    def version(self, key: Key) -> int | None:
        """The kept version."""
        known = self._kept.get(key)
        return None if known is None else known.version
