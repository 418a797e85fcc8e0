"""The end of a user's run that cannot start, so that nobody holds a table with a run that nobody else may delete."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, FailureClass
from paimon_operator.core.decision import Refusal
from paimon_operator.core.run.outcome import AttemptFailure

START_WITHIN: Final = timedelta(minutes=30)
"""How long a user's run tries to create its Pod, or waits for a table that does not exist."""
_REMEDY: Final = {
    Reason.NAME_TAKEN: "Create a run with another name",
    Reason.TABLE_NOT_FOUND: "Create the PaimonTable, then another run",
}


def unstartable(run: PaimonRun, attempt: Attempt, refusal: Refusal, now: datetime) -> AttemptFailure | None:
    """The failure for an attempt whose Pod could not be created for too long; None for the operator's own runs."""
    return _overdue(run, attempt.launched, refusal, now)


def without_table(run: PaimonRun, message: str, now: datetime) -> AttemptFailure | None:
    """The failure for a run whose table has not existed since the run was created; None before its time is over."""
    return _overdue(run, run.metadata.creation_timestamp, Refusal(reason=Reason.TABLE_NOT_FOUND, message=message), now)


def _overdue(run: PaimonRun, since: datetime | None, refusal: Refusal, now: datetime) -> AttemptFailure | None:
    if run.spec.trigger is not None or since is None or now - since < START_WITHIN:
        return None
    minutes = int(START_WITHIN.total_seconds()) // 60
    remedy = _REMEDY.get(refusal.reason, "Create another run once the cause is fixed")
    message = f"the run could not start within {minutes} min and was ended: {refusal.message.rstrip('. ')}. {remedy}"
    return AttemptFailure(failure_class=FailureClass.ENVIRONMENT, reason=refusal.reason, message=message)
