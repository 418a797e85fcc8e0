"""A Hive metastore: its address, the lock of its server, and the names that it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from paimon_contract.hive import LOCK_STALE_AFTER_S
from paimon_operator.api.catalog.metastore import NAMES_OF_HIVE, Hive, MetastoreType
from paimon_operator.core.storage.access import Access
from paimon_operator.core.storage.base import NameRules, StorageKind
from paimon_operator.core.storage.commit_protection import COMMIT_LOCK, UNKNOWN, Protection

_LOCK: Final = "Hive"
"""Its lock in engines.yaml."""


@dataclass(frozen=True)
class HiveMetastore:
    """A Hive metastore server, which does not authenticate its clients."""

    spec: Hive
    type: ClassVar[MetastoreType] = MetastoreType.HIVE
    paimon_name: ClassVar[str] = "hive"
    name_rules: ClassVar[NameRules] = NameRules(
        pattern=NAMES_OF_HIVE, characters="lower-case letters, digits and underscores"
    )
    lock_watch_s: ClassVar[int] = LOCK_STALE_AFTER_S

    def access(self) -> Access:
        """The address; what must always be set (lock, time-outs) the Spark side adds.

        A run recognises the lock of a driver that died by the host name, which all drivers of a table share.
        """
        return Access(catalog_options={"uri": self.spec.uri}, table_host_name=True)

    def commit_protection(self, storage: StorageKind, locks: frozenset[str]) -> Protection:
        """The metastore's lock, where the engine supports it."""
        del storage
        return COMMIT_LOCK if _LOCK in locks else UNKNOWN
