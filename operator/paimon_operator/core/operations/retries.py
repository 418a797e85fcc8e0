"""The one table of retries: which class of failure is tried again, where, and after which delay.

Inside a run another attempt follows. Between runs the table starts another one, by `schedule_state.retry_time`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core import backoff

Retries = Mapping[FailureClass, backoff.Backoff]
"""The failure classes that are retried, each with its delays. A class that is absent is not retried."""
NEXT_ATTEMPT: Final[Retries] = {
    FailureClass.CONFLICT: backoff.CONFLICT,
    FailureClass.INFRASTRUCTURE: backoff.INFRASTRUCTURE,
    FailureClass.OUT_OF_MEMORY: backoff.INFRASTRUCTURE,
}
"""Failures after which the same run starts another attempt. Every other failure ends the run."""

EVERY_CLASS: Final = frozenset(FailureClass)
BEFORE_THE_NEXT_TICK: Final = frozenset({FailureClass.ENVIRONMENT, FailureClass.INFRASTRUCTURE})
"""Runs of a schedule. Conflicts were retried inside the run, and so was the infrastructure, but an outage can be longer
than that; the rest waits for the tick."""
ESTABLISHING: Final = EVERY_CLASS - {FailureClass.SPEC, FailureClass.RESULT_UNKNOWN}
"""Runs that establish the table. Without it nothing else happens, so nothing else would try again."""
ONCE: Final = EVERY_CLASS - {FailureClass.SPEC, FailureClass.RESULT_UNKNOWN, FailureClass.CANCELLED}
"""Runs without a next tick. Never one that may have committed."""

FIXED_WITHOUT_AN_EDIT: Final = frozenset({Reason.CONFLICT, Reason.TABLE_EXISTS})
"""Errors of the manifest that can end without an edit: the other owner, or the table in the way, can go."""

HAS_READ_THE_TABLE: Final = frozenset({Reason.TABLE_DIFFERS, Reason.TABLE_EXISTS, Reason.AWAITING_APPROVAL})
"""Failures of a run that has read the table, and found no other owner's mark in it."""


def retry_delay(retries: Retries, failure_class: FailureClass, failures: int, key: str) -> timedelta | None:
    """The delay before the next try after `failures` failures in a row; None if the class is not retried."""
    delays = retries.get(failure_class)
    return None if delays is None else delays.delay(failures, key)
