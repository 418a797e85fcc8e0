"""Warehouses that lie inside one another: a drop in the outer one could delete tables of the inner one.

Of two such catalogs the one keeps working whose storage a run has reached first. A catalog whose storage no run has
reached stops no other. Two catalogs of one and the same warehouse are no conflict: claims order their tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.spec.place import place_of_warehouse, reached_elsewhere

CatalogKey = tuple[str, str]
"""Namespace and name."""
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Warehouse:
    """One catalog's warehouse."""

    place: str
    """Of `place_of_warehouse`."""
    namespace: str
    name: str
    uid: str
    reached_at: datetime | None
    """When it was first seen that a run has reached the storage."""

    @property
    def key(self) -> CatalogKey:
        """Namespace and name of the catalog."""
        return self.namespace, self.name

    @property
    def rank(self) -> tuple[datetime, str]:
        """The smallest rank keeps working."""
        return self.reached_at or _NEVER, self.uid

    def name_for(self, namespace: str) -> str:
        """The catalog in a message for `namespace`: its name appears in its own namespace only."""
        return f"PaimonCatalog {self.name}" if namespace == self.namespace else "a PaimonCatalog of another namespace"


class WarehouseIndex:
    """The warehouses of all catalogs. The cost of a call depends on the depth of a path, not on their number."""

    def __init__(self) -> None:
        self._by_key: dict[CatalogKey, Warehouse] = {}
        self._at: dict[str, set[CatalogKey]] = defaultdict(set)
        """Directory -> catalogs whose warehouse it is."""
        self._below: dict[str, set[CatalogKey]] = defaultdict(set)
        """Directory -> catalogs whose warehouse is below it."""

    def put(self, catalog: PaimonCatalog) -> frozenset[CatalogKey]:
        """Records a catalog. Returns the other catalogs whose overlap may have changed."""
        warehouse = _warehouse(catalog)
        if self._by_key.get(warehouse.key) == warehouse:
            return frozenset()
        affected = self.remove(*warehouse.key)
        self._by_key[warehouse.key] = warehouse
        self._at[warehouse.place].add(warehouse.key)
        for directory in _above(warehouse.place):
            self._below[directory].add(warehouse.key)
        return affected | frozenset(each.key for each in self._overlaps(warehouse))

    def remove(self, namespace: str, name: str) -> frozenset[CatalogKey]:
        """Removes a catalog. Returns the other catalogs whose overlap may have changed."""
        warehouse = self._by_key.pop((namespace, name), None)
        if warehouse is None:
            return frozenset()
        _discard(self._at, warehouse.place, warehouse.key)
        for directory in _above(warehouse.place):
            _discard(self._below, directory, warehouse.key)
        return frozenset(each.key for each in self._overlaps(warehouse))

    def overlap(self, catalog: PaimonCatalog | None) -> Warehouse | None:
        """The warehouse of another catalog that stops this one; None when there is none."""
        if catalog is None:
            return None
        own = _warehouse(catalog)
        ahead = [each for each in self._overlaps(own) if each.reached_at is not None and each.rank < own.rank]
        return min(ahead, key=lambda each: each.rank, default=None)

    def _overlaps(self, warehouse: Warehouse) -> Iterator[Warehouse]:
        keys = set(self._below.get(warehouse.place, ()))
        for directory in _above(warehouse.place):
            keys |= self._at.get(directory, set())
        return (self._by_key[key] for key in keys - {warehouse.key})


def _warehouse(catalog: PaimonCatalog) -> Warehouse:
    place = place_of_warehouse(catalog)
    return Warehouse(
        place=place,
        namespace=catalog.metadata.namespace,
        name=catalog.metadata.name,
        uid=catalog.metadata.uid,
        # After a move of the endpoint, the time belongs to the earlier place until a run has reached the new one.
        reached_at=catalog.status.reached_at if reached_elsewhere(catalog) is None else None,
    )


def _above(place: str) -> Iterator[str]:
    """The directories around `place`, the nearest first."""
    while "/" in place:
        place = place.rpartition("/")[0]
        yield place


def _discard(sets: dict[str, set[CatalogKey]], directory: str, key: CatalogKey) -> None:
    sets[directory].discard(key)
    if not sets[directory]:
        del sets[directory]
