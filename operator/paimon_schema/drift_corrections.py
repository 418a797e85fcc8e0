"""What becomes of drift: what a manifest settles, and what may be taken back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from paimon_schema.data_types import NOT_NULL, DataType
from paimon_schema.drift import NAMES, NEVER_NULL, DriftChange, DriftKind, is_others, is_shortened
from paimon_schema.level_count import fewer_levels
from paimon_schema.members import KEY
from paimon_schema.nested_changes import ELEMENT, VALUE
from paimon_schema.option_changes import COMMENTED_OPTION, OF_TABLE
from paimon_schema.order import wanted_order
from paimon_schema.plan import Capabilities, Plan, make_plan
from paimon_schema.steps import Change, Step
from paimon_schema.table_schema import Column, DeclaredColumn, DeclaredSchema, TableSchema
from paimon_schema.uses import DEFAULTED_OPTION, MANAGED_OPTION, columns_of_option, listed

_BY_ALTER: Final = {
    DriftKind.COLUMN_DROPPED,
    DriftKind.COLUMN_RENAMED,
    DriftKind.NULLABILITY_CHANGED,
    DriftKind.COLUMNS_REORDERED,
    DriftKind.DEFAULT_CHANGED,
    DriftKind.COLUMN_COMMENT_CHANGED,
    DriftKind.TABLE_COMMENT_CHANGED,
    DriftKind.OPTION_CHANGED,
}
"""Kinds that are taken back where the manifest declares the field: the plan of the manifest does it."""


def unresolved(changes: Iterable[DriftChange], declared: DeclaredSchema) -> tuple[DriftChange, ...]:
    """What is left of a drift once the table was made as declared: what the manifest does not declare."""
    wishes = _Declared(declared)
    return tuple(left for each in changes if (left := wishes.left_of(each)) is not None)


def is_settled(change: DriftChange, declared: DeclaredSchema) -> bool:
    """Whether the manifest declares what has changed."""
    return _Declared(declared).settles(change)


def asked_for(changes: Iterable[DriftChange], declared: DeclaredSchema, before: TableSchema) -> frozenset[DriftChange]:
    """The changes that the manifest asks for: also a run of the operator may have made them, and lost its result.

    `before` is the schema from which the changes lead.
    """
    wishes = _Declared(declared)
    return frozenset(each for each in changes if wishes.asks_for(each) or wishes.asks_to_remove(each, before))


@dataclass(frozen=True)
class Corrections:
    """What may be taken back of `changes` in `table`, which has them: metadata only, and never a column or a key."""

    table: TableSchema
    declared: DeclaredSchema
    changes: tuple[DriftChange, ...]
    engine: Capabilities

    @cached_property
    def plan(self) -> Plan:
        """The plan of the manifest. A declared column that was renamed by hand gets its name back with its data."""
        return make_plan(self.table, renamed_back(self.declared, self.changes), self.engine)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps after that plan, which take back what the manifest does not declare."""
        return tuple(step for each in self.changes if (step := self._step(each)) is not None)

    @cached_property
    def taken_back(self) -> tuple[DriftChange, ...]:
        """The changes that the plan and the steps take back; none where the plan is refused as a whole."""
        return () if self.plan.refusals else tuple(each for each in self.changes if self._is_taken_back(each))

    @cached_property
    def _wishes(self) -> _Declared:
        return _Declared(self.declared)

    @cached_property
    def _present(self) -> dict[str, Column]:
        return self.table.by_name

    @cached_property
    def _option_names(self) -> dict[str, str]:
        """Present name -> name in the table, of each option."""
        return {self.engine.present_name(key): key for key in self.table.options}

    def _is_taken_back(self, change: DriftChange) -> bool:
        if self._wishes.asks_for(change):
            return False
        if self._wishes.settles(change):
            return change.kind in _BY_ALTER and not _is_nested_rename(change)
        return self._step(change) is not None

    def _step(self, change: DriftChange) -> Step | None:
        """The step that takes back one change of what is not declared; None where none is legal or needed."""
        if self._wishes.settles(change) or is_shortened(change.before) or not change.is_sure:
            return None
        if change.kind is DriftKind.OPTION_CHANGED:
            return self._option_step(change)
        if change.kind is DriftKind.TABLE_COMMENT_CHANGED and self.table.comment == change.after:
            return Step(change=Change.SET_TABLE_COMMENT, before=change.after, after=change.before)
        return self._column_step(change)

    def _option_step(self, change: DriftChange) -> Step | None:
        key = self._option_names.get(change.field, change.field)
        is_present = self.table.options.get(key) == change.after
        if not is_present or not is_others(key) or not self.engine.changeable(change.field):
            return None
        step = Step(change=Change.SET_OPTION, option=change.field, before=change.after, after=change.before)
        if change.before is None:
            step = Step(change=Change.REMOVE_OPTION, option=key, before=change.after)
        # The levels that somebody has added may have files.
        return None if any(fewer_levels(self.table, [step], self.engine)) else step

    def _column_step(self, change: DriftChange) -> Step | None:
        present = self._present.get(change.field)
        if present is None:
            return None
        path, has, had = (change.field,), change.after, change.before
        if change.kind is DriftKind.COLUMN_COMMENT_CHANGED and present.comment == change.after:
            return Step(change=Change.SET_COLUMN_COMMENT, path=path, before=has, after=had)
        if change.kind is DriftKind.DEFAULT_CHANGED and present.default == change.after:
            return Step(change=Change.SET_DEFAULT, path=path, before=has, after=had)
        if change.kind is DriftKind.NULLABILITY_CHANGED and not present.type.nullable:
            return Step(change=Change.ALLOW_NULL, path=path)
        return None


def _is_nested_rename(change: DriftChange) -> bool:
    """Whether a field of a nested type was renamed. No plan renames it back: it adds the declared field beside it."""
    return change.kind is DriftKind.COLUMN_RENAMED and "." in change.field


def renamed_back(declared: DeclaredSchema, changes: Iterable[DriftChange]) -> DeclaredSchema:
    """The declaration with `renamed_from` for each declared column that somebody has renamed to another name."""
    names = {each.name for each in declared.columns}
    renames = (each for each in changes if each.kind is DriftKind.COLUMN_RENAMED and "." not in each.field)
    new = {each.field: each.after for each in renames if each.after not in names}
    columns = (replace(each, renamed_from=new.get(each.name, each.renamed_from)) for each in declared.columns)
    return replace(declared, columns=tuple(columns))


@dataclass(frozen=True)
class _Declared:
    """What a manifest says about changes."""

    schema: DeclaredSchema

    @cached_property
    def _columns(self) -> dict[str, DeclaredColumn]:
        return {each.name: each for each in self.schema.columns}

    def settles(self, change: DriftChange) -> bool:  # noqa: PLR0911  (one line per kind)
        """Whether the manifest declares the field, so that a table that is as declared has its value."""
        field, column = change.field, self._columns.get(change.field)
        match change.kind:
            case DriftKind.OPTION_CHANGED:
                dropped = set(columns_of_option(field)) & self.schema.dropped_columns
                return field in self.schema.options or bool(dropped)
            case DriftKind.COLUMN_COMMENT_CHANGED:
                return column is not None and bool(column.comment)
            case DriftKind.DEFAULT_CHANGED:
                return column is not None and column.default is not None
            case DriftKind.TABLE_COMMENT_CHANGED:
                return self.schema.comment is not None
            case DriftKind.COLUMN_RENAMED:
                return self._has(field) or self._has(change.after or "")
            case DriftKind.COLUMN_DROPPED | DriftKind.COLUMN_ADDED | DriftKind.TYPE_CHANGED:
                return self._has(field) or field in self.schema.dropped
            case DriftKind.NULLABILITY_CHANGED:
                return self._has(field)
            case DriftKind.COLUMNS_REORDERED:
                return self._moves_declared(change)
        return True

    def left_of(self, change: DriftChange) -> DriftChange | None:
        """What a table that is as declared still has of the change; None for nothing."""
        if not self.settles(change):
            return change
        if change.kind is DriftKind.COLUMNS_REORDERED:
            return self._order_left(change)
        if not _is_nested_rename(change) or self._has(change.after or ""):
            return None
        return DriftChange(kind=DriftKind.COLUMN_ADDED, field=change.after or "", after=str(self._type(change.field)))

    def _moves_declared(self, change: DriftChange) -> bool:
        """Whether columns that are declared are in another order: the plan of the manifest moves these back."""
        if is_shortened(change.before) or is_shortened(change.after):
            return False
        before, after = ([name for name in names if self._has(_path(change, name))] for names in _orders_of(change))
        return before != after

    def _order_left(self, change: DriftChange) -> DriftChange | None:
        """What is left of another order once the declared columns are moved back: what follows these moves along."""
        before, after = _orders_of(change)
        if set(before) != set(after):  # (a renamed one: it has its name back, if it is declared)
            return None
        names = [each.name for each in self.schema.columns] if not change.field else self._fields(change.field)
        order = wanted_order(after, [name for name in names if name in after])
        return None if order == before else replace(change, after=NAMES.join(order))

    def _fields(self, field: str) -> list[str]:
        type_ = self._type(field)
        return [] if type_ is None else list(type_.fields)

    def asks_for(self, change: DriftChange) -> bool:  # noqa: PLR0911  (one line per kind)
        """Whether the table is as the manifest says by the change, and not in spite of it."""
        field, column = change.field, self._columns.get(change.field)
        match change.kind:
            case DriftKind.OPTION_CHANGED:
                return change.after is not None and self.schema.options.get(field) == change.after
            case DriftKind.COLUMN_COMMENT_CHANGED:
                return column is not None and bool(column.comment) and column.comment == change.after
            case DriftKind.DEFAULT_CHANGED:
                return column is not None and column.default is not None and column.default == change.after
            case DriftKind.TABLE_COMMENT_CHANGED:
                return self.schema.comment is not None and self.schema.comment == change.after
            case DriftKind.COLUMN_RENAMED:
                return self._has(change.after or "")
            case DriftKind.COLUMN_DROPPED:
                return field in self.schema.dropped
            case DriftKind.COLUMN_ADDED:
                return self._has(field)
            case DriftKind.TYPE_CHANGED | DriftKind.NULLABILITY_CHANGED:
                return self._is_as_declared(change)
        return False

    def asks_to_remove(self, change: DriftChange, before: TableSchema) -> bool:
        """Whether a manifest had set what is gone, and this one does not: its removal was asked for."""
        if change.after is not None or self.settles(change):
            return False
        mark, name = {
            DriftKind.OPTION_CHANGED: (MANAGED_OPTION, change.field),
            DriftKind.COLUMN_COMMENT_CHANGED: (COMMENTED_OPTION, change.field),
            DriftKind.TABLE_COMMENT_CHANGED: (COMMENTED_OPTION, OF_TABLE),
            DriftKind.DEFAULT_CHANGED: (DEFAULTED_OPTION, change.field),
        }.get(change.kind, ("", ""))
        return bool(mark) and name in listed(before.options.get(mark, ""))

    def _is_as_declared(self, change: DriftChange) -> bool:
        declared = self._type(change.field)
        if declared is None:
            return False
        if change.kind is DriftKind.NULLABILITY_CHANGED:
            return declared.nullable == (change.after != NEVER_NULL)
        return str(declared).removesuffix(NOT_NULL) == change.after

    def _has(self, field: str) -> bool:
        return self._type(field) is not None

    def _type(self, field: str) -> DataType | None:
        """The declared type of a column, or of a nested field by its path; None for one that is not declared."""
        first, *rest = field.split(".")
        column = self._columns.get(first)
        found = None if column is None else column.type
        for name in rest:
            found = None if found is None else _inside(found, name)
        return found


def _orders_of(change: DriftChange) -> tuple[list[str], list[str]]:
    return (change.before or "").split(NAMES), (change.after or "").split(NAMES)


def _path(of: DriftChange, name: str) -> str:
    return f"{of.field}.{name}" if of.field else name


def _inside(of: DataType, name: str) -> DataType | None:
    if of.name == "ROW":
        return dict(zip(of.fields, of.children, strict=True)).get(name)
    members = {"MAP": (KEY, VALUE)}.get(of.name, (ELEMENT,) if of.children else ())
    return dict(zip(members, of.children, strict=True)).get(name)
