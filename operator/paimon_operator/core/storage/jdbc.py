"""A Jdbc metastore: its address is an option; user and password are files for drivers, which alone commit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from paimon_contract import environment
from paimon_operator.api.catalog.metastore import Jdbc, MetastoreType
from paimon_operator.core.storage.access import ROOT, Access, Mount, SecretKey, ValueSource, Variable
from paimon_operator.core.storage.base import StorageKind
from paimon_operator.core.storage.commit_protection import COMMIT_LOCK, UNKNOWN, Protection

DIRECTORY: Final = f"{ROOT}/metastore"
_KEYS: Final = ("username", "password")
_LOCK: Final = "PostgreSQL"
"""Its lock in engines.yaml."""


@dataclass(frozen=True)
class JdbcMetastore:
    """A PostgreSQL database."""

    spec: Jdbc
    type: ClassVar[MetastoreType] = MetastoreType.JDBC
    paimon_name: ClassVar[str] = "jdbc"
    name_rules: ClassVar[None] = None
    lock_watch_s: ClassVar[None] = None

    def access(self) -> Access:
        """The options and files of the metastore. The Spark side adds its lock and its time-outs."""
        secret = self.spec.credentials_secret_ref.name
        credentials = Mount(
            volume="metastore",
            source=ValueSource.SECRET,
            name=secret,
            path=DIRECTORY,
            items={key: key for key in _KEYS},
            optional=True,
            driver_only=True,
        )
        # Unused by the driver: the kubelet names a missing Secret only for variables, so the variable is required and
        # the volume optional.
        username = SecretKey(secret=secret, key="username")
        return Access(
            catalog_options={"uri": self.spec.uri},
            variables=(
                Variable(name=environment.METASTORE_CREDENTIALS, value=DIRECTORY, driver_only=True),
                Variable(name=environment.METASTORE_USERNAME, secret_key=username, driver_only=True),
            ),
            mounts=(credentials,),
        )

    def commit_protection(self, storage: StorageKind, locks: frozenset[str]) -> Protection:
        """The metastore's lock, where the engine supports it."""
        del storage
        return COMMIT_LOCK if _LOCK in locks else UNKNOWN
