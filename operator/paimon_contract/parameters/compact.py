"""Parameters of Compact."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document


@dataclass(frozen=True, kw_only=True)
class CompactParameters(Document):
    """Compact. `partition_idle_time` is in Paimon's notation (`10 min`); `partitions` are all that is compacted."""

    strategy: str
    partitions: tuple[dict[str, str], ...] | None = None
    partition_idle_time: str | None = None
