"""What the condition Drifted and its Event say: every change in words, what is not listed, and what follows."""

from __future__ import annotations

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.core.conditions import MAX_NOTE_BYTES
from tests.core.table.drifting import OPTION, REFUSED, found, look, notes, ready
from tests.core.table.edited_table import Json


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (OPTION, "option snapshot.num-retained.min has changed: 3 -> 5"),
        (OPTION | {"before": None}, "option snapshot.num-retained.min has changed: unset -> 5"),
        ({"change": "ColumnDropped", "field": "note", "before": "STRING"}, "column note was dropped: STRING -> unset"),
        ({"change": "TableCommentChanged", "before": "a", "after": "b"}, "comment of the table has changed: a -> b"),
    ],
)
def test_a_change_is_stated_with_both_values_and_the_schema_with_its_time(change: Json, words: str) -> None:
    seen = ready()
    look(seen, 4, {name: value for name, value in change.items() if value is not None})
    assert f"{words} (latest schema 4 of 2026-11-21T07:00:00Z)" in seen.condition("Drifted").message
    (note,) = notes(seen, Reason.TABLE_ALTERED)
    assert note.endswith(f"{words} (latest schema 4 of 2026-11-21T07:00:00Z)")


def columns(number: int, type_: str = "DATE") -> list[Json]:
    return [{"change": "ColumnAdded", "field": f"c{each}", "after": type_} for each in range(number)]


def test_of_many_changes_the_first_three_are_named_and_the_others_counted() -> None:
    seen = ready()
    look(seen, 1, *columns(10), count=14)
    message = seen.condition("Drifted").message
    assert "column c2 was added: unset -> DATE; 11 more in status.drift (latest schema 1" in message
    assert "c3" not in message
    look(seen, 2, *columns(10), count=15)
    assert len(notes(seen, Reason.TABLE_ALTERED)) == 2, "one that is not listed is a change too"


def test_long_changes_fit_into_an_event() -> None:
    seen = ready()
    look(seen, 1, *({"change": "ColumnAdded", "field": f"{'ä' * 150}{each}", "after": "é" * 60} for each in range(3)))
    (note,) = notes(seen, Reason.TABLE_ALTERED)
    assert len(note.encode()) <= MAX_NOTE_BYTES


def test_a_change_that_leaves_no_legal_plan_says_that_a_run_verifies_the_table_and_why() -> None:
    seen = ready()
    seen.wait(hours=2)
    seen.settle()
    seen.finish("Observe", after=None, **found(1, OPTION, refused=REFUSED))
    seen.settle()
    assert f"A run verifies the table before anything else starts: {REFUSED}" in seen.condition("Drifted").message
