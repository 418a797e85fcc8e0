"""Steps that turn options and comments of a table into the declared ones.

What leaves the manifest is removed if a manifest had set it: two options of the table list that. What an adopted table
had before, and no manifest ever set, stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

from paimon_schema.steps import Change, Refusal, Step, option_step
from paimon_schema.table_schema import DeclaredSchema, TableSchema
from paimon_schema.uses import DEFAULTED_OPTION, MANAGED_OPTION, OF_FIELDS, SEQUENCE_GROUP, columns_of_option, listed

COMMENTED_OPTION: Final = "paimon-operator.comments"
"""As MANAGED_OPTION, for comments: the columns whose comment the manifest has set, and OF_TABLE."""
ASSIGNED_BY_PAIMON: Final = frozenset({"path", "type"})
OUR_PREFIX: Final = "paimon-operator."
"""Prefix of the options with which the operator marks its tables."""
OWNER_OPTION: Final = f"{OUR_PREFIX}owner"
"""Table option with the owner, `<cluster>/<namespace>/<name>`."""
OF_TABLE: Final = "<table>"
"""Stands for the table's own comment; no column can have this name."""


class OptionRules(Protocol):
    """What is known of an engine's options."""

    def canonical(self, options: Mapping[str, str]) -> dict[str, str]:
        """The options under their present names."""

    def present_name(self, key: str) -> str:
        """The present name of an option that may have an older one."""

    def default_of(self, key: str) -> str | None:
        """The value of an option that a table does not set."""

    def means_the_same(self, key: str, one: str | None, other: str | None) -> bool:
        """Whether two values of an option are one to Paimon: `1 h` and `60 min`. None is the default."""

    def changeable(self, key: str) -> bool:
        """Whether the option may change on a table that may hold data."""


class KnownOptions(OptionRules, Protocol):
    """The same, and which options are Paimon's."""

    def knows(self, key: str) -> bool:
        """Whether the option is one of Paimon. Spark and Hive add properties of their own to a table."""


def options_that_differ(
    has: Mapping[str, str], wants: Mapping[str, str], rules: KnownOptions
) -> Iterator[tuple[str, str | None, str | None]]:
    """Present name and both values of each option in which a table is not as declared; None: it is unset.

    Nothing is left out for which the table would be another one: only what Paimon assigns, what the operator marks, and
    properties of others that mean nothing to Paimon.
    """
    table, manifest = rules.canonical(has), rules.canonical(wants)
    for name in sorted(table.keys() | manifest.keys()):
        is_compared = not rules.changeable(name) or rules.knows(name)
        if not is_compared or name in ASSIGNED_BY_PAIMON or name.startswith(OUR_PREFIX):
            continue
        if not rules.means_the_same(name, table.get(name), manifest.get(name)):
            yield name, table.get(name), manifest.get(name)


def marks_of(declared: DeclaredSchema) -> dict[str, str]:
    """The options that record what this manifest sets."""
    defaults = [each.name for each in declared.columns if each.default is not None]
    lists = {MANAGED_OPTION: declared.options, COMMENTED_OPTION: _comments(declared), DEFAULTED_OPTION: defaults}
    return {option: ",".join(sorted(names)) for option, names in lists.items() if names}


@dataclass(frozen=True)
class OptionChanges:
    """The differences between the options of a table and the declared ones.

    `added` are the columns to be added, `kept` those that the manifest neither declares nor drops. Options of a column
    follow it when it is renamed: `new_names` is name in the table -> name after the renames.
    """

    table: TableSchema
    declared: DeclaredSchema
    added: frozenset[str]
    rules: OptionRules
    kept: frozenset[str] = frozenset()
    new_names: Mapping[str, str] = field(default_factory=dict)

    def moves(self) -> Iterator[Step | Refusal]:
        """Gives options of renamed columns to the new names. Older releases of Paimon do not do it."""
        moved = [(key, new) for key, new in self._names_after.items() if new != self.rules.present_name(key)]
        old = {key for key, _ in moved}
        for key, new in sorted(moved):
            if new in old:  # newer releases would give it on to the next name
                field = f"spec.schema.columns[{columns_of_option(new)[0]}].renamedFrom"
                problem = f"option {new} would be moved twice, because its column is renamed as well"
                yield Refusal(field, problem, "Rename the columns one after the other.")
            else:
                value = self.table.options[key]
                yield option_step(key, None, value)
                yield option_step(new, value)

    def steps(self) -> Iterator[Step | Refusal]:
        """What is set or removed, by name, and what cannot be."""
        for name, key, value in self._differences():
            if self.rules.changeable(name) or self._concerns_new_columns_only(name, value):
                yield option_step(key if value is None else name, value, self._has.get(name))
            else:
                yield self._refusal(name, value)

    def _differences(self) -> Iterator[tuple[str, str, str | None]]:
        """Present name, name in the table and declared value (None: removed) of each option that is not as declared."""
        has, wants = self._has, self.declared.options
        for name, value in sorted(wants.items()):
            if not self.rules.means_the_same(name, has.get(name), value):
                yield name, name, value
        left = {name for name in has if name not in wants and self._leaves(name)}
        for name, key in sorted((name, key) for key, name in self._names_after.items()):
            if name in left:
                yield name, key, None

    @cached_property
    def _has(self) -> dict[str, str]:
        return {self._name_after(name): value for name, value in self.rules.canonical(self.table.options).items()}

    @cached_property
    def _names_after(self) -> dict[str, str]:
        """Name of each option in the table -> its present name after the renames."""
        return {key: self._name_after(self.rules.present_name(key)) for key in self.table.options}

    def _name_after(self, name: str) -> str:
        """The name of an option after the renames."""
        columns = columns_of_option(name)
        if not self.new_names.keys() & set(columns):
            return name
        named = ",".join(self.new_names.get(each, each) for each in columns)
        return f"{OF_FIELDS}{named}.{name.rpartition('.')[2]}"

    def _leaves(self, name: str) -> bool:
        """Whether an option of the table that is not declared is removed, or, where it cannot be, is a difference."""
        if name.startswith(OUR_PREFIX) or name in ASSIGNED_BY_PAIMON:
            return False
        if set(columns_of_option(name)) & self.kept:
            return False
        if not self.rules.changeable(name) and not self._names_dropped(name):
            return not self.rules.means_the_same(name, self._has[name], None)
        return name in listed(self.table.options.get(MANAGED_OPTION, "")) or self._names_dropped(name)

    def _names_dropped(self, name: str) -> bool:
        """Whether the option is of a column that the manifest drops: Paimon refuses to keep it."""
        return bool(set(columns_of_option(name)) & self.declared.dropped_columns)

    def _concerns_new_columns_only(self, name: str, value: str | None) -> bool:
        """Whether the option changes nothing for the columns that hold data: it is of columns that are added."""
        if not name.startswith(OF_FIELDS):
            return False
        columns = columns_of_option(name)
        if name.endswith(f".{SEQUENCE_GROUP}"):
            before, after = (listed(each or "") for each in (self._has.get(name), value))
            keeps = set(before) <= set(after) and set(columns) <= self.added | set(before and columns)
            return value is not None and keeps and set(after) - set(before) <= self.added
        return bool(columns) and set(columns) <= self.added | self.declared.dropped_columns

    def _refusal(self, name: str, value: str | None) -> Refusal:
        has, wants = (_said(each) for each in (self._has.get(name, self.rules.default_of(name)), value))
        problem = f"option {name}: table has {has}, manifest has {wants}, and it cannot change once the table exists"
        return Refusal(f"spec.options[{name}]", problem, "Set it back, or create another table.")


def comment_steps(table: TableSchema, declared: DeclaredSchema, new_names: Mapping[str, str]) -> Iterator[Step]:
    """Comments of the columns that stay, and of the table. `new_names`: name in the table -> name after the renames."""
    wants = _comments(declared)
    left = set(listed(table.options.get(COMMENTED_OPTION, "")))
    for column in table.columns:
        name = new_names.get(column.name, column.name)
        wanted = wants.get(name, None if column.name in left else column.comment)
        if name not in declared.dropped_columns and column.comment != wanted:
            yield Step(change=Change.SET_COLUMN_COMMENT, path=(name,), before=column.comment, after=wanted)
    wanted = wants.get(OF_TABLE, None if OF_TABLE in left else table.comment)
    if table.comment != wanted:
        yield Step(change=Change.SET_TABLE_COMMENT, before=table.comment, after=wanted)


def _comments(declared: DeclaredSchema) -> dict[str, str]:
    """The comments of the manifest, by column; that of the table is OF_TABLE."""
    given = {column.name: column.comment for column in declared.columns} | {OF_TABLE: declared.comment}
    return {name: comment for name, comment in given.items() if comment}


def _said(value: str | None) -> str:
    return "unset" if value is None else value
