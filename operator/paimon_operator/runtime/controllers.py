"""The controllers behind one function: each kind to its own reconciler."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.ports import Kind
from paimon_operator.runtime.catalogs import CatalogReconciler
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.orphaned_pods import OrphanedPodReconciler
from paimon_operator.runtime.runs import RunReconciler
from paimon_operator.runtime.tables import TableReconciler
from paimon_operator.runtime.workers import Reconcile


def controllers(
    dependencies: Dependencies, launches: LaunchBuilder, *, on_finished: Callable[[str, str], None]
) -> Reconcile:
    """Reconciles the object of a key. `on_finished(type, phase)` is called once for each run that ends."""
    by_kind: dict[Kind, Reconcile] = {
        Kind.CATALOG: CatalogReconciler(dependencies, launches).reconcile,
        Kind.TABLE: TableReconciler(dependencies).reconcile,
        Kind.RUN: RunReconciler(dependencies, launches, on_finished=on_finished).reconcile,
        Kind.POD: OrphanedPodReconciler(dependencies).reconcile,
    }

    async def reconcile(key: Key) -> timedelta | None:
        return await by_kind[key.kind](key)

    return reconcile
