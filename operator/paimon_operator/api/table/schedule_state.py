"""State of one schedule of a table: its last run, its last decision, and its last failure."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from paimon_operator.api.base import ApiModel, Hash, Int64, Message, Positive, ReasonText, RunName, Time, keyed_by
from paimon_operator.api.run.status import FailureClass


class DecisionResult(StrEnum):
    """Result of a decision about an operation."""

    STARTED = "Started"
    WAITING = "Waiting"
    SKIPPED = "Skipped"


class Check(ApiModel):
    """A threshold, and what was measured of the table."""

    name: Annotated[str, Field(max_length=40)]
    """Name of the threshold, as in the manifest."""
    measured: Annotated[str, Field(max_length=40)]
    """Measured value."""
    threshold: Annotated[str, Field(max_length=40)]
    """Value from which on the operation is needed."""
    reached: bool
    """True: the measured value makes the operation needed."""


class LastDecision(ApiModel):
    """Last decision about an operation: at its last tick, or why it does not run now."""

    result: DecisionResult
    """Started, Waiting (due but blocked) or Skipped."""
    reason: ReasonText
    """Reason, one word of the list in docs/reasons.md."""
    message: Message
    """Explanation of the reason."""
    checks: Annotated[tuple[Check, ...], Field(max_length=8, json_schema_extra=keyed_by("name"))] = ()
    """Thresholds that were compared. Absent: none was, because nothing was measured that still holds."""
    observed_at: Time | None = None
    """Time of the measurement."""
    after_skip: bool | None = None
    """True: it waits, and its last tick was skipped as not needed. So another skip brings no Event."""


class LastFailure(ApiModel):
    """Failure of the last run. Removed after the next success."""

    run: RunName
    """Name of the PaimonRun."""
    failure_class: FailureClass
    """Class of the failure. It decides whether the operator retries."""
    reason: ReasonText
    """Reason, one word of the list in docs/reasons.md."""
    message: Message
    """What is wrong, and what to do."""
    field: Annotated[str, Field(max_length=256)] | None = None
    """Field to check or to edit, in this manifest or in the catalog's."""
    time: Time
    """Time of the failure."""
    count: Positive
    """Number of consecutive failed runs."""
    next_try: Time | None = None
    """Time of the next retry. Absent: the operator waits for an edit."""
    spec_hash: Hash | None = None
    """Hash of the part of the spec that the run used. An edit of that part starts a new count."""


class ScheduleState(ApiModel):
    """State of one schedule. It does not depend on old runs, which may be deleted."""

    last_due: Time | None = None
    """Newest tick that was handled: by a run, by a decision not to run, or because it precedes the schedule. One that
    is skipped like the tick before it is stored with the next change of the status, at the latest after a day."""
    last_run: RunName | None = None
    """Name of the last run that ended."""
    last_time: Time | None = None
    """Time of the last success."""
    last_duration_seconds: Int64 | None = None
    """Length of the last run that succeeded, from its start to its end. The next run is expected to take as long."""
    next: Time | None = None
    """Next tick of the schedule, or one that has passed: it waits, or was skipped like the one before it (lastDue)."""
    schedule: Annotated[str, Field(max_length=165)] | None = None
    """Schedule and time zone to which these ticks belong. After an edit, the first tick lies after the edit."""
    decision: LastDecision | None = None
    """Last decision."""
    failure: LastFailure | None = None
    """Failure of the last run. Absent if the last run succeeded."""


class MaintenanceState(ScheduleState):
    """State of a schedule whose runs may apply other blocks too."""

    applies: Annotated[
        tuple[Annotated[str, Field(max_length=40)], ...],
        Field(max_length=8, json_schema_extra={"x-kubernetes-list-type": "set"}),
    ] = ()
    """Blocks of the manifest without a schedule of their own that the runs of this schedule apply, for example
    retention.consumers. So last run, next and decision hold for them too."""
