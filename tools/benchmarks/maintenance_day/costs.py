"""Seconds that a driver Pod takes, from figures of docs/benchmarks.md (engine paimon-1.4, 2 cores, mode Local)."""

from __future__ import annotations

from typing import Final

POD_START: Final = 4.2 - 3.0
"""What `kubectl apply` until Ready takes longer than the driver's container, in "From a manifest to a table"."""
METADATA_RUN: Final = 3.0
"""The container of a run without Spark SQL, there: "only the driver Pod, with the class-data archive"."""
SQL: Final = 3.0 - 1.1
"""What a statement in SQL takes longer than Paimon's catalog, in "From a driver's start to its first statement"."""
_FEW_ROWS, _MANY_ROWS = (1_000_000, 9.0), (20_000_000, 22.0)
"""Rows and seconds of a full compaction in one Pod, in "Executors compared with one Pod"."""
PER_ROW: Final = (_MANY_ROWS[1] - _FEW_ROWS[1]) / (_MANY_ROWS[0] - _FEW_ROWS[0])
COMPACTION: Final = _FEW_ROWS[1] - PER_ROW * _FEW_ROWS[0]
"""The container of a compaction, without what depends on its rows."""
WITHOUT_JVM: Final = 1.0
"""The container of a driver that reads the metadata and ends. An assumption: Python's start and a few requests."""


def expiry_seconds() -> float:
    """A run that expires snapshots, or finds none to expire."""
    return POD_START + METADATA_RUN


def compaction_seconds(rows: int) -> float:
    """A run that rewrites so many rows. Without any, it ends after its first statement."""
    return POD_START + (COMPACTION + PER_ROW * rows if rows else METADATA_RUN + SQL)


def look_seconds() -> float:
    """A run whose driver starts no JVM."""
    return POD_START + WITHOUT_JVM
