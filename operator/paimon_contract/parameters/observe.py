"""Parameters of Observe."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document
from paimon_contract.drift import JobDrift
from paimon_contract.parameters.provision import ProvisionParameters


@dataclass(frozen=True, kw_only=True)
class ObserveParameters(Document):
    """Compare the table's schema with the one that the operator has left, and with the manifest (`table`)."""

    table: ProvisionParameters
    drift: JobDrift | None = None
    """None: no schema is recorded yet."""
