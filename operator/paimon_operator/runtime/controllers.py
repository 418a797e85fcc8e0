"""The controllers behind one function: each kind to its own reconciler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.ports import Kind
from paimon_operator.errors import KubernetesError
from paimon_operator.runtime.bug_reports import BugReports
from paimon_operator.runtime.catalogs import CatalogReconciler
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.orphaned_pods import OrphanedPodReconciler
from paimon_operator.runtime.reads import Doubt
from paimon_operator.runtime.run_changes import RunMetrics
from paimon_operator.runtime.runs import RunReconciler
from paimon_operator.runtime.tables import TableReconciler
from paimon_operator.runtime.workers import Reconcile

ReconcileDoubted = Callable[[Key, Doubt], Awaitable[timedelta | None]]
"""Reconciles one object, from live reads as far as the doubt asks for them."""


def controllers(
    dependencies: Dependencies,
    launches: LaunchBuilder,
    *,
    metrics: RunMetrics,
    on_bug: Callable[[Kind], None],
) -> Reconcile:
    """Reconciles the object of a key.

    `metrics` count what happens to runs. `on_bug(kind)` is called for each bug of a reconciler.
    """
    by_kind: dict[Kind, ReconcileDoubted] = {
        Kind.CATALOG: CatalogReconciler(dependencies, launches).reconcile,
        Kind.TABLE: TableReconciler(dependencies).reconcile,
        Kind.RUN: RunReconciler(dependencies, launches, metrics=metrics).reconcile,
        Kind.POD: OrphanedPodReconciler(dependencies).reconcile,
    }

    return _reporting_bugs(by_kind, BugReports(dependencies=dependencies, on_bug=on_bug))


def _reporting_bugs(by_kind: Mapping[Kind, ReconcileDoubted], bugs: BugReports) -> Reconcile:
    """Reconciles by kind. What is raised beside the errors of the API server is a bug, and reported on the object."""

    async def reconcile(key: Key) -> timedelta | None:
        try:
            return await by_kind[key.kind](key, bugs.dependencies.doubts.take(key))
        except KubernetesError:
            raise
        except Exception as error:
            await bugs.record(key, error)
            raise

    return reconcile
