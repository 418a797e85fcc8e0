"""Parameters of MarkPartitionsDone."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document


@dataclass(frozen=True, kw_only=True)
class MarkPartitionsDoneParameters(Document):
    """Mark the partitions whose end, and whose newest file, are more than `idle_seconds` ago.

    A partition ends `interval_seconds` after its time. `timestamp_pattern` makes a text of the partition's keys,
    `timestamp_formatter` (of Java) reads it, and `time_zone` (an IANA name) says where that time is.
    """

    interval_seconds: int
    idle_seconds: int
    time_zone: str = "UTC"
    timestamp_pattern: str | None = None
    timestamp_formatter: str | None = None
