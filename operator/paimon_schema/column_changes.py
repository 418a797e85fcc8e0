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
from paimon_schema.uses import DEFAULTED_OPTION, MANAGED_OPTION, columns_in_use, index_of, listed
from paimon_schema.widening import named_formats

_KEEP = "Columns that keys or merging use keep their name and their type: create another table."


@dataclass(frozen=True)
class Matching:
    """Which declared column is which column of the table."""

    table: TableSchema
    declared: DeclaredSchema

    @cached_property
    def pairs(self) -> dict[DeclaredColumn, Column]:
        """Declared column -> the column of the table that it is, under its name or under the one before."""
        has, renamed = self.table.by_name, self._renamed()
        taken = {present.name for present in renamed.values()}
        same = {each: has[each.name] for each in self.declared.columns if each.name in has and each.name not in taken}
        return renamed | same

    @cached_property
    def staying(self) -> list[str]:
        """The columns of the table after renames and drops, by their new names, in their order."""
        names = self.new_names
        dropped = self.declared.dropped_columns - names.keys()
        return [names.get(each.name, each.name) for each in self.table.columns if each.name not in dropped]

    @cached_property
    def kept(self) -> list[str]:
        """The columns of the table that the manifest neither declares nor drops."""
        declared = {each.name for each in self.declared.columns}
        return [name for name in self.staying if name not in declared]

    @cached_property
    def new_names(self) -> dict[str, str]:
        """Name in the table -> name after the renames, of each column that is declared."""
        return {present.name: column.name for column, present in self.pairs.items()}

    @cached_property
    def order(self) -> tuple[list[str], list[str]]:
        """The columns after renames, additions and drops, and then after the moves."""
        present, place = list(self.staying), FIRST
        for column in self.declared.columns:
            if column not in self.pairs:
                present.insert(present.index(place) + 1 if place else 0, column.name)
            place = column.name
        return present, wanted_order(present, [each.name for each in self.declared.columns])

    def _renamed(self) -> dict[DeclaredColumn, Column]:
        """The columns to rename, in an order in which each new name is free.

        A table that has the new name is done, unless that column is renamed as well.
        """
        has = self.table.by_name
        found: dict[DeclaredColumn, Column] = {}
        taken: set[str] = set()
        renamed = [each for each in self.declared.columns if each.renamed_from is not None]
        for _ in renamed:
            for column in renamed:
                old, is_free = column.renamed_from, column.name not in has or column.name in taken
                if column not in found and old is not None and old in has and old not in taken and is_free:
                    found[column] = has[old]
                    taken.add(old)
        return found


def columns_after(table: TableSchema | None, declared: DeclaredSchema) -> tuple[Column, ...]:
    """The columns after all steps: the declared ones, and those that the table keeps."""
    if table is None:
        return tuple(_plain(each, each.type, each.default) for each in declared.columns)
    matching, found = Matching(table, declared), table.by_name
    for column in declared.columns:
        present, path = matching.pairs.get(column), (column.name,)
        type_ = column.type if present is None else merged(path, present.type, column.type, declared.dropped)
        found[column.name] = _plain(
            column, type_, column.default if present is None else _default_after(table, present, column)
        )
    return tuple(found[name] for name in matching.order[1])


def _plain(column: Column, type_: DataType, default: str | None) -> Column:
    return Column(name=column.name, type=type_, comment=column.comment, default=default)


def _default_after(table: TableSchema, present: Column, column: DeclaredColumn) -> str | None:
    """The declared default; without one, that of the table, unless a manifest has set it."""
    was_set = present.name in listed(table.options.get(DEFAULTED_OPTION, ""))
    return column.default if column.default is not None or was_set else present.default


@dataclass(frozen=True)
class ColumnChanges:
    """The differences between the columns of a table and the declared ones."""

    table: TableSchema
    declared: DeclaredSchema
    engine: SchemaChanges

    def steps(self) -> Iterator[Step | Refusal]:
        """All steps after the renames, in the order in which they apply, and what is refused."""
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
    def _formats(self) -> frozenset[str]:
        return named_formats(self.table.options, self.declared.options)

    @cached_property
    def _in_use(self) -> dict[str, str]:
        return columns_in_use(self.table)

    def _used(self, name: str) -> tuple[str, str] | None:
        """What uses a column that would lose its name, and the remedy; None if nothing does."""
        if name in self._in_use:
            return self._in_use[name], _KEEP
        managed = listed(self.table.options.get(MANAGED_OPTION, ""))
        stay = {key: value for key, value in self.table.options.items() if key not in managed}
        index = index_of(name, {**stay, **self.declared.options})
        return None if index is None else ("a file index", f"Set spec.options[{index}] without it.")

    @cached_property
    def _similar(self) -> dict[str, str]:
        """The columns that stay and are not declared, by their names in lower case: Spark does not see the case."""
        return {name.lower(): name for name in self.matching.kept}

    def renames(self) -> Iterator[Step | Refusal]:
        """The renames, which come first, and what is refused of them."""
        for column, present in self.matched.items():
            if present.name == column.name:
                continue
            used, similar = self._used(present.name), self._similar.get(column.name.lower())
            if similar is not None:
                yield _differs_in_case(column.name, similar)
            elif used is not None:
                problem = f"column {present.name} is used by {used[0]}, so it is not renamed to {column.name}"
                yield Refusal(f"{COLUMNS}[{column.name}].renamedFrom", problem, used[1])
            else:
                yield Step(change=Change.RENAME_COLUMN, path=(present.name,), before=present.name, after=column.name)

    def _drops(self) -> Iterator[Step | Refusal]:
        kept = {present.name for present in self.matched.values()}
        for name in self.declared.dropped:
            if "." in name or name not in self.table.by_name or name in kept:
                continue
            used = self._used(name)
            if used is not None:
                problem = f"column {name} is used by {used[0]}: it is not dropped"
                yield Refusal("spec.schema.droppedColumns", problem, used[1])
            else:
                yield Step(change=Change.DROP_COLUMN, path=(name,))

    def _additions(self) -> Iterator[Step | Refusal]:
        place = FIRST
        for column in self.declared.columns:
            if column not in self.matched:
                yield from self._addition(column, place, self._similar.get(column.name.lower()))
            place = column.name

    def _addition(self, column: DeclaredColumn, place: str, similar: str | None) -> Iterator[Step | Refusal]:
        field, old = f"{COLUMNS}[{column.name}]", column.renamed_from
        if old is not None:
            problem = f"the table has neither column {column.name} nor {old}, from which it is to be renamed"
            yield Refusal(f"{field}.renamedFrom", problem, "Remove renamedFrom to add an empty column.")
        elif similar is not None:
            yield _differs_in_case(column.name, similar)
        elif not column.type.nullable:
            yield must_allow_null((column.name,))
        else:
            path = (column.name,)
            yield Step(change=Change.ADD_COLUMN, path=path, type=column.type, after=column.comment, place=place)
            if column.default is not None:
                yield Step(change=Change.SET_DEFAULT, path=path, after=column.default)

    def _changes(self, present: Column, column: DeclaredColumn) -> Iterator[Step | Refusal]:
        """Type and default of a column that stays. Its comment is in `option_changes`. A default that no manifest
        has set stays."""
        path = (column.name,)
        nested = NestedChanges(self.engine, self.declared.dropped, self._formats)
        changes = list(nested.steps(path, present.type, column.type))
        use = self._in_use.get(present.name)
        if changes and use is not None:
            problem = f"column {column.name} is used by {use}: it stays {present.type}"
            yield Refusal(f"{COLUMNS}[{column.name}].type", problem, _KEEP)
        else:
            yield from changes
        wanted = _default_after(self.table, present, column)
        if present.default != wanted:
            yield Step(change=Change.SET_DEFAULT, path=path, before=present.default, after=wanted)

    def _moves(self) -> Iterator[Step]:
        for name, before in moves(*self.matching.order):
            yield Step(change=Change.MOVE_COLUMN, path=(name,), place=before)


def _differs_in_case(name: str, kept: str) -> Refusal:
    problem = f"the table keeps column {kept}, which differs from {name} in case only"
    return Refusal(f"{COLUMNS}[{name}].name", problem, f"Name it {kept}, or list {kept} in droppedColumns.")
