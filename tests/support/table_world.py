"""One table with its catalog and its runs in memory. A test decides the time and how runs end.

Decisions are applied in the order of the runtime.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.conditions import Condition, ConditionStatus, ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import FailureClass, Phase
from paimon_operator.api.table.schedule_state import DecisionResult
from paimon_operator.api.table.spec import PaimonTable, PaimonTableSpec
from paimon_operator.api.table.status import ActiveRun, TableStatus
from paimon_operator.core.conditions import Finding, false, replaced, stalled, true, unknown
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.decision import Action, Create, Decision, Delete
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.table.observed import TableObserved, Wanted
from paimon_operator.core.table.plan import plan
from tests.support import builders

_DECISIONS = {(result, reason.value) for result, reason, _ in (cause.value for cause in Cause)}
MEASURE = {"files": 3, "bytes": 4096, "rows": 12, "sortedRunsMax": 2, "smallFiles": 3, "schemaId": 0, "snapshotId": 1}


@dataclass
class TableWorld:
    """One table, its catalog and its runs."""

    table: PaimonTable = field(default_factory=builders.table)
    catalog: PaimonCatalog | None = field(default_factory=builders.catalog)
    now: datetime = builders.NOW
    operator: OperatorFacts = field(default_factory=builders.operator_facts)
    observed: TableObserved = field(default_factory=TableObserved)
    runs: list[PaimonRun] = field(default_factory=list)
    created: list[PaimonRun] = field(default_factory=list)
    """Every run that was created, in order."""
    decisions: list[Decision[TableStatus]] = field(default_factory=list)

    def reconcile(self) -> Decision[TableStatus]:
        """Reconciles once and applies the decision."""
        decision = self.decide()
        self.carry_out(decision)
        return decision

    def decide(self) -> Decision[TableStatus]:
        """Decides once and applies nothing."""
        observed = replace(self.observed, catalog=self.catalog, runs=tuple(self.runs))
        return plan(Wanted(table=self.table, operator=self.operator), observed, self.now)

    def carry_out(self, decision: Decision[TableStatus]) -> None:
        """Applies finalizer, status and actions, in the order of the runtime."""
        self.decisions.append(decision)
        finalizers = {"keep": self.table.metadata.finalizers, "add": (FINALIZER,), "remove": ()}[decision.finalizer]
        self._change(metadata=self.table.metadata.model_copy(update={"finalizers": finalizers}))
        if decision.status is not None:
            stored = type(decision.status).model_validate(decision.status.to_json())
            _require_known_causes(stored)
            self._change(status=stored)
        for action in decision.actions:
            self._act(action)

    def settle(self, limit: int = 10) -> Decision[TableStatus]:
        """Reconciles until nothing changes. Raises AssertionError after `limit` reconciles."""
        for _ in range(limit):
            before = (self.table, list(self.runs))
            decision = self.reconcile()
            if (self.table, list(self.runs)) == before:
                return decision
        raise AssertionError(f"still changing after {limit} reconciles")

    def ready(self) -> TableWorld:
        """Provisions the table. Returns itself."""
        self.settle()
        self.finish("Provision", created=True)
        self.settle()
        return self

    def edit(self, **spec: Any) -> None:
        """Edits the manifest, as `kubectl apply` does. None removes a field."""
        given = self.table.spec.to_json() | spec
        wanted = {name: value for name, value in given.items() if value is not None}
        generation = self.table.metadata.generation + 1
        self._change(
            spec=PaimonTableSpec.model_validate(wanted),
            metadata=self.table.metadata.model_copy(update={"generation": generation}),
        )

    def delete(self, **annotations: str) -> None:
        """Deletes the table, as `kubectl delete` does."""
        update = {"deletion_timestamp": self.now, "annotations": annotations}
        self._change(metadata=self.table.metadata.model_copy(update=update))

    def wait(self, **duration: float) -> None:
        """Advances the time by a duration of `timedelta`'s keyword arguments."""
        self.now += timedelta(**duration)

    @property
    def active(self) -> PaimonRun:
        """The run that status.activeRun names."""
        name = self.table.status.active_run.name if self.table.status.active_run else None
        return next(run for run in self.runs if run.metadata.name == name)

    @property
    def started(self) -> list[tuple[str, str]]:
        """Type and subject of every run that was created, in order."""
        return [(run.spec.type, _subject(run)) for run in self.created]

    def run_due(self) -> list[tuple[str, str]]:
        """Runs everything that is due, one run after the other. Returns type and subject of each."""
        before = len(self.created)
        self.settle()
        while self.table.status.active_run:
            assert len(self.created) < before + 20, "the same operation starts without end"
            self.finish()
            self.settle()
        return self.started[before:]

    def finish(self, type_: str | None = None, **result: Any) -> None:
        """Ends the active run with success."""
        run = self.active
        assert type_ is None or run.spec.type == type_, f"the active run is {run.spec.type}"
        self._end(run, Phase.SUCCEEDED, [true(ConditionType.SUCCEEDED, Reason.RUN_SUCCEEDED, "done")], None, result)

    def fail(self, class_: FailureClass, reason: Reason, message: str = "the driver failed", **result: Any) -> None:
        """Ends the active run with a failure."""
        findings = [false(ConditionType.SUCCEEDED, reason, message), *stalled(reason, message)]
        self._end(self.active, Phase.FAILED, findings, class_, result)

    def lose_result(self) -> None:
        """Ends the active run with an unknown result."""
        reason, message = Reason.RESULT_UNKNOWN, "the snapshots in question have expired"
        findings = [unknown(ConditionType.SUCCEEDED, reason, message), *stalled(reason, message)]
        self._end(self.active, Phase.UNKNOWN, findings, FailureClass.RESULT_UNKNOWN, {})

    def block(self, reason: Reason, message: str) -> None:
        """Blocks the start of the active run's Pod until a user fixes something."""
        findings = [unknown(ConditionType.SUCCEEDED, reason, message), *stalled(reason, message)]
        run = self.active
        self._replace(run, {"phase": Phase.LAUNCHING, "conditions": self._conditions(findings)})

    def remove(self, run: PaimonRun) -> None:
        """Removes a run whose Pod has ended and whose finalizer is removed."""
        self.runs.remove(run)

    def condition(self, type_: str) -> Condition:
        """The table's condition of this type."""
        found = find(self.table.status.conditions, ConditionType(type_))
        assert found is not None, f"no condition {type_} among {[c.type for c in self.table.status.conditions]}"
        return found

    def says(self, type_: str) -> tuple[str, str]:
        """Status and reason of a condition."""
        condition = self.condition(type_)
        return condition.status.value, condition.reason

    def _end(
        self,
        run: PaimonRun,
        phase: Phase,
        findings: Iterable[Finding],
        class_: FailureClass | None,
        result: dict[str, Any],
    ) -> None:
        facts: dict[str, Any] = {"after": MEASURE} if phase is Phase.SUCCEEDED else {}
        if self.catalog is not None:
            facts |= {"engine": self.operator.engine_of(self.catalog)}
        reported = type(run.status).model_validate(facts | result)
        update = {name: getattr(reported, name) for name in reported.model_fields_set}
        update |= {"phase": phase, "completion_time": self.now, "failure_class": class_}
        self._replace(run, update | {"conditions": self._conditions(findings)})

    def _conditions(self, findings: Iterable[Finding]) -> tuple[Condition, ...]:
        return replaced((), findings, generation=1, now=self.now)

    def _replace(self, run: PaimonRun, update: dict[str, Any]) -> None:
        changed = run.model_copy(update={"status": run.status.model_copy(update=update)})
        self.runs[self.runs.index(run)] = changed

    def _act(self, action: Action) -> None:
        if isinstance(action, Delete):
            run = next(run for run in self.runs if run.metadata.uid == action.uid)
            if run.status.completion_time is not None:
                self.runs.remove(run)
            else:
                metadata = run.metadata.model_copy(update={"deletion_timestamp": self.now})
                self.runs[self.runs.index(run)] = run.model_copy(update={"metadata": metadata})
            return
        assert isinstance(action, Create), f"a table's plan never asks for {action}"
        if any(run.metadata.name == action.body["metadata"]["name"] for run in self.runs):
            return  # 409: it is ours
        number = len(self.created) + 1
        stored = {**action.body, "metadata": {**action.body["metadata"], "uid": f"run-{number}", "generation": 1}}
        stored["metadata"]["creationTimestamp"] = self.now
        run = PaimonRun.model_validate(stored)
        self.runs.append(run)
        self.created.append(run)

    def _change(self, **update: Any) -> None:
        self.table = self.table.model_copy(update=update)


def _require_known_causes(status: TableStatus) -> None:
    """Raises AssertionError for a decision not to run that docs/maintenance.md cannot list: it has no cause."""
    for operation in registry.OPERATIONS.recurring:
        for memory in operation.scheduled.memories(status) if operation.scheduled is not None else ():
            made = memory.decision
            if made is not None and made.result is not DecisionResult.STARTED:
                assert (made.result, made.reason) in _DECISIONS, f"{operation.type}: {made}"


def _subject(run: PaimonRun) -> str:
    return registry.OPERATIONS.of(run.spec.type).target(run).subject or ""


def status_of(decision: Decision[TableStatus]) -> TableStatus:
    """The status that a decision stores."""
    assert decision.status is not None
    return decision.status


def run_named_by(decision: Decision[TableStatus]) -> ActiveRun:
    """The active run in the status that a decision stores."""
    active = status_of(decision).active_run
    assert active is not None
    return active


def delay_of(decision: Decision[TableStatus]) -> timedelta:
    """The time after which a decision asks for the next reconciliation."""
    assert decision.requeue_after is not None
    return decision.requeue_after


def is_true(condition: Condition) -> bool:
    """Whether the condition's status is True."""
    return condition.status is ConditionStatus.TRUE


def replace_observed(world: TableWorld, **seen: Any) -> None:
    """Replaces what is observed around the table."""
    world.observed = replace(world.observed, **seen)
