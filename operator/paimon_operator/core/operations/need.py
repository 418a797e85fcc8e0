"""Whether due maintenance is needed, from the last measurement of the table.

A measurement only ever answers a tick without a run. Where none holds any more the answer is UNKNOWN, and a run starts:
its driver looks at the table itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from paimon_operator.api.conditions import ConditionStatus, ConditionType, find
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.table.facts import Health
from paimon_operator.api.table.schedule_state import Check, LastDecision
from paimon_operator.api.table.status import TableStatus
from paimon_operator.api.units import delta, readable_duration
from paimon_operator.core import backoff
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.spec.context import TableContext

HOLDS_FOR: Final = timedelta(days=1)
"""How long a measurement of a table holds to which only the operator commits. Only a run finds an undeclared writer."""
HOLDS_BESIDE_WRITERS: Final = timedelta(minutes=5)
"""The same while others may commit: since the measurement, or since an observer has found the table unchanged."""


class Verdict(Enum):
    """Whether a run has anything to do."""

    NEEDED = "needed"
    NOT_NEEDED = "not needed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Need:
    """The answer for one due run. `message` and `next_run` are sentences without a full stop."""

    verdict: Verdict
    message: str = ""
    next_run: str = ""
    """What starts the next run."""
    checks: tuple[Check, ...] = ()
    observed_at: datetime | None = None
    cause: Cause = Cause.NO_THRESHOLD
    """Why it is skipped where it is not needed."""

    def skipped(self) -> LastDecision:
        """The decision that a run is not needed."""
        message = f"{self.message}. {self.next_run}" if self.next_run else self.message
        return self.cause.decision(message, self.checks, self.observed_at)


AT_A_THRESHOLD: Final = "A run starts at the first tick that finds a threshold reached"
AFTER_A_COMMIT: Final = f"{AT_A_THRESHOLD}; files count after the next commit"
UNKNOWN: Final = Need(verdict=Verdict.UNKNOWN)
"""No measurement holds."""


def unknown_with(checks: Iterable[Check], observed_at: datetime | None) -> Need:
    """UNKNOWN with the numbers that are known: a run starts, whatever they are."""
    return replace(UNKNOWN, checks=tuple(checks), observed_at=observed_at)


def by_checks(
    checks: Iterable[Check],
    observed_at: datetime | None,
    *,
    cause: Cause = Cause.NO_THRESHOLD,
    found: str = "",
    next_run: str = AT_A_THRESHOLD,
) -> Need:
    """Needed if a check has reached its threshold; otherwise skipped for `cause`. `found`: what else says so."""
    checks = tuple(checks)
    reached = [sentence(each) for each in checks if each.reached]
    if reached:
        return Need(verdict=Verdict.NEEDED, message=", ".join(reached), checks=checks, observed_at=observed_at)
    said = ", ".join([*([found] if found else []), *map(sentence, checks)])
    return Need(
        verdict=Verdict.NOT_NEEDED,
        message=said,
        next_run=next_run,
        checks=checks,
        observed_at=observed_at,
        cause=cause,
    )


def age_check(context: TableContext, name: str, since: datetime | None, threshold: str | None) -> Iterator[Check]:
    """The age of something that was last done at `since`. Before the first time it counts from the object's creation.

    Nothing without a threshold.
    """
    if threshold is not None:
        age = max(context.now - (since or context.created), timedelta())
        yield Check(name=name, measured=readable_duration(age), threshold=threshold, reached=age >= delta(threshold))


def sentence(check: Check) -> str:
    """`sortedRunsPerBucket is 4 (threshold 5)`."""
    return f"{check.name} is {check.measured} (threshold {check.threshold})"


def holding_measurement(context: TableContext, status: TableStatus) -> Health | None:
    """The measurement of the table, if the table is still as it was measured; None where that is not certain."""
    health = status.health
    if health is None or health.observed_at is None or backoff.is_ahead(health.observed_at, context.now):
        return None
    if health.in_doubt_since is not None or _has_later_snapshot(status):
        return None
    if _is_seen_unchanged(context, health):
        return health
    longest = HOLDS_FOR if only_operator_writes(context, health.observed_at) else HOLDS_BESIDE_WRITERS
    return health if context.now - health.observed_at < longest else None


def _is_seen_unchanged(context: TableContext, health: Health) -> bool:
    """Whether an observer has looked lately and found the snapshot that was measured."""
    look = context.look
    if look is None or look.measure is None or backoff.is_ahead(look.looked_at, context.now):
        return False
    is_recent = context.now - look.looked_at < HOLDS_BESIDE_WRITERS
    return is_recent and look.measure.snapshot_id == health.snapshot_id


def only_operator_writes(context: TableContext, since: datetime) -> bool:
    """Whether no foreign writer can have written since: CommitSafe has been True for all that time, and none is known.

    A storage that makes commits by others safe leaves CommitSafe True beside a writer that was found.
    """
    record = context.table.status.outside_writers
    if record is not None and record.commit is not None:
        return False
    safe = find(context.table.status.conditions, ConditionType.COMMIT_SAFE)
    if safe is None or safe.status is not ConditionStatus.TRUE or safe.last_transition_time > since:
        return False
    return context.spec.external_writers is not ExternalWriters.ACTIVE


def _has_later_snapshot(status: TableStatus) -> bool:
    """Whether a run has seen a snapshot after the measured one: it had nothing to load, or could not measure."""
    measured = status.health.snapshot_id if status.health is not None else None
    known = status.table.snapshot_id if status.table is not None else None
    seen = status.outside_writers.seen_snapshot if status.outside_writers is not None else None
    return max(known or 0, seen or 0) > (measured or 0)
