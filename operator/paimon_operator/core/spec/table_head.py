"""The part of a PaimonTable that decisions about other objects read. The cache keeps no more of a table's models."""

from __future__ import annotations

from pydantic import Field

from paimon_operator.api.base import ApiModel, CatalogRef, Time
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus


class HeadMeta(ApiModel):
    """Which object it is."""

    name: str
    namespace: str = ""
    uid: str = ""
    creation_timestamp: Time | None = None


class HeadSpec(ApiModel):
    """The identity of the physical table."""

    catalog_ref: CatalogRef
    database: str
    table: str | None = None


class HeadRun(ApiModel):
    """The active run, as far as it concerns other tables."""

    uid: str | None = None
    place: str | None = None
    result_unknown: bool | None = None
    blocked: bool | None = None


class HeadQueue(ApiModel):
    """The place in the queue for a run."""

    since: Time
    rank: Time | None = None


class HeadOwnership(ApiModel):
    """The proof of ownership."""

    place: str
    since: Time
    lost_at: Time | None = None


class HeadFailure(ApiModel):
    """The last failure of Provision."""

    reason: str = ""


class HeadProvision(ApiModel):
    """What Provision has established."""

    last_time: Time | None = None
    found_at: str | None = None
    failure: HeadFailure | None = None


class HeadUsage(ApiModel):
    """What maintenance has used."""

    maintenance_day: str | None = None
    maintenance_pod_seconds: int | None = None


class HeadStatus(ApiModel):
    """What the table claims, uses and waits for."""

    active_run: HeadRun | None = None
    queued_run: HeadQueue | None = None
    ownership: HeadOwnership | None = None
    usage: HeadUsage | None = None
    provision: HeadProvision | None = None


class NamedTable(ApiModel):
    """Which table a PaimonTable is. The whole head takes five times as long to read."""

    metadata: HeadMeta
    spec: HeadSpec


class TableHead(NamedTable):
    """A PaimonTable as the claims and the run slots read it."""

    status: HeadStatus = Field(default_factory=HeadStatus)


AnyTable = PaimonTable | TableHead
"""mypy checks that a function of `AnyTable` reads only what a head has."""
AnyTableStatus = TableStatus | HeadStatus
