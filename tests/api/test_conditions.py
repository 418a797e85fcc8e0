"""Conditions and the documented list of reasons."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from paimon_operator.api.base import MESSAGE_LENGTH
from paimon_operator.api.conditions import Condition, ConditionStatus, ConditionType, find
from paimon_operator.api.reasons import GROUPS, Reason
from paimon_operator.generate.reasons_page import page

NOW = datetime(2026, 11, 21, 8, 0, 0, 999_999, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def ready(status: ConditionStatus, message: str, *, now: datetime, before: tuple[Condition, ...] = ()) -> Condition:
    return Condition.of(
        ConditionType.READY, status, Reason.TABLE_MATCHES_SPEC, message, now=now, generation=3, before=before
    )


def test_the_same_status_keeps_its_transition_time() -> None:
    before = ready(ConditionStatus.TRUE, "schema 3", now=NOW)
    after = ready(ConditionStatus.TRUE, "schema 4", now=LATER, before=(before,))
    assert (after.message, after.last_transition_time) == ("schema 4", before.last_transition_time)


def test_a_changed_status_has_a_new_transition_time() -> None:
    before = ready(ConditionStatus.UNKNOWN, "", now=NOW)
    assert ready(ConditionStatus.TRUE, "", now=LATER, before=(before,)).last_transition_time == LATER.replace(
        microsecond=0
    )


def test_a_condition_survives_the_api_server_unchanged() -> None:
    condition = ready(ConditionStatus.TRUE, "schema 3", now=NOW)
    assert condition.to_json()["lastTransitionTime"] == "2026-11-21T08:00:00Z"
    assert Condition.model_validate(condition.to_json()) == condition


def test_a_message_is_truncated_to_the_schemas_maximum() -> None:
    assert len(ready(ConditionStatus.TRUE, "x" * 5000, now=NOW).message) == MESSAGE_LENGTH


def test_a_condition_is_found_by_its_type() -> None:
    condition = ready(ConditionStatus.TRUE, "", now=NOW)
    assert find((condition,), ConditionType.READY) == condition
    assert find((condition,), ConditionType.STALLED) is None


def test_every_reason_is_one_word_with_a_meaning_and_a_remedy() -> None:
    for reason in Reason:
        assert re.fullmatch("[A-Z][A-Za-z]+", reason.value), reason
        assert reason.means.endswith("."), reason
        assert reason.remedy.endswith("."), reason


def test_every_explanation_belongs_to_one_reason() -> None:
    assert sorted(word for group in GROUPS for word in group.EXPLANATIONS) == sorted(Reason)


def test_the_committed_page_of_reasons_equals_the_generated_one() -> None:
    assert (Path(__file__).parents[2] / "docs" / "reasons.md").read_text() == page(), "run `make generate`"
