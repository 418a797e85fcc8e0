"""Invariants of the plan in every history of a table: edits, time, results and crashes in any order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, Phase
from paimon_operator.core.decision import Create, Decision
from tests.support import builders
from tests.support.table_world import TableWorld, run_named_by

COLUMNS = builders.ORDERS["columns"]
EDITS: list[dict[str, Any]] = [
    {"options": {"file.compression": "zstd"}},
    {"options": None},
    {"spark": {"driver": {"memory": "4Gi"}}},
    {"suspend": True},
    {"suspend": False},
    {"writes": [builders.write()]},
    {"writes": [builders.write(schedule=None), builders.write("second", schedule="0 * * * *")]},
    {"writes": None},
    {"compaction": {"mode": "Dedicated"}},
    {"compaction": {"mode": "Inline"}},
    {"retention": {"snapshots": {"timeRetained": "1d", "schedule": "*/20 * * * *"}}},
    {"timeZone": "Mars/Base"},
    {"timeZone": "Europe/Berlin"},
    {"schema": {**builders.ORDERS, "comment": "edited"}},
    {"schema": {**builders.ORDERS, "columns": [*COLUMNS, {"name": "more", "type": "INT"}]}},
    {"schema": {**builders.ORDERS, "columns": COLUMNS[:-1], "droppedColumns": ["note"]}},
    {"schema": {**builders.ORDERS, "columns": [*COLUMNS[:-1], {"name": "note", "type": "INT"}]}},
    {"deletionPolicy": "Delete"},
    {"deletionPolicy": "Retain"},
]
WINDOWS: list[list[dict[str, Any]]] = [
    [{"schedule": "0 1 * * *", "duration": "4h"}],
    [{"schedule": "*/40 * * * *", "duration": "15m"}, {"schedule": "30 8 * * *", "duration": "1m"}],
    [{"schedule": "61 * * * *", "duration": "4h"}],
]
FAILURES = st.sampled_from([each for each in FailureClass if each is not FailureClass.RESULT_UNKNOWN])


class TableHistory(RuleBasedStateMachine):
    """Reconciles are separate steps, so several events may precede one. A kill applies a part of the decision."""

    @initialize()
    def apply(self) -> None:
        self.world = TableWorld()

    @property
    def busy(self) -> bool:
        """Whether a run is active. It starts only after the table has recorded its UID."""
        named = self.world.table.status.active_run
        return (
            named is not None
            and named.uid is not None
            and any(run.metadata.name == named.name and run.status.completion_time is None for run in self.world.runs)
        )

    @rule()
    def reconcile(self) -> None:
        self._carry_out(self.world.decide())

    @rule(with_status=st.booleans(), actions=st.integers(0, 2))
    def the_operator_is_killed(self, with_status: bool, actions: int) -> None:
        """Between any two steps of a decision: finalizer, status, each action."""
        decision = self.world.decide()
        status = decision.status if with_status or actions else None
        self._carry_out(replace(decision, status=status, actions=decision.actions[:actions]))

    @rule(edit=st.sampled_from(EDITS))
    def edit(self, edit: dict[str, Any]) -> None:
        self.world.edit(**edit)

    @rule(minutes=st.integers(1, 60 * 30))
    def time_passes(self, minutes: int) -> None:
        self.world.wait(minutes=minutes)

    @precondition(lambda self: self.busy)
    @rule()
    def the_run_succeeds(self) -> None:
        self.world.finish(created=True)

    @precondition(lambda self: self.busy)
    @rule(class_=FAILURES)
    def the_run_fails(self, class_: FailureClass) -> None:
        self.world.fail(class_, Reason.DRIVER_FAILED)

    @precondition(lambda self: self.busy)
    @rule()
    def the_run_is_deleted(self) -> None:
        self.world.remove(self.world.active)

    @rule()
    def the_catalog_comes_and_goes(self) -> None:
        self.world.catalog = None if self.world.catalog else builders.catalog()

    @rule(windows=st.sampled_from(WINDOWS))
    def the_catalog_has_other_windows(self, windows: list[dict[str, Any]]) -> None:
        self.world.catalog = builders.catalog(maintenanceWindows=windows)

    @precondition(lambda self: self.world.table.metadata.deletion_timestamp is None)
    @rule()
    def a_user_asks_for_a_compaction(self) -> None:
        name = f"by-hand-{len(self.world.runs)}-{self.world.now:%d%H%M}"
        if all(run.metadata.name != name for run in self.world.runs):
            self.world.runs.append(builders.run(name, table=self.world.table))

    @invariant()
    def a_second_reconcile_changes_nothing(self) -> None:
        """Nothing flaps, and no write happens without a cause."""
        world = self.world
        copy = TableWorld(table=world.table, catalog=world.catalog, now=world.now, runs=list(world.runs))
        copy.settle()
        settled = (copy.table, copy.runs)
        decision = copy.reconcile()
        assert (copy.table, copy.runs) == settled
        assert decision.events == (), "nothing changed, so there is no event"

    @invariant()
    def status_fits_the_crd(self) -> None:
        status = self.world.table.status
        assert type(status).model_validate(status.to_json()) == status

    @invariant()
    def no_run_is_created_twice(self) -> None:
        names = [run.metadata.name for run in self.world.created]
        repeated = {name for name in names if names.count(name) > 1}
        assert not repeated, f"created twice: {repeated}"

    def _carry_out(self, decision: Decision[Any]) -> None:
        world = self.world
        named = world.table.status.active_run
        creates = [action for action in decision.actions if isinstance(action, Create)]
        assert len(creates) <= 1, "at most one run is started by a decision"
        if creates and named is not None and run_named_by(decision).name != named.name:
            ended = [run for run in world.runs if run.metadata.name == named.name and run.status.completion_time]
            gone = all(run.metadata.name != named.name for run in world.runs)
            assert ended or gone, f"{named.name} is still active"
        alive = [run for run in world.runs if run.status.phase in (Phase.LAUNCHING, Phase.RUNNING)]
        assert not (creates and alive), "a run is started while another one has a Pod"
        if creates:
            assert creates[0].body["metadata"]["name"] == run_named_by(decision).name, "intent before act"
            assert world.table.spec.deletion_policy or creates[0].body["spec"]["type"] != "Drop"
        if decision.requeue_after is not None:
            assert decision.requeue_after > timedelta(0), "a reconcile that requeues itself at once would never end"
        world.carry_out(decision)


TestTableHistory = TableHistory.TestCase
TestTableHistory.settings = settings(max_examples=15, stateful_step_count=30)
