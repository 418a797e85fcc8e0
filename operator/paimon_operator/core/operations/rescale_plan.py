"""The plan of a rescale, one step that rewrites the whole table, and what the status says about it."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.table.facts import TableFacts
from paimon_operator.api.table.spec import BucketType, PaimonTableSpec
from paimon_operator.api.table.status import RescaleState, TableStatus
from paimon_operator.core.spec.capabilities import may_be_rescaled
from paimon_operator.core.spec.desired_table import digest
from paimon_schema.plan import Plan
from paimon_schema.steps import Change, Step

_UNKNOWN: Final = TableFacts(identifier="")
_NEVER: Final = RescaleState()


def rescale_plan(spec: PaimonTableSpec, status: TableStatus) -> Plan | None:
    """The plan to another number of buckets; None without one.

    A table that is altered already has none: it is completed without another approval, to whatever number, because
    nothing is written until then. Nor has a number whose first run was decided, and with it approved.
    """
    facts, state, count = facts_of(status), rescale_state(status), wanted_count(spec)
    if facts.rescaling or count is None or not is_asked(spec, status):
        return None
    if state.unfinished and state.spec_hash == count_hash(count):
        return None
    step = Step(change=Change.RESCALE, before=str(facts.bucket_count), after=str(count))
    return Plan((step,), schema_id=facts.schema_id or 0)


def is_asked(spec: PaimonTableSpec, status: TableStatus) -> bool:
    """Whether a rescale is unfinished, or the manifest asks for another number than the last run has seen."""
    if is_unfinished(status):
        return True
    facts = facts_of(status)
    if not may_be_rescaled(spec):
        return False
    return facts.bucket_mode == BucketType.FIXED and facts.bucket_count != wanted_count(spec)


def is_unfinished(status: TableStatus) -> bool:
    """Whether a run was started and the last one has not ended, or the table is marked."""
    return bool(rescale_state(status).unfinished or facts_of(status).rescaling)


def wanted_count(spec: PaimonTableSpec) -> int | None:
    """The number of buckets that the manifest states; None unless they are fixed."""
    is_fixed = spec.bucket is not None and spec.bucket.type is BucketType.FIXED
    return spec.bucket.fixed.count if is_fixed and spec.bucket is not None and spec.bucket.fixed is not None else None


def count_hash(count: int) -> str:
    """Identifies the number for which a run was decided."""
    return digest({"buckets": count})


def facts_of(status: TableStatus) -> TableFacts:
    """What the last run has seen of the table."""
    return status.table or _UNKNOWN


def rescale_state(status: TableStatus) -> RescaleState:
    """The recorded state."""
    return status.rescale or _NEVER
