"""PaimonCatalog: a warehouse, and the defaults and limits of its tables."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from paimon_contract.hive import LOCK_STALE_AFTER_S
from paimon_operator.api.base import (
    ApiModel,
    EngineName,
    Identifier,
    Int32,
    Int64,
    ObjectMeta,
    Place,
    Time,
    TimeZone,
    keyed_by,
    rule,
    validated,
)
from paimon_operator.api.catalog.limits import CatalogLimits
from paimon_operator.api.catalog.metastore import NAMES_OF_HIVE, Metastore
from paimon_operator.api.catalog.storage import SCHEMES, Location, Storage, Warehouse
from paimon_operator.api.catalog.windows import MAX_WINDOWS, MaintenanceWindow
from paimon_operator.api.compaction import CompactionDefault
from paimon_operator.api.conditions import Condition
from paimon_operator.api.policies import CommitPolicy, EnforcedBlock, EvolutionPolicy, RunPolicy
from paimon_operator.api.retention import Retention
from paimon_operator.api.spark import CatalogSpark
from paimon_operator.api.table.usage import Day
from paimon_operator.api.tags import Tags

_METASTORE = "(has({0}.metastore) ? {0}.metastore.type : 'Filesystem')"
_METASTORE_URI = (
    "(has({0}.metastore) && has({0}.metastore.jdbc) ? {0}.metastore.jdbc.uri"
    " : has({0}.metastore) && has({0}.metastore.hive) ? {0}.metastore.hive.uri : '')"
)
_DEADLINE = " && ".join(
    f"has(self.tableDefaults{member})" for member in ("", ".runPolicy", ".runPolicy.activeDeadline")
)
_ORPHAN_FILES = " && ".join(
    f"has(self.tableDefaults{member})" for member in ("", ".retention", ".retention.orphanFiles")
)
_SLASH = "(l.uri.endsWith('/') ? l.uri : l.uri + '/')"


class TableDefaults(ApiModel):
    """Defaults for tables that do not set the field."""

    compaction: CompactionDefault | None = None
    """Default compaction. A table's compaction replaces the whole block."""
    retention: Retention | None = None
    """Default retention. Each member of a table's retention replaces the same member. Defaults of changelogs,
    partitions and records apply only to tables that have a changelog producer, partition keys, or primary keys and the
    timeField."""
    tags: Tags | None = None
    """Default automatic tags. A table's tags replace the whole block."""
    run_policy: RunPolicy | None = None
    """Default run policy. A table's runPolicy replaces the whole block."""


class PaimonCatalogSpec(ApiModel):
    """A warehouse, and the defaults and limits of its tables."""

    model_config = validated(
        rule(
            "self.warehouse == oldSelf.warehouse",
            "warehouse must not change: create another PaimonCatalog",
            path=".warehouse",
            reason="FieldValueForbidden",
        ),
        rule(
            f"{_METASTORE.format('self')} == {_METASTORE.format('oldSelf')}",
            "metastore must not change: create another PaimonCatalog",
            path=".metastore",
            reason="FieldValueForbidden",
        ),
        rule(
            f"{_METASTORE_URI.format('self')} == {_METASTORE_URI.format('oldSelf')}",
            "the metastore's uri must not change: create another PaimonCatalog",
            path=".metastore",
            reason="FieldValueForbidden",
        ),
        rule(
            f"{_METASTORE.format('self')} != 'Hive' || !has(self.allowedDatabases)"
            f" || self.allowedDatabases.all(d, d.matches('{NAMES_OF_HIVE}'))",
            "with the metastore Hive, names may have lower-case letters, digits and underscores only",
            path=".allowedDatabases",
        ),
        rule(
            f"{_METASTORE.format('self')} != 'Hive' || !({_DEADLINE})"
            f" || self.tableDefaults.runPolicy.activeDeadline > duration('{LOCK_STALE_AFTER_S}s')",
            f"with the metastore Hive, activeDeadline must be longer than {LOCK_STALE_AFTER_S}s: a run first"
            " watches the lock of a driver that died for that time",
            path=".tableDefaults.runPolicy.activeDeadline",
        ),
        rule(
            "!has(self.storage.claim) || !has(oldSelf.storage.claim)"
            " || self.storage.claim.name == oldSelf.storage.claim.name",
            "the volume claim must not change, because another one is another volume: create another PaimonCatalog",
            path=".storage.claim",
            reason="FieldValueForbidden",
        ),
        *(
            rule(
                f"!has(self.storage.{member}) || self.warehouse.startsWith('{scheme}://')",
                f"with storage.{member} the warehouse must begin with {scheme}://",
                path=".warehouse",
            )
            for member, scheme in SCHEMES.items()
        ),
        *(
            rule(
                f"!has(self.storage.{member}) || !has(self.locations)"
                f" || self.locations.all(l, l.uri.startsWith('{scheme}://'))",
                f"with storage.{member} every location must begin with {scheme}://",
                path=".locations",
            )
            for member, scheme in SCHEMES.items()
        ),
        rule(
            f"!has(self.enforced) || !self.enforced.exists(e, e == 'OrphanFiles') || ({_ORPHAN_FILES})",
            "enforced OrphanFiles needs tableDefaults.retention.orphanFiles",
            path=".enforced",
        ),
        rule(
            "!has(self.locations) || self.locations.all(l, !l.uri.startsWith(self.warehouse + '/')"
            f" && l.uri != self.warehouse && !(self.warehouse + '/').startsWith({_SLASH}))",
            "a location must neither be inside the warehouse nor contain it",
            path=".locations",
        ),
    )

    warehouse: Warehouse
    """Directory of all tables: s3://bucket/path, hdfs://namenode:port/path, hdfs://nameservice/path or
    file:///data/path, without a slash at the end. Immutable."""
    metastore: Metastore | None = None
    """Metastore that lists the tables. Absent: Filesystem. Immutable, except credentialsSecretRef."""
    storage: Storage
    """The file system under the warehouse."""
    allowed_databases: Annotated[tuple[Identifier, ...], Field(min_length=1, max_length=100)] = ()
    """Databases that tables may use. Absent: the database with the name of the namespace."""
    locations: Annotated[tuple[Location, ...], Field(max_length=50, json_schema_extra=keyed_by("name"))] = ()
    """Locations that tables may load files from."""
    engine: EngineName | None = None
    """Engine of the Spark Pods: paimon-1.4 or paimon-0.9. Absent: the operator's default.
    After a change, each table is verified with the new engine before any other run starts."""
    allow_downgrade: bool | None = None
    """True: an older engine may take over tables that a newer engine has verified. Absent or false: such
    tables are Stalled with the reason EngineDowngrade, because the older engine may not read what the newer one
    wrote."""
    commit_policy: CommitPolicy = CommitPolicy.REQUIRE_SAFE
    """RequireSafe: runs that commit are blocked while the condition CommitSafe is False, because concurrent commits can
    be lost. AllowUnsafe: runs commit even so."""
    evolution_policy: EvolutionPolicy | None = None
    """Automatic: an edit of a table is applied at once. Approve: an edit that loses data, or rewrites it by a rescale,
    waits until the annotation paimon-operator.dev/approve of the PaimonTable has the hash of its status.plan. Absent:
    Automatic."""
    spark: CatalogSpark | None = None
    """Defaults for the Spark Pods."""
    table_defaults: TableDefaults | None = None
    """Defaults for tables that do not set the field."""
    enforced: Annotated[
        tuple[EnforcedBlock, ...], Field(max_length=8, json_schema_extra={"x-kubernetes-list-type": "set"})
    ] = ()
    """Blocks of tableDefaults that tables may not replace: a table's own block has no effect. OrphanFiles stands for
    retention.orphanFiles."""
    limits: CatalogLimits | None = None
    """Limits of the catalog's tables."""
    maintenance_windows: Annotated[tuple[MaintenanceWindow, ...], Field(max_length=MAX_WINDOWS)] = ()
    """When scheduled compaction and expiry may start. Absent: at any time. A run that has started may finish after its
    window closes. Writes, edits and users' runs start at any time."""
    time_zone: TimeZone | None = None
    """Time zone of maintenanceWindows, and default time zone of the tables' schedules: an IANA name like Europe/Berlin.
    Absent: UTC."""
    suspend: bool = False
    """True: no new run starts for any table of this catalog. Active runs finish, and deletion works."""


class EngineStatus(ApiModel):
    """Engine of the catalog."""

    name: EngineName
    """Name of the engine."""
    paimon: Annotated[str, Field(max_length=32)] | None = None
    """Version of Paimon."""
    spark: Annotated[str, Field(max_length=32)] | None = None
    """Version of Spark."""


class CatalogUsage(ApiModel):
    """Resources that the runs of all tables of the catalog used. Each executor counts as long as its driver ran.
    A deleted table is not counted any more."""

    runs: Int64
    """Runs that ended."""
    failed: Int64
    """Those that did not succeed."""
    pod_seconds: Int64
    """Seconds that their containers ran."""
    maintenance_day: Day
    """Day, in UTC, of the next field."""
    maintenance_pod_seconds: Int64
    """Part of podSeconds on this day that was used by maintenance, which limits.maintenancePodHoursPerDay limits."""


class CatalogStatus(ApiModel):
    """State of the catalog at the last reconcile."""

    observed_generation: Int64 = -1
    """Generation of the spec that this status describes."""
    conditions: Annotated[tuple[Condition, ...], Field(max_length=16, json_schema_extra=keyed_by("type"))] = ()
    """Conditions: Ready, Reconciling, Stalled, CommitSafe, Suspended."""
    engine: EngineStatus | None = None
    """Engine of the catalog."""
    tables: Int32 | None = None
    """Number of PaimonTables that refer to this catalog. A change shows within seconds."""
    place: Place | None = None
    """Warehouse on the server where a run first reached it. Another server needs the annotation
    paimon-operator.dev/storage-moved. Absent: no run has reached it."""
    reached_at: Time | None = None
    """Time at which the operator first saw that a run has reached the warehouse."""
    usage: CatalogUsage | None = None
    """Resources that the runs of its tables used. A run is counted about a minute after its end."""


class PaimonCatalog(ApiModel):
    """A warehouse with its storage, its credentials by reference, and defaults for its tables."""

    api_version: Literal["paimon-operator.dev/v1alpha1"] = "paimon-operator.dev/v1alpha1"
    kind: Literal["PaimonCatalog"] = "PaimonCatalog"
    metadata: ObjectMeta
    spec: PaimonCatalogSpec
    """A warehouse, and the defaults and limits of its tables."""
    status: CatalogStatus = CatalogStatus()
    """State of the catalog at the last reconcile."""
