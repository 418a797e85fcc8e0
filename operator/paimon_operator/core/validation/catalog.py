"""Rules that a catalog's manifest must satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.retention import Retention
from paimon_operator.core import schedule
from paimon_operator.core.by_identity import ResultOfEach
from paimon_operator.core.config import Accounts, OperatorFacts
from paimon_operator.core.spec.context import WINDOWS
from paimon_operator.core.spec.place import place_of_warehouse, reached_elsewhere
from paimon_operator.core.spec.size import size_of
from paimon_operator.core.storage import metastore_of, storage_of
from paimon_operator.core.validation.catalog_shape import catalog_shape
from paimon_operator.core.validation.deadlines import default_deadline_of
from paimon_operator.core.validation.metastore import default_database_of
from paimon_operator.core.validation.spark_conf import spark_problems
from paimon_operator.core.validation.spark_limits import own_spark_limits_of
from paimon_operator.core.validation.windows import window_problems
from paimon_operator.core.validation.writes import LOCATIONS, location_problems
from paimon_operator.errors import SpecError

STORAGE_MOVED: Final = "paimon-operator.dev/storage-moved"
"""Annotation that lets the storage's server be changed, when set to `true`."""
_PARTIAL: Final = (
    "spec.timeZone",
    *(f"spec.tableDefaults.{each}" for each in ("compaction", "retention", "tags")),
    WINDOWS,
    LOCATIONS,
)


def catalog_problems(catalog: PaimonCatalog, operator: OperatorFacts) -> Iterator[SpecError]:
    """Every rule that the catalog's manifest breaks. `blocking_problems` are those that stop its tables."""
    yield from size_of(catalog.spec)
    yield from catalog_shape(catalog)
    yield from _moved_storage(catalog)
    yield from _engine_problems(catalog, operator)
    yield from storage_of(catalog).problems(operator)
    yield from location_problems(catalog)
    yield from default_database_of(catalog)
    yield from default_deadline_of(catalog)
    yield from _schedule_problems(catalog, operator.defaults.time_zone)
    yield from window_problems(catalog)
    yield from _account_problems(catalog, operator.accounts)
    yield from spark_problems(catalog)
    yield from own_spark_limits_of(catalog)


def blocking_problems(catalog: PaimonCatalog, operator: OperatorFacts) -> tuple[SpecError, ...]:
    """Broken rules that stop all tables of the catalog. Each table asks for them several times.

    Others concern a block that tables inherit, or a location: each table reports them, and only that block, or the
    writes from that location, are stopped.
    """
    known = _BLOCKING.of(catalog)
    if known.operator is not operator:
        found = catalog_problems(catalog, operator)
        known.problems = tuple(problem for problem in found if not problem.field.startswith(_PARTIAL))
        known.operator = operator
    return known.problems


@dataclass
class _Blocking:
    """What blocks a catalog, by the facts of the operator that asked last. A process has one operator."""

    operator: OperatorFacts | None = None
    problems: tuple[SpecError, ...] = ()


_BLOCKING: Final = ResultOfEach[PaimonCatalog, _Blocking](lambda _: _Blocking())


def _moved_storage(catalog: PaimonCatalog) -> Iterator[SpecError]:
    """Another server than the one that the tables are on: they would be missing there, or others would be found."""
    known, moved = reached_elsewhere(catalog), catalog.metadata.annotations.get(STORAGE_MOVED) == "true"
    if known is None or moved:
        return
    yield SpecError(
        "spec.storage",
        f"the warehouse was reached as {known}, and the manifest now means {place_of_warehouse(catalog)}",
        f"Undo the edit. If the data was moved there, annotate the catalog with {STORAGE_MOVED}=true: each table is "
        "then verified before any other run.",
        reason=Reason.INVALID_SPEC,
    )


def summarise(problems: tuple[SpecError, ...]) -> str:
    """The first problem, and how many more there are."""
    more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}"


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
    metastore = metastore_of(catalog).type
    if metastore not in operator.engines[name].metastores:
        yield SpecError(
            "spec.metastore.type",
            f"the engine {name} does not work with {metastore}",
            f"Use one of: {', '.join(sorted(operator.engines[name].metastores))}.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )


def _account_problems(catalog: PaimonCatalog, accounts: Accounts) -> Iterator[SpecError]:
    """Names of service accounts. The chart's admission policy restricts the Pods of driver accounts by their prefix."""
    spark = catalog.spec.spark
    prefix = accounts.driver_prefix
    if spark is None:
        return
    if (name := spark.driver_service_account_name) is not None and not name.startswith(prefix):
        yield SpecError(
            "spec.spark.driverServiceAccountName",
            f"{name!r} is not the name of an account that may create executors",
            f"Name the account {prefix}<something>, or leave the field out.",
        )
    if (name := spark.service_account_name) is not None and f"{name}-".startswith(prefix):
        yield SpecError(
            "spec.spark.serviceAccountName",
            f"{name!r} is the name of an account that creates executors, and executors must have no rights",
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
    retention = defaults.retention or Retention()
    if retention.snapshots and retention.snapshots.schedule:
        yield f"{path}.retention.snapshots.schedule", retention.snapshots.schedule
    if retention.partitions and retention.partitions.schedule:
        yield f"{path}.retention.partitions.schedule", retention.partitions.schedule
    if retention.orphan_files and retention.orphan_files.schedule:
        yield f"{path}.retention.orphanFiles.schedule", retention.orphan_files.schedule
