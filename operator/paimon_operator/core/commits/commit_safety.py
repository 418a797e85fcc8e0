"""Whether concurrent commits can be lost. Storage, metastore, lock and the declared and found writers decide.

The statements about storages and metastores are measured: docs/commit-safety.md, `make bench`.
"""

from __future__ import annotations

from paimon_engines.engine import Engine
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.conditions import ConditionStatus, ConditionType
from paimon_operator.api.policies import CommitPolicy, ExternalWriters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.effective import Effective
from paimon_operator.api.table.spec import PaimonTableSpec
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.commits import foreign_commits
from paimon_operator.core.conditions import Finding, false, true
from paimon_operator.core.spec import capabilities
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.lost_rows import lost_rows
from paimon_operator.core.storage import metastore_of, storage_of
from paimon_operator.core.storage.commit_protection import Protection, unprotected


def protection_of(catalog: PaimonCatalog, engine: Engine | None) -> Protection:
    """Protection of commits by the catalog's storage, metastore and engine. None: the operator has no such engine."""
    locks = engine.locks if engine else frozenset()
    return metastore_of(catalog).commit_protection(storage_of(catalog), locks)


def protection_from(
    kept: Protection, spec: PaimonTableSpec, effective: Effective | None, engine: Engine | None
) -> Protection:
    """The protection of the table's commits, of which `kept` is that of its catalog."""
    lost = lost_rows(spec, effective, engine)
    return kept if lost is None else unprotected(lost)


def protection_in(context: TableContext) -> Protection:
    """Protection of the table's commits: its catalog's, unless Paimon itself loses some of this table."""
    kept = protection_of(context.catalog, context.engine)
    return protection_from(kept, context.spec, context.effective, context.engine)


def commit_safe(spec: PaimonTableSpec, status: TableStatus, kept: Protection) -> Finding:
    """The finding for the table's condition CommitSafe."""
    commit = foreign_commits.undeclared_commit(spec, status)
    if commit is not None and not (kept.undeclared_safe and capabilities.may_be_active(spec)):
        return false(ConditionType.COMMIT_SAFE, Reason.OUTSIDE_COMMIT, describe_safety(spec, status, kept))
    if commit is None and spec.external_writers is not ExternalWriters.ACTIVE:
        return single_committer(kept)
    if not kept.declared_safe:
        return false(
            ConditionType.COMMIT_SAFE, Reason.COMMIT_UNSAFE, f"Other writers commit to the table, and {kept.sentence}."
        )
    return true(ConditionType.COMMIT_SAFE, kept.reason, f"Other writers commit to the table: {kept.sentence}.")


def single_committer(kept: Protection) -> Finding:
    """CommitSafe without foreign writers: True in every catalog; the message says what a foreign writer would mean."""
    means, safety = Reason.SINGLE_COMMITTER.means, "would be safe" if kept.declared_safe else "would not be safe"
    return true(ConditionType.COMMIT_SAFE, Reason.SINGLE_COMMITTER, f"{means} Other writers {safety}: {kept.sentence}.")


def may_commit(context: TableContext, status: TableStatus) -> bool:
    """Whether runs that commit to the table may start without losing commits.

    With AllowUnsafe they start anyway, except where buckets grow with the keys: a second writer would put one key into
    two buckets.
    """
    if foreign_commits.undeclared_commit(context.spec, status) is not None and not capabilities.may_be_active(
        context.spec
    ):
        return False
    finding = commit_safe(context.spec, status, protection_in(context))
    return finding.status is ConditionStatus.TRUE or context.catalog.spec.commit_policy is CommitPolicy.ALLOW_UNSAFE


def stops_at_foreign_commit(context: TableContext) -> bool:
    """Whether a run that commits has to stop when it finds an undeclared foreign commit.

    Where it may go on, it also may next to a foreign commit that is known, so no run is started only to stop again.
    """
    return not may_commit(context, foreign_commits.assume_commit(context.table.status, context.now))


def may_verify(context: TableContext, status: TableStatus) -> bool:
    """Whether the table may be created or verified. That commits no rows, so an undeclared commit does not block it."""
    return context.spec.external_writers is not ExternalWriters.ACTIVE or may_commit(context, status)


def describe_safety(spec: PaimonTableSpec, status: TableStatus, kept: Protection) -> str:
    """Why commits are unsafe, and the overrides."""
    commit = foreign_commits.undeclared_commit(spec, status)
    if commit is None:
        return f"Other writers commit to the table, and {kept.sentence}. {Reason.COMMIT_UNSAFE.remedy}"
    return foreign_commits.describe_commit(commit, spec, locked=kept.declared_safe)
