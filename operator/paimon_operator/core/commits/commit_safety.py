"""Whether two committers could lose each other's work: decided by storage, metastore and lock, and by who commits.

The figures behind the sentences are measured: docs/commit-safety.md, `make bench`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

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
from paimon_operator.core.engines import Engine
from paimon_operator.core.spec import capabilities
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.storage import metastore_type

LOCK_KEEPER: Final = {MetastoreType.JDBC: "PostgreSQL", MetastoreType.HIVE: "Hive"}
"""Metastore -> who keeps its locks, with whom its engine must be able to speak."""


@dataclass(frozen=True)
class Protection:
    """What becomes of two commits at once in a catalog."""

    reason: Reason
    """Why others are safe, or CommitUnsafe."""
    sentence: str
    announced: bool = True
    """Outside writers that the manifest speaks of are safe."""
    unannounced: bool = False
    """So are those that nobody has said anything about."""


_LOCKED: Final = Protection(
    Reason.COMMIT_LOCK,
    "every commit of the operator holds the metastore's lock, and the others' must too: same uri, lock.enabled=true",
)
_RENAMED: Final = Protection(
    Reason.ATOMIC_RENAME,
    "HDFS lets one of two commits win, and the other writer notices and commits again",
    unannounced=True,
)
_UNKNOWN: Final = Protection(
    Reason.COMMIT_UNSAFE, "nothing is known to hold two commits apart here: commits can get lost", announced=False
)
_WITHOUT_LOCK: Final = {
    "hdfs": _RENAMED,
    "s3": Protection(
        Reason.COMMIT_UNSAFE,
        "S3 lets a commit replace another one, and the metastore Filesystem has no lock: commits can get lost",
        announced=False,
    ),
    "claim": Protection(
        Reason.COMMIT_UNSAFE,
        "on a volume a commit can replace another one, and the metastore Filesystem has no lock: commits can get lost",
        announced=False,
    ),
}
"""Storage member -> what its file system does by itself."""


def protection(storage: str, metastore: MetastoreType, locks: frozenset[str]) -> Protection:
    """For a storage member, a metastore, and the locks that the engine knows."""
    lock_keeper = LOCK_KEEPER.get(metastore)
    if lock_keeper is not None and lock_keeper in locks:
        return _LOCKED
    if metastore is MetastoreType.FILESYSTEM:
        return _WITHOUT_LOCK.get(storage, _UNKNOWN)
    return _UNKNOWN


def protection_of(catalog: PaimonCatalog, engine: Engine | None) -> Protection:
    """What the catalog's storage, metastore and engine make of two commits; None: the operator has not that engine."""
    members = (member for member in SCHEMES if getattr(catalog.spec.storage, member) is not None)
    return protection(next(members, ""), metastore_type(catalog), engine.locks if engine else frozenset())


def commit_safe(spec: PaimonTableSpec, status: TableStatus, kept: Protection) -> Finding:
    """The condition CommitSafe of a table."""
    commit = foreign_commits.undeclared_commit(spec, status)
    if commit is not None and not (kept.unannounced and capabilities.may_be_active(spec)):
        return false(ConditionType.COMMIT_SAFE, Reason.OUTSIDE_COMMIT, describe_safety(spec, status, kept))
    if commit is None and spec.external_writers is not ExternalWriters.ACTIVE:
        return alone(kept)
    if not kept.announced:
        return false(
            ConditionType.COMMIT_SAFE, Reason.COMMIT_UNSAFE, f"Others commit to the table, and {kept.sentence}."
        )
    return true(ConditionType.COMMIT_SAFE, kept.reason, f"Others commit to the table: {kept.sentence}.")


def alone(kept: Protection) -> Finding:
    """Nobody else commits: safe, whatever the catalog makes of two commits at once."""
    means, others = Reason.SINGLE_COMMITTER.means, "would be safe" if kept.announced else "would not be safe"
    return true(ConditionType.COMMIT_SAFE, Reason.SINGLE_COMMITTER, f"{means} Others {others}: {kept.sentence}.")


def may_commit(context: TableContext, status: TableStatus) -> bool:
    """Whether runs that commit to the table may start, as far as lost commits go.

    Where buckets grow with the keys a second writer is not to be risked: it puts a key into two of them.
    """
    if foreign_commits.undeclared_commit(context.spec, status) is not None and not capabilities.may_be_active(
        context.spec
    ):
        return False
    finding = commit_safe(context.spec, status, protection_of(context.catalog, context.engine))
    return finding.status is ConditionStatus.TRUE or context.catalog.spec.commit_policy is CommitPolicy.ALLOW_UNSAFE


def may_verify(context: TableContext, status: TableStatus) -> bool:
    """Whether the table may be made or verified: that commits nothing, so a record alone does not stand in its way."""
    return context.spec.external_writers is not ExternalWriters.ACTIVE or may_commit(context, status)


def describe_safety(spec: PaimonTableSpec, status: TableStatus, kept: Protection) -> str:
    """Why commits are unsafe, and the ways out."""
    commit = foreign_commits.undeclared_commit(spec, status)
    if commit is None:
        return f"Others commit to the table, and {kept.sentence}. {Reason.COMMIT_UNSAFE.remedy}"
    return foreign_commits.describe_commit(commit, spec, locked=kept.announced)
