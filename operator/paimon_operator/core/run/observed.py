"""What the run controller observes before it decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DEADLINE_D
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, AttemptState, Phase
from paimon_operator.api.spark import SparkMode
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.commits.table_claims import TableClaim
from paimon_operator.core.config import RunLimits
from paimon_operator.core.decision import Refusal
from paimon_operator.core.launch.batch_pod import SharedPod
from paimon_operator.core.launch.driver_pod import Launch
from paimon_operator.core.run.pod import PodObserved

BACKSTOP: Final = timedelta(minutes=5)
"""How much later than the operator the kubelet stops a Pod: it acts only when no operator did."""


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """The run may wait for a shared Pod."""

    pod: str | None = None
    """The Pod in which it has a turn, once that has existed for some seconds. None before that, and without one."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What the driver of a shared Pod asks and reports about a run right now."""

    pod: SharedPod
    asks: bool = False
    """It asks whether the run's turn begins."""
    result: str | None = None
    """The result document of the turn that has ended."""


@dataclass(frozen=True, kw_only=True)
class RunObserved:
    """Everything that is observed for one reconcile of one run."""

    run: PaimonRun
    table: PaimonTable | None
    """The table of spec.tableRef; None when there is none."""
    pod: PodObserved | None
    """The Pod that `current_pod` names; None on 404."""
    limits: RunLimits
    launch: Callable[[], Launch]
    """Builds the launch when it is needed. Raises SpecError and RunEnvironmentError."""
    claimant: TableClaim | None = None
    """The other object that holds the physical table now; None when the run's own table does."""
    refusal: Refusal | None = None
    """The last action of this run that the API server refused (403, 422, a taken name). It is tried again."""
    others: tuple[PodObserved, ...] = ()
    """Driver Pods of other runs of the table. They are listed only right before a Pod is created.

    Their runs have ended or are gone: a finalizer was removed by hand, or a create arrived late.
    """

    executors: tuple[PodObserved, ...] = ()
    """This run's executors, of all attempts. They are listed while no driver should be running (`needs_executors`)."""

    sharing: Sharing | None = None
    """None: the run starts in a Pod of its own."""
    turn: Turn | None = None
    """What the driver of a shared Pod asks or reports about the run; None: nothing."""

    @property
    def own_pod(self) -> PodObserved | None:
        """The Pod, if this run controls it; None if another object's Pod has the name.

        A shared Pod is the run's own during its turn. Afterwards it performs other runs.
        """
        attempt = last_attempt(self.run)
        if attempt is not None and attempt.shared:
            is_its_turn = attempt.state is not AttemptState.ENDED
            return self.pod if self.pod is not None and is_its_turn and self.pod.uid == attempt.pod_uid else None
        return self.pod if self.pod is not None and self.pod.controller_uid == self.run.metadata.uid else None

    @property
    def active_deadline(self) -> timedelta:
        """How long a container of this run may run."""
        own = self.run.spec.active_deadline
        asked = self.limits.active_deadline if own is None else units.delta(own, field="spec.activeDeadline")
        return min(asked, timedelta(days=LONGEST_DEADLINE_D))  # a CRD of release 0.1 took more than a Pod takes

    @property
    def backoff_limit(self) -> int:
        """How many attempts may follow the first."""
        own = self.run.spec.backoff_limit
        return self.limits.backoff_limit if own is None else own

    @property
    def backstop(self) -> timedelta:
        """activeDeadlineSeconds of the Pod, counted by the kubelet from the Pod's start."""
        return self.own_backstop + self.limits.pending_timeout

    @property
    def own_backstop(self) -> timedelta:
        """The deadline that the container enforces itself, from its start. It needs no kubelet."""
        return self.active_deadline + BACKSTOP

    @property
    def is_active(self) -> bool:
        """Whether the table's status.activeRun is this run, by UID: only then may it create a Pod.

        The name alone is not enough. A run whose UID the table has not stored therefore never had a Pod, and the table
        may recreate it if it is missing.
        """
        active = None if self.table is None else self.table.status.active_run
        return active is not None and active.uid == self.run.metadata.uid and active.type == self.run.spec.type

    @property
    def is_following(self) -> bool:
        """Whether the table names this run as one that shares the driver Pod of its active run."""
        run, table = self.run, self.table
        if table is None or run.metadata.controller_uid != table.metadata.uid:
            return False
        return any(each.name == run.metadata.name for each in table.status.following_runs or ())

    @property
    def gives_way(self) -> bool:
        """Whether the table asks this run not to begin, because other work comes first."""
        active = None if self.table is None or not self.is_active else self.table.status.active_run
        return active is not None and active.gives_way is True

    @property
    def end_is_recorded(self) -> bool:
        """Whether the table has recorded how this finished run ended, or does not ask for it any more.

        A run that is gone before that counts as cancelled, which is wrong for one whose result is unknown.
        """
        active = None if self.table is None or not self.is_active else self.table.status.active_run
        return active is None or (self.run.status.phase is Phase.UNKNOWN and active.result_unknown is True)

    @property
    def is_expected_by_table(self) -> bool:
        """Whether the table has started this run and stores its UID at its next reconcile."""
        table, run = self.table, self.run
        active = None if table is None else table.status.active_run
        if table is None or active is None or run.metadata.controller_uid != table.metadata.uid:
            return False
        return active.uid is None and (active.name, active.type) == (run.metadata.name, run.spec.type)


def last_attempt(run: PaimonRun) -> Attempt | None:
    """The newest attempt, in progress or ended; None before the first."""
    return run.status.attempts[-1] if run.status.attempts else None


def needs_executors(run: PaimonRun) -> bool:
    """Whether executors may remain without a driver: an attempt has ended, or the run is being deleted."""
    if run.status.spark is None or run.status.spark.mode is not SparkMode.CLUSTER:
        return False
    attempt = last_attempt(run)
    deleted = run.metadata.deletion_timestamp is not None
    return attempt is not None and (deleted or attempt.state is AttemptState.ENDED)


def current_pod(run: PaimonRun) -> str | None:
    """Name of the Pod to read before `machine.step`; None before the first attempt."""
    attempt = last_attempt(run)
    return None if attempt is None else attempt.pod
