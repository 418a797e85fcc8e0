"""The schema changes of which an engine is asked whether it can do them, each with what must come of it.

A case has columns of its own, so that all cases of one set of table options share a table. Names in a case are short;
the probe puts the case's name before the first part of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol


class Changes(Protocol):
    """SchemaChanges (Java) of the columns of a case. A path has dots, as in r.f for the field of a ROW."""

    def add(self, path: str, data_type: str) -> Any: ...
    def drop(self, path: str) -> Any: ...
    def rename(self, path: str, name: str) -> Any: ...
    def nullability(self, path: str, nullable: bool) -> Any: ...
    def comment(self, path: str, text: str) -> Any: ...
    def default(self, path: str, value: str) -> Any: ...
    def move_first(self, path: str) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is done, and what must be found. SQL has the case's columns in braces."""

    columns: Mapping[str, Any]
    """Name -> type in Paimon's JSON form."""
    before: Mapping[str, str]
    """Name -> SQL of the value in the row of before the change."""
    changes: Callable[[Changes], list[Any]]
    after: Mapping[str, str]
    """Name -> SQL of the value in the row of after the change."""
    schema: tuple[str, ...]
    """The columns that the change leaves, in their order: name, type and comment."""
    read: Mapping[str, tuple[Any, Any]]
    """SQL -> its value in both rows."""


@dataclass(frozen=True, kw_only=True)
class Renaming:
    """A rename in a table whose options name the column `a`, which must name `b` afterwards."""

    options: Mapping[str, str]
    columns: tuple[str, ...] = ("a",)
    """INT columns beside the key."""
    keys: tuple[str, ...] = ("k",)
    renamed: Mapping[str, str] = field(default_factory=lambda: {"a": "b"})


INT, BIGINT = "INT", "BIGINT"

COLUMN_CASES: Final[Mapping[str, Case]] = {
    "addColumn": Case(
        columns={"a": INT},
        before={"a": "1"},
        changes=lambda do: [do.add("b", BIGINT)],
        after={"a": "2", "b": "3"},
        schema=("a INT", "b BIGINT"),
        read={"{a}": (1, 2), "{b}": (None, 3)},
    ),
    "dropColumn": Case(
        columns={"a": INT, "b": INT},
        before={"a": "1", "b": "2"},
        changes=lambda do: [do.drop("a")],
        after={"b": "3"},
        schema=("b INT",),
        read={"{b}": (2, 3)},
    ),
    "renameColumn": Case(
        columns={"a": INT},
        before={"a": "1"},
        changes=lambda do: [do.rename("a", "b")],
        after={"b": "2"},
        schema=("b INT",),
        read={"{b}": (1, 2)},
    ),
    "moveColumn": Case(
        columns={"a": INT, "b": INT},
        before={"a": "1", "b": "2"},
        changes=lambda do: [do.move_first("b")],
        after={"a": "3", "b": "4"},
        schema=("b INT", "a INT"),
        read={"{a}": (1, 3), "{b}": (2, 4)},
    ),
    "columnComment": Case(
        columns={"a": INT},
        before={"a": "1"},
        changes=lambda do: [do.comment("a", "new")],
        after={"a": "2"},
        schema=("a INT 'new'",),
        read={"{a}": (1, 2)},
    ),
    "columnDefault": Case(
        columns={"a": INT},
        before={"a": "null"},
        changes=lambda do: [do.default("a", "7")],
        after={"a": "null"},
        schema=("a INT",),
        read={"{a}": (None, 7)},
    ),
    "relaxNullability": Case(
        columns={"a": "INT NOT NULL"},
        before={"a": "1"},
        changes=lambda do: [do.nullability("a", True)],
        after={"a": "null"},
        schema=("a INT",),
        read={"{a}": (1, None)},
    ),
    # only a column without nulls: Paimon looks at no row, reads old nulls as 0, and compacts them into unreadable files
    "tightenNullability": Case(
        columns={"a": INT},
        before={"a": "1"},
        changes=lambda do: [do.nullability("a", False)],
        after={"a": "2"},
        schema=("a INT NOT NULL",),
        read={"{a}": (1, 2)},
    ),
    "swapColumns": Case(
        columns={"a": INT, "b": INT},
        before={"a": "1", "b": "2"},
        changes=lambda do: [do.rename("a", "t"), do.rename("b", "a"), do.rename("t", "b")],
        after={"a": "3", "b": "4"},
        schema=("b INT", "a INT"),
        read={"{a}": (2, 3), "{b}": (1, 4)},
    ),
    "dropAndAddColumn": Case(
        columns={"a": INT, "b": INT},
        before={"a": "1", "b": "2"},
        changes=lambda do: [do.drop("a"), do.add("a", INT)],
        after={"a": "3", "b": "4"},
        schema=("b INT", "a INT"),
        read={"{a}": (None, 3), "{b}": (2, 4)},
    ),
    "renameAndAddColumn": Case(
        columns={"a": INT},
        before={"a": "1"},
        changes=lambda do: [do.rename("a", "b"), do.add("a", INT)],
        after={"a": "3", "b": "4"},
        schema=("b INT", "a INT"),
        read={"{a}": (None, 3), "{b}": (1, 4)},
    ),
}


@dataclass(frozen=True)
class Container:
    """Where a ROW stands: in a column, in an ARRAY or as a MAP's value. Each text has a place for the ROW's own."""

    type_of: Callable[[Any], Any]
    sql_type: str
    path: str
    make: str
    read: str


def _row(fields: Mapping[str, str]) -> dict[str, Any]:
    numbered = enumerate(fields.items())
    return {"type": "ROW", "fields": [{"id": n, "name": name, "type": kind} for n, (name, kind) in numbered]}


CONTAINERS: Final = (
    Container(lambda row: row, "{}", "a", "{}", "{{a}}.{}"),
    Container(lambda row: {"type": "ARRAY", "element": row}, "ARRAY<{}>", "a.element", "array({})", "{{a}}[0].{}"),
    Container(
        lambda row: {"type": "MAP", "key": "STRING NOT NULL", "value": row},
        "MAP<STRING NOT NULL, {}>",
        "a.value",
        "map('x', {})",
        "{{a}}['x'].{}",
    ),
)


def _nested(
    container: Container,
    change: Callable[[Changes, str], list[Any]],
    after: Mapping[str, int | None],
    schema: str,
    read: Mapping[str, tuple[Any, Any]],
) -> Case:
    """A case of a ROW with the INT fields x (1 before the change) and y (2), and z, which is NOT NULL (3)."""
    made = container.make.format
    return Case(
        columns={"a": container.type_of(_row({"x": INT, "y": INT, "z": "INT NOT NULL"}))},
        before={"a": made("named_struct('x', 1, 'y', 2, 'z', 3)")},
        changes=lambda do: change(do, container.path),
        after={"a": made(_struct(after))},
        schema=(f"a {container.sql_type.format(f'ROW<{schema}>')}",),
        read={container.read.format(name): values for name, values in read.items()},
    )


def _struct(fields: Mapping[str, int | None]) -> str:
    pairs = (f"'{name}', {'CAST(null AS INT)' if value is None else value}" for name, value in fields.items())
    return f"named_struct({', '.join(pairs)})"


def nested_cases() -> Iterator[tuple[str, Case]]:
    """Cases of a ROW's fields, each once per container: an engine can do it only if it can in all of them."""
    for container in CONTAINERS:
        yield from ((name, _nested(container, *rest)) for name, rest in _NESTED.items())


_NESTED: Final[Mapping[str, tuple[Any, ...]]] = {
    "addNestedField": (
        lambda do, at: [do.add(f"{at}.n", BIGINT)],
        {"x": 4, "y": 5, "z": 6, "n": 7},
        "`x` INT, `y` INT, `z` INT NOT NULL, `n` BIGINT",
        {"x": (1, 4), "y": (2, 5), "z": (3, 6), "n": (None, 7)},
    ),
    "dropNestedField": (
        lambda do, at: [do.drop(f"{at}.x")],
        {"y": 5, "z": 6},
        "`y` INT, `z` INT NOT NULL",
        {"y": (2, 5), "z": (3, 6)},
    ),
    "renameNestedField": (
        lambda do, at: [do.rename(f"{at}.x", "n")],
        {"n": 4, "y": 5, "z": 6},
        "`n` INT, `y` INT, `z` INT NOT NULL",
        {"n": (1, 4), "y": (2, 5), "z": (3, 6)},
    ),
    "renameTwoNestedFields": (
        lambda do, at: [do.rename(f"{at}.x", "n"), do.rename(f"{at}.y", "m")],
        {"n": 4, "m": 5, "z": 6},
        "`n` INT, `m` INT, `z` INT NOT NULL",
        {"n": (1, 4), "m": (2, 5), "z": (3, 6)},
    ),
    "moveNestedField": (
        lambda do, at: [do.move_first(f"{at}.y")],
        {"y": 5, "x": 4, "z": 6},
        "`y` INT, `x` INT, `z` INT NOT NULL",
        {"x": (1, 4), "y": (2, 5), "z": (3, 6)},
    ),
    "nestedComment": (
        lambda do, at: [do.comment(f"{at}.x", "new")],
        {"x": 4, "y": 5, "z": 6},
        "`x` INT 'new', `y` INT, `z` INT NOT NULL",
        {"x": (1, 4), "y": (2, 5), "z": (3, 6)},
    ),
    "relaxNestedNullability": (
        lambda do, at: [do.nullability(f"{at}.z", True)],
        {"x": 4, "y": 5, "z": None},
        "`x` INT, `y` INT, `z` INT",
        {"x": (1, 4), "y": (2, 5), "z": (3, None)},
    ),
    "dropAndAddNestedField": (
        lambda do, at: [do.drop(f"{at}.x"), do.add(f"{at}.x", INT)],
        {"y": 5, "z": 6, "x": 4},
        "`y` INT, `z` INT NOT NULL, `x` INT",
        {"x": (None, 4), "y": (2, 5), "z": (3, 6)},
    ),
}

RENAMINGS: Final[Mapping[str, Renaming]] = {
    "renamePrimaryKey": Renaming(options={}, renamed={"k": "b"}),
    "renameBucketKey": Renaming(options={"bucket-key": "a"}, keys=()),
    "renameSequenceField": Renaming(options={"sequence.field": "a"}),
    "renameAggregatedColumn": Renaming(options={"merge-engine": "aggregation", "fields.a.aggregate-function": "sum"}),
    "renameSequenceGroup": Renaming(
        options={"merge-engine": "partial-update", "fields.a.sequence-group": "c"}, columns=("a", "c")
    ),
    "renameColumnOfSequenceGroup": Renaming(
        options={"merge-engine": "partial-update", "fields.c.sequence-group": "a"}, columns=("a", "c")
    ),
    "renameTwoColumnsWithOptions": Renaming(
        options={
            "merge-engine": "aggregation",
            "fields.a.aggregate-function": "sum",
            "fields.c.aggregate-function": "max",
        },
        columns=("a", "c"),
        renamed={"a": "b", "c": "d"},
    ),
}
"""What must stand in the options afterwards: every name as the columns are called then."""
