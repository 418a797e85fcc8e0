"""The CEL rule for the size of a PaimonTable's spec: the API server refuses what exceeds `MAX_SPEC_BYTES`."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.base import not_larger
from paimon_operator.api.table.rule_terms import GROUPS


def _keys(list_: str) -> str:
    """Bytes of a list of names, which are ASCII."""
    return f"{list_}.map(k, k.size() + 3).sum()"


def _options(map_: str) -> str:
    """Bytes of a map of options; 0 if it is absent."""
    return f"(has({map_}) ? {map_}.map(k, bytes(k).size() + bytes({map_}[k]).size() + 6).sum() : 0)"


_AGGREGATE_BYTES: Final = (
    "(has(c.aggregate) ? 220 + (has(c.aggregate.nestedKey) ? " + _keys("c.aggregate.nestedKey") + " : 0) : 0)"
)
_COLUMN_BYTES: Final = (
    "48 + c.name.size() + c.type.size() + (has(c.comment) ? bytes(c.comment).size() : 0)"
    " + (has(c.renamedFrom) ? c.renamedFrom.size() + 18 : 0)"
    " + (has(c.defaultValue) ? 20 + bytes(c.defaultValue).size() : 0) + " + _AGGREGATE_BYTES
)
_GROUP_BYTES: Final = f"48 + {_keys('g.columns')} + {_keys('g.sequenceFields')}"
_WRITE_BYTES: Final = "512 + (has(w.from.files.path) ? bytes(w.from.files.path).size() : 0) + " + _options("w.options")

FEW_COLUMNS: Final = 12
"""So many of the largest columns are small enough, with all the dropped columns and writes that a spec may have."""
_SMALL: Final = (
    f"(self.schema.columns.size() <= {FEW_COLUMNS} && !has(self.options) && !{GROUPS}"
    " && (!has(self.writes) || self.writes.all(w, !has(w.options))))"
)
"""Whether the spec has few columns, no options and no sequence groups. This reads no column, and holds for most."""

SIZE_RULES: Final = [
    not_larger(
        f"self.schema.columns.map(c, {_COLUMN_BYTES}).sum()"
        f" + (has(self.schema.droppedColumns) ? {_keys('self.schema.droppedColumns')} : 0)"
        f" + ({GROUPS}"
        f" ? self.mergeEngine.partialUpdate.sequenceGroups.map(g, {_GROUP_BYTES}).sum() : 0)"
        f" + {_options('self.options')}"
        f" + (has(self.writes) ? self.writes.map(w, {_WRITE_BYTES}).sum() : 0)",
        "shorten comments, types and options, or split the table",
        unless=_SMALL,
    )
]
