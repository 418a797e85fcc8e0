"""The memory of driver Pods: as configured, and more after an attempt that ran out of memory."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, FailureClass
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.usage import LearnedSize
from paimon_operator.core.operations import registry

GROWTH: Final = 1.5
LARGEST_GROWTH: Final = 4
"""After an attempt that ran out of memory, the next one gets 1.5 times its memory, at most 4 times the configured."""


def next_memory(
    attempts: Iterable[Attempt], configured_mib: int, most_mib: int | None = None, learned_mib: int = 0
) -> int:
    """MiB for the attempt after `attempts`: as configured, or more if one of them ran out of memory.

    `most_mib` is the catalog's limit, None without one. `learned_mib` is what earlier runs have needed.
    """
    largest = configured_mib * LARGEST_GROWTH
    memory = max(configured_mib, min(learned_mib, largest))
    for attempt in attempts:
        memory = max(memory, min(grown_mib(attempt), largest))
    return memory if most_mib is None else min(memory, most_mib)


def begins_larger(configured_mib: int, most_mib: int | None, learned_mib: int) -> bool:
    """Whether a first attempt gets more than the configured memory. Then it shares no Pod with those that do not."""
    return next_memory((), configured_mib, most_mib, learned_mib) > configured_mib


def grown_mib(attempt: Attempt) -> int:
    """MiB for the attempt after one that ran out of memory; 0 if it did not.

    In a shared Pod another run may have used the memory: whether this one needs more, its attempt alone shows.
    """
    if attempt.shared or attempt.failure_class is not FailureClass.OUT_OF_MEMORY or attempt.memory is None:
        return 0
    return ceil(units.mebibytes(attempt.memory) * GROWTH)


def learned_mib(run: PaimonRun, table: PaimonTable) -> int:
    """MiB that earlier runs of the kind of `run` have needed; 0 if none ran out of memory."""
    subject = registry.OPERATIONS.of(run.spec.type).target(run).subject
    return learned_of(table.status.learned_sizes, run.spec.type, subject)


def learned_of(sizes: Iterable[LearnedSize], type_: str, subject: str | None) -> int:
    """MiB that runs of this kind have needed; 0 if none ran out of memory."""
    own = (each for each in sizes if (each.type, each.subject) == (type_, subject))
    return max((units.mebibytes(each.memory) for each in own), default=0)
