"""The catalog's own reconcile: no Spark, only what the manifest, the engines and the catalog's tables tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from heapq import nsmallest
from typing import Final

from paimon_operator.api.catalog import CatalogStatus, EngineStatus, PaimonCatalog
from paimon_operator.api.conditions import ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.core import naming, outside, reach, schedule
from paimon_operator.core.commit_safety import Protection, alone, protection_of
from paimon_operator.core.conditions import (
    Finding,
    fails,
    holds,
    replaced,
    settled,
    stalled,
    transitions,
    unknown,
)
from paimon_operator.core.decision import Decision
from paimon_operator.core.metastore_rules import default_database_of
from paimon_operator.core.observed import Accounts, OperatorFacts
from paimon_operator.core.ports import Manifest
from paimon_operator.core.rules import location_problems
from paimon_operator.core.spark_rules import spark_problems
from paimon_operator.core.storage import metastore_type
from paimon_operator.errors import SpecError

NAMED: Final = 3
"""How many tables a message names; the others it counts."""


@dataclass(frozen=True, kw_only=True)
class CatalogObserved:
    """What was seen of the catalog's tables."""

    tables: int = 0
    """PaimonTables of the namespace that refer to it."""
    reached: bool = False
    """A run of one of them has succeeded: the storage can be reached."""
    announced: int = 0
    """Tables of it that others commit to, as their externalWriters says."""
    found: int = 0
    """Tables in which a run has found a commit of others that nobody announced."""
    unbearable: int = 0
    """Such tables too, but with buckets that grow with the keys, which bear no other writer in any catalog."""
    first_names: tuple[str, ...] = ()
    """The first of its tables by name."""
    unreached: tuple[reach.Unreached, ...] = ()
    """Tables whose last run failed at the storage."""
    namespace_terminating: bool = False

    @classmethod
    def of(cls, tables: Iterable[Manifest], *, namespace_terminating: bool = False) -> CatalogObserved:
        """From the catalog's tables as plain objects, which a catalog with ten thousand of them need not all parse."""
        count, reached, names, unreached = 0, False, [], []
        others: Counter[outside.Others] = Counter()
        for table in tables:
            count += 1
            names.append(table["metadata"]["name"])
            others[outside.others(table)] += 1
            provision = (table.get("status") or {}).get("provision") or {}
            reached = reached or "lastTime" in provision
            if (failing := reach.unreached(table)) is not None:
                unreached.append(failing)
        return cls(
            tables=count,
            reached=reached,
            announced=others[outside.Others.ANNOUNCED],
            found=others[outside.Others.FOUND],
            unbearable=others[outside.Others.UNBEARABLE],
            first_names=tuple(nsmallest(NAMED, names)),
            unreached=tuple(unreached),
            namespace_terminating=namespace_terminating,
        )


def plan_catalog(
    catalog: PaimonCatalog, observed: CatalogObserved, operator: OperatorFacts, now: datetime
) -> Decision[CatalogStatus]:
    """What to say about the catalog, and whether its finalizer may go: not before its last table has."""
    guarded = naming.FINALIZER in catalog.metadata.finalizers
    if catalog.metadata.deletion_timestamp is not None:
        if not guarded:
            return Decision(status=None)
        if observed.tables == 0 or observed.namespace_terminating:
            return Decision(status=None, finalizer="remove")
        return _decided(catalog, observed, operator, _in_use(observed), now)
    if not guarded and not observed.namespace_terminating:
        return Decision(status=None, finalizer="add")
    problems = tuple(catalog_problems(catalog, operator))
    engine = operator.engines.get(operator.engine_of(catalog))
    findings = _wrong(problems) if problems else _right(catalog, observed, protection_of(catalog, engine))
    return _decided(catalog, observed, operator, findings, now)


def catalog_problems(catalog: PaimonCatalog, operator: OperatorFacts) -> Iterator[SpecError]:
    """What is wrong with the catalog's manifest; its tables are Stalled until it is mended."""
    yield from _engine_problems(catalog, operator)
    yield from _storage_problems(catalog, operator)
    yield from location_problems(catalog)
    yield from default_database_of(catalog)
    yield from _schedule_problems(catalog, operator.defaults.time_zone)
    yield from _account_problems(catalog, operator.accounts)
    yield from spark_problems(catalog)


def told(problems: tuple[SpecError, ...]) -> str:
    """The first problem, and how many more there are."""
    more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}"


def reason_of(error: SpecError) -> Reason:
    """The error's reason, as a member of the closed list."""
    return next((reason for reason in Reason if reason == error.reason), Reason.INVALID_SPEC)


def _engine_problems(catalog: PaimonCatalog, operator: OperatorFacts) -> Iterator[SpecError]:
    name = operator.engine_of(catalog)
    usable = [each for each in operator.engines if each not in operator.unavailable_engines]
    if name not in operator.engines or name in operator.unavailable_engines:
        why = operator.unavailable_engines.get(name, "the operator has no such engine")
        yield SpecError(
            "spec.engine",
            f"{name!r} cannot be used: {why}",
            f"Use one of: {', '.join(usable)}.",
            reason=Reason.UNKNOWN_ENGINE,
        )
        return
    metastore = metastore_type(catalog)
    if metastore not in operator.engines[name].metastores:
        yield SpecError(
            "spec.metastore.type",
            f"the engine {name} does not work with {metastore}",
            f"Use one of: {', '.join(sorted(operator.engines[name].metastores))}.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )


def _storage_problems(catalog: PaimonCatalog, operator: OperatorFacts) -> Iterator[SpecError]:
    if catalog.spec.storage.claim is not None and not operator.claims_allowed:
        yield SpecError(
            "spec.storage.claim",
            "this operator allows no warehouse on a PersistentVolumeClaim",
            "Use S3 or HDFS, or ask the administrator of the operator to set spark.allowClaims in the chart's values.",
            reason=Reason.STORAGE_NOT_ALLOWED,
        )


def _account_problems(catalog: PaimonCatalog, accounts: Accounts) -> Iterator[SpecError]:
    """A driver of another account could make any Pod: the chart's admission policy holds accounts by their names."""
    spark = catalog.spec.spark
    prefix = accounts.driver_prefix
    if spark is None:
        return
    if (name := spark.driver_service_account_name) is not None and not name.startswith(prefix):
        yield SpecError(
            "spec.spark.driverServiceAccountName",
            f"{name!r} is no name of an account that may make executors",
            f"Name the account {prefix}<something>, or leave the field out.",
        )
    if (name := spark.service_account_name) is not None and f"{name}-".startswith(prefix):
        yield SpecError(
            "spec.spark.serviceAccountName",
            f"{name!r} is the name of an account that makes executors, and executors must have no right",
            f"Name another account here; {prefix}<something> belongs into spec.spark.driverServiceAccountName.",
        )


def _schedule_problems(catalog: PaimonCatalog, default_zone: str) -> Iterator[SpecError]:
    try:
        schedule.time_zone(catalog.spec.time_zone or default_zone)
    except schedule.ScheduleError as error:
        yield SpecError("spec.timeZone", str(error), "Use an IANA name like Europe/Berlin, or UTC.")
    for path, expression in _default_schedules(catalog):
        try:
            schedule.parse(expression, "UTC")
        except schedule.ScheduleError as error:
            yield SpecError(
                path, str(error), "Write minute, hour, day of month, month and day of week, like '0 3 * * *'."
            )


def _default_schedules(catalog: PaimonCatalog) -> Iterator[tuple[str, str]]:
    defaults, path = catalog.spec.table_defaults, "spec.tableDefaults"
    if defaults is None:
        return
    if defaults.compaction and defaults.compaction.minor:
        yield f"{path}.compaction.minor.schedule", defaults.compaction.minor.schedule
    if defaults.compaction and defaults.compaction.full:
        yield f"{path}.compaction.full.schedule", defaults.compaction.full.schedule
    snapshots = defaults.retention.snapshots if defaults.retention else None
    if snapshots and snapshots.schedule:
        yield f"{path}.retention.snapshots.schedule", snapshots.schedule


def _in_use(observed: CatalogObserved) -> tuple[Finding, ...]:
    verb = "PaimonTable still refers" if observed.tables == 1 else "PaimonTables still refer"
    message = f"{observed.tables} {verb} to this catalog ({_named(observed)}): {Reason.CATALOG_IN_USE.remedy}"
    return (
        fails(ConditionType.READY, Reason.DELETING, message),
        *stalled(Reason.CATALOG_IN_USE, message),
    )


def _named(observed: CatalogObserved) -> str:
    more = observed.tables - len(observed.first_names)
    return ", ".join(observed.first_names) + (f", and {more} more" if more else "")


def _wrong(problems: tuple[SpecError, ...]) -> tuple[Finding, ...]:
    reason, message = reason_of(problems[0]), told(problems)
    return (fails(ConditionType.READY, reason, message), *stalled(reason, message))


def _right(catalog: PaimonCatalog, observed: CatalogObserved, kept: Protection) -> tuple[Finding, ...]:
    return (_ready(catalog, observed), *settled(Reason.AS_EXPECTED), _commit_safe(observed, kept), *_suspended(catalog))


def _ready(catalog: PaimonCatalog, observed: CatalogObserved) -> Finding:
    """Whether a run has ever reached the storage, and one of the tables that cannot reach it now."""
    before = find(catalog.status.conditions, ConditionType.READY)
    failing = reach.told(observed.unreached, before.message if before else "")
    if observed.reached:
        now = f" The last run of {failing.words}" if failing else ""
        return holds(ConditionType.READY, Reason.STORAGE_REACHED, Reason.STORAGE_REACHED.means + now)
    if failing:
        message = f"No run has reached the catalog's storage yet. The last run of {failing.words}"
        return unknown(ConditionType.READY, failing.reason, message)
    return unknown(ConditionType.READY, Reason.STORAGE_NOT_TRIED, Reason.STORAGE_NOT_TRIED.means)


def _commit_safe(observed: CatalogObserved, kept: Protection) -> Finding:
    unsafe = (0 if kept.announced else observed.announced) + (0 if kept.unannounced else observed.found)
    unsafe += observed.unbearable
    if unsafe:
        message = f"{_tables(unsafe)} outside writers that nothing holds apart: {kept.sentence}"
        return fails(ConditionType.COMMIT_SAFE, Reason.COMMIT_UNSAFE, message)
    if safe := observed.announced + observed.found:
        return holds(ConditionType.COMMIT_SAFE, kept.reason, f"{_tables(safe)} outside writers: {kept.sentence}")
    return alone(kept)


def _tables(count: int) -> str:
    return "1 table has" if count == 1 else f"{count} tables have"


def _suspended(catalog: PaimonCatalog) -> tuple[Finding, ...]:
    if catalog.spec.suspend:
        return (holds(ConditionType.SUSPENDED, Reason.SUSPENDED, "nothing new starts for any table of this catalog"),)
    if any(condition.type is ConditionType.SUSPENDED for condition in catalog.status.conditions):
        return (fails(ConditionType.SUSPENDED, Reason.NOT_SUSPENDED, Reason.NOT_SUSPENDED.means),)
    return ()


def _decided(
    catalog: PaimonCatalog,
    observed: CatalogObserved,
    operator: OperatorFacts,
    findings: tuple[Finding, ...],
    now: datetime,
) -> Decision[CatalogStatus]:
    generation, before = catalog.metadata.generation, catalog.status.conditions
    conditions = replaced(before, findings, generation=generation, now=now)
    engine = operator.engines.get(operator.engine_of(catalog))
    status = CatalogStatus(
        observed_generation=generation,
        conditions=conditions,
        engine=EngineStatus(name=engine.id, paimon=engine.paimon, spark=engine.spark) if engine else None,
        tables=observed.tables,
    )
    return Decision(status=status, events=transitions(before, conditions))
