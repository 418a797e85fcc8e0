"""Which object may manage a physical table: at most one over all watched namespaces.

Two objects claim the same table when their places are equal: server, warehouse, database and table after normalisation.
The claim goes to the object

1. with an active run, because two runs must never work on one table. A run that the API server refuses to create is
   none: an object in a namespace whose quota allows no runs blocks nobody,
2. with the earliest proof: a run of it has read the owner mark in the table, and none has found another owner's mark
   there since (`core/spec/ownership.py`),
3. that is the oldest, among those whose run has reached the table and whose manifest and catalog are valid.

Any other object blocks nobody: it may never be able to reach the table. `adoptionPolicy: Adopt` does not pass by a
claim: it takes a table over from an object that is gone or is in another cluster, not from one that manages it here.
Aliases of one server that no text shows are two places. For them, `owners_beside` gives the run that adopts the owners
whose mark it must respect.

While a run is active or its start is being stored, the place at which it was decided counts, even if the catalog
changed.
An object with proof keeps its place without a valid catalog.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.table.status import ActiveRun
from paimon_operator.core.commits.proven_owners import ProvenOwners
from paimon_operator.core.naming import ObjectKey
from paimon_operator.core.spec.identity import allowed_databases
from paimon_operator.core.spec.ownership import proven_since
from paimon_operator.core.spec.place import place_of
from paimon_operator.core.spec.table_head import AnyTable, HeadRun

_NEVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class TableClaim:
    """One object's claim to manage a physical table."""

    place: str
    """Of `place_of`: equal for aliases of one table."""
    namespace: str
    name: str
    uid: str
    created: datetime
    launched: bool
    """Whether its active run may have a Pod: status.activeRun holds the run's UID."""
    busy: bool
    """Whether a run of this object is active."""
    proven: datetime | None
    """When a run of this object first read its owner mark at this place."""
    reached: bool
    """Whether a run of this object, which has no proof, has read the table, and could do so again."""

    @property
    def key(self) -> ObjectKey:
        """Namespace and name of the object."""
        return self.namespace, self.name

    def name_for(self, namespace: str) -> str:
        """The object in a message for `namespace`: its name appears in its own namespace only."""
        return f"PaimonTable {self.name}" if namespace == self.namespace else "a PaimonTable of another namespace"

    @property
    def blocks(self) -> bool:
        """Whether others have to wait for this object at all."""
        return self.busy or self.proven is not None or self.reached

    @property
    def rank(self) -> tuple[bool, bool, datetime, bool, datetime, str]:
        """The claim with the smallest rank comes first."""
        return (
            not self.launched,
            not self.busy,
            self.proven or _NEVER,
            not self.reached,
            self.created,
            self.uid,
        )

    def waits_for(self, other: TableClaim) -> bool:
        """Whether this object may start no run because of `other`, a claim to the same place."""
        return other.blocks and self.rank > other.rank


class TableClaimIndex:
    """All claims, by place and by object. The cost of a call does not depend on the number of tables."""

    def __init__(self, is_valid: Callable[[PaimonCatalog], bool] = lambda _: True) -> None:
        self._is_valid = is_valid
        self._by_key: dict[ObjectKey, TableClaim] = {}
        self._by_place: dict[str, dict[ObjectKey, TableClaim]] = {}
        self._reserved: set[ObjectKey] = set()
        self._owners = ProvenOwners()

    def reserve(self, table: AnyTable, catalog: PaimonCatalog | None) -> None:
        """Records that the active run of `table` is being stored. No older observation undoes it before `confirm`."""
        self.put(table, catalog)
        self._reserved.add(_key(table))

    def confirm(self, namespace: str, name: str) -> None:
        """Ends a reservation: the next `put` shows whether the run was stored."""
        self._reserved.discard((namespace, name))

    def put(self, table: AnyTable, catalog: PaimonCatalog | None) -> frozenset[ObjectKey]:
        """Records what `table` claims now. Returns the other objects whose place has another order of claims."""
        self._owners.put(table)
        claim, known = self._claim(table, catalog), self._by_key.get(_key(table))
        if claim is None:
            return self._leave(_key(table))
        if known == claim:
            return frozenset()
        affected = self._leave(claim.key) if known and known.place != claim.place else frozenset()
        return affected | self._enter(claim)

    def remove(self, namespace: str, name: str) -> frozenset[ObjectKey]:
        """Removes an object. Returns the other objects of its place if it may have blocked them."""
        self._owners.remove((namespace, name))
        return self._leave((namespace, name))

    def holder(self, table: AnyTable, catalog: PaimonCatalog | None) -> TableClaim | None:
        """The other object that `table` has to wait for; None when there is none."""
        claim = self._claim(table, catalog)
        if claim is None:
            return None
        others = [each for key, each in self._by_place.get(claim.place, {}).items() if key != claim.key]
        ahead = [other for other in others if claim.waits_for(other)]
        return min(ahead, key=lambda other: other.rank, default=None)

    def owners_beside(self, table: AnyTable) -> frozenset[ObjectKey]:
        """The other objects with proof that name the same database and table, at any place."""
        return self._owners.beside(table)

    def _claim(self, table: AnyTable, catalog: PaimonCatalog | None) -> TableClaim | None:
        """The claim of `table`. While a run is active, the place at which it was decided counts.

        A run of release 0.1, and one that is being stored, has its place in the index only.
        """
        known = self._by_key.get(_key(table))
        valid = catalog is not None and self._is_valid(catalog)
        claim = claim_of(table, catalog, valid=valid)
        active = table.status.active_run
        busy = is_busy(active) or _key(table) in self._reserved
        says_where = active is not None and active.place is not None
        if busy and not says_where and known is not None and known.busy and known.uid == table.metadata.uid:
            claim = _claim_at(known.place, table, reached=False)
        return None if claim is None else replace(claim, busy=busy)

    def _leave(self, key: ObjectKey) -> frozenset[ObjectKey]:
        self._reserved.discard(key)
        claim = self._by_key.pop(key, None)
        if claim is None:
            return frozenset()
        claims = self._by_place[claim.place]
        del claims[claim.key]
        if not claims:
            del self._by_place[claim.place]
        return frozenset(claims) if claim.blocks else frozenset()

    def _enter(self, claim: TableClaim) -> frozenset[ObjectKey]:
        claims = self._by_place.setdefault(claim.place, {})
        known = claims.get(claim.key)
        claims[claim.key] = claim
        self._by_key[claim.key] = claim
        news = known is None or (known.blocks, known.rank) != (claim.blocks, claim.rank)
        return frozenset(claims) - {claim.key} if news and (claim.blocks or (known and known.blocks)) else frozenset()


def is_busy(active: ActiveRun | HeadRun | None) -> bool:
    """Whether a table's active run is active, or may be soon: not while its creation is refused."""
    return active is not None and not (active.blocked and active.uid is None)


def claim_of(table: AnyTable, catalog: PaimonCatalog | None, *, valid: bool = True) -> TableClaim | None:
    """The claim of `table`; None without a place: no catalog, and no proof of an earlier one.

    `valid` is whether the catalog's manifest breaks no rule.
    """
    proof, active = table.status.ownership, table.status.active_run
    if active is not None and active.place is not None and is_busy(active):
        return _claim_at(active.place, table, reached=False)
    if proof is not None and not (catalog is not None and valid):
        return _claim_at(proof.place, table, reached=False)
    if catalog is None:
        return None
    place = place_of(table, catalog)
    able = valid and table.spec.database in allowed_databases(catalog)
    return _claim_at(place, table, reached=able and _has_read_the_table(table, place))


def _has_read_the_table(table: AnyTable, place: str) -> bool:
    """Whether the last run read the table at this place. What it read at another server says nothing about this one."""
    state = table.status.provision
    return state is not None and state.failure is not None and state.found_at == place


def _claim_at(place: str, table: AnyTable, *, reached: bool) -> TableClaim:
    active = table.status.active_run
    return TableClaim(
        place=place,
        namespace=table.metadata.namespace,
        name=table.metadata.name,
        uid=table.metadata.uid,
        created=table.metadata.creation_timestamp or _NEVER,
        launched=active is not None and active.uid is not None,
        busy=is_busy(active),
        proven=proven_since(table.status, place),
        reached=reached,
    )


def _key(table: AnyTable) -> ObjectKey:
    return table.metadata.namespace, table.metadata.name
