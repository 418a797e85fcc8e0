"""Which PaimonTables of this cluster have proof, by the database and table that they name.

If one server has two addresses, two PaimonTables have the same physical table at two places. Then only the owner mark
in the table shows it. So `adoptionPolicy: Adopt` asks here whether the marked PaimonTable has proof, at any place.
"""

from __future__ import annotations

from paimon_operator.core.naming import ObjectKey
from paimon_operator.core.spec.identity import table_name
from paimon_operator.core.spec.ownership import has_proof
from paimon_operator.core.spec.table_head import AnyTable

_Identifier = tuple[str, str]
"""Database and table in Paimon. Both are immutable in a PaimonTable."""


class ProvenOwners:
    """All PaimonTables with proof. The cost of a call does not depend on the number of other tables."""

    def __init__(self) -> None:
        self._by_identifier: dict[_Identifier, set[ObjectKey]] = {}
        self._by_key: dict[ObjectKey, _Identifier] = {}

    def put(self, table: AnyTable) -> None:
        """Records whether `table` has proof now."""
        key = (table.metadata.namespace, table.metadata.name)
        self.remove(key)
        if has_proof(table.status):
            self._by_key[key] = _identifier(table)
            self._by_identifier.setdefault(_identifier(table), set()).add(key)

    def remove(self, key: ObjectKey) -> None:
        """Removes a PaimonTable that no longer exists."""
        identifier = self._by_key.pop(key, None)
        if identifier is None:
            return
        self._by_identifier[identifier].discard(key)
        if not self._by_identifier[identifier]:
            del self._by_identifier[identifier]

    def beside(self, table: AnyTable) -> frozenset[ObjectKey]:
        """The other PaimonTables with proof that name the same database and table."""
        own = (table.metadata.namespace, table.metadata.name)
        return frozenset(self._by_identifier.get(_identifier(table), ())) - {own}


def _identifier(table: AnyTable) -> _Identifier:
    return table.spec.database, table_name(table)
