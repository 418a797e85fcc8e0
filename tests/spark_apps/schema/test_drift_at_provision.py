"""What a run that makes the table as declared does with changes of others, from the schema files alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from paimon_contract.drift import JobDrift
from paimon_contract.parameters.provision import JobColumn, ProvisionParameters
from paimon_contract.result import DriftedField, ResultDrift
from paimon_engines.loader import load_engine
from paimon_schema.data_types import DataType
from paimon_schema.paimon_json import paimon_json
from paimon_schema.table_schema import Column, TableSchema
from paimon_schema.type_parser import parse
from spark_apps.schema.drift_at_provision import DriftAtProvision
from spark_apps.schema.edit import planned_edit
from spark_apps.schema.left_schema import left_schema
from tests.spark_apps.jobs import job

ENGINE = load_engine("paimon-1.4")
MANIFEST = ProvisionParameters(
    columns=(
        JobColumn("id", "BIGINT NOT NULL"),
        JobColumn("address", "ROW<street STRING>", data_type=paimon_json(parse("ROW<street STRING>"))),
    ),
    options={"bucket": "2", "snapshot.num-retained.min": "3"},
    adoption="Fail",
    dropped=("x", "address.zip"),
    approve=True,
)
FIRST = TableSchema(
    id=4,
    columns=(
        Column(id=0, name="id", type=parse("BIGINT NOT NULL")),
        Column(id=1, name="address", type=replace(parse("ROW<street STRING>"), ids=(2,))),
    ),
    options={**MANIFEST.options, "paimon-operator.owner": "o"},
    time_ms=1_700_000_000_000,
)
X = Column(id=7, name="x", type=DataType("STRING"))
ZIP = replace(FIRST.columns[1], type=replace(parse("ROW<street STRING, zip INT>"), ids=(2, 8)))


@dataclass(frozen=True)
class Files:
    """Schema files."""

    schemas: list[TableSchema]

    def schema(self, id_: int) -> TableSchema | None:
        return next((each for each in self.schemas if each.id == id_), None)

    def latest_schema(self, from_id: int | None = None) -> TableSchema | None:
        assert from_id is None or self.schema(from_id) is not None
        return max(self.schemas, key=lambda each: each.id)


def altered(schema: TableSchema = FIRST, **values: Any) -> TableSchema:
    """The schema after one more ALTER, which also sets an option."""
    more = {"options": {**schema.options, "snapshot.num-retained.min": "5"}}
    return replace(schema, **{"id": schema.id + 1} | more | values)


def with_x(*columns: Column) -> TableSchema:
    return altered(columns=(*(columns or FIRST.columns), X))


def run(*schemas: TableSchema, known: Sequence[DriftedField] = (), hidden: int = 0, **more: Any) -> DriftAtProvision:
    """A run that knows the first of the schemas."""
    drift = JobDrift(schema_id=schemas[0].id, schema_digest=schemas[0].digest, known=tuple(known), hidden=hidden)
    provision = replace(MANIFEST, **{"drift": drift} | more)
    return DriftAtProvision(job(operation="Provision"), provision, Files(list(schemas)), ENGINE)


def steps(of: DriftAtProvision) -> list[str]:
    return list(planned_edit(of, is_own=True).sentences)


def named(drift: ResultDrift) -> list[tuple[str, str]]:
    return [(each.change, each.field) for each in drift.changes]


BACK = "option snapshot.num-retained.min: 5 -> 3"
TAKEN_BACK = [("OptionChanged", "snapshot.num-retained.min")]


@pytest.mark.parametrize("corrects", [True, None])
@pytest.mark.parametrize(
    ("after", "left"),
    [
        (with_x(), [("ColumnAdded", "x")]),
        (altered(columns=(FIRST.columns[0], ZIP)), [("ColumnAdded", "address.zip")]),
        (with_x(FIRST.columns[0], ZIP), [("ColumnAdded", "address.zip"), ("ColumnAdded", "x")]),
    ],
)
def test_what_somebody_adds_after_a_manifest_has_dropped_it_keeps_its_data_and_is_reported(
    after: TableSchema, left: list[tuple[str, str]], corrects: bool | None
) -> None:
    seen = run(FIRST, after, corrects=corrects, verifies=True)
    assert steps(seen) == [BACK], "no plan that would wait for an approval"
    found = seen.after(FIRST)
    assert named(found) == left
    assert [(each.change, each.field) for each in found.taken_back] == TAKEN_BACK


def test_an_edit_drops_the_columns_that_it_lists_also_where_somebody_else_has_added_them() -> None:
    seen = run(FIRST, with_x(FIRST.columns[0], ZIP), approve=None)
    assert steps(seen) == ["drop column x", "drop field address.zip", BACK]
    assert named(seen.after(FIRST)) == []


def test_a_column_that_was_renamed_to_a_dropped_name_keeps_its_data() -> None:
    before = altered(id=3, columns=(*FIRST.columns, replace(X, name="y")), options=FIRST.options)
    seen = run(before, replace(before, id=4, columns=(*FIRST.columns, X)), verifies=True)
    assert steps(seen) == []
    assert named(seen.after(FIRST)) == [("ColumnRenamed", "y")]


def test_also_an_addition_that_the_status_does_not_list_any_more_is_kept() -> None:
    has_x = altered(columns=(*FIRST.columns, X), options=FIRST.options)
    assert steps(run(has_x, verifies=True, hidden=11)) == []


def marked(schema: TableSchema, **values: Any) -> TableSchema:
    """The schema as the run of the manifest leaves it."""
    marks = {"paimon-operator.owner": "o", "paimon-operator.options": "bucket,snapshot.num-retained.min"}
    return altered(schema, options={**schema.options, **MANIFEST.options, **marks}, **values)


def theirs(schema: TableSchema) -> TableSchema:
    """The schema after an ALTER of somebody else."""
    return altered(schema, options={**schema.options, "snapshot.time-retained": "5 h"})


THEIRS = [("OptionChanged", "snapshot.time-retained")]
CHANGED = altered()
OURS = marked(CHANGED)
AFTER_THEIRS = marked(theirs(CHANGED))
NOTHING_TO_DO = marked(FIRST, id=4)


@pytest.mark.parametrize(
    ("sentence", "before", "written", "left", "changes"),
    [
        ("the run alone", [FIRST, CHANGED], [OURS], OURS, []),
        ("an ALTER after it", [FIRST, CHANGED], [OURS, theirs(OURS)], OURS, []),
        ("an ALTER before it", [FIRST, CHANGED], [theirs(CHANGED), AFTER_THEIRS], AFTER_THEIRS, THEIRS),
        ("one before and one after", [FIRST, CHANGED], [theirs(CHANGED), AFTER_THEIRS, altered(AFTER_THEIRS)],
         AFTER_THEIRS, THEIRS),
        ("nothing to do", [NOTHING_TO_DO], [], NOTHING_TO_DO, []),
        ("an ALTER and nothing to do", [NOTHING_TO_DO], [theirs(NOTHING_TO_DO)], NOTHING_TO_DO, []),
    ],
)  # fmt: skip
def test_the_schema_of_the_last_own_commit_is_recorded_whatever_others_alter_meanwhile(
    sentence: str,
    before: list[TableSchema],
    written: list[TableSchema],
    left: TableSchema,
    changes: list[tuple[str, str]],
) -> None:
    files = Files(list(before))
    seen = replace(run(*before), schemas=files)
    assert seen.drift.latest == before[-1]
    marks = {"paimon-operator.owner": "o", "paimon-operator.options": "bucket,snapshot.num-retained.min"}
    files.schemas.extend(written)
    found = left_schema(seen, planned_edit(seen, is_own=True).alteration, marks)
    assert found.schema == left, sentence
    result = seen.after(found.schema, found.meanwhile)
    assert named(result) == changes, sentence
    assert result.schema_digest == left.digest


@pytest.mark.parametrize(("hidden", "expected"), [(0, ["option snapshot.time-retained: 5 h -> unset"]), (1, [])])
def test_what_may_have_been_changed_before_already_is_not_taken_back(hidden: int, expected: list[str]) -> None:
    seen = run(NOTHING_TO_DO, theirs(NOTHING_TO_DO), hidden=hidden, corrects=True, verifies=True)
    assert steps(seen) == expected
    assert named(seen.after(FIRST)) == ([] if expected else THEIRS)
    kept = DriftedField(change="OptionChanged", field="snapshot.time-retained", before="1 h", after="2 h")
    back = run(NOTHING_TO_DO, theirs(NOTHING_TO_DO), known=[kept], hidden=hidden, corrects=True, verifies=True)
    assert steps(back) == ["option snapshot.time-retained: 5 h -> 1 h"], "of a listed one the first value is known"


def test_of_an_order_that_is_taken_back_what_follows_the_declared_columns_is_left() -> None:
    note = Column(id=9, name="y", type=DataType("STRING"))
    before = replace(FIRST, columns=(*FIRST.columns, note))
    after = altered(before, columns=(FIRST.columns[1], FIRST.columns[0], note), options=FIRST.options)
    found = run(before, after, corrects=True, verifies=True).after(FIRST)
    assert [(each.change, each.before, each.after) for each in found.changes] == [
        ("ColumnsReordered", "id, address, y", "id, y, address")
    ]
