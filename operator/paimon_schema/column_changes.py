"""Steps that turn the columns of a table into the declared ones.

A step refers to a column by its name at that point of the plan: renames come first, then additions, drops, changes of
types, and moves. Additions come before drops, because a table always has a column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from paimon_schema.data_types import DataType
from paimon_schema.nested_changes import NestedChanges, SchemaChanges, merged, must_allow_null
from paimon_schema.order import moves, wanted_order
from paimon_schema.steps import COLUMNS, FIRST, Change, Refusal, Step
from paimon_schema.table_schema import Column, DeclaredColumn, DeclaredSchema, TableSchema
from paimon_schema.uses import columns_in_use

_KEEP = "Columns that keys or merging use keep their name and their type: create another table."


@dataclass(frozen=True)
class Matching:
    """Which declared column is which column of the table."""

    table: TableSchema
    declared: DeclaredSchema

    @cached_property
    def pairs(self) -> dict[DeclaredColumn, Column]:
        """Declared column -> the column of the table that it is, under its name or under the one before."""
        has = self.table.by_name
        renamed = {column: has[old] for column in self.declared.columns if (old := self._old_name(column)) is not None}
        taken = {present.name for present in renamed.values()}
        same = {each: has[each.name] for each in self.declared.columns if each.name in has and each.name not in taken}
        return renamed | same

    @cached_property
    def staying(self) -> list[str]:
        """The columns of the table after renames and drops, by their new names, in their order."""
        names = {present.name: column.name for column, present in self.pairs.items()}
        dropped = set(self.declared.dropped) - names.keys()
        return [names.get(each.name, each.name) for each in self.table.columns if each.name not in dropped]

    @cached_property
    def order(self) -> tuple[list[str], list[str]]:
        """The columns after renames, additions and drops, and then after the moves."""
        present, place = list(self.staying), FIRST
        for column in self.declared.columns:
            if column not in self.pairs:
                present.insert(present.index(place) + 1 if place else 0, column.name)
            place = column.name
        return present, wanted_order(present, [each.name for each in self.declared.columns])

    def _old_name(self, column: DeclaredColumn) -> str | None:
        """The name that the table has for a column that is to be renamed. A table with the new name is done."""
        has = self.table.by_name
        return column.renamed_from if column.name not in has and column.renamed_from in has else None


def columns_after(table: TableSchema | None, declared: DeclaredSchema) -> tuple[Column, ...]:
    """The columns after all steps: the declared ones, and those that the table keeps."""
    if table is None:
        return tuple(_plain(each, each.type) for each in declared.columns)
    matching, found = Matching(table, declared), table.by_name
    for column in declared.columns:
        present, path = matching.pairs.get(column), (column.name,)
        type_ = column.type if present is None else merged(path, present.type, column.type, declared.dropped)
        found[column.name] = _plain(column, type_)
    return tuple(found[name] for name in matching.order[1])


def _plain(column: Column, type_: DataType) -> Column:
    return Column(name=column.name, type=type_, comment=column.comment, default=column.default)


@dataclass(frozen=True)
class ColumnChanges:
    """The differences between the columns of a table and the declared ones."""

    table: TableSchema
    declared: DeclaredSchema
    engine: SchemaChanges

    def steps(self) -> Iterator[Step | Refusal]:
        """All steps, in the order in which they apply, and what is refused."""
        yield from self._renames()
        yield from self._additions()
        yield from self._drops()
        for column in self.declared.columns:
            if column in self.matched:
                yield from self._changes(self.matched[column], column)
        yield from self._moves()

    @cached_property
    def matching(self) -> Matching:
        """Which declared column is which column of the table."""
        return Matching(self.table, self.declared)

    @property
    def matched(self) -> dict[DeclaredColumn, Column]:
        """The pairs of `matching`."""
        return self.matching.pairs

    @cached_property
    def _in_use(self) -> dict[str, str]:
        return columns_in_use(self.table)

    def _renames(self) -> Iterator[Step | Refusal]:
        for column, present in self.matched.items():
            if present.name == column.name:
                continue
            use = self._in_use.get(present.name)
            if use is not None:
                problem = f"column {present.name} is used by {use}, so it is not renamed to {column.name}"
                yield Refusal(f"{COLUMNS}[{column.name}].renamedFrom", problem, _KEEP)
            else:
                yield Step(change=Change.RENAME_COLUMN, path=(present.name,), before=present.name, after=column.name)

    def _drops(self) -> Iterator[Step | Refusal]:
        kept = {present.name for present in self.matched.values()}
        for name in self.declared.dropped:
            if name not in self.table.by_name or name in kept:
                continue
            use = self._in_use.get(name)
            if use is not None:
                yield Refusal("spec.schema.droppedColumns", f"column {name} is used by {use}: it is not dropped", _KEEP)
            else:
                yield Step(change=Change.DROP_COLUMN, path=(name,))

    def _additions(self) -> Iterator[Step | Refusal]:
        stay = {name.lower(): name for name in self.matching.staying}
        place = FIRST
        for column in self.declared.columns:
            if column not in self.matched:
                yield from self._addition(column, place, stay.get(column.name.lower()))
            place = column.name

    def _addition(self, column: DeclaredColumn, place: str, similar: str | None) -> Iterator[Step | Refusal]:
        field, old = f"{COLUMNS}[{column.name}]", column.renamed_from
        if old is not None:
            problem = f"the table has neither column {column.name} nor {old}, from which it is to be renamed"
            yield Refusal(f"{field}.renamedFrom", problem, "Remove renamedFrom to add an empty column.")
        elif similar is not None:
            problem = f"the table keeps column {similar}, which differs from {column.name} in case only"
            yield Refusal(f"{field}.name", problem, f"Name it {similar}, or list {similar} in droppedColumns.")
        elif not column.type.nullable:
            yield must_allow_null((column.name,))
        else:
            path = (column.name,)
            yield Step(change=Change.ADD_COLUMN, path=path, type=column.type, after=column.comment, place=place)
            if column.default is not None:
                yield Step(change=Change.SET_DEFAULT, path=path, after=column.default)

    def _changes(self, present: Column, column: DeclaredColumn) -> Iterator[Step | Refusal]:
        """Type and default of a column that stays. Its comment is in `comment_changes`."""
        path = (column.name,)
        changes = list(NestedChanges(self.engine, self.declared.dropped).steps(path, present.type, column.type))
        use = self._in_use.get(present.name)
        if changes and use is not None:
            problem = f"column {column.name} is used by {use}: it stays {present.type}"
            yield Refusal(f"{COLUMNS}[{column.name}].type", problem, _KEEP)
        else:
            yield from changes
        if present.default != column.default:
            yield Step(change=Change.SET_DEFAULT, path=path, before=present.default, after=column.default)

    def _moves(self) -> Iterator[Step]:
        for name, before in moves(*self.matching.order):
            yield Step(change=Change.MOVE_COLUMN, path=(name,), place=before)
