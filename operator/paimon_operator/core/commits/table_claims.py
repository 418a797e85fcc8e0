"""Which object may manage a physical table: exactly one over all watched namespaces.

Two objects claim the same table when warehouse, database and table are equal after normalisation. The oldest object
holds it. An object with an active run precedes an older one: the older one may have begun to claim this table only now
(its catalog was created later), and two runs must never work on one table. For the same reason, while a run is active
or its start is being stored, the index keeps the last known place, even if the catalog changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.spec.capabilities import ever_ready
from paimon_operator.core.spec.identity import normalised, table_name
from paimon_operator.core.storage import storage_of

ObjectKey = tuple[str, str]
"""Namespace and name."""

_NEVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class PhysicalTable:
    """The place of a table: warehouse (normalised), database, table."""

    warehouse: str
    database: str
    table: str


@dataclass(frozen=True, kw_only=True)
class TableClaim:
    """One object's claim to manage a physical table."""

    place: PhysicalTable
    namespace: str
    name: str
    uid: str
    created: datetime
    launched: bool
    """Whether its active run may have a Pod: status.activeRun holds the run's UID."""
    busy: bool
    """Whether a run of this object is active."""
    verified: bool
    """Whether the table was verified under this object."""

    @property
    def key(self) -> ObjectKey:
        """Namespace and name of the object."""
        return self.namespace, self.name

    @property
    def rank(self) -> tuple[bool, bool, datetime, bool, str]:
        """The claim with the smallest rank holds the table. At equal age a verified one precedes, then the UID."""
        return not self.launched, not self.busy, self.created, not self.verified, self.uid


class TableClaimIndex:
    """All claims, by place and by object. The cost of a call does not depend on the number of tables."""

    def __init__(self) -> None:
        self._by_key: dict[ObjectKey, TableClaim] = {}
        self._by_place: dict[PhysicalTable, dict[ObjectKey, TableClaim]] = {}
        self._reserved: set[ObjectKey] = set()

    def reserve(self, table: PaimonTable, catalog: PaimonCatalog | None) -> None:
        """Records that the active run of `table` is being stored. No older observation undoes it before `confirm`."""
        self.put(table, catalog)
        self._reserved.add(_key(table))

    def confirm(self, namespace: str, name: str) -> None:
        """Ends a reservation: the next `put` shows whether the run was stored."""
        self._reserved.discard((namespace, name))

    def put(self, table: PaimonTable, catalog: PaimonCatalog | None) -> frozenset[ObjectKey]:
        """Records what `table` claims now. Returns the other objects whose place has a new holder."""
        claim, known = self._claim(table, catalog), self._by_key.get(_key(table))
        if claim is None:
            return self.remove(*_key(table))
        if known == claim:
            return frozenset()
        affected = self.remove(*claim.key) if known and known.place != claim.place else frozenset()
        return affected | self._enter(claim)

    def remove(self, namespace: str, name: str) -> frozenset[ObjectKey]:
        """Removes an object. Returns the other objects whose place has a new holder."""
        self._reserved.discard((namespace, name))
        claim = self._by_key.pop((namespace, name), None)
        if claim is None:
            return frozenset()
        claims = self._by_place[claim.place]
        was_first = _first(claims) == claim
        del claims[claim.key]
        if not claims:
            del self._by_place[claim.place]
        return frozenset(claims) if was_first else frozenset()

    def holder(self, table: PaimonTable, catalog: PaimonCatalog | None) -> TableClaim | None:
        """The other object that holds the place of `table`; None when no other does."""
        claim = self._claim(table, catalog)
        if claim is None:
            return None
        first = _first({**self._by_place.get(claim.place, {}), claim.key: claim})
        return None if first.key == claim.key else first

    def _claim(self, table: PaimonTable, catalog: PaimonCatalog | None) -> TableClaim | None:
        """The claim of `table`. While a run is active, the place at which it was decided counts."""
        known, claim = self._by_key.get(_key(table)), claim_of(table, catalog)
        busy = table.status.active_run is not None or _key(table) in self._reserved
        if busy and known is not None and known.busy and known.uid == table.metadata.uid:
            claim = _claim_at(known.place, table)
        return None if claim is None else replace(claim, busy=busy)

    def _enter(self, claim: TableClaim) -> frozenset[ObjectKey]:
        claims = self._by_place.setdefault(claim.place, {})
        before = _first(claims).key if claims else None
        claims[claim.key] = claim
        self._by_key[claim.key] = claim
        return frozenset(claims) - {claim.key} if _first(claims).key != before else frozenset()


def claim_of(table: PaimonTable, catalog: PaimonCatalog | None) -> TableClaim | None:
    """The claim of `table`; None without its catalog, which defines the place."""
    if catalog is None:
        return None
    root = storage_of(catalog).physical_root(normalised(catalog.spec.warehouse), catalog.metadata.namespace)
    place = PhysicalTable(root, table.spec.database, table_name(table))
    return _claim_at(place, table)


def _claim_at(place: PhysicalTable, table: PaimonTable) -> TableClaim:
    active = table.status.active_run
    return TableClaim(
        place=place,
        namespace=table.metadata.namespace,
        name=table.metadata.name,
        uid=table.metadata.uid,
        created=table.metadata.creation_timestamp or _NEVER,
        launched=active is not None and active.uid is not None,
        busy=active is not None,
        verified=ever_ready(table.status),
    )


def _key(table: PaimonTable) -> ObjectKey:
    return table.metadata.namespace, table.metadata.name


def _first(claims: dict[ObjectKey, TableClaim]) -> TableClaim:
    return min(claims.values(), key=lambda claim: claim.rank)
