"""Times of a run that a wrong clock has stored: they count as now, and an Event reports them."""

from __future__ import annotations

from datetime import timedelta

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import Phase, RunStatus
from paimon_operator.core.decision import Decision, Refusal
from tests.support import pods
from tests.support.run_story import NO_POD, Story, deleted, launched_story, running_story

HOUR, YEAR = timedelta(hours=1), timedelta(days=365)


def reported(decision: Decision[RunStatus]) -> list[str]:
    """The notes about a wrong clock, up to the stored time."""
    notes = [each.note for each in decision.events if each.reason == Reason.CLOCK_DIFFERS]
    return [note.split(": the stored time ")[0] for note in notes]


def test_a_users_run_that_cannot_start_ends_within_an_hour_after_the_clock_is_put_right() -> None:
    story = Story(trigger=None)
    story.now += YEAR
    launched_story(story)
    story.now -= YEAR
    story.refusal = Refusal(reason=Reason.NOT_PERMITTED, message="exceeded quota: limits.cpu")
    assert reported(story.reconcile(NO_POD)) == ["status.attempts.launched"]
    assert reported(story.reconcile(NO_POD)) == []
    story.reconcile(NO_POD, later=HOUR)
    assert story.run.status.phase is Phase.FAILED


def test_a_finished_run_is_deleted_its_ttl_after_the_clock_is_put_right() -> None:
    story = Story(trigger=None, ttlAfterFinished="1h", backoffLimit=0)
    story.now += YEAR
    running_story(story).reconcile(pods.ended(137))
    story.reconcile(NO_POD)
    story.set_active_run(None)
    story.now -= YEAR
    assert deleted(story.reconcile(NO_POD)) == []
    assert deleted(story.reconcile(NO_POD, later=2 * HOUR)) == [story.run.metadata.uid]
