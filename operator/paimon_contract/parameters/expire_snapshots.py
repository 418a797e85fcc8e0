"""Parameters of ExpireSnapshots."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document


@dataclass(frozen=True, kw_only=True)
class ExpireSnapshotsParameters(Document):
    """Expire snapshots. `time_retained` is in Paimon's notation (`1 d`)."""

    time_retained: str | None = None
    num_retained_min: int | None = None
    num_retained_max: int | None = None
