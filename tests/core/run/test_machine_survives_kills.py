"""The invariants of a run hold whatever the kubelet does and however often the operator is killed between requests.

Hypothesis makes random histories of a run. `RunWorld` checks the invariants at every write.
"""

from __future__ import annotations

from datetime import timedelta

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from paimon_operator.api.run.spark import RunSpark
from paimon_operator.api.spark import SparkMode
from paimon_operator.core.config import RunLimits
from paimon_operator.core.run.completion import ENDED
from tests.support import pods
from tests.support.run_story import RUN_NAME, Story, two_executors, write_story
from tests.support.run_world import LIMIT, RunWorld

EXIT_CODES = (0, 1, 3, 10, 20, 25, 30, 40, 137, 143)
DELAYS = (1, 400, 700, 3700)


class RunLife(RuleBasedStateMachine):
    """One run from its creation to its end, or to its cancellation."""

    @initialize(write=st.booleans())
    def begin(self, write: bool) -> None:
        story = write_story() if write else Story()
        story.limits = RunLimits(backoff_limit=LIMIT)
        story.plan = {"executors": two_executors()}
        story.execution = RunSpark(mode=SparkMode.CLUSTER, message="asked for")
        self.world = RunWorld(story=story)

    @rule(killed_after=st.integers(0, 4))
    def the_operator_reconciles_and_is_killed(self, killed_after: int) -> None:
        self.world.reconcile(killed_after)

    @rule(seconds=st.sampled_from(DELAYS))
    def time_passes_and_the_operator_reconciles(self, seconds: int) -> None:
        self.world.pass_time(timedelta(seconds=seconds))
        self.world.reconcile()

    @rule()
    def the_operator_reconciles_three_times(self) -> None:
        for _ in range(3):
            self.world.reconcile()

    def _has_reporting_driver(self) -> bool:
        """Whether a driver may run, its Pod exists on the API server, and its node reports."""
        return (
            bool(self.world.running_drivers())
            and not self.world.unreachable
            and self.world.running_drivers()[0] in self.world.pods
        )

    @precondition(_has_reporting_driver)
    @rule(status=st.sampled_from([pods.waiting(), pods.waiting("CreateContainerConfigError", "secret"), "running"]))
    def the_kubelet_reports_progress(self, status: pods.Json | str) -> None:
        (name,) = self.world.running_drivers()
        self.world.set_pod(name, pods.running(self.world.story.now) if isinstance(status, str) else status)

    @precondition(_has_reporting_driver)
    @rule(exit_code=st.sampled_from(EXIT_CODES), with_result=st.booleans(), executors=st.integers(0, 2))
    def the_driver_ends_and_leaves_executors(self, exit_code: int, with_result: bool, executors: int) -> None:
        for _ in range(executors):
            self.world.create_executor()
        (name,) = self.world.running_drivers()
        message = pods.result(self.world.story.run) if exit_code == 0 and with_result else ""
        self.world.set_pod(name, pods.ended(exit_code, message, finished=self.world.story.now))

    @precondition(_has_reporting_driver)
    @rule()
    def the_pod_is_evicted(self) -> None:
        (name,) = self.world.running_drivers()
        self.world.set_pod(name, pods.evicted())

    @precondition(lambda self: self.world.pods)
    @rule(force=st.booleans())
    def somebody_deletes_the_newest_pod(self, force: bool) -> None:
        self.world.delete_pod(list(self.world.pods)[-1], force=force)

    @precondition(lambda self: not self.world.unreachable)
    @rule()
    def the_kubelet_finishes_deletions(self) -> None:
        self.world.finish_deletions()

    @precondition(_has_reporting_driver)
    @rule(collected=st.booleans())
    def the_node_becomes_unreachable_and_the_control_plane_deletes_its_pod(self, collected: bool) -> None:
        (name,) = self.world.running_drivers()
        self.world.set_pod(name, pods.running(self.world.story.now))
        self.world.unreachable = True
        if collected:
            self.world.collect(name)
        else:
            self.world.delete_pod(name)

    @precondition(lambda self: self.world.unreachable)
    @rule()
    def the_node_comes_back(self) -> None:
        self.world.unreachable = False

    @precondition(lambda self: self.world.unreachable and self.world.pods)
    @rule()
    def a_user_who_knows_that_the_node_is_down_removes_the_pod(self) -> None:
        name = list(self.world.pods)[-1]
        self.world.running.pop(name, None)
        self.world.delete_pod(name, force=True)
        if name in self.world.pods:
            self.world.remove_finalizer(name)

    @rule(named=st.sampled_from([True, True, True, False]))
    def the_table_names_the_run_or_another_one(self, named: bool) -> None:
        story = self.world.story
        story.set_active_run(RUN_NAME if named else "orders-write-00000000", story.run.metadata.uid if named else None)

    @precondition(lambda self: self.world.story.run.metadata.deletion_timestamp is None)
    @rule(really=st.sampled_from([True] + 9 * [False]))
    def a_user_cancels_the_run(self, really: bool) -> None:
        if really:
            self.world.story.cancel()

    @invariant()
    def there_is_never_more_than_one_driver(self) -> None:
        assert len(self.world.running_drivers()) <= 1

    @precondition(lambda self: not self.world.gone)
    @invariant()
    def reconciling_twice_decides_the_same(self) -> None:
        first, second = self.world.reconcile(killed_after=0), self.world.reconcile(killed_after=0)
        assert first == second

    def teardown(self) -> None:
        """The run ends from any state, once the node reports again and the operator is not killed any more.

        The table records the end, for which a finished run that is deleted waits.
        """
        if not hasattr(self, "world"):
            return
        self.world.story.set_active_run(RUN_NAME, self.world.story.run.metadata.uid)
        self.world.unreachable = False
        for _ in range(8 * (LIMIT + 1)):
            self.world.reconcile()
            for name in self.world.running_drivers():
                self.world.set_pod(name, pods.ended(0, pods.result(self.world.story.run)))
            self.world.finish_deletions()
            self.world.pass_time(timedelta(minutes=6))
            if self.world.story.run.status.phase in ENDED:
                self.world.story.set_active_run(None)
        run = self.world.story.run
        assert self.world.gone or (run.status.phase in ENDED and not run.metadata.finalizers)
        assert not self.world.executors, "executors were left behind"
        assert not [name for name, pod in self.world.pods.items() if pod["metadata"]["finalizers"]]


TestRunLife = RunLife.TestCase
TestRunLife.settings = settings(
    max_examples=40,
    stateful_step_count=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
