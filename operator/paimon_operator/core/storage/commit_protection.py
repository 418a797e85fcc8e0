"""What happens to two commits at the same time, by storage and metastore.

The figures behind the sentences are measured: docs/commit-safety.md, `make bench`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from paimon_operator.api.reasons import Reason


@dataclass(frozen=True)
class Protection:
    """Whether two commits at the same time can lose each other in a catalog."""

    reason: Reason
    """Why foreign writers are safe, or CommitUnsafe."""
    sentence: str
    declared_safe: bool = True
    """Whether foreign writers that the manifest declares are safe."""
    undeclared_safe: bool = False
    """Whether foreign writers that no manifest declares are safe."""


COMMIT_LOCK: Final = Protection(
    Reason.COMMIT_LOCK,
    "the operator commits under the metastore's lock, and other writers must too: same uri, lock.enabled=true",
)
ATOMIC_RENAME: Final = Protection(
    Reason.ATOMIC_RENAME,
    "HDFS accepts one of two commits, and the other writer notices and commits again",
    undeclared_safe=True,
)


def unprotected(sentence: str) -> Protection:
    """Commits can get lost, declared or not; `sentence` says why."""
    return Protection(Reason.COMMIT_UNSAFE, sentence, declared_safe=False)


UNKNOWN: Final = unprotected("nothing is known to serialise commits here: commits can get lost")
