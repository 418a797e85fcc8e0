"""Parameters of RemoveOrphanFiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from paimon_contract.documents import Document

REPORT: Final = "Report"
DELETE: Final = "Delete"
RESTORE: Final = "Restore"
LEAST_SECONDS: Final = 24 * 3600
"""Least age of an orphan."""
USUAL_PERCENT: Final = 20


@dataclass(frozen=True, kw_only=True)
class RemoveOrphanFilesParameters(Document):
    """Report the orphans that are older than `older_than_seconds`, remove them, or restore what was moved away.

    `mode` is REPORT, DELETE or RESTORE. DELETE refuses where orphans are `max_percent` of 100 of all files or more.
    """

    mode: str
    older_than_seconds: int
    max_percent: int = USUAL_PERCENT
