"""The plan of a rescale: what is applied before it, and the approval that it may need."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations.edits import APPROVE
from tests.core.table.edited_table import (
    COLUMNS,
    annotate,
    approval,
    planned,
    refuse,
    schema,
    seen_by_run,
    wait_for_approval,
)
from tests.core.table.rescaling import EIGHT, TWO, buckets, progress, ready, types
from tests.support import builders
from tests.support.table_world import TableWorld


class TestApproval:
    """A rescale rewrites data: where the catalog says so, it waits for the approval of its plan."""

    @staticmethod
    def edited(policy: str = "Approve", **spec: Any) -> TableWorld:
        seen = ready()
        seen.catalog = builders.catalog(evolutionPolicy=policy)
        seen.edit(**({"bucket": buckets(8)} | spec))
        seen.wait(minutes=6)
        seen.settle()
        return seen

    def test_the_plan_shows_the_rewrite_and_nothing_is_rewritten_or_written(self) -> None:
        seen = self.edited()
        assert planned(seen) == [("Rescale", "Rewrite", "spec.bucket.fixed.count")]
        assert types(seen) == ["Compact"], "maintenance continues"
        seen.finish("Compact", after=TWO)
        seen.settle()
        assert types(seen) == ["Compact"]
        assert seen.says("Stalled") == ("True", Reason.AWAITING_APPROVAL)
        assert "rescale from 2 to 8 buckets" in seen.condition("Ready").message

    def test_the_hash_of_the_plan_starts_it_and_a_begun_rescale_needs_no_other(self) -> None:
        seen = self.edited()
        seen.finish("Compact", after=TWO)
        annotate(seen, **{APPROVE: approval(seen)})
        seen.settle()
        assert types(seen)[-1] == "Rescale"
        seen.finish("Rescale", after=EIGHT | {"rescaling": True, "schemaId": 7}, rescale=progress(12))
        annotate(seen)
        seen.edit(bucket=buckets(3))
        seen.settle()
        assert types(seen)[-2:] == ["Rescale", "Rescale"]
        assert planned(seen) == []

    def test_the_approval_of_another_number_does_not_count(self) -> None:
        seen = self.edited()
        seen.finish("Compact", after=TWO)
        annotate(seen, **{APPROVE: approval(seen)})
        seen.edit(bucket=buckets(16))
        seen.settle()
        assert "Rescale" not in types(seen)

    @pytest.mark.parametrize(("policy", "follows"), [("Approve", "Compact"), ("Automatic", "Rescale")])
    def test_the_rest_of_the_edit_is_applied_first(self, policy: str, follows: str) -> None:
        seen = self.edited(policy, options={"write-buffer-size": "64 mb"})
        assert types(seen) == ["Provision"]
        assert planned(seen) == [("SetOption", "Metadata", "spec.options[write-buffer-size]")]
        seen.finish("Provision", after=TWO, **seen_by_run(seen))
        seen.settle()
        assert planned(seen) == ([] if policy == "Automatic" else [("Rescale", "Rewrite", "spec.bucket.fixed.count")])
        assert types(seen) == ["Provision", follows]

    def test_with_an_illegal_step_nothing_is_rescaled(self) -> None:
        narrower = [{"name": "order_id", "type": "INT"}, *COLUMNS[1:]]
        seen = self.edited("Automatic", schema=schema(narrower))
        assert types(seen) == ["Provision"]
        refuse(seen)
        seen.settle()
        assert "Rescale" not in types(seen)

    def test_a_suspended_table_shows_the_plan(self) -> None:
        seen = ready()
        seen.edit(bucket=buckets(8), suspend=True)
        seen.settle()
        assert planned(seen) == [("Rescale", "Rewrite", "spec.bucket.fixed.count")]
        assert seen.says("Ready") == ("Unknown", Reason.SUSPENDED)
        assert "The edit would: rescale from 2 to 8 buckets" in seen.condition("Ready").message

    def test_a_suspended_table_that_waits_for_nothing_but_the_rescale_is_not_ready(self) -> None:
        seen = self.edited(options={"write-buffer-size": "64 mb"})
        seen.finish("Provision", after=TWO, **seen_by_run(seen))
        seen.edit(bucket=buckets(8), options={"write-buffer-size": "64 mb"}, suspend=True)
        seen.settle()
        assert planned(seen) == [("Rescale", "Rewrite", "spec.bucket.fixed.count")]
        assert seen.says("Ready") == ("Unknown", Reason.SUSPENDED)

    def test_the_approval_of_a_run_that_never_began_does_not_count_for_another_number(self) -> None:
        seen = self.edited()
        seen.finish("Compact", after=TWO)
        annotate(seen, **{APPROVE: approval(seen)})
        seen.settle()
        seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST, "the node is gone")
        seen.edit(bucket=buckets(16))
        seen.wait(minutes=60)
        seen.settle()
        assert types(seen)[-1] == "Rescale"
        assert types(seen).count("Rescale") == 1
        assert planned(seen) == [("Rescale", "Rewrite", "spec.bucket.fixed.count")]
        assert seen.says("Stalled") == ("True", Reason.AWAITING_APPROVAL)


class TestTheRestOfTheEdit:
    """It comes first, also for a table whose schema no status holds: there a run finds the plan."""

    @staticmethod
    def without_record(**spec: Any) -> TableWorld:
        seen = ready(**spec)
        seen.edit(writes=[])
        state = seen.table.status.provision
        assert state is not None
        unknown = state.model_copy(update={"schema_record": None, "columns_digest": None})
        seen.table = seen.table.model_copy(
            update={"status": seen.table.status.model_copy(update={"provision": unknown})}
        )
        return seen

    def test_an_illegal_edit_rescales_nothing(self) -> None:
        seen = self.without_record()
        narrower = [{"name": "order_id", "type": "INT"}, *COLUMNS[1:]]
        seen.edit(bucket=buckets(8), schema=schema(narrower))
        seen.settle()
        assert types(seen) == ["Provision"]

    def test_the_plan_that_a_run_has_found_stays_until_it_is_approved(self) -> None:
        seen = self.without_record()
        seen.catalog = builders.catalog(evolutionPolicy="Approve")
        seen.edit(bucket=buckets(8), schema=schema(COLUMNS[:2], "colour"))
        seen.settle()
        wait_for_approval(seen)
        seen.settle()
        assert planned(seen) == [("DropColumn", "LosesData", "f")]
        assert types(seen) == ["Provision"]

    def test_a_refused_rescale_does_not_keep_the_next_edit_away(self) -> None:
        seen = self.without_record()
        seen.edit(bucket=buckets(8))
        seen.settle()
        seen.fail(FailureClass.SPEC, Reason.RESCALE_REFUSED, "its readers skip level 0")
        seen.edit(bucket=buckets(8), options={"write-buffer-size": "64 mb"})
        seen.settle()
        assert types(seen) == ["Rescale", "Provision"]

    def test_another_number_alone_needs_no_run_that_verifies_first(self) -> None:
        seen = self.without_record()
        seen.edit(bucket=buckets(8))
        seen.settle()
        assert types(seen) == ["Rescale"]

    def test_another_engine_verifies_the_table_before_it_is_rescaled(self) -> None:
        seen = ready()
        seen.catalog = builders.catalog(engine="paimon-0.9", allowDowngrade=True)
        seen.edit(bucket=buckets(8))
        seen.settle()
        assert types(seen) == ["Provision"]
        seen.finish("Provision", after=TWO)
        seen.settle()
        assert types(seen) == ["Provision", "Rescale"]
