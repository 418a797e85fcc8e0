"""How a run of maintenance verifies that it has changed no row."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document


@dataclass(frozen=True, kw_only=True)
class VerifyParameters(Document):
    """The rows before and after each commit of the run are counted and summed."""

    whole: bool
    """True: all rows. False: those of a sample of buckets."""
    rolls_back: bool
    """True: after a difference the table is rolled back, where no other commit would be lost."""
    uncompared: tuple[str, ...] = ()
    """Columns whose values depend on the order in which rows merge, so that a compaction may change them."""
