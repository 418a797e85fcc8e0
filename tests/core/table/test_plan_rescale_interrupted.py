"""What happens to a rescale that is unfinished: other edits, a stop, failures and another engine in the middle."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations import registry
from tests.core.table.rescaling import EIGHT, TWO, buckets, committed_by_flink, progress, ready, rescaling, types
from tests.support import builders
from tests.support.table_world import TableWorld


def job_of(seen: TableWorld) -> Any:
    """The parameters of the active run's job."""
    return registry.OPERATIONS.of(seen.active.spec.type).job(builders.context(seen.table), seen.active)


def has_writes_paused(seen: TableWorld) -> bool:
    return "WritesPaused" in [each.type for each in seen.table.status.conditions]


def test_before_the_first_run_ends_all_partitions_are_left() -> None:
    seen = ready()
    seen.edit(bucket=buckets(8))
    seen.settle()
    for condition in ("WritesPaused", "Reconciling"):
        assert "0 of 40 partitions have the new number of buckets, 40 are left" in seen.condition(condition).message


def test_writers_that_are_declared_in_the_middle_stop_the_rescale_and_the_message_states_how_it_goes_on() -> None:
    seen = rescaling()
    seen.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    seen.edit(bucket=buckets(8, None), externalWriters="Active")
    seen.settle()
    assert types(seen) == ["Rescale"]
    assert seen.says("Stalled") == ("True", Reason.RESCALING)
    message = seen.condition("Stalled").message
    assert "spec.externalWriters is Active" in message
    assert "12 of 40" in message
    assert "set externalWriters to Paused" in message
    assert has_writes_paused(seen)

    seen.edit(externalWriters="Paused")
    seen.settle()
    assert types(seen) == ["Rescale", "Rescale"]


def test_a_run_that_has_not_begun_is_not_asked_for_any_more_once_other_writers_are_declared() -> None:
    seen = rescaling()
    seen.settle()
    operation, decided = registry.OPERATIONS.of("Rescale"), seen.active.spec.trigger
    assert decided is not None
    seen.edit(bucket=buckets(8, None), externalWriters="Active")
    assert not operation.is_still_asked_for(builders.context(seen.table), seen.active, decided.spec_hash or "")


@pytest.mark.parametrize("whose", ["spec.suspend", "spec.suspend of the catalog"])
def test_a_stop_states_what_is_left_and_how_it_goes_on(whose: str) -> None:
    seen = rescaling()
    if whose == "spec.suspend":
        seen.edit(suspend=True)
    else:
        seen.catalog = builders.catalog(suspend=True)
    seen.settle()
    message = seen.condition("WritesPaused").message
    assert "28 are left" in message
    assert f"{whose} is true: set it to false to continue" in message


def test_a_failure_that_is_tried_again_is_stated_with_its_time() -> None:
    seen = rescaling()
    seen.settle()
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST, "the node is gone")
    seen.settle()
    message = seen.condition("WritesPaused").message
    assert "28 are left" in message
    assert "the node is gone (tried again at 20" in message


def test_a_failure_that_only_an_edit_ends_is_stated() -> None:
    seen = rescaling()
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.RESCALE_FAILED, "partition mon differs from tag t")
    seen.settle()
    assert "differs from tag t (waits for an edit)" in seen.condition("WritesPaused").message


def test_the_job_is_bounded_by_partitions_and_by_bytes() -> None:
    seen = ready()
    seen.edit(bucket=buckets(8))
    seen.settle()
    parameters = job_of(seen)
    assert (parameters.count, parameters.most_partitions, parameters.most_bytes) == (8, 20, 100 * 1024**3)


@pytest.mark.parametrize(
    ("sentence", "policy", "before", "expected"),
    [
        ("with the opt-in the number is left to the rescale", "Rescale", TWO, True),
        ("without it the number is part of what is verified", None, TWO, None),
    ],
)
def test_the_job_that_verifies_the_table_states_whether_a_rescale_may_follow(
    sentence: str, policy: str | None, before: dict[str, Any], expected: bool | None
) -> None:
    seen = TableWorld(table=builders.table(bucket=buckets(8, policy)))
    seen.settle()
    assert job_of(seen).rescales is expected, sentence
    seen.finish("Provision", created=False, after=before)
    seen.settle()
    assert types(seen)[1:] == (["Rescale"] if expected else []), sentence


def test_another_engine_and_another_number_in_the_middle_end_in_the_declared_state() -> None:
    seen = rescaling()
    seen.catalog = builders.catalog(engine="paimon-0.9", allowDowngrade=True)
    seen.edit(bucket=buckets(3))
    seen.settle()
    assert types(seen)[-1] == "Provision", "the new engine verifies the table before anything else"
    assert job_of(seen).rescales is True
    seen.finish("Provision", created=False, after=EIGHT | {"rescaling": True})
    seen.settle()
    assert types(seen)[-1] == "Rescale"
    assert has_writes_paused(seen)
    assert seen.says("Ready") == ("Unknown", Reason.RESCALING)

    seen.finish("Rescale", after=TWO | {"bucketCount": 3}, rescale=progress(40, finished=True))
    seen.settle()
    seen.finish("Provision", after=TWO | {"bucketCount": 3})
    seen.settle()
    assert seen.says("Ready")[0] == "True"
    assert not has_writes_paused(seen)


def test_a_table_that_is_verified_with_another_number_is_not_ready_when_the_rescale_may_not_start() -> None:
    """Provision leaves the number to the rescale, so the hash alone does not say that the table is as declared."""
    seen = TableWorld(table=builders.table(bucket=buckets(8), writes=[builders.write()]))
    seen.settle()
    seen.finish("Provision", created=False, after=TWO)
    committed_by_flink(seen)
    seen.settle()
    assert types(seen) == ["Provision"], "writes follow the manifest"
    assert seen.says("Ready") == ("False", Reason.OUTSIDE_COMMIT)
    assert seen.says("Stalled") == ("True", Reason.OUTSIDE_COMMIT)


def test_after_an_edit_in_the_middle_it_is_unknown_how_many_partitions_have_the_new_number_already() -> None:
    seen = rescaling(12)
    seen.edit(bucket=buckets(5))
    seen.settle()
    assert seen.active.spec.type == "Rescale"
    assert "of 40 partitions" not in seen.condition("WritesPaused").message
