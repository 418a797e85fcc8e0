"""Whether concurrent commits can be lost. Storage, metastore, lock and the declared and found writers decide.

The statements about storages and metastores are measured: docs/commit-safety.md, `make bench`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from paimon_engines.engine import Engine
from paimon_operator.api.catalog.metastore import MetastoreType
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.catalog.storage import SCHEMES
from paimon_operator.api.conditions import ConditionStatus, ConditionType
from paimon_operator.api.policies import CommitPolicy, ExternalWriters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.spec import PaimonTableSpec
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.commits import foreign_commits
from paimon_operator.core.conditions import Finding, false, true
from paimon_operator.core.spec import capabilities
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.storage import metastore_type

LOCK_KEEPER: Final = {MetastoreType.JDBC: "PostgreSQL", MetastoreType.HIVE: "Hive"}
"""Metastore -> the server that keeps its locks, as named in the `locks` of an engine."""


@dataclass(frozen=True)
class Protection:
    """What happens to two concurrent commits in a catalog."""

    reason: Reason
    """Why other writers are safe, or CommitUnsafe."""
    sentence: str
    declared_safe: bool = True
    """Whether foreign writers that the manifest declares are safe."""
    undeclared_safe: bool = False
    """Whether foreign writers that no manifest declares are safe too."""


_LOCKED: Final = Protection(
    Reason.COMMIT_LOCK,
    "every commit of the operator holds the metastore's lock, and the others' must too: same uri, lock.enabled=true",
)
_RENAMED: Final = Protection(
    Reason.ATOMIC_RENAME,
    "HDFS lets one of two commits win, and the other writer notices and commits again",
    undeclared_safe=True,
)
_UNKNOWN: Final = Protection(
    Reason.COMMIT_UNSAFE, "nothing is known to hold two commits apart here: commits can get lost", declared_safe=False
)
_WITHOUT_LOCK: Final = {
    "hdfs": _RENAMED,
    "s3": Protection(
        Reason.COMMIT_UNSAFE,
        "S3 lets a commit replace another one, and the metastore Filesystem has no lock: commits can get lost",
        declared_safe=False,
    ),
    "claim": Protection(
        Reason.COMMIT_UNSAFE,
        "on a volume a commit can replace another one, and the metastore Filesystem has no lock: commits can get lost",
        declared_safe=False,
    ),
}
"""Storage member -> the protection that its file system gives without a lock."""


def protection(storage: str, metastore: MetastoreType, locks: frozenset[str]) -> Protection:
    """The protection for a storage member, a metastore, and the locks that the engine supports."""
    lock_keeper = LOCK_KEEPER.get(metastore)
    if lock_keeper is not None and lock_keeper in locks:
        return _LOCKED
    if metastore is MetastoreType.FILESYSTEM:
        return _WITHOUT_LOCK.get(storage, _UNKNOWN)
    return _UNKNOWN


def protection_of(catalog: PaimonCatalog, engine: Engine | None) -> Protection:
    """The protection in `catalog`; `engine` is None where the operator does not have the catalog's engine."""
    members = (member for member in SCHEMES if getattr(catalog.spec.storage, member) is not None)
    return protection(next(members, ""), metastore_type(catalog), engine.locks if engine else frozenset())


def commit_safe(spec: PaimonTableSpec, status: TableStatus, kept: Protection) -> Finding:
    """The finding for the table's condition CommitSafe."""
    commit = foreign_commits.undeclared_commit(spec, status)
    if commit is not None and not (kept.undeclared_safe and capabilities.may_be_active(spec)):
        return false(ConditionType.COMMIT_SAFE, Reason.OUTSIDE_COMMIT, describe_safety(spec, status, kept))
    if commit is None and spec.external_writers is not ExternalWriters.ACTIVE:
        return single_committer(kept)
    if not kept.declared_safe:
        return false(
            ConditionType.COMMIT_SAFE, Reason.COMMIT_UNSAFE, f"Others commit to the table, and {kept.sentence}."
        )
    return true(ConditionType.COMMIT_SAFE, kept.reason, f"Others commit to the table: {kept.sentence}.")


def single_committer(kept: Protection) -> Finding:
    """CommitSafe without foreign writers: True in every catalog; the message says what a foreign writer would mean."""
    means, safety = Reason.SINGLE_COMMITTER.means, "would be safe" if kept.declared_safe else "would not be safe"
    return true(ConditionType.COMMIT_SAFE, Reason.SINGLE_COMMITTER, f"{means} Others {safety}: {kept.sentence}.")


def may_commit(context: TableContext, status: TableStatus) -> bool:
    """Whether runs that commit to the table may start without losing commits.

    With AllowUnsafe they start anyway, except where buckets grow with the keys: a second writer would put one key into
    two buckets.
    """
    if foreign_commits.undeclared_commit(context.spec, status) is not None and not capabilities.may_be_active(
        context.spec
    ):
        return False
    finding = commit_safe(context.spec, status, protection_of(context.catalog, context.engine))
    return finding.status is ConditionStatus.TRUE or context.catalog.spec.commit_policy is CommitPolicy.ALLOW_UNSAFE


def may_verify(context: TableContext, status: TableStatus) -> bool:
    """Whether the table may be created or verified. That commits no rows, so an undeclared commit does not block it."""
    return context.spec.external_writers is not ExternalWriters.ACTIVE or may_commit(context, status)


def describe_safety(spec: PaimonTableSpec, status: TableStatus, kept: Protection) -> str:
    """Why commits are unsafe, and the overrides."""
    commit = foreign_commits.undeclared_commit(spec, status)
    if commit is None:
        return f"Others commit to the table, and {kept.sentence}. {Reason.COMMIT_UNSAFE.remedy}"
    return foreign_commits.describe_commit(commit, spec, locked=kept.declared_safe)
