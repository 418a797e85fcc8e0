"""Rules about orphan files: their age, and when they may be removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DURATION_D
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.retention import DEFAULT_ORPHAN_AGE, LEAST_ORPHAN_AGE_D, OrphanFilesMode
from paimon_operator.api.table.effective import EffectiveOrphanFiles
from paimon_operator.core.spec.context import ORPHAN_FILES, TableContext
from paimon_operator.errors import SpecError

_AGE: Final = f"{ORPHAN_FILES}.olderThan"


def orphan_files_of(context: TableContext, block: EffectiveOrphanFiles) -> Iterator[SpecError]:
    """The effective block. `api/retention.py` and `api/table/retention_rules.py` have the first three rules in CEL."""
    age = block.older_than or DEFAULT_ORPHAN_AGE
    yield from units.too_long(age, LONGEST_DURATION_D, field=_AGE)
    seconds = units.seconds(age, field=_AGE)
    if seconds < LEAST_ORPHAN_AGE_D * 24 * 3600:
        yield SpecError(
            _AGE,
            f"files of {age} can be those of a running write",
            f"Set olderThan to at least {LEAST_ORPHAN_AGE_D}d.",
        )
    deletes = block.mode is OrphanFilesMode.DELETE
    if deletes and context.spec.external_writers is ExternalWriters.ACTIVE:
        yield SpecError(
            f"{ORPHAN_FILES}.mode",
            "others write to the table (externalWriters is Active), and may commit files later that are removed now",
            "Set mode to Report, or externalWriters to Paused while they are stopped.",
        )
    policy = context.effective.run_policy
    deadline = policy.active_deadline if policy is not None else None
    if deletes and deadline is not None and units.seconds(deadline, field="spec.runPolicy.activeDeadline") >= seconds:
        yield SpecError(
            _AGE,
            f"runs of the table may take {deadline}, so files of {age} can be those of a running write",
            f"Set olderThan to more than {deadline}, or shorten runPolicy.activeDeadline.",
        )
