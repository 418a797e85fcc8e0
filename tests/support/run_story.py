"""One run in memory. A test gives the status of the Pod; the core of the run controller decides."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from paimon_contract.job import Job, JobCatalog, JobExecutors, JobRun, JobTable
from paimon_contract.parameters.compact import CompactParameters
from paimon_operator.api.compaction import CompactStrategy
from paimon_operator.api.conditions import ConditionType, find
from paimon_operator.api.run.spark import RunSpark
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, Phase, RunStatus
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import ActiveRun, TableStatus
from paimon_operator.core.commits.table_claims import TableClaim
from paimon_operator.core.config import RunLimits
from paimon_operator.core.decision import Create, Decision, Delete, Refusal, Release
from paimon_operator.core.launch.driver_pod import Launch
from paimon_operator.core.launch.executor_pod import Executors
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.run.machine import step
from paimon_operator.core.run.observed import RunObserved, current_pod
from paimon_operator.core.run.pod import PodObserved, read_pod
from tests.support import builders, pods
from tests.support.pods import Json

RUN_NAME = "orders-compact-8f3a91c2"
POD_UID = f"uid-of-{RUN_NAME}-1"
MINUTES = timedelta(minutes=1)
FIRST_POD = [f"ConfigMap {RUN_NAME}", f"Pod {RUN_NAME}-1"]
SECOND_POD = [f"ConfigMap {RUN_NAME}", f"Pod {RUN_NAME}-2"]
"""What an attempt creates."""

FORCE_DELETED: Json = {"deleting": pods.STARTED}
"""Keyword arguments of a Pod that was deleted without a grace period."""
ABANDONED_AT = pods.MADE + timedelta(seconds=pods.DEADLINE_S) + 2 * MINUTES
"""When a Pod on an unreachable node is abandoned: two minutes after its kubelet's deadline."""
NO_POD = None
"""Answer of a live GET of the Pod before it is created and after it is deleted."""


class Story:
    """One run, its table, and what the operator has stored so far."""

    def __init__(self, *, named: bool = True, **spec: Any) -> None:
        run = builders.run(RUN_NAME, table=builders.table(), **({"trigger": {"type": "Schedule"}} | spec))
        self.run = run
        self.table: PaimonTable | None = builders.table()
        self.now: datetime = pods.MADE
        self.limits = RunLimits()
        self.refusal: Refusal | None = None
        self.claimant: TableClaim | None = None
        self.others: tuple[PodObserved, ...] = ()
        self.executors: tuple[PodObserved, ...] = ()
        self.execution: RunSpark | None = None
        self.plan: dict[str, Any] = {}
        """Fields of `Launch` that differ from the usual ones."""
        self.launch_error: Exception | None = None
        self.engine = "paimon-1.4"
        self.released: set[str] = set()
        if named:
            self.set_active_run(RUN_NAME, run.metadata.uid)

    def set_active_run(self, run: str | None, uid: str | None = None, type_: str | None = None) -> None:
        """Sets the table's status.activeRun (None: no active run). `type_` is the run's type by default."""
        active = None
        if run is not None:
            active = ActiveRun(name=run, uid=uid, type=type_ or self.run.spec.type, trigger="Schedule")
        self.table = builders.table(status=TableStatus(active_run=active))

    def reconcile(
        self, pod_status: Json | None = None, *, later: timedelta = timedelta(), **how: Any
    ) -> Decision[RunStatus]:
        """Reconciles once after `later` and stores the decision. `pod_status` is of the current attempt (None: 404)."""
        self.now += later
        pod = None
        if pod_status is not None and current_pod(self.run) is not None:
            guarded = f"uid-of-{current_pod(self.run)}" not in self.released
            stored = pods.pod(self.run, len(self.run.status.attempts), **{"guarded": guarded} | pod_status | how)
            pod = read_pod(stored)
        decision = step(self.observe(pod), self.now)
        self.carry_out(decision)
        return decision

    def observe(self, pod: PodObserved | None) -> RunObserved:
        """Everything that the run controller observes, with `pod` as the Pod of the current attempt."""
        return RunObserved(
            run=self.run,
            table=self.table,
            pod=pod,
            limits=self.limits,
            launch=self.launch,
            refusal=self.refusal,
            claimant=self.claimant,
            others=self.others,
            executors=self.executors,
        )

    def cancel(self) -> None:
        """Deletes the run, as a user does."""
        metadata = self.run.metadata.model_copy(update={"deletion_timestamp": self.now})
        self.run = self.run.model_copy(update={"metadata": metadata})

    @property
    def attempt(self) -> Attempt:
        """The last attempt."""
        return self.run.status.attempts[-1]

    def condition(self, type_: ConditionType) -> str:
        """Status and reason of a condition, for example `True RunSucceeded`."""
        found = find(self.run.status.conditions, type_)
        assert found is not None
        return f"{found.status} {found.reason}"

    def message(self) -> str:
        """The message of the condition Succeeded."""
        found = find(self.run.status.conditions, ConditionType.SUCCEEDED)
        assert found is not None
        return found.message

    def launch(self) -> Launch:
        """The launch of the run's next attempt. Raises `launch_error`."""
        if self.launch_error is not None:
            raise self.launch_error
        usual = Launch(
            job=_job(self.run, self.engine),
            image=f"paimon-spark:{self.engine}",
            cores=2,
            cpu_request_millis=2000,
            memory_mib=2048,
            execution=self.run.status.spark or self.execution,
        )
        return replace(usual, **self.plan)

    def carry_out(self, decision: Decision[RunStatus]) -> None:
        """Stores finalizers and status, and releases Pods. Other actions are left to the test."""
        self.released.update(released(decision))
        finalizers = {"keep": self.run.metadata.finalizers, "add": (FINALIZER,), "remove": ()}[decision.finalizer]
        metadata = self.run.metadata.model_copy(update={"finalizers": finalizers})
        update: dict[str, Any] = {"metadata": metadata}
        if decision.status is not None:
            update["status"] = RunStatus.model_validate(decision.status.to_json())  # as it comes back from the server
        self.run = self.run.model_copy(update=update)


def two_executors(account: str = "paimon-spark", *, driver: str = "paimon-driver") -> Executors:
    """The executors of a launch in mode Cluster: `story.plan = {"executors": two_executors()}`."""
    sizes = {"instances": 2, "cores": 1, "cpu_millis": 1000, "heap_mib": 640, "overhead_mib": 384, "timeout_seconds": 9}
    return Executors(job=JobExecutors(**sizes, service_account=account), driver_account=driver, scratch="10Gi")


def _job(run: PaimonRun, engine: str) -> Job:
    return Job(
        run=JobRun(name=run.metadata.name, uid=run.metadata.uid, namespace="shop"),
        operation="Compact",
        engine=engine,
        catalog=JobCatalog(warehouse="s3://lake/warehouse", metastore="filesystem"),
        table=JobTable(database="shop", name="orders"),
        owner="o",
        commit_user="u",
        parameters=CompactParameters(strategy=CompactStrategy.FULL),
    )


def write_story(**spec: Any) -> Story:
    return Story(type="Write", compact=None, write={"name": "import"}, **spec)


def launched_story(story: Story | None = None) -> Story:
    """A run whose first attempt is stored and whose Pod is being created."""
    story = story or Story()
    story.reconcile()
    return story


def running_story(story: Story | None = None) -> Story:
    """A run whose first Pod was observed running."""
    story = launched_story(story)
    story.reconcile(pods.running(), later=timedelta(seconds=10))
    return story


def finished_story(story: Story, phase: Phase = Phase.FAILED) -> Story:
    """The run has ended. Its Pod is not released yet, because the operator was killed in between."""
    status = story.run.status.model_copy(update={"phase": phase})
    story.run = story.run.model_copy(update={"status": status})
    return story


def failed_once() -> Story:
    """A run whose first attempt has failed and whose second one is due after a delay."""
    story = running_story()
    story.reconcile(pods.ended(1))
    return story


def cancelled_story(story: Story) -> Story:
    """The same run after its user has deleted it."""
    story.cancel()
    return story


def created(decision: Decision[RunStatus]) -> list[str]:
    return [f"{each.kind} {each.body['metadata']['name']}" for each in decision.actions if isinstance(each, Create)]


def deleted(decision: Decision[RunStatus]) -> list[str]:
    return [each.uid for each in decision.actions if isinstance(each, Delete)]


def released(decision: Decision[RunStatus]) -> list[str]:
    return [each.uid for each in decision.actions if isinstance(each, Release)]


def event_reasons(decision: Decision[RunStatus]) -> list[str]:
    return [f"{event.type_} {event.reason}" for event in decision.events]
