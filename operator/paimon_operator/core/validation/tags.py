"""Rules about automatic tags. `api/tags.py` and `api/table/retention_rules.py` have those in CEL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DURATION_D
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.effective import EffectiveTags
from paimon_operator.api.tags import PERIOD_HOURS, TagCreation, TagPeriod
from paimon_operator.core.spec.context import TAGS, TableContext
from paimon_operator.errors import SpecError


def tags_of(context: TableContext) -> Iterator[SpecError]:
    """The effective tags, whether set by the table or inherited."""
    tags = context.effective.tags
    if tags is None:
        return
    kept = tags.default_time_retained
    yield from units.too_long(kept, LONGEST_DURATION_D, field=f"{TAGS}.defaultTimeRetained")
    yield from _delay(tags)
    if tags.automatic_creation is TagCreation.BATCH:
        yield from _batch(context, tags)
    unmarked = context.spec.external_writers is ExternalWriters.NONE
    if tags.automatic_creation is TagCreation.WATERMARK and unmarked:
        yield SpecError(
            f"{TAGS}.automaticCreation",
            "the operator's commits have no watermark, and externalWriters is None, so that no tag is ever created",
            "Use ProcessTime, or declare the writers that set watermarks in externalWriters.",
        )


def _delay(tags: EffectiveTags) -> Iterator[SpecError]:
    period = tags.creation_period or TagPeriod.DAILY
    delay = tags.creation_delay
    if delay is not None and units.delta(delay) >= timedelta(hours=PERIOD_HOURS[period]):
        yield SpecError(
            f"{TAGS}.creationDelay", f"{delay} is not shorter than the period, {period}", "Set a shorter delay."
        )


def _batch(context: TableContext, tags: EffectiveTags) -> Iterator[SpecError]:
    if not context.engine.has_batch_tags:
        yield SpecError(
            f"{TAGS}.automaticCreation",
            f"writes of the engine {context.engine.id} create no tags of type Batch",
            "Use ProcessTime, or a catalog with a newer engine.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )
    if tags.num_retained_max is not None:
        yield SpecError(
            f"{TAGS}.numRetainedMax",
            "with Batch, Paimon counts and deletes all tags, those of users too",
            "Use defaultTimeRetained.",
        )
    for field, value in (("creationPeriod", tags.creation_period), ("creationDelay", tags.creation_delay)):
        if value is not None:
            yield SpecError(f"{TAGS}.{field}", "with Batch, each write replaces the tag of its day", "Remove it.")
