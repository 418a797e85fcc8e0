"""What the messages of the rules advise: manifests that the API server and reconcile admit.

A rule that also refused its own remedy would leave nothing to do.
"""

# ruff: noqa: E501  (a table: one remedy per line)

from __future__ import annotations

from typing import Final

from tests.support.manifests import Manifest, keyed_table

_DEDICATED: Final = {"mode": "Dedicated", "full": {"schedule": "0 3 * * *"}}
_GROUP: Final = {"sequenceFields": ["updated_at"], "columns": ["state", "amount"]}
_MAX: Final[dict[str, object]] = {"spec__schema__columns__3__aggregate": {"function": "max"}}


def _merging(type_: str, *, edits: dict[str, object] | None = None, **engine: object) -> Manifest:
    return keyed_table(spec__mergeEngine={"type": type_, **engine}, **(edits or {}))


def _changelog(type_: str, compaction: object, **producer: object) -> Manifest:
    return keyed_table(spec__changelogProducer={"type": type_, **producer}, spec__compaction=compaction)


REMEDIES: Final[dict[str, Manifest]] = {
    "deletion vectors that are not enabled, under FirstRow": _merging("FirstRow", edits={"spec__deletionVectors": {"enabled": False}}),
    "deletion vectors that are not enabled, with FullCompaction": keyed_table(spec__changelogProducer={"type": "FullCompaction"}, spec__deletionVectors={"enabled": False}),
    "row kinds under PartialUpdate that ignores deletes": _merging("PartialUpdate", rowKindField="state", ignoreDelete=True),
    "row kinds under PartialUpdate with sequence groups": _merging("PartialUpdate", rowKindField="state", partialUpdate={"sequenceGroups": [_GROUP | {"columns": ["amount"]}]}),
    "row kinds beside a sum, which retracts": _merging("Aggregation", rowKindField="state", edits={"spec__schema__columns__3__aggregate": {"function": "sum"}}),
    "row kinds beside a maximum, where deletes are ignored": _merging("Aggregation", rowKindField="state", ignoreDelete=True, edits=_MAX),
    "row kinds beside a maximum, where deletes remove the row": _merging("Aggregation", rowKindField="state", aggregation={"removeRecordOnDelete": True}, edits=_MAX),
    "sequence groups where deletes are ignored": _merging("PartialUpdate", ignoreDelete=True, partialUpdate={"sequenceGroups": [_GROUP]}),
    "a maximum that ignores retracts, where deletes do not remove the row": _merging("Aggregation", aggregation={"removeRecordOnDelete": False}, edits={"spec__schema__columns__3__aggregate": {"function": "max", "ignoreRetract": True}}),
    "a changelog by scheduled full compactions": _changelog("FullCompaction", _DEDICATED, fullCompaction={}),
    "a changelog by full compactions of the writers": _changelog("FullCompaction", {"mode": "Inline"}, fullCompaction={"deltaCommits": 5}),
    "a changelog by lookup, where the operator compacts": _changelog("Lookup", _DEDICATED),
}  # fmt: skip
"""What it is -> a table."""
