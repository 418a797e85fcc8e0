"""What the run controller saw before it decides: all of it by live reads, nothing from a cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, AttemptState
from paimon_operator.api.spark import SparkMode
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.commits.table_claims import TableClaim
from paimon_operator.core.config import RunLimits
from paimon_operator.core.decision import Refusal
from paimon_operator.core.launch.driver_pod import Launch
from paimon_operator.core.run.pod import PodObserved

BACKSTOP: Final = timedelta(minutes=5)
"""How much later than the operator the kubelet stops a Pod: only when there was no operator to do it."""


@dataclass(frozen=True, kw_only=True)
class RunObserved:
    """One look at one run."""

    run: PaimonRun
    table: PaimonTable | None
    """The table of spec.tableRef; None when there is none."""
    pod: PodObserved | None
    """The Pod that `current_pod` names; None on 404."""
    limits: RunLimits
    launch: Callable[[], Launch]
    """What to launch, worked out only when it is needed. Raises SpecError and RunEnvironmentError."""
    claimant: TableClaim | None = None
    """The other object that holds the physical table now; None when the run's own table does."""
    refusal: Refusal | None = None
    """What the API server refused this run last (403, 422, a name that is taken); it is tried again anyway."""
    others: tuple[PodObserved, ...] = ()
    """Driver Pods of other runs of the table, from a LIST right before a Pod is made; not looked up for anything else.

    Their runs are over, or gone: a finalizer that was taken off by hand, a create that arrived late.
    """

    executors: tuple[PodObserved, ...] = ()
    """This run's executors, of all attempts; looked up while none of its drivers should be at work (`needs_executors`).
    """

    @property
    def own_pod(self) -> PodObserved | None:
        """The Pod unless it is a stranger's who took the name."""
        return self.pod if self.pod is not None and self.pod.controller_uid == self.run.metadata.uid else None

    @property
    def active_deadline(self) -> timedelta:
        """How long a container of this run may run."""
        own = self.run.spec.active_deadline
        return self.limits.active_deadline if own is None else units.delta(own, field="spec.activeDeadline")

    @property
    def backoff_limit(self) -> int:
        """How many attempts may follow the first."""
        own = self.run.spec.backoff_limit
        return self.limits.backoff_limit if own is None else own

    @property
    def backstop(self) -> timedelta:
        """The kubelet's deadline for the Pod, from the Pod's start."""
        return self.own_backstop + self.limits.pending_timeout

    @property
    def own_backstop(self) -> timedelta:
        """The container's own deadline, from its start: no kubelet has to be there, and none will be waited for."""
        return self.active_deadline + BACKSTOP

    @property
    def is_active(self) -> bool:
        """Whether the table's status.activeRun is this very run: only then may it make a Pod.

        The name alone is not enough. A run whose UID the table has not written down has therefore never had a Pod, and
        the table may make a missing one anew.
        """
        active = None if self.table is None else self.table.status.active_run
        return active is not None and active.uid == self.run.metadata.uid and active.type is self.run.spec.type

    @property
    def is_awaited(self) -> bool:
        """Whether the table has started this run and will write down its UID at its next look."""
        table, run = self.table, self.run
        active = None if table is None else table.status.active_run
        if table is None or active is None or run.metadata.controller_uid != table.metadata.uid:
            return False
        return active.uid is None and (active.name, active.type) == (run.metadata.name, run.spec.type)


def last_attempt(run: PaimonRun) -> Attempt | None:
    """The newest attempt, under way or ended; None before the first."""
    return run.status.attempts[-1] if run.status.attempts else None


def needs_executors(run: PaimonRun) -> bool:
    """Whether executors may have been left behind: an attempt has ended, or the run goes."""
    if run.status.spark is None or run.status.spark.mode is not SparkMode.CLUSTER:
        return False
    attempt = last_attempt(run)
    going = run.metadata.deletion_timestamp is not None
    return attempt is not None and (going or attempt.state is AttemptState.ENDED)


def current_pod(run: PaimonRun) -> str | None:
    """Name of the Pod to look up before `runs.step`; None before the first attempt, when there is none."""
    attempt = last_attempt(run)
    return None if attempt is None else attempt.pod
