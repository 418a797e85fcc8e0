"""Steps that turn the type of a column into the declared one, at any depth."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

from paimon_schema.data_types import NESTED, DataType
from paimon_schema.steps import COLUMNS, FIRST, Change, Refusal, Step
from paimon_schema.widening import Widenings, widening_problem

ELEMENT: Final = "element"
VALUE: Final = "value"
"""Paimon's names, in a path, for what an array and a map hold."""
_ANOTHER_COLUMN: Final = "Add a column of the new type instead, and fill it with a write."


class SchemaChanges(Widenings, Protocol):
    """What an engine can change."""

    @property
    def schema_changes(self) -> Collection[str]:
        """Names of the changes of nested types that were shown to work."""


@dataclass(frozen=True)
class NestedChanges:
    """The changes of one column's type.

    `dropped` are the paths that the manifest drops, with dots, and `formats` the file formats that the table's options
    name.
    """

    engine: SchemaChanges
    dropped: Collection[str]
    formats: Collection[str]

    def steps(self, path: tuple[str, ...], old: DataType, new: DataType) -> Iterator[Step | Refusal]:
        """The steps that make `old`, at `path`, `new`. What they leave is in `merged`."""
        if old == new:
            return
        if old.name == new.name and old.name in NESTED:
            yield from self._members(path, old, new)
        elif replace(old, nullable=new.nullable) != new:
            yield from self._widened(path, old, new)
        yield from _nullability(path, old, new)

    def _members(self, path: tuple[str, ...], old: DataType, new: DataType) -> Iterator[Step | Refusal]:
        if old.name == "ROW":
            yield from self._fields(path, old, new)
        elif old.name == "MAP" and old.children[0] != new.children[0]:
            yield _refused(path, f"the key of the map is {old.children[0]}, and a key keeps its type", _ANOTHER_COLUMN)
        else:
            inner = ELEMENT if old.name != "MAP" else VALUE
            yield from self.steps((*path, inner), old.children[-1], new.children[-1])

    def _fields(self, path: tuple[str, ...], old: DataType, new: DataType) -> Iterator[Step | Refusal]:
        has, wants = (dict(zip(each.fields, each.children, strict=True)) for each in (old, new))
        common = [name for name in new.fields if name in has]
        if common != [name for name in old.fields if name in wants]:
            yield _refused(path, "its fields are in another order", "Keep the order of the fields that exist.")
        yield from self._added(path, old, new)
        for name in old.fields:
            if name not in wants and self._drops((*path, name)):
                yield from self._allowed("dropNestedField", Step(change=Change.DROP_COLUMN, path=(*path, name)))
        for name in common:
            yield from self.steps((*path, name), has[name], wants[name])

    def _drops(self, path: tuple[str, ...]) -> bool:
        return ".".join(path) in self.dropped

    def _added(self, path: tuple[str, ...], old: DataType, new: DataType) -> Iterator[Step | Refusal]:
        before = FIRST
        kept = {name.lower(): name for name in old.fields if name not in new.fields and not self._drops((*path, name))}
        for name, type_ in zip(new.fields, new.children, strict=True):
            if name not in old.fields and name.lower() in kept:
                yield _differs_in_case((*path, name), kept[name.lower()])
            elif name not in old.fields:
                yield from self._addition((*path, name), type_, before)
            before = name

    def _addition(self, path: tuple[str, ...], type_: DataType, place: str) -> Iterator[Step | Refusal]:
        if not type_.nullable:
            yield must_allow_null(path)
        else:
            step = Step(change=Change.ADD_COLUMN, path=path, type=type_, place=place)
            yield from self._allowed("addNestedField", step)

    def _widened(self, path: tuple[str, ...], old: DataType, new: DataType) -> Iterator[Step | Refusal]:
        problem = widening_problem(old, new, self.engine, self.formats)
        if problem is not None:
            yield _refused(path, problem, _ANOTHER_COLUMN)
            return
        step = Step(change=Change.WIDEN_TYPE, path=path, before=str(old), type=replace(new, nullable=old.nullable))
        yield from [step] if len(path) == 1 else self._allowed("widenNestedField", step)

    def _allowed(self, change: str, step: Step) -> Iterator[Step | Refusal]:
        if change in self.engine.schema_changes:
            yield step
        else:
            yield _refused(step.path, "this engine cannot change fields of a nested type", _ANOTHER_COLUMN)


def merged(path: tuple[str, ...], old: DataType, new: DataType, dropped: Collection[str]) -> DataType:
    """The type after all steps: the declared one with the nested fields that are not declared and not dropped."""
    if old.name != new.name or old.name not in NESTED:
        return new
    if old.name != "ROW":
        inner = merged((*path, VALUE if old.name == "MAP" else ELEMENT), old.children[-1], new.children[-1], dropped)
        return replace(new, children=(*new.children[:-1], inner))
    fields = _merged_fields(path, old, new, dropped)
    return replace(new, fields=tuple(fields), children=tuple(fields.values()))


def _merged_fields(
    path: tuple[str, ...], old: DataType, new: DataType, dropped: Collection[str]
) -> dict[str, DataType]:
    """The fields in their order: a new one stands behind the one that it follows in the manifest."""
    has, wants = (dict(zip(each.fields, each.children, strict=True)) for each in (old, new))
    order = [name for name in old.fields if name in wants or ".".join((*path, name)) not in dropped]
    before = None
    for name in new.fields:
        if name not in has:
            order.insert(0 if before is None else order.index(before) + 1, name)
        before = name
    both = {name: merged((*path, name), has[name], wants[name], dropped) for name in has.keys() & wants.keys()}
    return {name: both.get(name) or wants.get(name) or has[name] for name in order}


def must_allow_null(path: tuple[str, ...]) -> Refusal:
    """The refusal of a new column or field that is NOT NULL: the rows that exist have no value for it."""
    return _refused(path, "a new column must allow NULL", "Remove NOT NULL from its type.")


def _differs_in_case(path: tuple[str, ...], kept: str) -> Refusal:
    remedy = f"Name it {kept}, or list {'.'.join((*path[:-1], kept))} in droppedColumns."
    return _refused(path, f"the table keeps field {kept}, which differs from it in case only", remedy)


def _nullability(path: tuple[str, ...], old: DataType, new: DataType) -> Iterator[Step | Refusal]:
    if old.nullable and not new.nullable:
        yield _refused(path, "it may hold NULL, and NOT NULL cannot be added", "Remove NOT NULL from its type.")
    elif new.nullable and not old.nullable:
        yield Step(change=Change.ALLOW_NULL, path=path)


def _refused(path: tuple[str, ...], problem: str, remedy: str) -> Refusal:
    return Refusal(f"{COLUMNS}[{path[0]}].type", f"column {'.'.join(path)}: {problem}", remedy)
