"""Builders of schemas, and a model of how Paimon applies the steps of a plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paimon_schema.data_types import DataType
from paimon_schema.option_changes import marks_of
from paimon_schema.plan import Plan, make_plan
from paimon_schema.steps import Change, Step
from paimon_schema.table_schema import Column, DeclaredColumn, DeclaredSchema, TableSchema
from paimon_schema.type_parser import parse

NESTED_CHANGES = frozenset({"addNestedField", "dropNestedField", "widenNestedField"})


@dataclass(frozen=True)
class EngineOf:
    """An engine that can do all that `schema_changes` says, and widens all but `unread`."""

    schema_changes: frozenset[str] = NESTED_CHANGES
    unread: frozenset[tuple[str, str]] = frozenset()
    frozen: frozenset[str] = frozenset({"bucket", "sequence.field"})
    defaults: Mapping[str, str] = field(default_factory=lambda: {"bucket": "-1", "file.format": "parquet"})

    def widens(self, old: str, new: str, formats: Collection[str]) -> bool:
        return (old, new) not in self.unread and set(formats) <= {"avro", "orc", "parquet"}

    def canonical(self, options: Mapping[str, str]) -> dict[str, str]:
        return {self.present_name(key): value for key, value in options.items()}

    def present_name(self, key: str) -> str:
        return key.removeprefix("old-")

    def default_of(self, key: str) -> str | None:
        return self.defaults.get(key)

    def means_the_same(self, key: str, one: str | None, other: str | None) -> bool:
        first, second = (self.default_of(key) if each is None else each.lower() for each in (one, other))
        return first == second

    def changeable(self, key: str) -> bool:
        return key not in self.frozen and not key.startswith("fields.")


ENGINE = EngineOf()


def columns(text: str) -> tuple[Column, ...]:
    """`id BIGINT NOT NULL; note STRING` as columns of a table."""
    pairs = (each.strip().partition(" ") for each in text.split(";"))
    return tuple(Column(name=name, type=parse(type_)) for name, _, type_ in pairs)


def table(text: str, *keys: str, **options: str) -> TableSchema:
    """A table with these columns and primary keys."""
    return TableSchema(columns=columns(text), primary_keys=keys, options=options)


def declared(
    text: str,
    *keys: str,
    renamed: Mapping[str, str] | None = None,
    dropped: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
) -> DeclaredSchema:
    """A manifest with these columns; `renamed` is new name -> old name."""
    old = renamed or {}
    given = tuple(DeclaredColumn(**vars(each), renamed_from=old.get(each.name)) for each in columns(text))
    return DeclaredSchema(columns=given, dropped=tuple(dropped), primary_keys=keys, options=options or {})


def plan(before: TableSchema, wanted: DeclaredSchema, engine: EngineOf = ENGINE) -> Plan:
    return make_plan(before, wanted, engine)


def sentences(of: Plan) -> list[str]:
    return [step.sentence for step in of.steps]


def applied(before: TableSchema, of: Plan, wanted: DeclaredSchema) -> TableSchema:
    """The table after the plan, as Paimon applies it, with the marks that the driver writes along."""
    after = before
    for step in of.steps:
        after = _apply(after, step)
    options = {key: value for key, value in after.options.items() if not key.startswith("paimon-operator.")}
    return replace(after, options=options | marks_of(wanted))


def _apply(to: TableSchema, step: Step) -> TableSchema:
    match step.change:
        case Change.SET_OPTION:
            assert step.option is not None
            assert step.after is not None
            return replace(to, options={**to.options, step.option: step.after})
        case Change.REMOVE_OPTION:
            return replace(to, options={key: value for key, value in to.options.items() if key != step.option})
        case Change.SET_TABLE_COMMENT:
            return replace(to, comment=step.after)
    found = list(to.columns)
    _change_columns(found, step)
    assert found, "Paimon: Cannot drop all fields in table"
    return replace(to, columns=tuple(found))


def _change_columns(found: list[Column], step: Step) -> None:
    names = [each.name for each in found]
    if step.change is Change.ADD_COLUMN and len(step.path) == 1:
        assert step.path[0] not in names
        assert step.type is not None
        assert step.type.nullable
        place = names.index(step.place) + 1 if step.place else 0
        found.insert(place, Column(name=step.path[0], type=step.type, comment=step.after))
        return
    at = names.index(step.path[0])
    match step.change:
        case Change.RENAME_COLUMN:
            assert step.after is not None
            assert step.after not in names
            found[at] = replace(found[at], name=step.after)
        case Change.DROP_COLUMN if len(step.path) == 1:
            del found[at]
        case Change.SET_COLUMN_COMMENT:
            found[at] = replace(found[at], comment=step.after)
        case Change.SET_DEFAULT:
            found[at] = replace(found[at], default=step.after)
        case Change.MOVE_COLUMN:
            assert step.place != step.path[0], "Paimon: Cannot move itself"
            assert step.place or at > 0, "Paimon: Cannot move itself"
            moved = found.pop(at)
            found.insert([each.name for each in found].index(step.place) + 1 if step.place else 0, moved)
        case _:
            found[at] = replace(found[at], type=_nested(found[at].type, step.path[1:], step))


def _nested(of: DataType, path: tuple[str, ...], step: Step) -> DataType:
    """The type after a step inside of it."""
    if not path:
        if step.change is Change.ALLOW_NULL:
            return replace(of, nullable=True)
        assert step.change is Change.WIDEN_TYPE
        assert step.type is not None
        return step.type
    if of.name != "ROW":
        assert path[0] == ("value" if of.name == "MAP" else "element")
        return replace(of, children=(*of.children[:-1], _nested(of.children[-1], path[1:], step)))
    fields = dict(zip(of.fields, of.children, strict=True))
    name = path[0]
    if len(path) == 1 and step.change is Change.ADD_COLUMN:
        assert name not in fields
        assert step.type is not None
        place = list(fields).index(step.place) + 1 if step.place else 0
        pairs = [*fields.items()]
        pairs.insert(place, (name, step.type))
        fields = dict(pairs)
    elif len(path) == 1 and step.change is Change.DROP_COLUMN:
        del fields[name]
        assert fields
    else:
        fields[name] = _nested(fields[name], path[1:], step)
    return replace(of, fields=tuple(fields), children=tuple(fields.values()))
