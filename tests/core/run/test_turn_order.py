"""When a turn gives way to more urgent work, or waits for that of another run of its table."""

from __future__ import annotations

import pytest

from paimon_operator.api.conditions import ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import AttemptState, RunTrigger
from paimon_operator.api.table.status import ActiveRun, TableStatus
from paimon_operator.core.run.turn import waits_for_turn
from paimon_operator.core.table.giving_way import has_given_way
from tests.core.run.shared_story import SharedStory, begun
from tests.support import builders, pods


def asked_to_give_way(story: SharedStory) -> SharedStory:
    """The same after the table has asked it to let other work begin."""
    assert story.table is not None
    active = story.table.status.active_run
    assert active is not None
    asked = active.model_copy(update={"gives_way": True})
    status = story.table.status.model_copy(update={"active_run": asked})
    story.table = story.table.model_copy(update={"status": status})
    return story


@pytest.mark.parametrize("asks", [True, False], ids=["its driver asks", "it waits"])
def test_a_run_that_gives_way_begins_nothing_and_says_so(asks: bool) -> None:
    story = SharedStory()
    story.decide()
    asked_to_give_way(story)
    decision = story.decide(story.turn() if asks else None)
    assert decision.status is not None
    reason = next(each.reason for each in decision.status.conditions if each.type == ConditionType.SUCCEEDED)
    assert (reason, decision.status.attempts, decision.actions) == (Reason.GIVING_WAY, (), ())
    assert has_given_way(asked_to_give_way(story).table.status, story.run)  # type: ignore[union-attr]


def test_a_turn_that_had_begun_before_goes_on_and_nothing_overtakes_it() -> None:
    story = asked_to_give_way(begun())
    story.decide(story.turn(), pods.running())
    assert story.attempt.state is AttemptState.RUNNING
    assert not has_given_way(story.table.status, story.run)  # type: ignore[union-attr]


def test_a_run_that_was_asked_has_not_given_way_before_it_answers() -> None:
    """Until then a reconcile that has read the table before may store an attempt."""
    story = SharedStory()
    story.decide()
    assert not has_given_way(asked_to_give_way(story).table.status, story.run)  # type: ignore[union-attr]


def test_a_companion_waits_in_the_pod_of_the_active_run_and_begins_nothing() -> None:
    story = SharedStory()
    named = ActiveRun(name=story.run.metadata.name, type="Observe", trigger=RunTrigger.SCHEDULE)
    first = ActiveRun(name="orders-compact-00000000", uid="u", type="Compact", trigger=RunTrigger.SCHEDULE)
    story.table = builders.table(status=TableStatus(active_run=first, following_runs=(named,)))
    decision = story.decide(story.turn())
    assert waits_for_turn(decision)
    assert story.run.status.attempts == ()
    story.sharing = None
    assert not waits_for_turn(story.decide())
    assert story.run.status.attempts == ()
