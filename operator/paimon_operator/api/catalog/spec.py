"""PaimonCatalog: a warehouse, and what its tables may do."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from paimon_operator.api.base import (
    ApiModel,
    EngineName,
    Identifier,
    Int32,
    Int64,
    ObjectMeta,
    TimeZone,
    keyed_by,
    rule,
    validated,
)
from paimon_operator.api.catalog.metastore import NAMES_OF_HIVE, Metastore
from paimon_operator.api.catalog.storage import SCHEMES, Location, Storage, Warehouse
from paimon_operator.api.compaction import Compaction
from paimon_operator.api.conditions import Condition
from paimon_operator.api.policies import CommitPolicy, RunPolicy
from paimon_operator.api.retention import Retention
from paimon_operator.api.spark import CatalogSpark

_METASTORE = "(has({0}.metastore) ? {0}.metastore.type : 'Filesystem')"
_METASTORE_URI = (
    "(has({0}.metastore) && has({0}.metastore.jdbc) ? {0}.metastore.jdbc.uri"
    " : has({0}.metastore) && has({0}.metastore.hive) ? {0}.metastore.hive.uri : '')"
)
_SLASH = "(l.uri.endsWith('/') ? l.uri : l.uri + '/')"


class TableDefaults(ApiModel):
    """What holds for tables that do not say otherwise."""

    compaction: Compaction | None = None
    """A table's compaction replaces this block whole."""
    retention: Retention | None = None
    """Each member of a table's retention replaces the same member here."""
    run_policy: RunPolicy | None = None
    """A table's runPolicy replaces this block whole."""


class PaimonCatalogSpec(ApiModel):
    """A warehouse, and what its tables may do."""

    model_config = validated(
        rule(
            "self.warehouse == oldSelf.warehouse",
            "warehouse must not change: make a new PaimonCatalog",
            path=".warehouse",
            reason="FieldValueForbidden",
        ),
        rule(
            f"{_METASTORE.format('self')} == {_METASTORE.format('oldSelf')}",
            "metastore must not change: make a new PaimonCatalog",
            path=".metastore",
            reason="FieldValueForbidden",
        ),
        rule(
            f"{_METASTORE_URI.format('self')} == {_METASTORE_URI.format('oldSelf')}",
            "the metastore's uri must not change: make a new PaimonCatalog",
            path=".metastore",
            reason="FieldValueForbidden",
        ),
        rule(
            f"{_METASTORE.format('self')} != 'Hive' || !has(self.allowedDatabases)"
            f" || self.allowedDatabases.all(d, d.matches('{NAMES_OF_HIVE}'))",
            "the metastore Hive keeps names of lower-case letters, digits and underscores only",
            path=".allowedDatabases",
        ),
        rule(
            "!has(self.storage.claim) || !has(oldSelf.storage.claim)"
            " || self.storage.claim.name == oldSelf.storage.claim.name",
            "the claim must not change, for another one is another disk: make a new PaimonCatalog",
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
            "!has(self.locations) || self.locations.all(l, !l.uri.startsWith(self.warehouse + '/')"
            f" && l.uri != self.warehouse && !(self.warehouse + '/').startsWith({_SLASH}))",
            "a location must neither lie inside the warehouse nor contain it",
            path=".locations",
        ),
    )

    warehouse: Warehouse
    """Directory of all tables: s3://bucket/path, hdfs://namenode:port/path, hdfs://nameservice/path or
    file:///data/path, without a slash at the end. Never changes."""
    metastore: Metastore | None = None
    """Where the list of tables is kept. Absent: Filesystem. Never changes, but for its credentialsSecretRef."""
    storage: Storage
    """The file system under the warehouse."""
    allowed_databases: Annotated[tuple[Identifier, ...], Field(min_length=1, max_length=100)] = ()
    """Databases that tables may use. Absent: one, named like the namespace."""
    locations: Annotated[tuple[Location, ...], Field(max_length=50, json_schema_extra=keyed_by("name"))] = ()
    """Places that tables may load files from."""
    engine: EngineName | None = None
    """The pair of Paimon and Spark that does the work: paimon-1.4, paimon-0.9. Absent: the operator's default."""
    commit_policy: CommitPolicy = CommitPolicy.REQUIRE_SAFE
    """RequireSafe: nothing changes a table that others commit to while nothing holds commits apart (condition
    CommitSafe), because they can get lost. AllowUnsafe: do it all the same."""
    spark: CatalogSpark | None = None
    """Defaults for the Spark pods."""
    table_defaults: TableDefaults | None = None
    """What holds for tables that do not say otherwise."""
    time_zone: TimeZone | None = None
    """Time zone of the tables' schedules, an IANA name like Europe/Berlin. Absent: UTC."""
    suspend: bool = False
    """True: nothing new starts for any table of this catalog; running work ends; deletion works."""


class EngineStatus(ApiModel):
    """The engine in use."""

    name: EngineName
    """Name of the engine."""
    paimon: Annotated[str, Field(max_length=32)] | None = None
    """Version of Paimon."""
    spark: Annotated[str, Field(max_length=32)] | None = None
    """Version of Spark."""


class CatalogStatus(ApiModel):
    """The catalog as the operator last saw it."""

    observed_generation: Int64 = -1
    """Generation of the spec that this status speaks of."""
    conditions: Annotated[tuple[Condition, ...], Field(max_length=16, json_schema_extra=keyed_by("type"))] = ()
    """Ready, Reconciling, Stalled, CommitSafe, Suspended."""
    engine: EngineStatus | None = None
    """The engine in use."""
    tables: Int32 | None = None
    """PaimonTables that refer to this catalog."""


class PaimonCatalog(ApiModel):
    """A warehouse with its storage, credentials by reference, and defaults for its tables."""

    api_version: Literal["paimon-operator.dev/v1alpha1"] = "paimon-operator.dev/v1alpha1"
    kind: Literal["PaimonCatalog"] = "PaimonCatalog"
    metadata: ObjectMeta
    spec: PaimonCatalogSpec
    """A warehouse, and what its tables may do."""
    status: CatalogStatus = CatalogStatus()
    """The catalog as the operator last saw it."""
