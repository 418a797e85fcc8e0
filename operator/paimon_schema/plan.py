"""The plan of an edit: the steps that turn a table into the declared one, or why it cannot be."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Final, Protocol

from paimon_schema.column_changes import ColumnChanges, columns_after
from paimon_schema.level_count import fewer_levels
from paimon_schema.nested_changes import SchemaChanges
from paimon_schema.option_changes import OptionChanges, OptionRules, comment_steps, marks_of
from paimon_schema.steps import Change, Refusal, Step, StepCost
from paimon_schema.table_schema import DeclaredSchema, TableSchema

HASH_LENGTH: Final = 16


class Capabilities(SchemaChanges, OptionRules, Protocol):
    """What is known of an engine."""


@dataclass(frozen=True)
class Plan:
    """The steps in the order in which they apply. With a refusal, none of them applies.

    `schema_id` is that of the table's schema from which they start.
    """

    steps: tuple[Step, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    schema_id: int = 0

    @cached_property
    def hash(self) -> str:
        """Identifies the plan: it is equal for equal steps from the same schema of the table only.

        An approval is of one plan. It must not count for a column that is added again later and dropped once more.
        """
        document = [self.schema_id, [step.document() for step in self.steps]]
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]

    @property
    def needs_approval(self) -> bool:
        """Whether it rewrites or loses data."""
        return any(step.cost is not StepCost.METADATA for step in self.steps)

    @property
    def commits(self) -> tuple[tuple[Step, ...], ...]:
        """The steps, divided into as few schema commits as possible.

        Newer releases of Paimon give options of a renamed column to its new name after all other steps of a commit.
        Options of a new column that takes the old name would go there too, so the renames, with the options that go
        along, are then a commit of their own.
        """
        renamed = tuple(takewhile(_goes_with_a_rename, self.steps))
        rest = self.steps[len(renamed) :]
        old = {step.path for step in renamed if step.change is Change.RENAME_COLUMN}
        if any(step.change is Change.ADD_COLUMN and step.path in old for step in rest):
            return (renamed, rest)
        return (self.steps,) if self.steps else ()


def make_plan(table: TableSchema, declared: DeclaredSchema, engine: Capabilities) -> Plan:
    """The plan that turns `table`, as it is now, into the declared one. Without a difference it has no step."""
    found = list(_changes(table, declared, engine))
    steps = tuple(each for each in found if isinstance(each, Step))
    refusals = tuple(each for each in found if isinstance(each, Refusal))
    return Plan(steps, (*refusals, *fewer_levels(table, steps, engine)), table.id)


def schema_after(table: TableSchema | None, declared: DeclaredSchema) -> TableSchema:
    """The schema of a table after its plan, or of a new table, with the options that record what the manifest sets.

    Options that the table has and the manifest does not declare are left out.
    """
    columns = columns_after(table, declared)
    return TableSchema(
        columns=columns,
        primary_keys=declared.primary_keys,
        partition_keys=declared.partition_keys,
        comment=declared.comment,
        options={**declared.options, **marks_of(declared)},
    )


def _changes(table: TableSchema, declared: DeclaredSchema, engine: Capabilities) -> Iterator[Step | Refusal]:
    yield from _keys(table, declared)
    columns = ColumnChanges(table, declared, engine)
    matching = columns.matching
    added = frozenset(each.name for each in declared.columns if each not in matching.pairs)
    options = OptionChanges(table, declared, added, engine, frozenset(matching.kept), matching.new_names)
    yield from columns.renames()
    yield from options.moves()
    yield from columns.steps()
    yield from comment_steps(table, declared, matching.new_names)
    yield from options.steps()


def _goes_with_a_rename(step: Step) -> bool:
    return step.change is Change.RENAME_COLUMN or step.option is not None


def _keys(table: TableSchema, declared: DeclaredSchema) -> Iterator[Refusal]:
    for what, field, has, wants in (
        ("primary key", "spec.schema.primaryKeys", table.primary_keys, declared.primary_keys),
        ("partition keys", "spec.schema.partitionKeys", table.partition_keys, declared.partition_keys),
    ):
        if has != wants:
            problem = f"{what}: table has {_listed(has)}, manifest has {_listed(wants)}"
            yield Refusal(field, problem, "Keys never change: set it back, or create another table.")


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"
