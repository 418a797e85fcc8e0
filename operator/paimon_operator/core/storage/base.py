"""The protocols of a kind of storage and of a kind of metastore."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from paimon_engines.engine import Engine
from paimon_operator.api.catalog.metastore import MetastoreType
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.storage.access import Access
from paimon_operator.core.storage.commit_protection import Protection
from paimon_operator.errors import SpecError


class StorageKind(Protocol):
    """The storage of one catalog. A new kind is one class, and one line in `storage_of`.

    The defaults are those of a storage whose URIs are unique, and that every operator allows.
    """

    @property
    def commit_protection(self) -> Protection:
        """Protection of commits by the file system alone, without a lock of the metastore."""

    @property
    def uses_pod_identity(self) -> bool:
        """Whether the cloud authenticates Spark Pods by their service account."""

    @property
    def can_be_observed(self) -> bool:
        """Whether an observer, a second Pod that runs all the time, can read the files without a JVM."""
        return False

    def access(self, engine: Engine) -> Access:
        """What Spark Pods need to reach the data."""

    def physical_root(self, warehouse: str, namespace: str) -> str:
        """The warehouse by a name that no warehouse on another server has."""
        del namespace
        return warehouse

    def problems(self, operator: OperatorFacts) -> Iterator[SpecError]:
        """Why this operator does not allow the storage."""
        del operator
        yield from ()


@dataclass(frozen=True, kw_only=True)
class NameRules:
    """What a metastore requires of names, beyond Paimon's own rules. It keeps column names in lower case only."""

    pattern: str
    """Regular expression of the names of databases and tables."""
    characters: str
    """The characters that `pattern` allows, as text for messages."""


class MetastoreKind(Protocol):
    """The metastore of one catalog. A new kind is one class, and one line in `metastore_of`."""

    @property
    def type(self) -> MetastoreType:
        """Its name in the manifest."""

    @property
    def paimon_name(self) -> str:
        """Its name in the job: Paimon's catalog option `metastore`."""

    @property
    def name_rules(self) -> NameRules | None:
        """None: Paimon's own rules are enough."""

    @property
    def lock_watch_s(self) -> int | None:
        """Seconds for which a run watches the lock that a dead driver has left. None: it watches none."""

    def access(self) -> Access:
        """What Spark Pods need to reach it."""

    def commit_protection(self, storage: StorageKind, locks: frozenset[str]) -> Protection:
        """Protection of commits, with the locks that the engine supports (engines.yaml)."""
