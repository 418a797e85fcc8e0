"""Invariants of a rescale in every history of a table: edits, time, results and crashes in any order."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.spec import BucketType
from paimon_operator.core.spec.capabilities import may_be_rescaled
from tests.core.table.test_plan_properties import FAILURES, TableHistory
from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld

HARMLESS = {"Provision", "Rescale", "Drop"}
"""Types of runs that may start while partitions have different numbers of buckets."""
NUMBERS = st.sampled_from([2, 4, 8])
POLICIES = st.sampled_from([{}, {"onCountChange": "Refuse"}, {"onCountChange": "Rescale"}])


class RescaleHistory(TableHistory):
    """A table with Fixed buckets. `count` and `marked` are what the physical table has."""

    @initialize()
    def apply(self) -> None:
        bucket = {"type": "Fixed", "fixed": {"count": 2, "onCountChange": "Rescale"}}
        self.world = TableWorld(table=builders.table(bucket=bucket, writes=[builders.write()]))
        self.count, self.marked = 2, False
        self.before_the_mark: set[str] = set()
        self.world.settle()
        self.world.finish("Provision", created=True, after=self.measure())
        self.world.edit(bucket={"type": "Fixed", "fixed": {"count": 8, "onCountChange": "Rescale"}})
        self.world.settle()

    @rule(count=NUMBERS, policy=POLICIES)
    def the_number_is_edited(self, count: int, policy: dict[str, Any]) -> None:
        self.world.edit(bucket={"type": "Fixed", "fixed": {"count": count, **policy}})

    @rule()
    def the_type_is_edited(self) -> None:
        self.world.edit(bucket={"type": "Dynamic"})

    @precondition(lambda self: self.busy)
    @rule(finished=st.booleans())
    def the_run_succeeds(self, finished: bool = True) -> None:
        type_, wanted = self.world.active.spec.type, self.wanted()
        if type_ == "Provision" and self.count != wanted and not (self.marked or self.rescales):
            self.world.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS)
            return
        if type_ != "Rescale":
            self.world.finish(created=True, after=self.measure())
            return
        self.count, self.marked = wanted or self.count, not finished
        progress = {"done": 40 if finished else 12, "total": 40, "finished": finished}
        self.world.finish(after=self.measure(), rescale=progress)

    @precondition(lambda self: self.busy)
    @rule(class_=FAILURES, begun=st.booleans())
    def the_run_fails(self, class_: FailureClass, begun: bool = False) -> None:
        if begun and self.world.active.spec.type == "Rescale":
            self.count, self.marked = self.wanted() or self.count, True
        self.world.fail(class_, Reason.DRIVER_FAILED)

    @precondition(lambda self: self.busy)
    @rule(begun=st.booleans())
    def the_run_is_deleted(self, begun: bool = False) -> None:
        if begun and self.world.active.spec.type == "Rescale":
            self.count, self.marked = self.wanted() or self.count, True
        self.world.remove(self.world.active)

    @invariant()
    def no_other_run_starts_while_partitions_differ(self) -> None:
        created = {run.metadata.name: run.spec.type for run in self.world.created}
        if self.marked:
            new = created.keys() - self.before_the_mark
            assert {created[name] for name in new} <= HARMLESS, f"started during a rescale: {new}"
        else:
            self.before_the_mark = set(created)

    @invariant()
    def an_unfinished_rescale_of_a_verified_table_is_shown(self) -> None:
        if self.marked and self.world.table.status.active_run is None:
            self.world.reconcile()
            types = [each.type for each in self.world.table.status.conditions]
            assert "WritesPaused" in types or self.world.table.metadata.deletion_timestamp is not None

    def teardown(self) -> None:
        """However it went, without more failures the table becomes the declared one, and every run has ended."""
        world = self.world
        world.catalog = builders.catalog()
        bucket = {"type": "Fixed", "fixed": {"count": 8, "onCountChange": "Rescale"}}
        schema = {**builders.ORDERS, "comment": "the last edit"}
        world.edit(bucket=bucket, schema=schema, suspend=None, timeZone=None, writes=None, options=None)
        for _ in range(100):  # users have asked for many runs
            world.settle()
            if world.table.status.active_run is None:
                break
            self.the_run_succeeds(finished=True)
        assert world.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
        assert world.table.status.active_run is None
        assert (self.count, self.marked) == (8, False)
        assert "WritesPaused" not in [each.type for each in world.table.status.conditions]
        assert all(run.status.completion_time is not None for run in world.runs)

    def wanted(self) -> int | None:
        bucket = self.world.table.spec.bucket
        return bucket.fixed.count if bucket and bucket.type is BucketType.FIXED and bucket.fixed else None

    @property
    def rescales(self) -> bool:
        """Whether Provision leaves the number of buckets to a rescale."""
        return may_be_rescaled(self.world.table.spec)

    def measure(self) -> dict[str, Any]:
        marked = {"rescaling": True} if self.marked else {}
        return MEASURE | {"bucketMode": "Fixed", "bucketCount": self.count, **marked}


TestRescaleHistory = RescaleHistory.TestCase
TestRescaleHistory.settings = settings(max_examples=8, stateful_step_count=30)
