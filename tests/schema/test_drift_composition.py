"""A known change and one that was found later, as one. Random histories of columns: test_drift_worlds.py."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

import pytest

from paimon_schema.drift import DriftChange, DriftKind
from paimon_schema.drift_composition import compose

KIND = DriftKind
Named = tuple[DriftKind, str, str | None, str | None]
NULL, NEVER = "NULL allowed", "NOT NULL"
ADDED, DROPPED, RENAMED, TYPE = KIND.COLUMN_ADDED, KIND.COLUMN_DROPPED, KIND.COLUMN_RENAMED, KIND.TYPE_CHANGED
NULLS, COMMENT, OPTION = KIND.NULLABILITY_CHANGED, KIND.COLUMN_COMMENT_CHANGED, KIND.OPTION_CHANGED


@pytest.mark.parametrize(
    ("sentence", "known", "found", "expected"),
    [
        ("a value that was changed twice", [(OPTION, "o", "1", "2")], [(OPTION, "o", "2", "3")], [(OPTION, "o", "1", "3")]),
        ("a value that is back", [(OPTION, "o", "1", "2")], [(OPTION, "o", "2", "1")], []),
        ("a column that was renamed twice", [(RENAMED, "a", "a", "b")], [(RENAMED, "b", "b", "c")], [(RENAMED, "a", "a", "c")]),
        ("a type after a name", [(RENAMED, "a", "a", "b")], [(TYPE, "b", "INT", "BIGINT")], [(RENAMED, "a", "a", "b"), (TYPE, "a", "INT", "BIGINT")]),
        ("a field of a column that was renamed", [(RENAMED, "a", "a", "b")], [(TYPE, "b.x", "INT", "BIGINT")], [(RENAMED, "a", "a", "b"), (TYPE, "a.x", "INT", "BIGINT")]),
        ("a dropped column had its first type", [(TYPE, "a", "INT", "BIGINT")], [(DROPPED, "a", "BIGINT", None)], [(DROPPED, "a", "INT", None)]),
        ("and did not allow NULL at first", [(NULLS, "a", NEVER, NULL)], [(DROPPED, "a", "INT", None)], [(DROPPED, "a", "INT NOT NULL", None)]),
        ("or allowed it at first", [(NULLS, "a", NULL, NEVER)], [(DROPPED, "a", "INT NOT NULL", None)], [(DROPPED, "a", "INT", None)]),
        ("with all of its fields", [(COMMENT, "a.x", "old", "new"), (COMMENT, "ab", "old", "new")], [(DROPPED, "a", "ROW<x INT>", None)], [(DROPPED, "a", "ROW<x INT>", None), (COMMENT, "ab", "old", "new")]),
        ("but an option of the same name stays", [(OPTION, "a", "1", "2")], [(DROPPED, "a", "INT", None)], [(DROPPED, "a", "INT", None), (OPTION, "a", "1", "2")]),
        ("an added column has its last type", [(ADDED, "a", None, "INT NOT NULL")], [(TYPE, "a", "INT", "BIGINT")], [(ADDED, "a", None, "BIGINT NOT NULL")]),
        ("and its last nullability", [(ADDED, "a", None, "INT")], [(NULLS, "a", NULL, NEVER)], [(ADDED, "a", None, "INT NOT NULL")]),
        ("and its last name", [(ADDED, "a", None, "INT")], [(RENAMED, "a", "a", "b")], [(ADDED, "b", None, "INT")]),
        ("it may be gone again", [(ADDED, "a", None, "INT")], [(DROPPED, "a", "INT", None)], []),
    ],
)  # fmt: skip
def test_two_drifts_are_one(sentence: str, known: list[Named], found: list[Named], expected: list[Named]) -> None:
    first, second = ([DriftChange(kind=k, field=f, before=b, after=a) for k, f, b, a in of] for of in (known, found))
    composed = [(each.kind, each.field, each.before, each.after) for each in compose(first, second)]
    assert composed == expected, sentence
