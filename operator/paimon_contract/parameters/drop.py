"""Parameters of Drop."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document


@dataclass(frozen=True)
class DropParameters(Document):
    """Drop the table, if this PaimonTable owns it and has made it."""

    also_adopted: bool | None = None
    """True: also a table that it took over, because the manifest says Adopt. None: such a table is kept."""
