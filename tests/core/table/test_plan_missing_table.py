"""A table that has existed and is missing: it is reported, and recreated only when its user asks."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.status import CompactionState, PartitionsDoneState, StrategyState
from paimon_operator.core.operations.schema.provision import job
from paimon_operator.core.operations.verification import require_verification
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.ownership import RECREATE, proven_since
from tests.support import builders
from tests.support.table_world import TableWorld


def world(**spec: Any) -> TableWorld:
    """A verified table with a write that has loaded its files."""
    once = builders.write(schedule=None)
    seen = TableWorld(table=builders.table(**{"writes": [once]} | spec)).ready()
    seen.finish("Write", write={"rows": 12, "files": 1})
    seen.settle()
    return seen


def parameters(seen: TableWorld) -> Any:
    """The parameters of the active Provision run."""
    assert seen.catalog is not None
    return job(TableContext.build(seen.table, seen.catalog, seen.operator, seen.now), seen.active)


def vanish(seen: TableWorld) -> None:
    """A run finds no table, and the verification that follows finds none either."""
    seen.edit(options={"read.batch-size": "2048"})
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.TABLE_MISSING, "the table shop.orders is missing")
    seen.settle()


def annotate(seen: TableWorld, value: str) -> None:
    metadata = seen.table.metadata.model_copy(update={"annotations": {RECREATE: value}})
    seen.table = seen.table.model_copy(update={"metadata": metadata})
    seen.settle()


def remove_annotation(seen: TableWorld) -> None:
    seen.table = seen.table.model_copy(update={"metadata": seen.table.metadata.model_copy(update={"annotations": {}})})
    seen.settle()


def test_only_the_first_run_of_a_new_table_may_create_it() -> None:
    seen = TableWorld()
    seen.settle()
    assert parameters(seen).last_observed is None
    seen.finish("Provision", created=True)
    seen.settle()
    seen.edit(options={"read.batch-size": "2048"})
    seen.settle()
    assert parameters(seen).last_observed is not None
    assert parameters(seen).recreates is None


def test_a_missing_table_is_stalled_and_nothing_runs_but_its_verification() -> None:
    seen = world()
    vanish(seen)
    assert seen.says("Stalled") == ("True", Reason.TABLE_MISSING)
    assert seen.says("Ready") == ("False", Reason.TABLE_MISSING)
    seen.wait(minutes=16)
    seen.settle()
    assert parameters(seen).last_observed is not None, "the second try creates nothing either"
    seen.finish("Provision", created=False)
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert [type_ for type_, _ in seen.started].count("Write") == 1, "the data is back, so nothing is loaded again"


def test_a_table_that_a_run_did_not_find_is_verified_without_being_created() -> None:
    seen = world(writes=[builders.write()])
    seen.wait(hours=25)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.TABLE_NOT_FOUND, "the table shop.orders does not exist any more")
    seen.settle()
    assert seen.active.spec.type == "Provision"
    assert parameters(seen).last_observed is not None


def test_the_annotation_recreates_the_table_at_once_and_its_writes_load_again() -> None:
    seen = world()
    vanish(seen)
    annotate(seen, str(seen.table.metadata.generation))
    assert parameters(seen).recreates is True
    seen.finish("Provision", created=True)
    seen.settle()
    assert [type_ for type_, _ in seen.started][-1] == "Write"
    seen.finish("Write", write={"rows": 12, "files": 1})
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)


def test_a_recreated_table_begins_its_snapshots_again_so_no_number_of_the_old_ones_counts() -> None:
    seen = world()
    vanish(seen)
    compacted = CompactionState(minor=StrategyState(compacted_snapshot=7))
    known = {"compaction": compacted, "partitions_done": PartitionsDoneState(unmarked=0, snapshot=7)}
    seen.table = seen.table.model_copy(update={"status": seen.table.status.model_copy(update=known)})
    annotate(seen, str(seen.table.metadata.generation))
    seen.finish("Provision", created=True)
    seen.reconcile()
    status = seen.table.status
    assert status.compaction is not None
    assert status.compaction.minor is not None
    assert status.compaction.minor.compacted_snapshot is None
    assert status.partitions_done is not None
    assert status.partitions_done.snapshot is None


def test_a_recreation_that_finds_the_data_put_back_loads_nothing_again() -> None:
    seen = world()
    vanish(seen)
    annotate(seen, str(seen.table.metadata.generation))
    seen.finish("Provision", created=False)
    seen.settle()
    assert [type_ for type_, _ in seen.started].count("Write") == 1


def test_the_annotation_counts_once() -> None:
    seen = world()
    vanish(seen)
    annotate(seen, str(seen.table.metadata.generation))
    seen.finish("Provision", created=True)
    seen.settle()
    seen.finish("Write", write={"rows": 12, "files": 1})
    seen.settle()
    seen.wait(hours=25)
    owned = seen.table.status.ownership
    assert owned is not None
    assert owned.recreated == seen.table.metadata.generation


@pytest.mark.parametrize("value", ["true", "0", "99"])
def test_another_value_than_the_generation_creates_nothing(value: str) -> None:
    seen = world()
    vanish(seen)
    before = len(seen.created)
    annotate(seen, value)
    assert len(seen.created) == before


def test_an_annotation_of_a_time_when_nothing_was_missing_does_not_count_later() -> None:
    seen = world()
    annotate(seen, str(seen.table.metadata.generation))
    owned = seen.table.status.ownership
    assert owned is not None
    assert owned.recreated == seen.table.metadata.generation
    assert [type_ for type_, _ in seen.started].count("Provision") == 1


def test_a_failed_recreation_is_repeated_at_its_time_and_not_in_a_loop() -> None:
    seen = world()
    vanish(seen)
    annotate(seen, str(seen.table.metadata.generation))
    seen.fail(FailureClass.ENVIRONMENT, Reason.STORAGE_UNREACHABLE, "nothing answers")
    seen.settle()
    assert seen.table.status.active_run is None
    seen.wait(minutes=16)
    seen.settle()
    assert parameters(seen).recreates is True, "the annotation is not answered yet"


def lose_first_recreation(seen: TableWorld) -> str:
    """The run that recreated the table could not report it. Returns its mark in the table."""
    annotate(seen, str(seen.table.metadata.generation))
    mark: str = parameters(seen).recreation
    assert mark
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST, "its node is gone")
    seen.settle()
    return mark


@pytest.mark.parametrize("removed", [False, True])
def test_what_a_recreation_has_created_without_a_result_is_loaded_again(removed: bool) -> None:
    seen = world()
    vanish(seen)
    mark = lose_first_recreation(seen)
    if removed:
        remove_annotation(seen)
    seen.wait(minutes=16)
    seen.settle()
    assert parameters(seen).recreation == mark, "a table with this mark was created by the lost run"
    assert parameters(seen).recreates is (None if removed else True)
    seen.finish("Provision", created=True)
    seen.settle()
    assert [type_ for type_, _ in seen.started][-1] == "Write"
    owned = seen.table.status.ownership
    assert owned is not None
    assert owned.recreating is None


def test_a_withdrawn_recreation_that_created_nothing_is_forgotten() -> None:
    seen = world()
    vanish(seen)
    lose_first_recreation(seen)
    annotate(seen, "withdrawn")
    seen.wait(minutes=16)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.TABLE_MISSING, "the table shop.orders is missing")
    seen.wait(minutes=31)
    seen.settle()
    assert parameters(seen).recreation is None
    seen.finish("Provision", created=False)
    seen.settle()
    assert [type_ for type_, _ in seen.started].count("Write") == 1, "its data was put back"


def test_an_annotation_that_is_removed_and_set_again_counts_again() -> None:
    """It was set before a run had noticed that the table is missing, or the table is missing for a second time."""
    seen = world()
    annotate(seen, "1")
    vanish_without_edit(seen)
    assert seen.says("Stalled") == ("True", Reason.TABLE_MISSING)
    assert seen.table.status.active_run is None, "its first answer still counts"
    remove_annotation(seen)
    annotate(seen, "1")
    assert parameters(seen).recreates is True


def vanish_without_edit(seen: TableWorld) -> None:
    """A run finds no table, and the verification that follows finds none either, at the same generation."""
    seen.table = seen.table.model_copy(update={"status": require_verification(seen.table.status)})
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.TABLE_MISSING, "the table shop.orders is missing")
    seen.settle()


def test_an_edit_to_adopt_is_tried_at_once() -> None:
    seen = world()
    seen.edit(options={"read.batch-size": "2048"})
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.CONFLICT, "the table is owned by a PaimonTable of another cluster")
    seen.settle()
    before = len(seen.created)
    seen.edit(adoptionPolicy="Adopt")
    seen.settle()
    assert len(seen.created) == before + 1


@pytest.mark.parametrize(
    ("reason", "recorded"),
    [
        (Reason.TABLE_DIFFERS, True),
        (Reason.TABLE_EXISTS, True),
        (Reason.CONFLICT, False),
        (Reason.ACCESS_DENIED, False),
    ],
)
def test_a_run_that_has_read_a_table_without_owning_it_records_where(reason: Reason, recorded: bool) -> None:
    seen = TableWorld()
    seen.settle()
    assert seen.table.status.active_run is not None
    place = seen.table.status.active_run.place
    assert place
    seen.fail(FailureClass.SPEC, reason)
    seen.settle()
    assert seen.table.status.provision is not None
    assert seen.table.status.provision.found_at == (place if recorded else None)


def test_another_owners_mark_ends_the_proof_and_a_takeover_begins_a_new_one() -> None:
    """Another cluster took the table over: the stale proof keeps nobody of this cluster from adopting it."""
    seen = world()
    first = seen.table.status.ownership
    assert first is not None
    seen.edit(options={"read.batch-size": "2048"})
    seen.settle()
    seen.wait(minutes=1)
    seen.fail(FailureClass.SPEC, Reason.CONFLICT, "the table is owned by a PaimonTable of another cluster")
    seen.settle()
    assert proven_since(seen.table.status, first.place) is None
    seen.edit(options={"read.batch-size": "4096"})
    seen.settle()
    assert proven_since(seen.table.status, first.place) is None, "an edit brings no proof back"
    assert parameters(seen).last_observed is not None, "it is known that the table has existed"
    seen.wait(minutes=1)
    seen.finish("Provision", created=False)
    seen.settle()
    assert proven_since(seen.table.status, first.place) == seen.now
