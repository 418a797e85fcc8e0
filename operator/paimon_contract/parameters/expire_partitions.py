"""Parameters of ExpirePartitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from paimon_contract.documents import Document

VALUES_TIME: Final = "ValuesTime"
UPDATE_TIME: Final = "UpdateTime"


@dataclass(frozen=True, kw_only=True)
class ExpirePartitionsParameters(Document):
    """Drop the partitions whose time is more than `expiration_seconds` ago.

    `strategy` is VALUES_TIME or UPDATE_TIME. With VALUES_TIME, `timestamp_pattern` makes a text of the partition's
    keys, `timestamp_formatter` (of Java) reads it, and `time_zone` (an IANA name) says where that time is.
    """

    expiration_seconds: int
    strategy: str
    time_zone: str = "UTC"
    timestamp_pattern: str | None = None
    timestamp_formatter: str | None = None
