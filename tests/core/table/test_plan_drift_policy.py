"""driftPolicy Correct: what is legal is taken back, at most three times an hour, and no fight is carried on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.operations.schema import provision
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.table.observed import TableObserved
from paimon_operator.core.table.run_slots import RunLimit
from tests.core.table.drifting import (
    CORRECTABLE,
    EXTRA,
    HOUR,
    OBSERVE,
    OPTION,
    PROVISION,
    drift,
    found,
    look,
    ready,
)
from tests.core.table.edited_table import Json, refuse
from tests.support import builders
from tests.support.random_examples import examples
from tests.support.table_world import TableWorld, delay_of


def corrects(seen: TableWorld) -> bool:
    return drift(seen).correcting is True


def test_one_change_after_days_is_simply_taken_back() -> None:
    seen = ready(driftPolicy="Correct")
    for number in range(3):
        seen.wait(days=2)
        look(seen, 2 * number + 1, CORRECTABLE, baseline=2 * number)
        assert seen.started[-2:] == [OBSERVE, PROVISION]
        assert corrects(seen)
        seen.finish("Provision", **found(2 * number + 2, baseline=2 * number, takenBack=[OPTION]))
        seen.settle()
        assert not corrects(seen)
        assert seen.says("Drifted") == ("False", Reason.TABLE_UNALTERED)


def test_what_cannot_be_corrected_starts_no_run() -> None:
    seen = ready(driftPolicy="Correct")
    look(seen, 1, EXTRA)
    assert seen.started == [OBSERVE]
    assert seen.says("Drifted") == ("True", Reason.TABLE_ALTERED)


def test_the_policy_can_be_changed_after_the_change_was_found() -> None:
    seen = ready()
    look(seen, 1, CORRECTABLE)
    assert seen.started == [OBSERVE]
    seen.edit(driftPolicy="Correct")
    seen.settle()
    assert seen.started == [OBSERVE, PROVISION]


def ask(seen: TableWorld, number: int) -> None:
    """A user has somebody look again a minute later."""
    seen.wait(minutes=1)
    asked = builders.run(f"look-{number}", table=seen.table, type="Observe", compact=None)
    seen.runs.append(asked.model_copy(update={"metadata": asked.metadata.model_copy(update={"uid": f"look-{number}"})}))
    seen.settle()


def altered_again(seen: TableWorld, number: int, *changes: Json) -> None:
    """The table was altered again, and a user has somebody look."""
    ask(seen, number)
    state = seen.table.status.provision
    assert state is not None
    seen.finish("Observe", after=None, **found(number, *changes, baseline=state.schema_id))
    seen.settle()


def take_back(seen: TableWorld, number: int) -> None:
    state = seen.table.status.provision
    assert state is not None
    seen.finish("Provision", **found(number, baseline=state.schema_id, takenBack=[OPTION]))
    seen.settle()


def test_two_parties_that_fight_over_a_field_are_told_from_one_edit() -> None:
    seen = ready(driftPolicy="Correct")
    first = None
    for number in (1, 3):
        altered_again(seen, number, CORRECTABLE)
        first = first or seen.now
        take_back(seen, number + 1)
    altered_again(seen, 5, CORRECTABLE)
    assert first is not None
    assert seen.started == [PROVISION] * 2
    assert seen.says("Drifted") == ("True", Reason.DRIFT_CONTESTED)
    message = seen.condition("Drifted").message
    assert "both change snapshot.num-retained.min (corrected at 2026-11-21T08:11:00Z, 2026-11-21T08:12:00Z)" in message
    assert "corrects the table again at 2026-11-21T09:11:01Z" in message
    seen.now = first + HOUR
    seen.settle()
    assert seen.started.count(PROVISION) == 2
    seen.wait(seconds=1)
    seen.settle()
    assert seen.started.count(PROVISION) == 3


def test_at_most_three_corrections_are_made_within_an_hour() -> None:
    seen = ready(driftPolicy="Correct")
    for number in range(3):
        altered_again(seen, 2 * number + 1, CORRECTABLE | {"field": f"option-{number}"})
        take_back(seen, 2 * number + 2)
    altered_again(seen, 7, CORRECTABLE | {"field": "option-3"})
    assert seen.started == [PROVISION] * 3
    assert seen.says("Drifted") == ("True", Reason.CORRECTION_LIMIT_REACHED)


def given_to_the_run(seen: TableWorld) -> bool | None:
    """Whether the active run is told to take changes back."""
    assert seen.catalog is not None
    context = TableContext.build(seen.table, seen.catalog, seen.operator, seen.now)
    return provision.job(context, seen.active).corrects


def test_a_correction_that_has_not_begun_is_not_made_under_another_policy() -> None:
    seen = ready(driftPolicy="Correct")
    altered_again(seen, 1, CORRECTABLE)
    assert given_to_the_run(seen)
    seen.edit(driftPolicy="Report")
    seen.settle()
    assert given_to_the_run(seen) is None


def test_a_correction_that_has_not_read_the_table_is_made_by_the_next_run_and_counts_once() -> None:
    seen = ready(driftPolicy="Correct")
    altered_again(seen, 1, CORRECTABLE)
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED)
    seen.settle()
    seen.wait(minutes=3)
    seen.settle()
    assert seen.started == [PROVISION] * 2
    assert given_to_the_run(seen)
    assert len(drift(seen).corrections) == 1
    refuse(seen, **found(1, CORRECTABLE))
    seen.settle()
    assert not corrects(seen), "it has read the table"


@pytest.mark.worlds
@settings(max_examples=examples(8), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.sampled_from("abcd"), st.booleans(), st.booleans()), min_size=4, max_size=8
    )
)
def test_never_more_than_three_corrections_within_any_hour(history: list[tuple[int, str, bool, bool]]) -> None:
    """Each entry: minutes until a field is altered, the field, whether a correction fails, whether it changes again."""
    seen = ready(driftPolicy="Correct")
    times = []
    for number, (minutes, field, fails, again) in enumerate(history, start=1):
        seen.wait(minutes=minutes)
        ask(seen, number)
        for _ in range(6):
            active, state = seen.table.status.active_run, seen.table.status.provision
            if active is None or state is None:
                break
            if active.type == "Provision" and corrects(seen):
                if fails:  # before it has read the table, so the next run makes the same correction
                    seen.fail(FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED)
                    seen.settle()
                    continue
                times.append(seen.now)
            left = [CORRECTABLE | {"field": field}] if again or active.type == "Observe" else []
            seen.finish(after=None, **found(number, *left, baseline=state.schema_id))
            seen.settle()
    assert all(later - earlier > HOUR for earlier, later in zip(times, times[3:], strict=False))


def verifies(seen: TableWorld, run_type: str = "Provision") -> bool:
    parameters: Any = OPERATIONS.of(run_type).job(builders.context(seen.table), seen.active)
    return bool((parameters.table if run_type == "Observe" else parameters).verifies)


def test_a_correction_and_a_look_know_that_their_manifest_is_no_edit() -> None:
    seen = ready(driftPolicy="Correct", schema=builders.ORDERS | {"droppedColumns": ["extra"]})
    seen.wait(hours=2)
    seen.settle()
    assert verifies(seen, "Observe"), "what a manifest has dropped is somebody else's column now"
    seen.finish("Observe", after=None, **found(1, CORRECTABLE, EXTRA))
    seen.settle()
    assert corrects(seen)
    assert verifies(seen)
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED)
    seen.wait(minutes=5)
    seen.settle()
    assert verifies(seen), "so does its repetition"


def test_an_edit_during_a_correction_is_an_edit() -> None:
    seen = ready(driftPolicy="Correct")
    look(seen, 1, CORRECTABLE, EXTRA)
    seen.fail(FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED)
    seen.edit(schema=builders.ORDERS | {"droppedColumns": ["extra"]})
    seen.settle()
    assert seen.active.spec.type == "Provision"
    assert not verifies(seen)


def test_a_correction_counts_from_its_start_and_not_from_its_decision() -> None:
    seen = ready(driftPolicy="Correct")
    ask(seen, 1)
    seen.observed = TableObserved(stopped_by=lambda _: RunLimit(maximum=4))
    seen.finish("Observe", after=None, **found(1, CORRECTABLE))
    seen.settle()
    assert seen.started == []
    seen.wait(minutes=10)
    seen.observed = TableObserved()
    seen.settle()
    assert seen.started == [PROVISION]
    assert [each.time for each in drift(seen).corrections] == [seen.now]


def test_of_a_change_without_a_name_the_kind_is_contested() -> None:
    seen = ready(driftPolicy="Correct")
    comment = {"change": "TableCommentChanged", "before": "a", "after": "b", "correctable": True}
    for number in (1, 3):
        altered_again(seen, number, comment)
        take_back(seen, number + 1)
    altered_again(seen, 5, comment)
    assert "both change TableCommentChanged (corrected at" in seen.condition("Drifted").message


def test_where_both_limits_are_reached_the_operator_waits_for_the_later_one_and_wakes_up_for_it() -> None:
    seen = ready(driftPolicy="Correct")
    starts = []
    for number, field in enumerate(("other", "same", "same")):
        altered_again(seen, 2 * number + 1, CORRECTABLE | {"field": field})
        starts.append(seen.now)
        take_back(seen, 2 * number + 2)
    altered_again(seen, 7, CORRECTABLE | {"field": "same"})
    assert seen.says("Drifted") == ("True", Reason.DRIFT_CONTESTED)
    again = drift(seen).next_correction
    assert again is not None
    assert starts[1] + HOUR < again < starts[2] + HOUR
    assert delay_of(seen.settle()) == again - seen.now


def test_nothing_is_corrected_while_other_writers_may_lose_commits() -> None:
    seen = ready(driftPolicy="Correct", bucket={"type": "Fixed", "fixed": {"count": 2}})
    seen.edit(externalWriters="Active")
    for schema_id in (1, 2):
        look(seen, schema_id, CORRECTABLE)
    assert seen.says("CommitSafe")[0] == "False"
    assert seen.started == [OBSERVE] * 2
    assert drift(seen).corrections == ()


def test_nothing_is_corrected_while_the_table_is_suspended() -> None:
    seen = ready()
    look(seen, 1, CORRECTABLE)
    seen.edit(driftPolicy="Correct", suspend=True)
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    seen.edit(suspend=False)
    seen.settle()
    assert seen.started == [OBSERVE, PROVISION]
