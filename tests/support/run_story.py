"""The life of one run in memory: a test says what became of the Pod, the run controller's core says what to do."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from paimon_contract.job import Job, JobCatalog, JobRun, JobTable
from paimon_contract.parameters.compact import CompactParameters
from paimon_operator.api.conditions import ConditionType, find
from paimon_operator.api.run.spec import CompactStrategy, PaimonRun
from paimon_operator.api.run.status import Attempt, Phase, RunSpark, RunStatus, RunType
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import ActiveRun, TableStatus
from paimon_operator.core.commits.table_claims import TableClaim
from paimon_operator.core.config import RunLimits
from paimon_operator.core.decision import Create, Decision, Delete, Refusal, Release
from paimon_operator.core.launch.driver_pod import Launch
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.run.machine import step
from paimon_operator.core.run.observed import RunObserved, current_pod
from paimon_operator.core.run.pod import PodObserved, read_pod
from tests.support import builders, pods
from tests.support.pods import Json

RUN_NAME = "orders-compact-8f3a91c2"
POD_UID = f"uid-of-{RUN_NAME}-1"
MINUTES = timedelta(minutes=1)

NOT_THERE = None
"""What a live GET of the Pod says before it is made and after it is gone."""


class Story:
    """One run, its table, and what the operator has stored so far. Each `look` is one reconciliation, carried out."""

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
        """What the run would launch differently from usual."""
        self.launch_error: Exception | None = None
        self.engine = "paimon-1.4"
        self.released: set[str] = set()
        if named:
            self.name(RUN_NAME, run.metadata.uid)

    def name(self, run: str | None, uid: str | None = None) -> None:
        """Set the table's status.activeRun."""
        active = None
        if run is not None:
            active = ActiveRun(name=run, uid=uid, type=self.run.spec.type, trigger="Schedule")
        self.table = builders.table(status=TableStatus(active_run=active))

    def reconcile(
        self, pod_status: Json | None = None, *, later: timedelta = timedelta(), **how: Any
    ) -> Decision[RunStatus]:
        """Reconcile `later`, with the current attempt's Pod in this status (None: 404), and store what was decided."""
        self.now += later
        pod = None
        if pod_status is not None and current_pod(self.run) is not None:
            guarded = f"uid-of-{current_pod(self.run)}" not in self.released
            stored = pods.pod(self.run, len(self.run.status.attempts), **{"guarded": guarded} | pod_status | how)
            pod = read_pod(stored)
        decision = step(
            RunObserved(
                run=self.run,
                table=self.table,
                pod=pod,
                limits=self.limits,
                launch=self.launch,
                refusal=self.refusal,
                claimant=self.claimant,
                others=self.others,
                executors=self.executors,
            ),
            self.now,
        )
        self.carry_out(decision)
        return decision

    def cancel(self) -> None:
        """The user deletes the run."""
        metadata = self.run.metadata.model_copy(update={"deletion_timestamp": self.now})
        self.run = self.run.model_copy(update={"metadata": metadata})

    @property
    def attempt(self) -> Attempt:
        """The newest attempt."""
        return self.run.status.attempts[-1]

    def condition(self, type_: ConditionType) -> str:
        """`True RunSucceeded`."""
        found = find(self.run.status.conditions, type_)
        assert found is not None
        return f"{found.status} {found.reason}"

    def message(self) -> str:
        """What `kubectl describe` says of the outcome."""
        found = find(self.run.status.conditions, ConditionType.SUCCEEDED)
        assert found is not None
        return found.message

    def launch(self) -> Launch:
        """What the run would launch."""
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
        """Store finalizers and status; actions are for the test to look at, but Pods are let go."""
        self.released.update(released(decision))
        finalizers = {"keep": self.run.metadata.finalizers, "add": (FINALIZER,), "remove": ()}[decision.finalizer]
        metadata = self.run.metadata.model_copy(update={"finalizers": finalizers})
        update: dict[str, Any] = {"metadata": metadata}
        if decision.status is not None:
            update["status"] = RunStatus.model_validate(decision.status.to_json())  # as it comes back from the server
        self.run = self.run.model_copy(update=update)


def _job(run: PaimonRun, engine: str) -> Job:
    return Job(
        run=JobRun(name=run.metadata.name, uid=run.metadata.uid, namespace="shop"),
        operation=RunType.COMPACT,
        engine=engine,
        catalog=JobCatalog(warehouse="s3://lake/warehouse", metastore="filesystem"),
        table=JobTable(database="shop", name="orders"),
        owner="o",
        commit_user="u",
        parameters=CompactParameters(strategy=CompactStrategy.FULL),
    )


def a_write(**spec: Any) -> Story:
    return Story(type="Write", compact=None, write={"name": "import"}, **spec)


def launched(story: Story | None = None) -> Story:
    """A run whose first attempt is written down and whose Pod is being made."""
    story = story or Story()
    story.reconcile()
    return story


def at_work(story: Story | None = None) -> Story:
    """A run whose first Pod has been seen running."""
    story = launched(story)
    story.reconcile(pods.running(), later=timedelta(seconds=10))
    return story


def over(story: Story, phase: Phase = Phase.FAILED) -> Story:
    """The run has ended, and its Pod is not let go: the operator was killed in between."""
    status = story.run.status.model_copy(update={"phase": phase})
    story.run = story.run.model_copy(update={"status": status})
    return story


def created(decision: Decision[RunStatus]) -> list[str]:
    return [f"{each.kind} {each.body['metadata']['name']}" for each in decision.actions if isinstance(each, Create)]


def deleted(decision: Decision[RunStatus]) -> list[str]:
    return [each.uid for each in decision.actions if isinstance(each, Delete)]


def released(decision: Decision[RunStatus]) -> list[str]:
    return [each.uid for each in decision.actions if isinstance(each, Release)]


def told(decision: Decision[RunStatus]) -> list[str]:
    return [f"{event.type_} {event.reason}" for event in decision.events]
