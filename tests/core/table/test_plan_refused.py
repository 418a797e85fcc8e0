"""The API server refuses to create the run that was decided: the table reports it and retries."""

from __future__ import annotations

from dataclasses import replace

from paimon_operator.api.conditions import Condition
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.commits.table_claims import claim_of
from paimon_operator.core.decision import Create, Delete, Refusal
from paimon_operator.core.table.observed import TableObserved
from tests.support import builders
from tests.support.table_world import TableWorld

QUOTA = Refusal(reason=Reason.NOT_PERMITTED, message="exceeded quota: count/paimonruns")
TAKEN = Refusal(reason=Reason.NAME_TAKEN, message="PaimonRun shop/x exists and is not controlled by this object.")


def refused(seen: TableWorld, refusal: Refusal) -> dict[str, Condition]:
    """The conditions after the creation of the next run was refused."""
    seen.reconcile()
    seen.remove(seen.active)
    seen.observed = TableObserved(refusal=refusal)
    decision = seen.decide()
    assert decision.status is not None
    assert [type(action) for action in decision.actions] == [Create], "it is retried"
    return {condition.type.value: condition for condition in decision.status.conditions}


def says(conditions: dict[str, Condition], type_: str) -> tuple[str, str]:
    return conditions[type_].status.value, conditions[type_].reason


def ready() -> TableWorld:
    """A verified table with a compaction due."""
    seen = TableWorld(table=builders.table(compaction={"mode": "Dedicated"})).ready()
    seen.run_due()
    seen.wait(days=1)
    return seen


def test_a_refusal_stalls_a_table_that_was_never_ready() -> None:
    seen = TableWorld()
    conditions = refused(seen, QUOTA)
    assert says(conditions, "Ready") == ("False", Reason.NOT_PERMITTED)
    assert says(conditions, "Stalled") == ("True", Reason.NOT_PERMITTED)
    active = seen.table.status.active_run
    assert active is not None
    words = f"run {active.name} cannot be made, and is being tried again: exceeded quota: count/paimonruns"
    assert conditions["Stalled"].message == words


def test_a_refusal_replaces_the_reported_failure() -> None:
    seen = TableWorld()
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.BUCKET_NOT_FOUND)
    seen.settle()
    seen.wait(hours=1)
    assert says(refused(seen, QUOTA), "Stalled") == ("True", Reason.NOT_PERMITTED)


def test_a_ready_table_stays_ready_and_becomes_unhealthy() -> None:
    conditions = refused(ready(), QUOTA)
    assert says(conditions, "Ready")[0] == "True"
    assert says(conditions, "Healthy") == ("False", Reason.NOT_PERMITTED)
    assert says(conditions, "Stalled")[0] == "False"


def test_a_taken_name_stalls_a_ready_table() -> None:
    conditions = refused(ready(), TAKEN)
    assert says(conditions, "Ready")[0] == "True"
    assert says(conditions, "Stalled") == ("True", Reason.NAME_TAKEN)
    assert "PaimonRun shop/x exists" in conditions["Stalled"].message


def test_a_refusal_is_no_longer_reported_once_the_run_exists() -> None:
    seen = ready()
    refused(seen, QUOTA)
    seen.reconcile()  # the run exists now, and no event has reported it
    seen.reconcile()
    assert seen.says("Healthy")[0] == "True"


def test_a_refused_drop_reports_the_cause_and_the_override() -> None:
    seen = TableWorld(table=builders.table(deletionPolicy="Delete")).ready()
    seen.delete()
    conditions = refused(seen, QUOTA)
    assert says(conditions, "Stalled") == ("True", Reason.NOT_PERMITTED)
    assert "exceeded quota" in conditions["Ready"].message
    assert "skip-drop" in conditions["Ready"].message


def test_a_run_that_could_be_created_at_last_is_deleted_if_another_object_has_its_table_by_then() -> None:
    seen = TableWorld()
    seen.reconcile()
    created = seen.active
    seen.remove(created)
    seen.observed = TableObserved(refusal=QUOTA)
    seen.carry_out(replace(seen.decide(), actions=()))
    seen.runs.append(created)
    other = builders.table("other", database="shop", table="orders")
    seen.observed = TableObserved(claimant=claim_of(other, builders.catalog()))
    decision = seen.decide()
    assert [type(action) for action in decision.actions] == [Delete]
    assert decision.status is None, "its UID is not stored, so it gets no Pod"
    seen.carry_out(decision)
    seen.remove(seen.runs[0])
    seen.settle()
    assert seen.table.status.active_run is None
    assert seen.says("Stalled") == ("True", Reason.TABLE_CLAIMED)
