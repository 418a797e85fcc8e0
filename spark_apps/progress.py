"""Progress lines in a run's log, one per step. The result is the last line."""

from __future__ import annotations

import sys
from typing import Final

JVM_READY: Final = "the JVM is ready"
SPARK_READY: Final = "Spark SQL is ready"
"""In mode Cluster: with its first executor."""


def log_step(step: str) -> None:
    """Writes a line now; the container runtime adds the time."""
    sys.stdout.write(f"{step}\n")
    sys.stdout.flush()
