"""Which changes have a step back, and which removals a manifest has asked for."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from dataclasses import replace

import pytest

from paimon_schema.drift import DriftChange, DriftKind
from paimon_schema.drift_corrections import Corrections, asked_for, unresolved
from paimon_schema.table_schema import TableSchema
from tests.schema.schemas import ENGINE, EngineOf, declared
from tests.schema.test_drift import ALL_DECLARED, FIELDS, MANIFEST, change, field, options, schema

KIND = DriftKind
THEIRS = schema(field(5, description="x", defaultValue="x"), options=options(other="x"), comment="x")


@pytest.mark.parametrize(
    ("sentence", "table", "found", "steps"),
    [
        ("an option", THEIRS, change(KIND.OPTION_CHANGED, "other", "a", "x"), ["option other: x -> a"]),
        ("of whose old value the beginning is known", THEIRS, change(KIND.OPTION_CHANGED, "other", "a…#0a1b2c3d", "x"), []),
        ("that has changed since", THEIRS, change(KIND.OPTION_CHANGED, "other", "a", "y"), []),
        ("a comment", THEIRS, change(KIND.COLUMN_COMMENT_CHANGED, "tags", "a", "x"), ["comment of column tags"]),
        ("that has changed since", THEIRS, change(KIND.COLUMN_COMMENT_CHANGED, "tags", "a", "y"), []),
        ("a default", THEIRS, change(KIND.DEFAULT_CHANGED, "tags", "a", "x"), ["default of column tags: x -> a"]),
        ("that has changed since", THEIRS, change(KIND.DEFAULT_CHANGED, "tags", "a", "y"), []),
        ("the comment of the table", THEIRS, change(KIND.TABLE_COMMENT_CHANGED, "", "a", "x"), ["comment of the table"]),
        ("that has changed since", THEIRS, change(KIND.TABLE_COMMENT_CHANGED, "", "a", "y"), []),
        ("a column that allows NULL again", THEIRS, change(KIND.NULLABILITY_CHANGED, "tags", "NULL allowed", "NOT NULL"), []),
        ("a column that is gone", THEIRS, change(KIND.COLUMN_COMMENT_CHANGED, "gone", "a", None), []),
    ],
)  # fmt: skip
def test_a_change_that_is_still_there_and_fully_known_has_a_step_back(
    sentence: str, table: TableSchema, found: DriftChange, steps: list[str]
) -> None:
    corrections = Corrections(table, ALL_DECLARED, (found,), ENGINE)
    assert [each.sentence for each in corrections.steps] == steps, sentence
    assert [each == found for each in corrections.taken_back] == [True] * len(steps), sentence


@pytest.mark.parametrize(
    ("sentence", "option", "before", "after", "is_taken_back"),
    [
        ("levels that were added may have files", "num-levels", None, "9", False),
        ("levels that follow a larger trigger", "num-sorted-run.compaction-trigger", "5", "8", False),
        ("levels that were removed", "num-levels", "9", "3", True),
        ("a smaller trigger", "num-sorted-run.compaction-trigger", None, "2", True),
    ],
)
def test_an_option_is_not_taken_back_if_the_table_would_have_fewer_levels(
    sentence: str, option: str, before: str | None, after: str, *, is_taken_back: bool
) -> None:
    engine = EngineOf(defaults={"bucket": "-1", "num-sorted-run.compaction-trigger": "5"})
    found = change(KIND.OPTION_CHANGED, option, before, after)
    corrections = Corrections(schema(options=options(**{option: after})), ALL_DECLARED, (found,), engine)
    assert bool(corrections.taken_back) is is_taken_back, sentence


def test_a_column_that_was_renamed_to_a_declared_name_stays_and_the_other_one_is_added() -> None:
    both = declared("id BIGINT NOT NULL; note STRING; remark STRING", "id", options={"bucket": "2"})
    renamed = change(KIND.COLUMN_RENAMED, "note", "note", "remark")
    plan = Corrections(schema(field(1, name="remark", description=None)), both, (renamed,), ENGINE).plan
    assert [each.sentence for each in plan.steps if each.sentence.startswith(("rename", "add"))] == [
        "add column note STRING"
    ]


def test_an_order_with_a_column_that_was_renamed_is_settled_by_its_name() -> None:
    moved = change(KIND.COLUMNS_REORDERED, "", "id, note, address, tags", "remark, id, address, tags")
    assert unresolved([moved], MANIFEST) == ()


@pytest.mark.parametrize(("dropped", "is_left"), [((), True), (("extra",), False), (("other",), True)])
def test_the_options_of_a_column_go_with_it_when_the_manifest_drops_it(
    dropped: tuple[str, ...], *, is_left: bool
) -> None:
    found = change(KIND.OPTION_CHANGED, "fields.extra.ignore-retract", None, "true")
    assert unresolved([found], replace(MANIFEST, dropped=dropped)) == ((found,) if is_left else ())


@pytest.mark.parametrize(
    ("sentence", "marks", "found", "asked"),
    [
        ("an option that a manifest had set", {"options": "bucket,expire"}, change(KIND.OPTION_CHANGED, "expire", "1 h"), True),
        ("one that none had set", {"options": "bucket"}, change(KIND.OPTION_CHANGED, "expire", "1 h"), False),
        ("which has another value now", {"options": "bucket,expire"}, change(KIND.OPTION_CHANGED, "expire", "1 h", "2 h"), False),
        ("a comment that a manifest had set", {"comments": "note"}, change(KIND.COLUMN_COMMENT_CHANGED, "note", "free text"), True),
        ("that of another column", {"comments": "tags"}, change(KIND.COLUMN_COMMENT_CHANGED, "note", "free text"), False),
        ("that of the table", {"comments": "<table>"}, change(KIND.TABLE_COMMENT_CHANGED, "", "orders"), True),
        ("which none had set", {"comments": "note"}, change(KIND.TABLE_COMMENT_CHANGED, "", "orders"), False),
        ("a default that a manifest had set", {"defaults": "note"}, change(KIND.DEFAULT_CHANGED, "note", "none"), True),
        ("which none had set", {}, change(KIND.DEFAULT_CHANGED, "note", "none"), False),
        ("a column, which only droppedColumns drops", {"options": "tags"}, change(KIND.COLUMN_DROPPED, "tags", "ARRAY<INT>"), False),
    ],
)  # fmt: skip
def test_a_manifest_asks_for_the_removal_of_what_an_earlier_one_had_set(
    sentence: str, marks: dict[str, str], found: DriftChange, asked: bool
) -> None:
    before = schema(FIELDS, options={f"paimon-operator.{name}": value for name, value in marks.items()})
    assert (found in asked_for([found], MANIFEST, before)) is asked, sentence
