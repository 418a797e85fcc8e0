"""An edit that loses data waits for its approval where the catalog says so."""

from __future__ import annotations

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.core.operations import edits
from paimon_operator.core.operations.edits import APPROVE
from tests.core.table.edited_table import (
    COLUMNS,
    ILLEGAL,
    WIDER,
    Json,
    annotate,
    approval,
    planned,
    ready,
    record,
    schema,
    seen_by_run,
    wait_for_approval,
)
from tests.support import builders
from tests.support.table_world import TableWorld


def test_an_edit_that_loses_data_waits_for_its_approval_where_the_catalog_says_so() -> None:
    seen = ready(policy="Approve")
    seen.edit(schema=schema([*WIDER[:2], WIDER[3]], "colour"))
    seen.settle()
    plan = seen.table.status.plan
    assert plan is not None
    assert seen.started == []
    assert seen.says("Stalled") == ("True", Reason.AWAITING_APPROVAL)
    asked = f"waits for approval: drop column colour. To apply it, annotate the PaimonTable with {APPROVE}={plan.hash}"
    assert asked in seen.condition("Ready").message
    annotate(seen, **{APPROVE: "0123456789abcdef"})
    seen.settle()
    assert seen.started == [], "another plan was approved"
    annotate(seen, **{APPROVE: plan.hash})
    seen.settle()
    assert seen.started == [("Provision", "")]


@pytest.mark.parametrize(("policy", "columns"), [("Automatic", COLUMNS[:2]), ("Approve", ILLEGAL[:2])])
def test_a_run_starts_where_nothing_is_to_be_approved_or_the_table_decides(policy: str, columns: list[Json]) -> None:
    seen = ready(policy=policy)
    seen.edit(schema=schema(columns, "colour"))
    seen.settle()
    assert seen.started == [("Provision", "")]


def test_a_plan_that_has_changed_needs_a_new_approval() -> None:
    seen = ready(policy="Approve")
    seen.edit(schema=schema(COLUMNS[:2], "colour"))
    seen.settle()
    first = seen.table.status.plan
    assert first is not None
    annotate(seen, **{APPROVE: first.hash})
    seen.edit(schema=schema(COLUMNS[:1], "colour", "amount"))
    seen.settle()
    second = seen.table.status.plan
    assert second is not None
    assert second.hash != first.hash
    assert seen.started == []


def test_an_edit_of_metadata_alone_needs_no_approval() -> None:
    seen = ready(policy="Approve")
    seen.edit(schema=schema(WIDER))
    seen.settle()
    assert seen.started == [("Provision", "")]


def with_found_plan() -> TableWorld:
    """A table with an edit whose plan a run has found, which waits for approval."""
    seen = ready(policy="Approve")
    seen.edit(schema=schema(WIDER, "theirs"))
    seen.settle()
    wait_for_approval(seen)
    seen.settle()
    return seen


def test_the_plan_that_a_run_finds_in_the_table_replaces_the_recorded_one() -> None:
    seen = with_found_plan()
    assert planned(seen) == [("DropColumn", "LosesData", "f")]
    assert seen.says("Stalled") == ("True", Reason.AWAITING_APPROVAL)
    seen.created.clear()
    seen.settle()
    assert seen.started == [], "it waits"
    annotate(seen, **{APPROVE: "00112233445566aa"})
    seen.settle()
    assert seen.started == [("Provision", "")]


def test_a_plan_that_a_run_has_found_is_applied_once_the_catalog_asks_for_no_approval() -> None:
    seen = with_found_plan()
    seen.created.clear()
    seen.catalog = builders.catalog()
    seen.settle()
    assert seen.started == [("Provision", "")]


def test_the_approval_of_a_plan_does_not_count_for_the_same_plan_of_a_later_schema() -> None:
    """The annotation stays in the manifest, and the column was added again since."""
    seen = ready(policy="Approve")
    seen.edit(schema=schema(COLUMNS[:2], "colour"))
    annotate(seen, **{APPROVE: approval(seen)})
    before = record(seen)
    for number, (columns, dropped) in enumerate([(COLUMNS[:2], ("colour",)), (COLUMNS, ())], start=1):
        seen.edit(schema=schema(columns, *dropped))
        seen.settle()
        measured = {"schemaId": number, "snapshotId": 1, "files": 3}
        seen.finish("Provision", after=measured, **seen_by_run(seen, before))
        seen.run_due()
        before = record(seen)
    seen.created.clear()
    seen.edit(schema=schema(COLUMNS[:2], "colour"))
    seen.settle()
    assert seen.started == []
    assert seen.says("Stalled") == ("True", Reason.AWAITING_APPROVAL)


def test_a_table_whose_plan_waits_for_approval_was_read_at_its_place() -> None:
    seen = TableWorld(table=builders.table(schema=schema(COLUMNS)), catalog=builders.catalog(evolutionPolicy="Approve"))
    seen.settle()
    wait_for_approval(seen)
    seen.settle()
    state = seen.table.status.provision
    assert state is not None
    assert state.found_at is not None


def test_an_annotation_that_is_no_hash_does_not_reach_the_job() -> None:
    seen = ready(policy="Approve")
    annotate(seen, **{APPROVE: "x" * 200_000})
    assert edits.approved(builders.context(seen.table, seen.catalog)) is None


def test_an_invalid_manifest_has_no_plan_and_a_run_makes_the_one_that_waited_again() -> None:
    seen = with_found_plan()
    assert planned(seen)
    valid = seen.table.spec.table_schema.to_json()
    seen.edit(schema=valid | {"primaryKeys": ["nothing"]})
    seen.settle()
    assert seen.says("Stalled")[0] == "True"
    assert planned(seen) == []
    seen.created.clear()
    seen.edit(schema=valid)
    seen.settle()
    assert seen.started == [("Provision", "")]
    wait_for_approval(seen)
    seen.settle()
    assert planned(seen) == [("DropColumn", "LosesData", "f")]
