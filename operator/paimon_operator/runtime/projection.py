"""The fields of an object that the cache keeps: those that decisions about other objects read.

A decision about an object reads the whole object, which `bodies` keeps as long as there is space. So of a table, whose
manifest may have 256 KiB, some hundred bytes always stay in memory. A reader of the cache that needs another field adds
it here, otherwise the field is absent for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from functools import lru_cache
from typing import Any, Final, Union

from paimon_operator.api.base import MAX_SPEC_BYTES
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.operation import Role
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.spec.size import packed
from paimon_operator.core.validation.catalog import STORAGE_MOVED


class Kept(Enum):
    """How much of a field is kept."""

    WHOLE = auto()
    FIRST = auto()
    """A list with at most its first entry, because only its emptiness is read."""
    PRESENCE = auto()
    """An empty object, because only whether the field is there is read."""


Fields = Mapping[str, Union["Fields", Kept]]
"""Field -> its kept fields. In a list they are those of each entry."""


def _whole(*names: str) -> dict[str, Kept]:
    return dict.fromkeys(names, Kept.WHOLE)


_IDENTITY: Final = _whole("name", "namespace", "uid", "resourceVersion")
_CATALOG: Final[Fields] = {
    "metadata": {**_IDENTITY, "deletionTimestamp": Kept.WHOLE, "annotations": _whole(STORAGE_MOVED)},
    "spec": Kept.WHOLE,  # every decision about a table reads it
    "status": _whole("place", "reachedAt"),
}
_RUN: Final[Fields] = {
    "metadata": {**_IDENTITY, "finalizers": Kept.FIRST, **_whole("creationTimestamp", "deletionTimestamp")},
    "spec": {"tableRef": _whole("name"), "ttlAfterFinished": Kept.WHOLE, "trigger": Kept.PRESENCE},
    "status": {**_whole("phase", "completionTime"), "attempts": _whole("pod", "state")},
}


@lru_cache(maxsize=2)
def _of_table(memories: tuple[str, ...], established: str) -> Fields:
    """`memories` are the fields of the status in which operations remember their runs.

    That of the operation which establishes the table is `established`.
    """
    memory: Fields = {"failure": _whole("reason", "time")}
    return {
        "metadata": {**_IDENTITY, **_whole("creationTimestamp", "deletionTimestamp")},
        "spec": {
            "catalogRef": _whole("name"),
            **_whole("database", "table", "externalWriters"),
            "bucket": _whole("type"),
            "schema": {"primaryKeys": Kept.FIRST},
        },
        "status": {
            "activeRun": _whole("name", "uid", "place", "blocked", "resultUnknown", "givesWay"),
            "followingRuns": _whole("name"),
            "queuedRun": _whole("since", "rank"),
            "usage": _whole("runs", "failed", "podSeconds", "maintenanceDay", "maintenancePodSeconds"),
            "ownership": _whole("place", "since", "lostAt"),
            "outsideWriters": {"stated": Kept.WHOLE, "commit": Kept.PRESENCE},
            **dict.fromkeys(memories, memory),
            established: {**_whole("lastTime", "foundAt"), **memory},
        },
    }


def kept_fields(kind: Kind) -> Fields:
    """The kept fields of a cached kind."""
    match kind:
        case Kind.TABLE:
            established = registry.OPERATIONS.with_role(Role.ESTABLISHES_TABLE).memory or ""
            return _of_table(registry.OPERATIONS.memories, established)
        case Kind.CATALOG:
            return _CATALOG
        case _:
            return _RUN


def projected(kind: Kind, body: Manifest) -> dict[str, Any]:
    """`body` with the kept fields only. A catalog whose spec is larger than `MAX_SPEC_BYTES` has none of it."""
    kept: dict[str, Any] = _kept(body, kept_fields(kind))
    if kind is Kind.CATALOG and len(packed(kept.get("spec"))) > MAX_SPEC_BYTES:
        kept["spec"] = {}
    return kept


def _kept(value: Any, fields: Fields | Kept) -> Any:
    """The kept part of `value`. Of a value that does not fit its model nothing is kept."""
    if fields is Kept.WHOLE:
        return value
    if fields is Kept.PRESENCE:
        return {}
    if isinstance(value, list):
        return value[:1] if fields is Kept.FIRST else [_kept(each, fields) for each in value]
    if isinstance(value, Mapping) and isinstance(fields, Mapping):
        return {name: _kept(value[name], inner) for name, inner in fields.items() if name in value}
    return None
