"""Valid manifests as new documents that a test may edit."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Manifest = dict[str, Any]

REMOVED = object()
"""Value of an edit that removes the field."""

API_VERSION = "paimon-operator.dev/v1alpha1"


def keyed_table(**edits: object) -> Manifest:
    """A table with a primary key, partitions and one scheduled write."""
    columns = [
        {"name": "order_id", "type": "BIGINT"},
        {"name": "dt", "type": "STRING"},
        {"name": "state", "type": "STRING"},
        {"name": "amount", "type": "DECIMAL(12,2)"},
        {"name": "tags", "type": "ARRAY<STRING>"},
        {"name": "updated_at", "type": "TIMESTAMP(6)"},
    ]
    write = {
        "name": "import",
        "from": {"files": {"location": "landing", "path": "orders/", "format": "parquet", "select": "New"}},
        "mode": "Upsert",
        "trigger": {"type": "Schedule", "schedule": "*/15 * * * *"},
    }
    spec = {
        "catalogRef": {"name": "lake"},
        "database": "shop",
        "schema": {"columns": columns, "primaryKeys": ["dt", "order_id"], "partitionKeys": ["dt"]},
        "writes": [write],
    }
    return edited(_document("PaimonTable", "orders", spec), **edits)


def append_table(**edits: object) -> Manifest:
    """The smallest table without keys."""
    columns = [{"name": "at", "type": "TIMESTAMP_LTZ(6)"}, {"name": "page", "type": "STRING"}]
    spec = {"catalogRef": {"name": "lake"}, "database": "shop", "schema": {"columns": columns}}
    return edited(_document("PaimonTable", "clicks", spec), **edits)


def once() -> Manifest:
    """A write that loads one folder once."""
    return {
        "name": "first",
        "from": {"files": {"location": "landing", "path": "orders/", "format": "json", "select": "All"}},
        "mode": "Upsert",
        "trigger": {"type": "Once"},
    }


def catalog(**edits: object) -> Manifest:
    """A catalog on S3 with one location."""
    s3 = {
        "endpoint": "http://s3.example:7070",
        "region": "us-east-1",
        "pathStyleAccess": True,
        "credentialsSecretRef": {"name": "lake-s3"},
    }
    spec = {
        "warehouse": "s3://lake/warehouse",
        "metastore": {"type": "Filesystem"},
        "storage": {"s3": s3},
        "locations": [{"name": "landing", "uri": "s3://landing/"}],
    }
    return edited(_document("PaimonCatalog", "lake", spec), **edits)


def run(**edits: object) -> Manifest:
    """A full compaction that a user requests."""
    spec = {"tableRef": {"name": "orders"}, "type": "Compact", "compact": {"strategy": "Full"}}
    return edited(_document("PaimonRun", "orders-compact-by-hand", spec), **edits)


def edited(manifest: Manifest, **edits: object) -> Manifest:
    """A copy with edits: `spec__schema__columns__0__name="x"` sets one field, REMOVED removes one."""
    copy = deepcopy(manifest)
    for path, value in edits.items():
        *parents, last = [int(step) if step.isdigit() else step for step in path.split("__")]
        node: Any = copy
        for step in parents:
            node = node[step] if isinstance(step, int) else node.setdefault(step, {})
        if value is REMOVED:
            del node[last]
        elif isinstance(node, list) and last == len(node):
            node.append(value)
        else:
            node[last] = value
    return copy


def _document(kind: str, name: str, spec: Manifest) -> Manifest:
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop"},
        "spec": spec,
    }
