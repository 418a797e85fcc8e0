"""What tells one failure from another: words in the chain of its causes."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class FailurePattern:
    """A failure known by what its chain of causes says. First match wins, so the order in a list matters."""

    pattern: re.Pattern[str]
    kind: str
    reason: str
    sentence: str
    remedy: str
    of_storage: bool = True
    """Whether it may be the storage that said so."""
    field: str | None = None
    """The field to mend, where the sign alone tells."""


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
    """A sign by its pattern's text, which is compared without case."""
    return FailurePattern(re.compile(pattern, re.IGNORECASE), kind, reason, sentence, remedy, of_storage, field)
