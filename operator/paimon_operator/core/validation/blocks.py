"""What an error stops: a part of the manifest, or everything.

- An error in a write stops that write.
- An error in `compaction`, `tags` or a member of `retention` stops that block. The table keeps the options of the last
  valid block. While there is none, everything is stopped: the table would be made with other options than those that
  are meant.
- An error in `markPartitionsDone` stops its runs. It is no option of the table.
- An error in `maintenance` stops all compactions, which would not be verified as they should.
- An error in `timeZone` stops all schedules.
- An error in `maintenanceWindows` of the catalog stops what starts in windows only.
- Every other error stops everything.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from paimon_operator.api.table.effective import Effective, EffectiveRetention, Origin
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.spec.context import (
    COMPACTION,
    MAINTENANCE,
    MARK_PARTITIONS_DONE,
    RETENTION,
    TAGS,
    TIME_ZONE,
    WINDOWS,
    TableContext,
)
from paimon_operator.core.spec.effective import effective_settings
from paimon_operator.core.validation.table import broken_rules
from paimon_operator.errors import SpecError

_WRITE: Final = re.compile(r"spec\.writes\[[0-9]+\](?!\.name$)")
"""An error in one write. Two writes of one name are an error in the list: whose state is it?"""


_NO_OPTIONS: Final = (MAINTENANCE, MARK_PARTITIONS_DONE, TIME_ZONE, WINDOWS)
"""Blocks of which nothing becomes an option of the table."""


def with_valid_blocks(context: TableContext, operator: OperatorFacts) -> tuple[TableContext, tuple[SpecError, ...]]:
    """The context without its broken blocks, and the errors that stop everything."""
    errors = tuple(_with_origin(context, error) for error in broken_rules(context))
    known = context.table.status.effective
    fatal = tuple(error for error in errors if not _is_partial(error, known))
    if fatal or not errors:
        return context, fatal
    broken = replace(context, broken=errors)
    return replace(broken, effective=_last_valid(broken, known, operator)), ()


def _is_partial(error: SpecError, known: Effective | None) -> bool:
    if _WRITE.match(error.field) or any(_is_in(error, block) for block in _NO_OPTIONS):
        return True
    return known is not None and any(_is_in(error, block) for block in (COMPACTION, RETENTION, TAGS))


def _last_valid(context: TableContext, known: Effective | None, operator: OperatorFacts) -> Effective:
    """The effective settings with the last valid blocks in place of the broken ones."""
    kept = known.compaction if known is not None and context.broken_in(COMPACTION) else None
    effective = effective_settings(context.table, context.catalog, context.engine, operator.defaults, compaction=kept)
    if known is not None and context.broken_in(RETENTION):
        effective = effective.model_copy(update={"retention": _last_valid_retention(context, effective, known)})
    if known is not None and context.broken_in(TAGS):
        effective = effective.model_copy(update={"tags": known.tags})
    if context.broken_in(TIME_ZONE):
        zone = known.time_zone if known is not None else operator.defaults.time_zone
        effective = effective.model_copy(update={"time_zone": zone})
    return effective


def _last_valid_retention(context: TableContext, now: Effective, known: Effective) -> EffectiveRetention | None:
    """The retention with the last valid member in place of each broken one."""
    last = known.retention or EffectiveRetention()
    broken = [member for member in EffectiveRetention.model_fields if context.broken_in(f"{RETENTION}.{member}")]
    kept = (now.retention or EffectiveRetention()).model_copy(update={each: getattr(last, each) for each in broken})
    return None if kept == EffectiveRetention() else kept


def _is_in(error: SpecError, block: str) -> bool:
    return error.field == block or error.field.startswith((f"{block}.", f"{block}["))


def _with_origin(context: TableContext, error: SpecError) -> SpecError:
    """The error of a block that the table does not have itself: the catalog sets it."""
    origins = {
        COMPACTION: context.compaction.source is Origin.CATALOG,
        TAGS: context.effective.tags is not None and context.effective.tags.source is Origin.CATALOG,
        TIME_ZONE: context.spec.time_zone is None,
        WINDOWS: True,
        **{f"{RETENTION}.{member}": _is_inherited(context, member) for member in EffectiveRetention.model_fields},
    }
    if not any(inherited and _is_in(error, block) for block, inherited in origins.items()):
        return error
    where = f"{error.problem} (PaimonCatalog {context.catalog.metadata.name} sets it)"
    return SpecError(error.field, where, error.remedy, reason=error.reason)


def _is_inherited(context: TableContext, member: str) -> bool:
    block = getattr(context.effective.retention, member, None)
    return block is not None and block.source is Origin.CATALOG
