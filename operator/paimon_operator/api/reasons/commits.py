"""Commits by other writers."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.reasons.explanation import Explanation

EXPLANATIONS: Final = {
    "SingleCommitter": Explanation(
        "Only the operator commits to the table, with one run at a time.",
        "No action is needed.",
    ),
    "AtomicRename": Explanation(
        "Others commit too. The storage has an atomic rename: of two concurrent commits one wins, and the other is "
        "retried on top.",
        "No action is needed.",
    ),
    "CommitLock": Explanation(
        "Others commit too, and the metastore has a commit lock. It serialises the commits of writers that use it.",
        "Ensure that the other writers use the same metastore with lock.enabled=true.",
    ),
    "CommitUnsafe": Explanation(
        "Others commit to the table and the catalog has no commit lock, so concurrent commits can be lost.",
        "Stop the other writers and set externalWriters to None or Paused. Or use a catalog with the metastore Jdbc "
        "or Hive, which has a lock. Or override with the catalog's commitPolicy AllowUnsafe.",
    ),
    "OutsideCommit": Explanation(
        "A run found a foreign commit, although externalWriters is not Active. Where that makes commits unsafe, the "
        "run ended before it committed anything.",
        "Stop that writer, or declare it in externalWriters. The message names the commit.",
    ),
}
"""Reason -> what it means and what to do."""
