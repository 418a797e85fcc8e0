"""Edits that the API server refuses because a field must not change, and edits of the same fields that it admits."""

# ruff: noqa: E501  (a table: one edit per line)

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.support.manifests import Manifest, catalog, keyed_table, run

JDBC = {"type": "Jdbc", "jdbc": {"uri": "jdbc:postgresql://db:5432/paimon", "credentialsSecretRef": {"name": "db"}}}
HIVE = {"type": "Hive", "hive": {"uri": "thrift://hms:9083"}}
ON_A_CLAIM: dict[str, Any] = {
    "spec__storage": {"claim": {"name": "disk"}}, "spec__warehouse": "file:///data/lake", "spec__locations": []
}  # fmt: skip
_GROUP = [{"sequenceFields": ["updated_at"], "columns": ["state"]}]


@dataclass(frozen=True)
class RefusedEdit:
    """An edit of one field."""

    manifest: Manifest
    edit: dict[str, Any]
    """As keyword arguments of `manifests.edited`."""
    field: str
    contains: str = ""
    """Part of the message."""


IDENTITY = [
    RefusedEdit(keyed_table(spec__table="orders"), {"spec__catalogRef__name": "other"}, "spec.catalogRef"),
    RefusedEdit(keyed_table(spec__table="orders"), {"spec__database": "other"}, "spec.database"),
    RefusedEdit(keyed_table(spec__table="orders"), {"spec__table": "other"}, "spec.table"),
    RefusedEdit(keyed_table(), {"spec__table": "orders"}, "spec.table"),
    RefusedEdit(catalog(), {"spec__warehouse": "s3://lake/other"}, "spec.warehouse"),
    RefusedEdit(catalog(), {"spec__metastore": JDBC}, "spec.metastore"),
    RefusedEdit(catalog(spec__metastore=JDBC), {"spec__metastore__jdbc__uri": "jdbc:postgresql://other/paimon"}, "spec.metastore"),
    RefusedEdit(catalog(spec__metastore=JDBC), {"spec__metastore": {"type": "Filesystem"}}, "spec.metastore"),
    RefusedEdit(catalog(spec__metastore=HIVE), {"spec__metastore__hive__uri": "thrift://other:9083"}, "spec.metastore"),
    RefusedEdit(catalog(spec__metastore=HIVE), {"spec__metastore": JDBC}, "spec.metastore"),
    RefusedEdit(catalog(**ON_A_CLAIM), {"spec__storage__claim__name": "other"}, "spec.storage.claim"),
    RefusedEdit(run(), {"spec__compact__strategy": "Minor"}, "spec"),
    RefusedEdit(run(), {"spec__backoffLimit": 3}, "spec"),
]  # fmt: skip
"""What an object is."""


def _merging(type_: str, **settings: Any) -> RefusedEdit:
    """Settings of a merge engine that a table without them must not get."""
    member = type_[:1].lower() + type_[1:]
    named = f"mergeEngine.{member}." + next(name for name in reversed(settings))
    engine = {"type": type_}
    before, edit = keyed_table(spec__mergeEngine=engine), {"spec__mergeEngine": engine | {member: settings}}
    return RefusedEdit(before, edit, "spec.mergeEngine", f"{named} must not")


ONCE_THE_TABLE_EXISTS = [
    RefusedEdit(keyed_table(), {"spec__schema__primaryKeys": ["dt", "state"]}, "spec.schema.primaryKeys"),
    RefusedEdit(keyed_table(), {"spec__schema__primaryKeys": ["order_id", "dt"]}, "spec.schema.primaryKeys"),
    RefusedEdit(keyed_table(), {"spec__schema__partitionKeys": ["order_id"]}, "spec.schema.partitionKeys"),
    RefusedEdit(keyed_table(), {"spec__mergeEngine": {"type": "FirstRow"}}, "spec.mergeEngine", "mergeEngine.type must not"),
    RefusedEdit(keyed_table(), {"spec__sequence": {"fields": ["updated_at"]}}, "spec.sequence"),
    RefusedEdit(keyed_table(), {"spec__schema__partitionDefaultName": "none"}, "spec.schema.partitionDefaultName"),
    RefusedEdit(keyed_table(), {"spec__deletionVectors": {"enabled": True}}, "spec.deletionVectors.enabled"),
    RefusedEdit(keyed_table(), {"spec__mergeEngine": {"type": "Deduplicate", "rowKindField": "state"}}, "spec.mergeEngine", "mergeEngine.rowKindField must not"),
    _merging("PartialUpdate", removeRecordOnDelete=True),
    _merging("Aggregation", removeRecordOnDelete=True),
    _merging("PartialUpdate", sequenceGroups=_GROUP, removeRecordOnSequenceGroup=["updated_at"]),
]  # fmt: skip
"""What old files depend on. Before that, users can correct it."""

DEFAULTS_WRITTEN_OUT: list[dict[str, Any]] = [
    {"spec__mergeEngine": {"type": "Deduplicate"}},
    {"spec__deletionVectors": {"enabled": False}},
    {"spec__schema__partitionDefaultName": "__DEFAULT_PARTITION__"},
]
"""Edits of keyed_table() that change nothing."""
