"""How the memory of a container is divided between the JVM's heap and everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class MemorySplit:
    """The share of a container that is kept free of the heap."""

    overhead_share: float
    """Fraction of the container's memory."""
    minimum_overhead_mib: int

    def overhead_mib(self, memory_mib: int) -> int:
        """MiB for everything but the heap in a container of `memory_mib` MiB."""
        return max(self.minimum_overhead_mib, int(memory_mib * self.overhead_share))

    def heap_mib(self, memory_mib: int) -> int:
        """MiB for the JVM's heap in a container of `memory_mib` MiB."""
        return memory_mib - self.overhead_mib(memory_mib)


DRIVER_MEMORY: Final = MemorySplit(overhead_share=0.35, minimum_overhead_mib=512)
"""Beside its heap a driver needs Python, metaspace, the class-data archive and direct buffers."""
EXECUTOR_MEMORY: Final = MemorySplit(overhead_share=0.2, minimum_overhead_mib=384)
"""Beside its heap an executor needs metaspace and direct buffers. It runs no Python."""
