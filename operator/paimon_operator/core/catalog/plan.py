"""The decision about a catalog, from its manifest, the engines and its tables. It starts no Spark application."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import nsmallest
from typing import Final

from paimon_operator.api.base import to_the_second
from paimon_operator.api.catalog.spec import CatalogStatus, EngineStatus, PaimonCatalog
from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.core import backoff, naming
from paimon_operator.core.catalog import reachability
from paimon_operator.core.catalog.usage import UsageSums
from paimon_operator.core.commits import foreign_commits
from paimon_operator.core.commits.commit_safety import protection_of, single_committer
from paimon_operator.core.commits.warehouses import Warehouse
from paimon_operator.core.conditions import Finding, false, idle, report, stalled, true, unknown
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.decision import Decision
from paimon_operator.core.ports import Manifest
from paimon_operator.core.spec.place import place_of_warehouse, reached_elsewhere
from paimon_operator.core.storage.commit_protection import Protection
from paimon_operator.core.validation.catalog import catalog_problems, summarise
from paimon_operator.errors import SpecError

NAMED: Final = 3
"""How many tables a message names; it counts the rest."""


@dataclass(frozen=True, kw_only=True)
class CatalogObserved:
    """What is known about the catalog's tables."""

    tables: int = 0
    """PaimonTables of the namespace that refer to it."""
    warehouses: frozenset[str] = frozenset()
    """The warehouses, on their servers, in which runs have established them. Empty text: release 0.1 stored none."""
    declared: int = 0
    """Number of tables whose externalWriters declares foreign writers."""
    found: int = 0
    """Number of tables in which a run found an undeclared foreign commit."""
    unsupported: int = 0
    """Number of such tables whose buckets grow with the keys: no catalog makes a foreign writer safe there."""
    first_names: tuple[str, ...] = ()
    """The first of its tables, by name."""
    unreached: tuple[reachability.UnreachableStorage, ...] = ()
    """Tables whose last run the storage caused to fail."""
    used: UsageSums = field(default_factory=UsageSums)
    """What the runs of its tables have used."""
    overlap: Warehouse | None = None
    """The warehouse of another catalog that this one lies in or around."""


@dataclass(kw_only=True)
class TablesFound:
    """What the tables of a catalog, added one after the other, tell about it.

    As plain JSON, 10,000 settled tables take 0.1 s. To parse their models takes 1.2 s.
    """

    names: list[str] = field(default_factory=list)
    warehouses: set[str] = field(default_factory=set)
    unreached: list[reachability.UnreachableStorage] = field(default_factory=list)
    used: UsageSums = field(default_factory=UsageSums)
    writers: Counter[foreign_commits.ForeignWriters] = field(default_factory=Counter)

    def add(self, table: Manifest) -> None:
        """Adds a table as plain JSON."""
        self.names.append(table["metadata"]["name"])
        self.used.add(table)
        self.writers[foreign_commits.foreign_writers_of(table)] += 1
        if (warehouse := reachability.reached_warehouse(table)) is not None:
            self.warehouses.add(warehouse)
        if (failing := reachability.unreachable_storage_of(table)) is not None:
            self.unreached.append(failing)

    def observed(self) -> CatalogObserved:
        """What is known after the last table."""
        return CatalogObserved(
            tables=len(self.names),
            warehouses=frozenset(self.warehouses),
            declared=self.writers[foreign_commits.ForeignWriters.DECLARED],
            found=self.writers[foreign_commits.ForeignWriters.FOUND],
            unsupported=self.writers[foreign_commits.ForeignWriters.UNSUPPORTED],
            first_names=tuple(nsmallest(NAMED, self.names)),
            unreached=tuple(self.unreached),
            used=self.used,
        )


def plan_catalog(
    catalog: PaimonCatalog, observed: CatalogObserved, operator: OperatorFacts, now: datetime
) -> Decision[CatalogStatus]:
    """The catalog's status, and whether its finalizer may be removed: not while a table refers to it."""
    has_finalizer = naming.FINALIZER in catalog.metadata.finalizers
    if catalog.metadata.deletion_timestamp is not None:
        if not has_finalizer:
            return Decision(status=None)
        if observed.tables == 0:
            return Decision(status=None, finalizer="remove")
        return _decided(catalog, observed, operator, _in_use(observed), now)
    decision = _of_living(catalog, observed, operator, now)
    return decision if has_finalizer else replace(decision, finalizer="add")


def _of_living(
    catalog: PaimonCatalog, observed: CatalogObserved, operator: OperatorFacts, now: datetime
) -> Decision[CatalogStatus]:
    """The decision about a catalog that is not being deleted."""
    problems = tuple(catalog_problems(catalog, operator))
    engine = operator.engines.get(operator.engine_of(catalog))
    if problems:
        return _decided(catalog, observed, operator, _invalid(problems), now)
    findings = _valid(catalog, observed, protection_of(catalog, engine))
    if observed.overlap is not None:
        findings = _overlapping(observed.overlap, catalog)
    return _decided(_with_place(catalog, observed, now), observed, operator, findings, now)


def _with_place(catalog: PaimonCatalog, observed: CatalogObserved, now: datetime) -> PaimonCatalog:
    """The catalog with its place, once a run has reached it there; after an announced move with the new one."""
    if not _is_reached(catalog, observed):
        return catalog
    place, since = place_of_warehouse(catalog), catalog.status.reached_at
    if since is None or reached_elsewhere(catalog) is not None or backoff.is_ahead(since, now):
        since = to_the_second(now)
    known = {"place": place, "reached_at": since}
    return catalog.model_copy(update={"status": catalog.status.model_copy(update=known)})


def _is_reached(catalog: PaimonCatalog, observed: CatalogObserved) -> bool:
    """Whether a run has reached the warehouse on its present server: a run at an earlier server says nothing about it.

    A table of release 0.1 was established on the server that the catalog had before any move.
    """
    place = place_of_warehouse(catalog)
    return place in observed.warehouses or ("" in observed.warehouses and reached_elsewhere(catalog) is None)


def _overlapping(other: Warehouse, catalog: PaimonCatalog) -> tuple[Finding, ...]:
    name = other.name_for(catalog.metadata.namespace)
    message = f"{name} has a warehouse in or around this one: {Reason.WAREHOUSE_OVERLAPS.remedy}"
    return (
        false(ConditionType.READY, Reason.WAREHOUSE_OVERLAPS, message),
        *stalled(Reason.WAREHOUSE_OVERLAPS, message),
    )


def _in_use(observed: CatalogObserved) -> tuple[Finding, ...]:
    verb = "PaimonTable still refers" if observed.tables == 1 else "PaimonTables still refer"
    message = f"{observed.tables} {verb} to this catalog ({_named(observed)}): {Reason.CATALOG_IN_USE.remedy}"
    return (
        false(ConditionType.READY, Reason.DELETING, message),
        *stalled(Reason.CATALOG_IN_USE, message),
    )


def _named(observed: CatalogObserved) -> str:
    more = observed.tables - len(observed.first_names)
    return ", ".join(observed.first_names) + (f", and {more} more" if more else "")


def _invalid(problems: tuple[SpecError, ...]) -> tuple[Finding, ...]:
    reason, message = known_reason(problems[0].reason, Reason.INVALID_SPEC), summarise(problems)
    return (false(ConditionType.READY, reason, message), *stalled(reason, message))


def _valid(catalog: PaimonCatalog, observed: CatalogObserved, kept: Protection) -> tuple[Finding, ...]:
    return (
        _ready(catalog, observed),
        *idle(Reason.NO_ACTION_NEEDED),
        _commit_safe(observed, kept),
        *_suspended(catalog),
    )


def _ready(catalog: PaimonCatalog, observed: CatalogObserved) -> Finding:
    """Ready: whether a run has ever reached the storage, and one table that cannot reach it now."""
    failing = reachability.first_by_name(observed.unreached)
    if _is_reached(catalog, observed):
        now = f" The last run of {failing.description}" if failing else ""
        return true(ConditionType.READY, Reason.STORAGE_REACHED, Reason.STORAGE_REACHED.means + now)
    if failing:
        message = f"No run has reached the catalog's storage yet. The last run of {failing.description}"
        return unknown(ConditionType.READY, failing.reason, message)
    return unknown(ConditionType.READY, Reason.STORAGE_UNVERIFIED, Reason.STORAGE_UNVERIFIED.means)


def _commit_safe(observed: CatalogObserved, kept: Protection) -> Finding:
    unsafe = (0 if kept.declared_safe else observed.declared) + (0 if kept.undeclared_safe else observed.found)
    unsafe += observed.unsupported
    if unsafe:
        message = f"{_tables(unsafe)} foreign writers whose commits nothing serialises: {kept.sentence}"
        return false(ConditionType.COMMIT_SAFE, Reason.COMMIT_UNSAFE, message)
    if safe := observed.declared + observed.found:
        return true(ConditionType.COMMIT_SAFE, kept.reason, f"{_tables(safe)} foreign writers: {kept.sentence}")
    return single_committer(kept)


def _tables(count: int) -> str:
    return "1 table has" if count == 1 else f"{count} tables have"


def _suspended(catalog: PaimonCatalog) -> tuple[Finding, ...]:
    if catalog.spec.suspend:
        return (true(ConditionType.SUSPENDED, Reason.SUSPENDED, "nothing new starts for any table of this catalog"),)
    if any(condition.type is ConditionType.SUSPENDED for condition in catalog.status.conditions):
        return (false(ConditionType.SUSPENDED, Reason.NOT_SUSPENDED, Reason.NOT_SUSPENDED.means),)
    return ()


def _decided(
    catalog: PaimonCatalog,
    observed: CatalogObserved,
    operator: OperatorFacts,
    findings: tuple[Finding, ...],
    now: datetime,
) -> Decision[CatalogStatus]:
    reported = report(catalog.status.conditions, findings, generation=catalog.metadata.generation, now=now)
    engine = operator.engines.get(operator.engine_of(catalog))
    status = CatalogStatus(
        engine=EngineStatus(name=engine.id, paimon=engine.paimon, spark=engine.spark) if engine else None,
        tables=observed.tables,
        place=catalog.status.place,
        reached_at=catalog.status.reached_at,
        usage=observed.used.at(now),
    )
    return Decision(status=reported.into(status), events=reported.events)
