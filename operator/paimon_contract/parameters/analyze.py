"""Parameters of Analyze."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document


@dataclass(frozen=True)
class AnalyzeParameters(Document):
    """Compute the statistics of the table and of all its columns."""
