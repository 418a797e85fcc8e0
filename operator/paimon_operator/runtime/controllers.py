"""The controllers behind one function: each kind to its own reconciler."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from paimon_operator.core.launch.builder import Launches
from paimon_operator.core.ports import Kind
from paimon_operator.runtime.catalogs import Catalogs
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.orphans import Orphans
from paimon_operator.runtime.runs import Runs
from paimon_operator.runtime.tables import Tables
from paimon_operator.runtime.workers import Reconcile
from paimon_operator.runtime.world import World


def controllers(world: World, launches: Launches, *, on_finished: Callable[[str, str], None]) -> Reconcile:
    """One look at the object of a key. `on_finished(type, phase)` is called once for each run that ends."""
    by_kind: dict[Kind, Reconcile] = {
        Kind.CATALOG: Catalogs(world).reconcile,
        Kind.TABLE: Tables(world).reconcile,
        Kind.RUN: Runs(world, launches, on_finished=on_finished).reconcile,
        Kind.POD: Orphans(world).reconcile,
    }

    async def reconcile(key: Key) -> timedelta | None:
        return await by_kind[key.kind](key)

    return reconcile
