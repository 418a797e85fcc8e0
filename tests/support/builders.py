"""Builders of valid objects: a test passes only the fields that it is about.

`..._manifest` is JSON as a user applies it. The other builders return parsed models with the metadata of an API server.
Keyword arguments are fields of the spec in the spelling of the manifest (`mergeEngine`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from paimon_engines.engine import Engine
from paimon_engines.loader import load_engines
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Phase
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.catalog.plan import CatalogObserved, TablesFound
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.naming import FINALIZER, owner_reference, run_labels
from paimon_operator.core.spec.context import TableContext

Json = dict[str, Any]

NAMESPACE = "shop"
CREATED = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
"""Creation time of the builders' objects."""
NOW = datetime(2026, 11, 21, 8, 10, tzinfo=UTC)
"""A Saturday morning; the usual `now` of decisions."""

ORDERS: Json = {
    "columns": [
        {"name": "order_id", "type": "BIGINT"},
        {"name": "amount", "type": "DECIMAL(12,2)"},
        {"name": "note", "type": "STRING"},
    ],
    "primaryKeys": ["order_id"],
}
"""A keyed table of three columns."""
EVENTS: Json = {"columns": [{"name": "at", "type": "TIMESTAMP(6)"}, {"name": "what", "type": "STRING"}]}
"""A table without keys."""


def engines() -> Mapping[str, Engine]:
    """The engines of this release, from its generated data."""
    return load_engines()


def operator_facts(**changes: Any) -> OperatorFacts:
    """An operator with all engines, the newest as default. It starts no run to look for drift."""
    facts: Json = {"engines": engines(), "default_engine": "paimon-1.4", "cluster_id": "kube-system-uid"}
    facts["observe_interval"] = None
    return OperatorFacts(**facts | changes)


def catalog_manifest(name: str = "lake", namespace: str = NAMESPACE, **spec: Any) -> Json:
    """A catalog on S3 with one location, `landing`."""
    s3 = {
        "endpoint": "http://s3.storage:7070",
        "region": "us-east-1",
        "pathStyleAccess": True,
        "credentialsSecretRef": {"name": "lake-s3"},
    }
    usual: Json = {
        "warehouse": "s3://lake/warehouse",
        "metastore": {"type": "Filesystem"},
        "storage": {"s3": s3},
        "locations": [{"name": "landing", "uri": "s3://landing/"}],
    }
    return _manifest("PaimonCatalog", name, namespace, usual | spec)


def table_manifest(name: str = "orders", namespace: str = NAMESPACE, **spec: Any) -> Json:
    """The keyed table ORDERS in catalog `lake`, database `shop`. A spec field given as None is left out."""
    usual: Json = {"catalogRef": {"name": "lake"}, "database": "shop", "schema": ORDERS}
    return _manifest("PaimonTable", name, namespace, usual | spec)


def run_manifest(name: str, *, table: str = "orders", namespace: str = NAMESPACE, **spec: Any) -> Json:
    """A full compaction of `table` that a user requests."""
    usual: Json = {"tableRef": {"name": table}, "type": "Compact", "compact": {"strategy": "Full"}}
    return _manifest("PaimonRun", name, namespace, usual | spec)


def catalog(name: str = "lake", namespace: str = NAMESPACE, *, generation: int = 1, **spec: Any) -> PaimonCatalog:
    """A catalog as the API server stores it."""
    return PaimonCatalog.model_validate(_stored(catalog_manifest(name, namespace, **spec), generation))


def catalog_observed(tables: Iterable[Json]) -> CatalogObserved:
    """What these tables, as plain JSON, tell about their catalog."""
    found = TablesFound()
    for each in tables:
        found.add(each)
    return found.observed()


def table(
    name: str = "orders",
    namespace: str = NAMESPACE,
    *,
    generation: int = 1,
    metadata: Mapping[str, Any] | None = None,
    status: TableStatus | None = None,
    **spec: Any,
) -> PaimonTable:
    """A table as the API server stores it, with our finalizer; `metadata` adds to or replaces parts of its metadata."""
    guarded = {"finalizers": [FINALIZER], **(metadata or {})}
    stored = _stored(table_manifest(name, namespace, **spec), generation, **guarded)
    parsed = PaimonTable.model_validate(stored)
    return parsed if status is None else parsed.model_copy(update={"status": status})


def context(table: PaimonTable, catalog_: PaimonCatalog | None = None) -> TableContext:
    """The context at NOW of `table` in `catalog_` (default: the usual catalog)."""
    return TableContext.build(table, catalog_ or catalog(), operator_facts(), NOW)


def write(name: str = "import", *, mode: str = "Upsert", schedule: str | None = "*/15 * * * *", **files: Any) -> Json:
    """One entry of spec.writes: parquet files from `landing/orders/`; Once when `schedule` is None."""
    source = {"location": "landing", "path": "orders/", "format": "parquet", "select": "New"} | files
    trigger = {"type": "Schedule", "schedule": schedule} if schedule else {"type": "Once"}
    return {"name": name, "from": {"files": source}, "mode": mode, "trigger": trigger}


def run(
    name: str,
    *,
    table: PaimonTable,
    phase: Phase | None = None,
    status: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    **spec: Any,
) -> PaimonRun:
    """A run of `table` as the API server stores it: owned by the table when it has a `trigger`, a user's otherwise."""
    manifest = run_manifest(name, table=table.metadata.name, namespace=table.metadata.namespace, **spec)
    owner = owner_reference("PaimonTable", table.metadata.name, table.metadata.uid)
    ours = {"labels": run_labels(table.metadata.name), "ownerReferences": [owner], "finalizers": [FINALIZER]}
    stored = _stored(manifest, 1, **((ours if "trigger" in spec else {}) | dict(metadata or {})))
    facts = ({"phase": phase.value} if phase else {}) | dict(status or {})
    return PaimonRun.model_validate(stored | ({"status": facts} if facts else {}))


def _manifest(kind: str, name: str, namespace: str, spec: Json) -> Json:
    given = {key: value for key, value in spec.items() if value is not None}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "paimon-operator.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": given}


def _stored(manifest: Json, generation: int, **metadata: Any) -> Json:
    name = manifest["metadata"]["name"]
    added = {"uid": f"uid-of-{name}", "generation": generation, "creationTimestamp": CREATED, "resourceVersion": "1"}
    return manifest | {"metadata": manifest["metadata"] | added | metadata}
