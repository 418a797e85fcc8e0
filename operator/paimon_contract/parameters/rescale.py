"""Parameters of Rescale."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document


@dataclass(frozen=True, kw_only=True)
class RescaleParameters(Document):
    """Rescale the table to `count` buckets per partition.

    One run rewrites at most `most_partitions` partitions. More than one have at most `most_bytes` together.
    """

    count: int
    most_partitions: int
    most_bytes: int | None = None
