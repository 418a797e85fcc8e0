"""A rescale in the plan of a table: when it starts, what waits for it, and what the status shows."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.verification import state_of
from tests.core.table.rescaling import EIGHT, TWO, buckets, committed_by_flink, progress, ready, rescaling, types
from tests.support import builders
from tests.support.table_world import TableWorld


def test_an_edited_count_is_rescaled_run_by_run_then_verified_and_only_then_written() -> None:
    seen = ready()
    seen.edit(bucket=buckets(8))
    seen.wait(minutes=6)
    seen.settle()
    assert types(seen) == ["Rescale"]
    assert seen.says("WritesPaused") == ("True", Reason.RESCALING)

    seen.finish("Rescale", after=EIGHT | {"rescaling": True}, rescale=progress(12))
    seen.settle()
    assert types(seen)[-1] == "Rescale"
    assert len({run.metadata.name for run in seen.created}) == len(seen.created)
    for condition in ("WritesPaused", "Reconciling"):
        assert seen.says(condition) == ("True", Reason.RESCALING)
        assert "12 of 40 partitions" in seen.condition(condition).message
    assert seen.table.status.compaction is not None
    assert seen.table.status.compaction.decision is not None
    assert seen.table.status.compaction.decision.reason == Reason.RESCALING

    seen.finish("Rescale", after=EIGHT, rescale=progress(40, finished=True))
    seen.settle()
    assert types(seen)[-1] == "Provision"
    assert "WritesPaused" not in [each.type for each in seen.table.status.conditions]
    seen.finish("Provision", after=EIGHT)
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert types(seen)[-1] in {"Write", "Compact"}
    assert state_of(seen.table.status).bucket_count == 8, "the job of a write has it, and the driver stops at another"


@pytest.mark.parametrize("policy", ["Refuse", None])
def test_without_the_opt_in_no_rescale_starts(policy: str | None) -> None:
    seen = ready(bucket=buckets(2, policy))
    seen.edit(bucket=buckets(8, policy))
    seen.settle()
    assert types(seen) == ["Provision"]


def test_the_job_has_the_number_and_a_bound_of_partitions() -> None:
    seen = ready()
    seen.edit(bucket=buckets(8))
    seen.settle()
    operation = registry.OPERATIONS.of("Rescale")
    context = builders.context(seen.table)
    parameters: Any = operation.job(context, seen.active)
    assert (parameters.count, parameters.most_partitions > 0) == (8, True)
    assert operation.is_still_asked_for(context, seen.active, seen.active.spec.trigger.spec_hash or "")  # type: ignore[union-attr]
    seen.edit(bucket=buckets(16))
    assert not operation.is_still_asked_for(
        builders.context(seen.table),
        seen.active,
        seen.active.spec.trigger.spec_hash or "",  # type: ignore[union-attr]
    )


@pytest.mark.parametrize(
    ("sentence", "edit"),
    [
        ("back to the old number", {"bucket": buckets(2)}),
        ("back, and without the opt-in", {"bucket": buckets(2, None)}),
        ("without the opt-in", {"bucket": buckets(8, "Refuse")}),
        ("to a third number", {"bucket": buckets(5)}),
    ],
)
def test_a_rescale_that_has_started_is_completed_after_any_edit(sentence: str, edit: dict[str, Any]) -> None:
    seen = rescaling()
    seen.edit(**edit)
    seen.settle()
    assert types(seen) == ["Rescale", "Rescale"], sentence
    assert seen.says("Ready") == ("Unknown", Reason.RESCALING)
    count = edit["bucket"]["fixed"]["count"]
    seen.finish("Rescale", after=TWO | {"bucketCount": count}, rescale=progress(40, finished=True))
    seen.settle()
    assert types(seen)[-1] == "Provision", "also where an earlier run verified this manifest"
    assert "WritesPaused" not in [each.type for each in seen.table.status.conditions]


def test_the_progress_of_an_earlier_rescale_or_to_an_earlier_number_is_not_shown() -> None:
    seen = rescaling()
    seen.edit(bucket=buckets(5))
    seen.settle()
    assert "12 of 40" not in seen.condition("WritesPaused").message
    seen.finish("Rescale", after=TWO | {"bucketCount": 5}, rescale=progress(40, finished=True))
    seen.settle()
    seen.finish("Provision", after=TWO | {"bucketCount": 5})
    seen.settle()
    while seen.table.status.active_run:
        seen.finish(after=TWO | {"bucketCount": 5})
        seen.settle()

    seen.edit(bucket=buckets(8))
    seen.settle()
    assert types(seen)[-1] == "Rescale"
    for condition in ("WritesPaused", "Reconciling"):
        assert "0 of 40" in seen.condition(condition).message


def test_a_suspended_table_shows_what_is_left_and_continues_later() -> None:
    seen = rescaling()
    seen.edit(suspend=True)
    seen.settle()
    seen.wait(hours=1)
    seen.settle()
    assert types(seen) == ["Rescale"]
    assert seen.says("Suspended")[0] == "True"
    assert "28 are left" in seen.condition("WritesPaused").message

    seen.edit(suspend=None)
    seen.settle()
    assert types(seen)[-1] == "Rescale"


def test_dynamic_buckets_in_the_middle_are_refused_with_what_to_do() -> None:
    seen = rescaling()
    seen.edit(bucket={"type": "Dynamic"})
    seen.settle()
    assert types(seen) == ["Rescale"]
    assert seen.says("Stalled") == ("True", Reason.RESCALING)
    assert "spec.bucket" in seen.condition("Stalled").message
    assert "set type Fixed" in seen.condition("Stalled").message


def test_a_failed_verification_stops_everything_until_an_edit() -> None:
    seen = rescaling()
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.RESCALE_FAILED, "partition mon differs from tag t")
    seen.wait(days=1)
    seen.settle()
    assert types(seen) == ["Rescale", "Rescale"]
    assert seen.says("Stalled") == ("True", Reason.RESCALE_FAILED)
    assert "tag t" in seen.condition("Stalled").message
    assert seen.says("WritesPaused")[0] == "True"

    seen.edit(bucket=buckets(4))
    seen.settle()
    assert types(seen)[-1] == "Rescale"


def test_a_refusal_has_begun_nothing_and_maintenance_continues() -> None:
    seen = ready()
    seen.edit(bucket=buckets(8))
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.RESCALE_REFUSED, "the table has deletion vectors")
    seen.wait(minutes=6)
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.RESCALE_REFUSED)
    assert "WritesPaused" not in [each.type for each in seen.table.status.conditions]
    assert types(seen) == ["Rescale", "Compact"]

    seen.finish("Compact", after=TWO)
    seen.edit(bucket=buckets(2))
    seen.settle()
    assert seen.says("Ready")[0] == "True"
    assert types(seen)[-1] == "Write"


def test_an_outage_is_tried_again_by_itself() -> None:
    seen = rescaling()
    seen.settle()
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST, "the node is gone")
    seen.settle()
    assert types(seen) == ["Rescale", "Rescale"]
    assert (seen.says("Stalled")[0], seen.says("Reconciling")) == ("False", ("True", Reason.RESCALING))
    seen.wait(hours=1)
    seen.settle()
    assert types(seen)[-2:] == ["Rescale", "Rescale"]


def test_a_commit_of_another_writer_refuses_the_rescale_and_nothing_else() -> None:
    seen = ready()
    committed_by_flink(seen)
    seen.edit(bucket=buckets(8))
    seen.wait(minutes=6)
    seen.settle()
    assert types(seen) == ["Compact"]
    assert seen.says("Stalled") == ("True", Reason.OUTSIDE_COMMIT)
    message = seen.condition("Stalled").message
    assert "snapshot 7 was made by commit user flink" in message
    assert "externalWriters" in message


def test_a_commit_of_another_writer_in_the_middle_of_a_rescale_stops_everything() -> None:
    seen = rescaling()
    committed_by_flink(seen)
    seen.wait(minutes=6)
    seen.settle()
    assert types(seen) == ["Rescale"]
    assert seen.says("Stalled") == ("True", Reason.OUTSIDE_COMMIT)
    assert seen.says("WritesPaused")[0] == "True"


def test_a_table_that_says_itself_that_it_is_unfinished_is_completed() -> None:
    """A PaimonTable that was deleted in the middle and created again knows nothing of the rescale."""
    seen = TableWorld(table=builders.table(bucket=buckets(8, None)))
    seen.settle()
    seen.finish("Provision", created=False, after=EIGHT | {"rescaling": True})
    seen.settle()
    assert types(seen) == ["Provision", "Rescale"]
    assert seen.says("WritesPaused")[0] == "True"


@pytest.mark.parametrize(
    ("mode", "before", "after"),
    [
        ("Fixed", buckets(2), {"type": "Dynamic"}),
        ("Fixed", buckets(2), None),
        ("Fixed", buckets(2), {"type": "Postpone"}),
        ("Dynamic", None, buckets(8)),
        ("Unaware", None, buckets(8)),
        ("Postpone", {"type": "Postpone"}, buckets(8)),
    ],
)
def test_a_rescale_to_or_from_every_other_type_is_refused_with_the_reason(
    mode: str, before: dict[str, Any] | None, after: dict[str, Any] | None
) -> None:
    seen = ready(bucket=before)
    facts = seen.table.status.table
    assert facts is not None
    status = seen.table.status.model_copy(update={"table": facts.model_copy(update={"bucket_mode": mode})})
    seen.table = seen.table.model_copy(update={"status": status})

    seen.edit(bucket=after)
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS, "option bucket: table has one, manifest has another")
    seen.settle()

    assert types(seen) == ["Provision"]
    assert seen.says("Stalled") == ("True", Reason.TABLE_DIFFERS)
    message = seen.condition("Stalled").message
    assert message.startswith("spec.bucket.type")
    wanted = "Dynamic" if after is None else after["type"]
    assert f"the table has {mode} buckets, and Paimon cannot change them to {wanted}" in message

    seen.edit(bucket=before)
    seen.settle()
    assert seen.says("Ready")[0] == "True"
