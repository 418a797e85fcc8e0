"""The end of a run that cannot start.

Nobody holds a table with a run that nobody else may delete, nor the claim to it with a run that never has a Pod.
"""

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


def unstartable(
    run: PaimonRun, attempt: Attempt, refusal: Refusal, now: datetime, *, pending_timeout: timedelta
) -> AttemptFailure | None:
    """The failure for an attempt whose Pod could not be created for too long; None before its time is over.

    The operator's own run ends after `pending_timeout`, like one whose Pod does not start. Its table starts another.
    """
    within = START_WITHIN if run.spec.trigger is None else pending_timeout
    return _overdue(run, attempt.launched, refusal, now, within)


def without_table(run: PaimonRun, message: str, now: datetime) -> AttemptFailure | None:
    """The failure for a user's run whose table has not existed since it was created; None before its time is over."""
    if run.spec.trigger is not None:
        return None
    refusal = Refusal(reason=Reason.TABLE_NOT_FOUND, message=message)
    return _overdue(run, run.metadata.creation_timestamp, refusal, now, START_WITHIN)


def _overdue(
    run: PaimonRun, since: datetime | None, refusal: Refusal, now: datetime, within: timedelta
) -> AttemptFailure | None:
    if since is None or now - since < within:
        return None
    message = f"the run could not start within {_readable(within)} and was ended: {refusal.message.rstrip('. ')}."
    if run.spec.trigger is None:
        message = f"{message} {_REMEDY.get(refusal.reason, 'Create another run once the cause is fixed')}"
    return AttemptFailure(failure_class=FailureClass.ENVIRONMENT, reason=refusal.reason, message=message)


def _readable(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    return f"{seconds} s" if seconds % 60 else f"{seconds // 60} min"
