"""Conditions (kstatus) and the closed list of their reasons, each with what it means and what to do.

`docs/reasons.md` is generated from here: `python -m paimon_operator.generate.reasons_page docs/reasons.md`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Self

from paimon_operator.api.base import ApiModel, Int64, Message, ReasonText, Time, truncated
from paimon_operator.api.reasons import Reason

MAX_MESSAGE = 2048


class ConditionType(StrEnum):
    """What a condition speaks of."""

    READY = "Ready"
    SUCCEEDED = "Succeeded"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    HEALTHY = "Healthy"
    COMMIT_SAFE = "CommitSafe"
    SUSPENDED = "Suspended"


class ConditionStatus(StrEnum):
    """Whether it holds."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Condition(ApiModel):
    """One thing that holds, does not hold, or is not known."""

    type: ConditionType
    """What it speaks of."""
    status: ConditionStatus
    """True, False or Unknown."""
    reason: ReasonText
    """Why, as one word from a closed list: see docs/reasons.md."""
    message: Message
    """Why, as a sentence, with what to do if something is to be done."""
    last_transition_time: Time
    """When the status changed last."""
    observed_generation: Int64 | None = None
    """Generation of the spec that it speaks of."""

    @classmethod
    def of(
        cls,
        type_: ConditionType,
        status: ConditionStatus,
        reason: Reason,
        message: str,
        *,
        now: datetime,
        generation: int,
        before: Iterable[Condition] = (),
    ) -> Self:
        """The condition as of `now`; its namesake in `before` lends its transition time if the status is the same."""
        same = (c for c in before if c.type == type_ and c.status == status)
        since = next((c.last_transition_time for c in same), now)
        return cls(
            type=type_,
            status=status,
            reason=reason.value,
            message=truncated(message, MAX_MESSAGE),
            last_transition_time=since,
            observed_generation=generation,
        )


def find(conditions: Iterable[Condition], type_: ConditionType) -> Condition | None:
    """The condition of this type, None if there is none."""
    return next((condition for condition in conditions if condition.type == type_), None)
