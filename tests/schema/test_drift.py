"""What somebody else changed in a table, what a manifest settles of it, and what may be taken back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from paimon_schema.drift import DriftChange, DriftKind, difference
from paimon_schema.drift_corrections import Corrections, asked_for, unresolved
from paimon_schema.table_schema import TableSchema, read_schema_file
from tests.schema.schemas import ENGINE, declared

Json = dict[str, Any]
ROW: Json = {
    "type": "ROW",
    "fields": [
        {"id": 3, "name": "street", "type": "STRING"},
        {"id": 4, "name": "zip", "type": "INT", "description": "five digits"},
    ],
}
FIELDS: list[Json] = [
    {"id": 0, "name": "id", "type": "BIGINT NOT NULL"},
    {"id": 1, "name": "note", "type": "STRING", "description": "free text", "defaultValue": "none"},
    {"id": 2, "name": "address", "type": ROW},
    {"id": 5, "name": "tags", "type": {"type": "ARRAY", "element": "INT"}},
]
OWNER = "paimon-operator.owner"


def schema(fields: list[Json] | None = None, **values: Any) -> TableSchema:
    document = {
        "version": 3,
        "id": 3,
        "fields": FIELDS if fields is None else fields,
        "primaryKeys": ["id"],
        "partitionKeys": [],
        "comment": "orders",
        "options": {"bucket": "2", "expire": "1 h", OWNER: "c/ns/orders", "paimon-operator.options": "bucket"},
        "timeMillis": 1_700_000_000_000,
    }
    return read_schema_file(json.dumps(document | values))


def field(number: int, **values: Any) -> list[Json]:
    """The fields with other values in the one of this id."""
    return [each | values if each["id"] == number else each for each in FIELDS]


def options(**values: str | None) -> dict[str, str]:
    named = {key.replace("_", "-"): value for key, value in values.items()}
    return {key: value for key, value in ({**schema().options, **named}).items() if value is not None}


def nested(number: int, **values: Any) -> list[Json]:
    return field(2, type=ROW | {"fields": [each | values if each["id"] == number else each for each in ROW["fields"]]})


EXTRA: Json = {"id": 9, "name": "extra", "type": "DATE"}
KIND = DriftKind
NEVER_NULL: Json = {"type": "ARRAY NOT NULL"}
LONGS: Json = {"type": "ARRAY", "element": "BIGINT"}
SWAPPED = [FIELDS[1], FIELDS[0], *FIELDS[2:]]
ROW_SWAPPED = ROW | {"fields": ROW["fields"][::-1]}
THEIRS = {**schema().options, OWNER: "b/ns/orders"}


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (schema([*FIELDS, EXTRA]), (KIND.COLUMN_ADDED, "extra", None, "DATE")),
        (schema(FIELDS[:3]), (KIND.COLUMN_DROPPED, "tags", "ARRAY<INT>", None)),
        (schema(field(1, name="remark")), (KIND.COLUMN_RENAMED, "note", "note", "remark")),
        (schema(field(5, type=LONGS)), (KIND.TYPE_CHANGED, "tags.element", "INT", "BIGINT")),
        (schema(field(1, type="STRING NOT NULL")), (KIND.NULLABILITY_CHANGED, "note", "NULL allowed", "NOT NULL")),
        (schema(SWAPPED), (KIND.COLUMNS_REORDERED, "", "id, note, address, tags", "note, id, address, tags")),
        (schema(field(1, description="x")), (KIND.COLUMN_COMMENT_CHANGED, "note", "free text", "x")),
        (schema(field(1, defaultValue="y")), (KIND.DEFAULT_CHANGED, "note", "none", "y")),
        (schema(nested(3, name="road")), (KIND.COLUMN_RENAMED, "address.street", "address.street", "address.road")),
        (schema(nested(4, type="BIGINT")), (KIND.TYPE_CHANGED, "address.zip", "INT", "BIGINT")),
        (schema(nested(4, description="y")), (KIND.COLUMN_COMMENT_CHANGED, "address.zip", "five digits", "y")),
        (schema(field(2, type=ROW | {"fields": ROW["fields"][:1]})), (KIND.COLUMN_DROPPED, "address.zip", "INT", None)),
        (schema(field(2, type=ROW_SWAPPED)), (KIND.COLUMNS_REORDERED, "address", "street, zip", "zip, street")),
        (schema(comment="other"), (KIND.TABLE_COMMENT_CHANGED, "", "orders", "other")),
        (schema(primaryKeys=["id", "note"]), (KIND.PRIMARY_KEY_CHANGED, "", "id", "id, note")),
        (schema(partitionKeys=["note"]), (KIND.PARTITION_KEYS_CHANGED, "", "none", "note")),
        (schema(options=options(expire="2 h")), (KIND.OPTION_CHANGED, "expire", "1 h", "2 h")),
        (schema(options=options(expire=None)), (KIND.OPTION_CHANGED, "expire", "1 h", None)),
        (schema(options=options(other="x")), (KIND.OPTION_CHANGED, "other", None, "x")),
        (schema(options=THEIRS), (KIND.OWNER_CHANGED, "", "c/ns/orders", "b/ns/orders")),
    ],
)  # fmt: skip
def test_each_kind_of_change_is_found_with_old_and_new_value(
    after: TableSchema, expected: tuple[DriftKind, str, str | None, str | None]
) -> None:
    kind, name, had, has = expected
    assert difference(schema(), after, ENGINE) == (DriftChange(kind=kind, field=name, before=had, after=has),)
    back = DriftChange(kind=kind, field=has if kind is KIND.COLUMN_RENAMED and has else name, before=has, after=had)
    if kind not in (KIND.COLUMN_ADDED, KIND.COLUMN_DROPPED):
        assert difference(after, schema(), ENGINE) == (back,)


@pytest.mark.parametrize(
    "after",
    [
        schema(id=7, timeMillis=1),
        schema(options=options(expire="1 H")),
        schema(options={**schema().options, "paimon-operator.options": "bucket,expire"}),
        schema(options=options(file_format=None) | {"file.format": "parquet"}),
        schema(options={("old-expire" if key == "expire" else key): value for key, value in schema().options.items()}),
        schema(options=options(path="file:/elsewhere")),
    ],
)
def test_marks_of_the_operator_and_values_that_mean_the_same_are_no_drift(after: TableSchema) -> None:
    assert difference(schema(), after, ENGINE) == ()


def test_a_column_of_the_name_of_a_dropped_one_is_a_drop_and_an_addition() -> None:
    found = difference(schema(), schema([FIELDS[0], EXTRA | {"name": "note", "type": "STRING"}, *FIELDS[2:]]), ENGINE)
    assert [(each.kind, each.field) for each in found] == [
        (KIND.COLUMN_DROPPED, "note"),
        (KIND.COLUMN_ADDED, "note"),
    ]


def test_keys_and_options_that_paimon_renames_with_their_column_are_no_changes_of_their_own() -> None:
    before = schema(options=options() | {"fields.note.ignore-retract": "true"})
    after = schema(field(1, name="remark"), options=options() | {"fields.remark.ignore-retract": "true"})
    assert [each.kind for each in difference(before, after, ENGINE)] == [KIND.COLUMN_RENAMED]
    left = replace(after, options=before.options)
    assert [each.kind for each in difference(before, left, ENGINE)] == [KIND.COLUMN_RENAMED], "as Paimon 0.9 does it"


MANIFEST = declared("id BIGINT NOT NULL; note STRING", "id", options={"bucket": "2"})


def change(kind: DriftKind, field: str = "", before: str | None = None, after: str | None = None) -> DriftChange:
    return DriftChange(kind=kind, field=field, before=before, after=after)


@pytest.mark.parametrize(
    ("found", "stays"),
    [
        (change(KIND.OPTION_CHANGED, "bucket", "2", "4"), False),
        (change(KIND.OPTION_CHANGED, "expire", "1 h", "2 h"), True),
        (change(KIND.COLUMN_ADDED, "extra", None, "DATE"), True),
        (change(KIND.COLUMN_ADDED, "note", None, "STRING"), False),
        (change(KIND.COLUMN_DROPPED, "note", "STRING"), False),
        (change(KIND.COLUMN_DROPPED, "tags", "ARRAY<INT>"), True),
        (change(KIND.COLUMN_RENAMED, "note", "note", "remark"), False),
        (change(KIND.COLUMN_RENAMED, "tags", "tags", "labels"), True),
        (change(KIND.COLUMN_COMMENT_CHANGED, "note", None, "x"), True),
        (change(KIND.TABLE_COMMENT_CHANGED, "", None, "x"), True),
        (change(KIND.DEFAULT_CHANGED, "note", None, "x"), True),
        (change(KIND.TYPE_CHANGED, "note", "VARCHAR(5)", "STRING"), False),
        (change(KIND.PRIMARY_KEY_CHANGED, "", "id", "note"), False),
        (change(KIND.COLUMNS_REORDERED, "", "id, note", "note, id"), False),
        (change(KIND.COLUMNS_REORDERED, "", "id, note, tags, x", "id, note, x, tags"), True),
        (change(KIND.COLUMNS_REORDERED, "address", "street, zip", "zip, street"), True),
    ],
)
def test_a_successful_verification_settles_what_the_manifest_declares(found: DriftChange, stays: bool) -> None:
    assert unresolved([found], MANIFEST) == ((found,) if stays else ())


def test_a_column_that_the_manifest_drops_is_settled() -> None:
    dropping = replace(MANIFEST, dropped=("extra",))
    assert unresolved([change(KIND.COLUMN_ADDED, "extra", None, "DATE")], dropping) == ()


def test_a_column_that_follows_a_declared_one_back_has_another_order_still() -> None:
    moved = change(KIND.COLUMNS_REORDERED, "", "id, note, tags", "note, id, tags")
    left = change(KIND.COLUMNS_REORDERED, "", "id, note, tags", "id, tags, note")
    assert unresolved([moved], MANIFEST) == (left,)


def test_a_nested_field_that_was_renamed_stays_beside_the_declared_one() -> None:
    renamed = change(KIND.COLUMN_RENAMED, "address.zip", "address.zip", "address.code")
    assert unresolved([renamed], ALL_DECLARED) == (change(KIND.COLUMN_ADDED, "address.code", None, "INT"),)
    assert unresolved([renamed], MANIFEST) == (renamed,)
    both = declared("id BIGINT NOT NULL; address ROW<street STRING, zip INT, code INT>", "id")
    assert unresolved([renamed], both) == ()


def test_what_an_edit_asks_for_is_no_change_of_somebody_else() -> None:
    before = replace(schema(), options={"paimon-operator.options": "bucket,expire"})
    edited = declared("id BIGINT NOT NULL; note STRING; price INT", "id", options={"bucket": "8"}, dropped=["tags"])
    changes = (
        change(KIND.OPTION_CHANGED, "bucket", "2", "8"),
        change(KIND.OPTION_CHANGED, "expire", "1 h"),
        change(KIND.COLUMN_ADDED, "price", None, "INT"),
        change(KIND.COLUMN_DROPPED, "tags", "ARRAY<INT>"),
    )
    assert asked_for(changes, edited, before) == frozenset(changes)
    assert asked_for([change(KIND.OPTION_CHANGED, "bucket", "2", "4")], edited, before) == frozenset()


def corrections(after: TableSchema) -> tuple[list[str], list[str]]:
    """The steps that take back the difference to `schema()`, and the fields of the changes that they take back."""
    found = Corrections(after, ALL_DECLARED, difference(schema(), after, ENGINE), ENGINE)
    steps = [step.sentence for step in (*found.plan.steps, *found.steps)]
    return steps, [each.field for each in found.taken_back]


ALL_DECLARED = replace(
    declared("id BIGINT; note STRING; address ROW<street STRING, zip INT>", "id", options={"bucket": "2"}),
)
ALL_DECLARED = replace(
    ALL_DECLARED,
    columns=(
        replace(ALL_DECLARED.columns[0], type=replace(ALL_DECLARED.columns[0].type, nullable=False)),
        replace(ALL_DECLARED.columns[1], comment="free text"),
        ALL_DECLARED.columns[2],
    ),
)


@pytest.mark.parametrize(
    ("after", "steps", "fields"),
    [
        (schema(options=options(expire="2 h")), ["option expire: 2 h -> 1 h"], ["expire"]),
        (schema(options=options(other="x")), ["option other: x -> unset"], ["other"]),
        (schema(field(1, description="x")), ["comment of column note"], ["note"]),
        (schema(field(5, description="x")), ["comment of column tags"], ["tags"]),
        (schema(field(1, defaultValue="x")), ["default of column note: x -> none"], ["note"]),
        (schema(comment="x"), ["comment of the table"], [""]),
        (schema(field(1, name="remark")), ["rename column remark to note"], ["note"]),
        (schema([FIELDS[1], FIELDS[0], *FIELDS[2:]]), ["move column note after id"], [""]),
        (schema([FIELDS[0], *FIELDS[2:]]), ["add column note STRING"], ["note"]),
        (schema(field(1, type="STRING NOT NULL")), ["allow NULL in column note"], ["note"]),
        (schema(field(5, type=FIELDS[3]["type"] | NEVER_NULL)), ["allow NULL in column tags"], ["tags"]),
        (schema([*FIELDS[:2], FIELDS[3], FIELDS[2]]), [], []),
        (schema([*FIELDS, EXTRA]), [], []),
        (schema(FIELDS[:3]), [], []),
        (schema(nested(4, type="BIGINT")), [], []),
        (schema(nested(3, name="road")), ["add field address.street STRING"], []),
        (schema(options=options(bucket="4")), [], []),
        (schema(partitionKeys=["note"]), [], []),
        (schema(options={**schema().options, OWNER: "b/ns/orders"}), [], []),
    ],
)  # fmt: skip
def test_only_metadata_that_the_engine_can_alter_is_taken_back(
    after: TableSchema, steps: list[str], fields: list[str]
) -> None:
    assert corrections(after) == (steps, fields)


def test_the_digest_differs_for_every_change_and_not_by_number_or_time() -> None:
    nested_ones = [nested(4, type="BIGINT"), nested(4, description="y"), nested(4, id=12)]
    digests = {schema(each).digest for each in ([*FIELDS, EXTRA], field(1, name="x"), *nested_ones)}
    digests |= {schema(options=options(expire="2 h")).digest, schema(comment="x").digest, schema().digest}
    assert len(digests) == 8
    assert schema(id=9, timeMillis=1).digest == schema().digest
