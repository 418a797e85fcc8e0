"""No metastore: a table exists when its files lie in the warehouse."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.catalog.metastore import MetastoreType
from paimon_operator.core.storage.access import Access
from paimon_operator.core.storage.base import StorageKind
from paimon_operator.core.storage.commit_protection import Protection


class FilesystemMetastore:
    """Paimon's filesystem catalog."""

    type: Final = MetastoreType.FILESYSTEM
    paimon_name: Final = "filesystem"
    name_rules: Final = None
    lock_watch_s: Final = None

    def access(self) -> Access:
        """Nothing besides the storage."""
        return Access()

    def commit_protection(self, storage: StorageKind, locks: frozenset[str]) -> Protection:
        """That of the storage: there is no lock."""
        del locks
        return storage.commit_protection
