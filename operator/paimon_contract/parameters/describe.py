"""Parameters of Describe."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document


@dataclass(frozen=True, kw_only=True)
class DescribeParameters(Document):
    """Describe the tables of the databases. `catalog` is the PaimonCatalog as JSON text, for the description."""

    catalog: str
    databases: tuple[str, ...]
