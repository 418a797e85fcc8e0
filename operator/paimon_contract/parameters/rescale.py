"""Parameters of Rescale."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document


@dataclass(frozen=True, kw_only=True)
class RescaleParameters(Document):
    """Rescale the table to `count` buckets per partition; one run rewrites at most `most_partitions` of them."""

    count: int
    most_partitions: int
