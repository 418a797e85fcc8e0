"""Failure patterns: regular expressions over the messages of an exception's chain of causes."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class FailurePattern:
    """A failure known by the messages of its causes. The first match wins, so the order in a tuple matters."""

    pattern: re.Pattern[str]
    kind: str
    """Failure class of the contract (EXIT_CODES)."""
    reason: str
    sentence: str
    remedy: str
    of_storage: bool = True
    """Whether the storage can be the source; then the message names its address and the field comes from it."""
    field: str | None = None
    """The field to correct, where the pattern alone determines it."""


def failure_pattern(
    pattern: str,
    kind: str,
    reason: str,
    sentence: str,
    remedy: str,
    *,
    of_storage: bool = True,
    field: str | None = None,
) -> FailurePattern:
    """A pattern from the text of its regular expression, which ignores case."""
    return FailurePattern(re.compile(pattern, re.IGNORECASE), kind, reason, sentence, remedy, of_storage, field)


def commit_lock_held(remedy: str) -> FailurePattern:
    """Paimon's time-out of a metastore's commit lock, the same message for every metastore that has locks."""
    return failure_pattern(
        "Acquire lock failed",
        "Infrastructure",
        "CommitLockHeld",
        "The commit lock of the table was not free in time",
        remedy,
        of_storage=False,
        field="spec.metastore",
    )
