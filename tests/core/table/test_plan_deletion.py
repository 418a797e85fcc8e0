"""The deletion of a PaimonTable: policy, readiness, active runs, overrides, terminating namespaces."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from paimon_contract.parameters.drop import DropParameters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.commits.table_claims import claim_of
from paimon_operator.core.decision import Delete, Refusal
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.table.deletion import SKIP_DROP
from paimon_operator.core.table.observed import TableObserved
from tests.support import builders
from tests.support.table_world import TableWorld, delay_of, run_named_by


def world(policy: str = "Delete", *, ready: bool = True, busy: bool = False) -> TableWorld:
    """A table that was Ready or never was, with or without an active run."""
    writes = [builders.write()] if busy and ready else None
    seen = TableWorld(table=builders.table(deletionPolicy=policy, writes=writes))
    if ready:
        return seen.ready()
    seen.settle()
    if not busy:
        seen.fail(FailureClass.SPEC, Reason.TABLE_EXISTS)
        seen.settle()
    return seen


def released(seen: TableWorld) -> bool:
    return seen.table.metadata.finalizers == ()


MATRIX = list(product(["Retain", "Delete"], [False, True], [False, True], [False, True], [False, True]))


@pytest.mark.parametrize(("policy", "ready", "busy", "skip", "terminating"), MATRIX)
def test_every_combination_of_policy_readiness_active_run_skip_and_terminating_namespace(
    *, policy: str, ready: bool, busy: bool, skip: bool, terminating: bool
) -> None:
    seen = world(policy, ready=ready, busy=busy)
    seen.observed = TableObserved(namespace_terminating=terminating)
    before = len(seen.created)
    seen.delete(**({SKIP_DROP: "true"} if skip else {}))
    seen.settle()
    if busy:
        assert not released(seen), "the Pod must end first"
        assert seen.active.metadata.deletion_timestamp is not None
        seen.remove(seen.active)
        seen.settle()
    drops = policy == "Delete" and ready and not skip and not terminating
    assert seen.started[before:] == ([("Drop", "")] if drops else [])
    assert released(seen) is not drops
    if drops:
        seen.finish("Drop", dropped=True)
        seen.settle()
        assert released(seen)
        assert "was dropped" in seen.decisions[-2].log[0] or "was dropped" in seen.decisions[-1].log[0]


def test_a_table_whose_first_provision_ends_as_it_is_deleted_is_dropped() -> None:
    """The pass that records the end of the Provision is that of the deletion: only then the table is known to exist."""
    seen = world("Delete", ready=False, busy=True)
    seen.finish("Provision")
    seen.delete()
    seen.settle()
    assert not released(seen)
    assert seen.started[-1] == ("Drop", "")


def test_a_table_that_existed_before_is_kept_and_an_event_says_so_before_the_object_goes() -> None:
    """S9: whoever described a table exactly could adopt it and have it dropped."""
    seen = world("Delete")
    seen.delete()
    seen.settle()
    seen.finish("Drop", dropped=False, kept=True)
    decision = seen.reconcile()
    assert not released(seen), "an Event of an object that is gone is not posted"
    (note,) = [event.note for event in decision.events if event.reason == Reason.TABLE_KEPT]
    assert note.startswith("the data of shop.orders stays. The table was kept despite deletionPolicy Delete")
    assert "set adoptionPolicy to Adopt before" in note
    decision = seen.reconcile()
    assert released(seen)
    assert "the data of shop.orders stays" in decision.log[0]


@pytest.mark.parametrize(("policy", "expected"), [("Fail", None), ("AdoptIfIdentical", None), ("Adopt", True)], ids=str)
def test_only_adopt_drops_a_table_that_existed_before(policy: str, expected: bool | None) -> None:
    seen = world("Delete")
    seen.edit(adoptionPolicy=policy)
    seen.delete()
    seen.settle()
    context = builders.context(seen.table)
    parameters = OPERATIONS.of("Drop").job(context, seen.active)
    assert parameters == DropParameters(also_adopted=expected)


def test_the_log_reports_that_the_data_stays() -> None:
    seen = world("Retain")
    seen.delete()
    assert "the data of shop.orders stays" in seen.decide().log[0]


def test_the_log_of_a_terminating_namespace_says_that_the_data_stays() -> None:
    seen = world("Delete")
    seen.observed = TableObserved(namespace_terminating=True)
    seen.delete()
    (line,) = seen.decide().log
    assert "namespace" in line
    assert "stays" in line


def test_retain_releases_without_touching_storage_even_when_the_catalog_is_gone() -> None:
    seen = world("Retain")
    seen.catalog = None
    seen.delete()
    seen.settle()
    assert released(seen)


def test_the_active_run_is_deleted_once_and_the_table_waits_for_its_end() -> None:
    seen = world("Retain", busy=True)
    seen.delete()
    first, second = seen.reconcile(), seen.reconcile()
    assert [type(action) for action in first.actions] == [Delete]
    assert second.actions == ()
    assert seen.says("Reconciling") == ("True", Reason.WAITING_FOR_POD)


def test_the_table_reports_the_unreachable_node_of_a_run_that_is_being_stopped() -> None:
    seen = world("Retain", busy=True)
    seen.delete()
    seen.settle()
    seen.block(Reason.NODE_SILENT, "the node of pod p is silent")
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.NODE_SILENT)
    assert seen.says("Ready") == ("False", Reason.DELETING)
    assert seen.condition("Ready").message == f"run {seen.active.metadata.name}: the node of pod p is silent"


def test_a_refused_deletion_of_the_active_run_is_reported_and_retried() -> None:
    seen = world("Retain", busy=True)
    seen.delete()
    seen.observed = TableObserved(refusal=Refusal(reason=Reason.NOT_PERMITTED, message="a webhook denied it"))
    decision = seen.decide()
    assert [type(action) for action in decision.actions] == [Delete]
    seen.reconcile()
    assert seen.says("Stalled") == ("True", Reason.NOT_PERMITTED)
    assert "cannot be deleted, and it is being tried again: a webhook denied it" in seen.condition("Stalled").message


def test_a_refusal_of_the_previous_run_is_not_reported_for_the_drop() -> None:
    seen = world("Delete", busy=True)
    seen.remove(seen.active)
    named = seen.table.status.active_run
    assert named is not None
    never_made = seen.table.status.model_copy(update={"active_run": named.model_copy(update={"uid": None})})
    seen.table = seen.table.model_copy(update={"status": never_made})
    seen.observed = TableObserved(refusal=Refusal(reason=Reason.NOT_PERMITTED, message="exceeded quota"))
    seen.delete()
    seen.reconcile()
    assert seen.says("Reconciling") == ("True", Reason.DROPPING)


def test_a_suspended_table_is_dropped() -> None:
    seen = world("Delete")
    seen.edit(suspend=True)
    seen.delete()
    seen.settle()
    assert seen.started[-1] == ("Drop", "")


def test_drop_is_retried_without_limit_and_reports_the_cause_and_the_overrides() -> None:
    seen = world("Delete")
    seen.delete()
    seen.settle()
    names = set()
    for _ in range(12):
        names.add(seen.active.metadata.name)
        seen.fail(FailureClass.ENVIRONMENT, Reason.STORAGE_UNREACHABLE, "no answer from s3")
        decision = seen.settle()
        assert seen.says("Stalled") == ("True", Reason.DROP_FAILING)
        assert seen.says("Ready") == ("False", Reason.DELETING)
        message = seen.condition("Stalled").message
        assert seen.condition("Ready").message == message
        assert "no answer from s3" in message
        assert "deletionPolicy" in message
        assert SKIP_DROP in message
        assert timedelta(minutes=1) <= delay_of(decision) <= timedelta(minutes=15)
        seen.now += delay_of(decision)
        seen.settle()
    assert len(names) == 12, "each attempt has its own name"
    seen.finish("Drop", dropped=True)
    seen.settle()
    assert released(seen)


@pytest.mark.parametrize("class_", list(FailureClass))
def test_every_failure_of_drop_is_retried(class_: FailureClass) -> None:
    seen = world("Delete")
    seen.delete()
    seen.settle()
    seen.fail(class_, Reason.DRIVER_FAILED)
    seen.now += delay_of(seen.settle())
    seen.settle()
    assert seen.started[-2:] == [("Drop", ""), ("Drop", "")]


@pytest.mark.parametrize("override", ["policy", "annotation"])
def test_an_override_of_a_failing_drop_releases_the_object(override: str) -> None:
    seen = world("Delete")
    seen.delete()
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.STORAGE_UNREACHABLE)
    seen.settle()
    if override == "policy":
        seen.edit(deletionPolicy="Retain")
    else:
        seen.delete(**{SKIP_DROP: "true"})
    seen.settle()
    assert released(seen)


def test_an_override_waits_for_the_pod_of_an_active_drop() -> None:
    seen = world("Delete")
    seen.delete()
    seen.settle()
    seen.edit(deletionPolicy="Retain")
    seen.settle()
    assert not released(seen)
    seen.remove(seen.active)
    seen.settle()
    assert released(seen)


def test_an_active_drop_in_a_terminating_namespace_delays_the_release_until_its_pod_has_ended() -> None:
    """The next holder of the table claim starts its run as soon as the object is removed."""
    seen = world("Delete")
    seen.delete()
    seen.settle()
    seen.observed = TableObserved(namespace_terminating=True)
    seen.settle()
    assert not released(seen)
    assert seen.active.metadata.deletion_timestamp is not None
    seen.remove(seen.active)
    seen.settle()
    assert released(seen)


def test_the_annotation_overrides_the_drop_only_with_the_value_true() -> None:
    seen = world("Delete")
    seen.delete(**{SKIP_DROP: "false"})
    seen.settle()
    assert seen.started[-1] == ("Drop", "")


def test_a_missing_catalog_blocks_the_drop_and_is_reported() -> None:
    seen = world("Delete")
    seen.catalog = None
    seen.delete()
    seen.settle()
    assert not released(seen)
    assert seen.says("Stalled") == ("True", Reason.DROP_FAILING)
    assert "'lake'" in seen.condition("Stalled").message
    seen.catalog = builders.catalog()
    seen.settle()
    assert seen.started[-1] == ("Drop", "")


def test_a_table_with_an_invalid_manifest_is_dropped() -> None:
    seen = world("Delete")
    seen.edit(timeZone="Mars/Base")
    seen.delete()
    seen.settle()
    assert seen.started[-1] == ("Drop", "")


def test_a_table_that_another_object_claims_is_not_dropped() -> None:
    seen = world("Delete")
    seen.observed = TableObserved(claimant=claim_of(builders.table("first", table="orders"), builders.catalog()))
    seen.delete()
    seen.settle()
    assert released(seen)
    assert ("Drop", "") not in seen.started


def test_an_unknown_result_does_not_block_the_deletion() -> None:
    seen = world("Retain", busy=True)
    seen.lose_result()
    seen.settle()
    seen.delete()
    seen.settle()
    assert released(seen)


def test_a_blocked_drop_reports_what_is_missing() -> None:
    seen = world("Delete")
    seen.delete()
    seen.settle()
    seen.block(Reason.SECRET_NOT_FOUND, "secret lake-s3 not found")
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.SECRET_NOT_FOUND)


def test_a_drop_that_was_named_and_never_created_is_created() -> None:
    seen = world("Delete")
    seen.delete()
    decision = seen.decide()
    seen.carry_out(type(decision)(status=decision.status))
    seen.settle()
    assert [run.metadata.name for run in seen.created[-1:]] == [run_named_by(decision).name]


def test_a_foreign_run_with_the_name_of_the_drop_blocks_it_and_is_reported() -> None:
    seen = world("Delete")
    seen.delete()
    decision = seen.decide()
    seen.carry_out(type(decision)(status=decision.status))
    seen.runs.append(builders.run(run_named_by(decision).name, table=seen.table))
    assert seen.settle().actions == ()
    assert not released(seen)
    assert seen.says("Stalled") == ("True", Reason.NAME_TAKEN)


def test_a_deleted_object_without_our_finalizer_is_not_changed() -> None:
    seen = TableWorld(
        table=builders.table(metadata={"finalizers": ["someone/else"], "deletionTimestamp": builders.NOW})
    )
    decision = seen.decide()
    assert (decision.status, decision.finalizer, decision.actions) == (None, "keep", ())


def test_a_drop_waits_for_the_run_of_another_object_on_the_same_table() -> None:
    """Another object has begun to take the table over. Nothing is dropped under its run."""
    seen = world()
    other = claim_of(builders.table("other", "rival"), builders.catalog())
    assert other is not None
    seen.observed = TableObserved(claimant=replace(other, busy=True))
    seen.delete()
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.TABLE_CLAIMED)
    assert "rival" not in seen.condition("Stalled").message
    assert not released(seen)
    seen.observed = TableObserved()
    seen.settle()
    assert seen.active.spec.type == "Drop"


def test_a_retry_of_a_drop_that_a_wrong_clock_set_is_tried_now() -> None:
    seen = world()
    seen.delete()
    before = seen.now
    seen.now += timedelta(days=365)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.ACCESS_DENIED)
    seen.settle()
    seen.now = before
    seen.settle()
    assert seen.active.spec.type == "Drop"


def test_a_table_without_its_catalog_is_not_held_because_nothing_is_started_for_it() -> None:
    seen = TableWorld(table=builders.table(metadata={"finalizers": []}))
    seen.catalog = None
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.CATALOG_NOT_FOUND)
    assert seen.table.metadata.finalizers == (), "its deletion, or that of its namespace, needs no operator"
    seen.catalog = builders.catalog()
    assert seen.decide().finalizer == "add"


def test_a_users_run_starts_only_after_the_finalizer_also_if_the_table_was_ready_before() -> None:
    seen = world()
    seen.table = seen.table.model_copy(update={"metadata": seen.table.metadata.model_copy(update={"finalizers": ()})})
    seen.runs.append(builders.run("by-hand", table=seen.table))
    first = seen.reconcile()
    assert (first.finalizer, first.status) == ("add", None), "the answer to it would free the place of the run"
    second = seen.reconcile()
    assert second.status is not None
    assert second.status.active_run is not None
    assert second.status.active_run.name == "by-hand"
