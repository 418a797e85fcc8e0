"""Conditions of the three resources, in the form that kstatus reads."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Self

from paimon_operator.api.base import MESSAGE_LENGTH, ApiModel, Int64, Message, ReasonText, Time, truncated
from paimon_operator.api.reasons import Reason


class ConditionType(StrEnum):
    """Type of a condition."""

    READY = "Ready"
    SUCCEEDED = "Succeeded"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    HEALTHY = "Healthy"
    COMMIT_SAFE = "CommitSafe"
    WRITES_PAUSED = "WritesPaused"
    MAINTENANCE_HELD = "MaintenanceHeld"
    BUCKETS_FIT = "BucketsFit"
    DRIFTED = "Drifted"
    SUSPENDED = "Suspended"


class ConditionStatus(StrEnum):
    """Status of a condition."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Condition(ApiModel):
    """One aspect of the object's state."""

    type: ConditionType
    """Type of the condition."""
    status: ConditionStatus
    """True, False or Unknown."""
    reason: ReasonText
    """Reason for the status, one word of the list in docs/reasons.md."""
    message: Message
    """Explanation of the status, and what to do."""
    last_transition_time: Time
    """Time of the last change of the status."""
    observed_generation: Int64 | None = None
    """Generation of the spec that the condition describes."""

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
        """The condition as of `now`. An unchanged status keeps the transition time of the same type in `before`."""
        same = (c for c in before if c.type == type_ and c.status == status)
        since = next((c.last_transition_time for c in same), now)
        return cls(
            type=type_,
            status=status,
            reason=reason.value,
            message=truncated(message, MESSAGE_LENGTH),
            last_transition_time=since,
            observed_generation=generation,
        )


def find(conditions: Iterable[Condition], type_: ConditionType) -> Condition | None:
    """The condition of this type, None without one."""
    return next((condition for condition in conditions if condition.type == type_), None)
