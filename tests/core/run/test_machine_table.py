"""The state machine of a run: a run creates no Pod unless its table names it and the table is its own."""

from __future__ import annotations

import pytest

from paimon_operator.api.conditions import Condition, ConditionStatus, ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, Phase
from paimon_operator.api.table.status import ActiveRun, TableStatus
from paimon_operator.core.commits.table_claims import claim_of
from paimon_operator.core.decision import Decision
from tests.support import builders, pods
from tests.support.run_story import (
    MINUTES,
    NO_POD,
    RUN_NAME,
    SECOND_POD,
    Story,
    created,
    running_story,
)


@pytest.mark.parametrize(
    ("other", "uid"),
    [(None, None), ("orders-write-00000000", None), (RUN_NAME, "uid-of-an-earlier-run-of-this-name")],
    ids=["the table runs nothing", "the table runs something else", "another run of this name"],
)
def test_a_run_that_its_table_does_not_name_creates_nothing(other: str | None, uid: str | None) -> None:
    story = Story(named=False)
    story.set_active_run(other, uid)
    decision = story.reconcile()
    assert (decision.actions, story.run.status.attempts, story.run.status.phase) == ((), (), Phase.PENDING)
    assert story.condition(ConditionType.RECONCILING) == "True WaitingForTable"


@pytest.mark.parametrize("uid", [f"uid-of-{RUN_NAME}", None])
def test_a_run_of_another_type_than_the_table_started_creates_nothing(uid: str | None) -> None:
    story = Story(type="Drop", compact=None)
    story.set_active_run(RUN_NAME, uid, type_="Compact")
    assert story.reconcile().actions == ()
    assert (story.run.status.phase, story.run.status.attempts) == (Phase.PENDING, ())


@pytest.mark.parametrize("type_", ["Provision", "Write", "Drop"])
def test_a_users_run_of_a_type_that_only_the_operator_starts_fails_with_the_reason(type_: str) -> None:
    """An older CRD accepted such a run; a rule of today's CRD rejects it."""
    write = {"name": "import"} if type_ == "Write" else None
    story = Story(named=False, type=type_, compact=None, write=write, trigger=None)
    story.carry_out(Decision(status=None, finalizer="add"))
    assert story.reconcile().actions == ()
    assert (story.run.status.phase, story.run.status.failure_class) == (Phase.FAILED, FailureClass.SPEC)
    assert story.condition(ConditionType.SUCCEEDED) == "False InvalidSpec"
    assert f"only the operator starts runs of type {type_}; delete this run" in story.message()


def test_a_run_waits_until_its_table_has_stored_its_uid() -> None:
    """So a run whose UID is not in the status of its table has no Pod."""
    story = Story(named=False)
    story.set_active_run(RUN_NAME, uid=None)
    decision = story.reconcile()
    assert (decision.actions, decision.events, decision.status) == ((), (), story.run.status)
    assert decision.requeue_after is not None
    story.set_active_run(RUN_NAME, story.run.metadata.uid)
    assert created(story.reconcile()) != []


def found(type_: ConditionType, status: ConditionStatus, reason: Reason, message: str) -> tuple[Condition, ...]:
    return (Condition.of(type_, status, reason, message, now=builders.NOW, generation=1),)


OTHER = ActiveRun(name="orders-write-1", uid="u", type="Write", trigger="Schedule")
UNSAFE = found(ConditionType.STALLED, ConditionStatus.TRUE, Reason.COMMIT_UNSAFE, "commits can get lost")
SUSPENDED = found(ConditionType.SUSPENDED, ConditionStatus.TRUE, Reason.SUSPENDED, "spec.suspend is true")
PROVISIONING = found(ConditionType.READY, ConditionStatus.UNKNOWN, Reason.PROVISIONING, "the table is being created")


@pytest.mark.parametrize(
    ("status", "deleted", "words"),
    [
        (
            TableStatus(active_run=OTHER),
            False,
            "the run waits until run orders-write-1 of PaimonTable orders has ended",
        ),
        (TableStatus(conditions=UNSAFE), False, "orders is Stalled (CommitUnsafe): commits can get lost"),
        (TableStatus(conditions=SUSPENDED), False, "orders is Suspended (Suspended): spec.suspend is true"),
        (TableStatus(conditions=PROVISIONING), False, "names it; its condition Ready: the table is being created"),
        (TableStatus(), True, "PaimonTable orders is being deleted"),
    ],
)
def test_a_users_run_reports_what_it_waits_for(status: TableStatus, words: str, *, deleted: bool) -> None:
    story = Story(named=False, trigger=None)
    story.carry_out(Decision(status=None, finalizer="add"))
    story.table = builders.table(status=status, metadata={"deletionTimestamp": builders.NOW} if deleted else None)
    story.reconcile()
    assert story.condition(ConditionType.RECONCILING) == "True WaitingForTable"
    assert words in story.message()


def test_a_run_without_a_table_reports_it() -> None:
    story = Story()
    story.table = None
    assert story.reconcile().actions == ()
    assert story.condition(ConditionType.STALLED) == "True TableNotFound"


def test_a_run_creates_no_pod_while_another_object_has_a_run_on_the_same_physical_table() -> None:
    story = Story()
    story.claimant = claim_of(builders.table("orders", "yard"), builders.catalog())
    assert story.reconcile().actions == ()
    assert story.condition(ConditionType.STALLED) == "True TableClaimed"
    assert "a PaimonTable of another namespace has a run on the same table" in story.message()
    story.claimant = None
    assert created(story.reconcile()) != []


def test_a_run_that_its_table_no_longer_names_starts_no_second_attempt() -> None:
    story = running_story()
    story.reconcile(pods.ended(1))
    story.set_active_run("orders-write-00000000")
    assert story.reconcile(NO_POD, later=60 * MINUTES).actions == ()
    story.set_active_run(RUN_NAME, story.run.metadata.uid)
    assert created(story.reconcile(NO_POD)) == SECOND_POD
