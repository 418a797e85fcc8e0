"""Refused actions: a refusal delays only its own action and is reported only for that action."""

from __future__ import annotations

from datetime import timedelta

import pytest

from paimon_operator.core.decision import Action, Create, Decision, Delete
from paimon_operator.core.ports import Kind
from paimon_operator.runtime.adoption import RefusedError
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.refusals import Refusals
from tests.support.virtual_time import VirtualTime

ORDERS, UID = Key(Kind.TABLE, "shop", "orders"), "uid-orders"


def create(name: str, kind: Kind = Kind.RUN) -> Create:
    return Create(kind=kind, body={"metadata": {"name": name}}, owner_uid=UID)


def delete(name: str) -> Delete:
    return Delete(kind=Kind.RUN, name=name, uid=f"uid-{name}")


def decision_of(*actions: Action) -> Decision[str]:
    return Decision(status="", actions=actions, requeue_after=timedelta(0))


def refused(action: Action) -> RefusedError:
    return RefusedError(f"no {action.name}", status=403, action=action)


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


@pytest.fixture
def refusals(time: VirtualTime) -> Refusals:
    return Refusals(time)


def refuse_twice(refusals: Refusals, *actions: Action) -> None:
    """Records two refusals of each action. From the second one on the action is delayed."""
    for action in actions * 2:
        refusals.record(ORDERS, UID, refused(action))


def record_done(refusals: Refusals, *actions: Action) -> tuple[Action, ...]:
    decision = decision_of(*actions)
    reduced = refusals.without_refused(ORDERS, UID, decision)
    refusals.record_done(ORDERS, decision, reduced)
    return (reduced or decision).actions


def reported_message(refusals: Refusals, name: str) -> str | None:
    refusal = refusals.of(ORDERS, UID, {name})
    return None if refusal is None else refusal.message


def test_a_refusal_is_reported_for_the_refused_run_only(refusals: Refusals) -> None:
    refuse_twice(refusals, create("compact"))
    assert (reported_message(refusals, "compact"), reported_message(refusals, "drop")) == ("no compact", None)


def test_a_refusal_delays_the_refused_run_only(refusals: Refusals) -> None:
    refuse_twice(refusals, create("compact"))
    assert record_done(refusals, create("compact")) == ()
    assert record_done(refusals, create("drop")) == (create("drop"),)
    assert reported_message(refusals, "compact") is None, (
        "the refusal of an action that is no longer requested is still reported"
    )


def test_a_refused_deletion_delays_no_other_action(refusals: Refusals) -> None:
    refuse_twice(refusals, delete("old"))
    assert record_done(refusals, delete("old"), delete("older"), create("old")) == (delete("older"), create("old"))
    assert reported_message(refusals, "old") == "no old"


def test_a_refused_config_map_delays_its_pod(refusals: Refusals) -> None:
    config_map, pod = create("r", Kind.CONFIG_MAP), create("r-1", Kind.POD)
    refuse_twice(refusals, config_map)
    assert record_done(refusals, config_map, pod) == ()


def test_each_of_two_refused_deletions_is_retried_at_growing_intervals(refusals: Refusals, time: VirtualTime) -> None:
    decision = decision_of(delete("old"), delete("older"))
    tries = 0
    for _ in range(3600):
        while True:
            actions = (refusals.without_refused(ORDERS, UID, decision) or decision).actions
            if not actions:
                break
            tries += 1
            refusals.record(ORDERS, UID, refused(actions[0]))
        time.advance(1)
    assert 30 < tries < 60, "tries of both actions within an hour"


def test_the_object_is_requeued_at_the_earliest_retry(refusals: Refusals, time: VirtualTime) -> None:
    refuse_twice(refusals, delete("old"))
    time.advance(2)
    refuse_twice(refusals, delete("older"))
    reduced = refusals.without_refused(ORDERS, UID, decision_of(delete("old"), delete("older")))
    assert reduced is not None
    assert reduced.requeue_after is not None
    assert timedelta(0) < reduced.requeue_after <= timedelta(seconds=3)
