"""Parameters of CompactManifests."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document


@dataclass(frozen=True)
class CompactManifestsParameters(Document):
    """Merge the manifests of the latest snapshot."""
