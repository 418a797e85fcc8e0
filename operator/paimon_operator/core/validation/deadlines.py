"""Durations that are too long, and deadlines that are too short for the metastore's lock.

The API server refuses a Pod whose deadline is beyond 32 bits of seconds.

A driver first watches the lock that a dead driver has left. A run that is stopped before it has watched long enough
never commits, and neither does the next one.
"""

from __future__ import annotations

from collections.abc import Iterator

from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DEADLINE_D
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.effective import Origin
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.storage import metastore_of
from paimon_operator.errors import SpecError


def deadline_of(context: TableContext) -> Iterator[SpecError]:
    """The effective runPolicy of a table, whether set by the table or by the operator. The catalog's: see below."""
    policy = context.effective.run_policy
    if policy is not None and policy.source is not Origin.CATALOG:
        yield from _problems(context.catalog, policy.active_deadline, "spec.runPolicy.activeDeadline")


def default_deadline_of(catalog: PaimonCatalog) -> Iterator[SpecError]:
    """The runPolicy that a catalog gives to its tables."""
    defaults = catalog.spec.table_defaults
    policy = defaults.run_policy if defaults else None
    if policy is not None:
        yield from _problems(catalog, policy.active_deadline, "spec.tableDefaults.runPolicy.activeDeadline")


def deadline_of_run(run: PaimonRun, catalog: PaimonCatalog) -> Iterator[SpecError]:
    """The deadline that a run sets for itself."""
    yield from _too_short(catalog, run.spec.active_deadline, "spec.activeDeadline")


def _problems(catalog: PaimonCatalog, deadline: str | None, field: str) -> Iterator[SpecError]:
    yield from units.too_long(deadline, LONGEST_DEADLINE_D, field=field)
    yield from _too_short(catalog, deadline, field)


def _too_short(catalog: PaimonCatalog, deadline: str | None, field: str) -> Iterator[SpecError]:
    metastore = metastore_of(catalog)
    watch = metastore.lock_watch_s
    if deadline is None or watch is None or units.seconds(deadline, field=field) > watch:
        return
    yield SpecError(
        field,
        f"{deadline} is too short for the metastore {metastore.type}: after a driver has died, the next run watches "
        f"its lock for {watch} s before it removes it, and would be stopped before that",
        f"Set a deadline of more than {watch} s, like 15m.",
    )
