"""What a manifest says of a kind of table, without its maintenance: columns, keys, buckets, and how rows merge."""

from __future__ import annotations

from typing import Any, Final

from tests.support.schedules.kinds import AGGREGATION, APPEND, DEDUPLICATE, DYNAMIC, PARTIAL_UPDATE, TableKind

_ENGINES: Final = {
    DEDUPLICATE: "Deduplicate",
    PARTIAL_UPDATE: "PartialUpdate",
    AGGREGATION: "Aggregation",
    "first-row": "FirstRow",
}
_PRODUCERS: Final = {"none": "None", "input": "Input", "lookup": "Lookup", "full-compaction": "FullCompaction"}
_FUNCTIONS: Final = {"seq": "max", "a": "sum", "b": "max"}
"""Column -> its aggregate function."""


def base_spec(kind: TableKind) -> dict[str, Any]:
    """The blocks of the spec that the kind decides."""
    found = {"schema": _schema(kind), "bucket": _bucket(kind)}
    if kind.engine == APPEND:
        return found
    found |= {
        "mergeEngine": {"type": _ENGINES[kind.engine]},
        "changelogProducer": {"type": _PRODUCERS[kind.producer]},
    }
    if kind.engine in (DEDUPLICATE, PARTIAL_UPDATE):
        found["sequence"] = {"fields": ["seq"]}
    return found | ({"deletionVectors": {"enabled": True}} if kind.vectors else {})


def _schema(kind: TableKind) -> dict[str, Any]:
    keys = {"primaryKeys": list(kind.keys)} if kind.has_key else {}
    columns = [_column(kind, name) for name in ("p", "k", "seq", "a", "b")]
    return {"columns": columns, **keys, **({"partitionKeys": ["p"]} if kind.partitioned else {})}


def _column(kind: TableKind, name: str) -> dict[str, Any]:
    is_time = kind.expiring and name == "a"
    is_merged = kind.engine == AGGREGATION and name in _FUNCTIONS
    merged = {"aggregate": {"function": _FUNCTIONS[name]}} if is_merged else {}
    return {"name": name, "type": "INT NOT NULL" if is_time else "INT", **merged}


def _bucket(kind: TableKind) -> dict[str, Any]:
    if kind.buckets == DYNAMIC:
        return {"type": "Dynamic" if kind.has_key else "Unaware"}
    keys = {} if kind.has_key else {"keys": ["k"]}
    return {"type": "Fixed", "fixed": {"count": kind.buckets, **keys}}
