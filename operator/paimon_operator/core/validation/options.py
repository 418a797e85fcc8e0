"""Rules about Paimon options: the free options of a manifest, and those that typed fields make.

Paimon stores unknown keys and invalid values without an error, so they are checked against the engine's data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from paimon_engines.engine import Engine, Option
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.options import (
    COLUMN_PREFIX,
    EXPLAINED_OPTIONS,
    FLINK_PREFIXES,
    OPTION_FIELDS,
    allowed_in_table,
    allowed_in_write,
    belongs_elsewhere,
    may_be_proposed,
    names_a_place,
)
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.option_values import value_problem
from paimon_operator.core.spec.paimon_options import field_of_option, table_options
from paimon_operator.errors import SpecError

_INDEX: Final = "file-index."


@dataclass(frozen=True, kw_only=True)
class _Given:
    """Free options of one block of the manifest."""

    engine: Engine
    options: Mapping[str, str]
    path: str
    allowed: Callable[[str], bool]
    columns: frozenset[str]


def free_options_of(context: TableContext) -> Iterator[SpecError]:
    """`spec.options` and the options of each write."""
    columns = frozenset(column.name for column in context.spec.table_schema.columns)
    blocks = [("spec.options", context.spec.options, allowed_in_table)]
    blocks += [
        (f"spec.writes[{n}].options", each.options, allowed_in_write) for n, each in enumerate(context.spec.writes)
    ]
    for path, options, allowed in blocks:
        given = _Given(engine=context.engine, options=options, path=path, allowed=allowed, columns=columns)
        for key, value in options.items():
            refused = list(_refused(given, key))
            yield from refused or _wrong(given, key, value)


def typed_options_of(context: TableContext) -> Iterator[SpecError]:
    """Typed fields whose option the engine does not have, or not with this value."""
    for key, value in table_options(context.spec, context.effective).items():
        field = OPTION_FIELDS.get(key)
        if field is None or key.startswith(COLUMN_PREFIX):
            continue
        option = context.engine.options.get(key)
        problem = f"no option {key}" if option is None else value_problem(option, value)
        if problem:
            lacks = f"the engine {context.engine.id} has " if option is None else f"for the engine {context.engine.id} "
            yield SpecError(
                field,
                lacks + problem,
                f"Remove {field.removeprefix('spec.')}, or use a catalog with a newer engine.",
                reason=Reason.UNSUPPORTED_BY_ENGINE,
            )


def _refused(given: _Given, key: str) -> Iterator[SpecError]:
    """At most one error: the key may not be set here, whatever its value."""
    place, option = f"{given.path}[{key}]", given.engine.option(key)
    because = _listed(key)
    if because is not None:
        yield SpecError(place, *because)
    elif option is None:
        yield _unknown(given.engine, key, place)
    elif not given.allowed(key):
        yield SpecError(place, f"{key} is not an option that may be set here", _other_name(option, given))


def _listed(key: str) -> tuple[str, str] | None:
    """Problem and remedy of a key that no block may set on any engine."""
    field = field_of_option(key)
    reasons = (
        (field != f"spec.options[{key}]", f"{key} has a field of its own", f"Set {field} instead."),
        (key in EXPLAINED_OPTIONS, *_explanation(key)),
        (key.startswith(FLINK_PREFIXES), f"{key} is an option of Flink, which has no effect here", "Remove it."),
        (belongs_elsewhere(key), f"{key} belongs to reads, the storage or the operator", "Remove it."),
        (names_a_place(key), f"{key} names a place, code or another table", "Remove it."),
    )
    return next(((problem, remedy) for applies, problem, remedy in reasons if applies), None)


def _explanation(key: str) -> tuple[str, str]:
    problem, _, remedy = EXPLAINED_OPTIONS.get(key, "").rpartition("; ")
    return f"{key} is {problem}", f"{remedy[:1].upper()}{remedy[1:]}."


def _other_name(option: Option, given: _Given) -> str:
    return f"Set {option.key} instead." if given.allowed(option.key) else "Remove it; see docs/tables.md."


def _unknown(engine: Engine, key: str, place: str) -> SpecError:
    nearest = engine.nearest_option(key, may_be_proposed)
    instead = f" Set {OPTION_FIELDS[nearest]} for it." if nearest in OPTION_FIELDS else ""
    remedy = f"Did you mean {nearest}?{instead} Otherwise remove it." if nearest else "Remove it."
    problem = f"Paimon {engine.paimon} ({engine.id}) knows no option {key!r}"
    return SpecError(place, problem, remedy, reason=Reason.UNKNOWN_OPTION)


def _wrong(given: _Given, key: str, value: str) -> Iterator[SpecError]:
    """A value that Paimon cannot read or that makes no sense, and names that are no columns."""
    option, place = given.engine.option(key), f"{given.path}[{key}]"
    if option is None:
        return
    if problem := value_problem(option, value):
        yield SpecError(place, problem, f"Write a value of Paimon's kind {option.kind} that is in its range.")
    for name in _columns_named(option, value):
        if name.partition("[")[0].partition(".")[0] not in given.columns:
            yield SpecError(place, f"{name!r} is not a column", f"Use one of: {', '.join(sorted(given.columns))}.")
    yield from _index_of(given, option, place)


def _columns_named(option: Option, value: str) -> Iterator[str]:
    """Columns in the key of an option with a free part, and in its value."""
    match = option.free.pattern.fullmatch(option.key) if option.free else None
    named = match.groupdict().get("column") if match else None
    if named is not None:
        yield named
    if option.free is not None and option.free.names_columns:
        yield from (name.strip() for name in value.split(","))


def _index_of(given: _Given, option: Option, place: str) -> Iterator[SpecError]:
    """An option of one column's index needs that index: Paimon fails at the first write without it."""
    match = option.free.pattern.fullmatch(option.key) if option.free else None
    groups = match.groupdict() if match else {}
    index, column = groups.get("index"), groups.get("column")
    if index is None or column is None:
        return
    listing = f"{_INDEX}{index}.columns"
    if column not in [name.strip().partition("[")[0] for name in given.options.get(listing, "").split(",")]:
        yield SpecError(place, f"{column!r} has no {index} index", f"Add {column!r} to the option {listing}.")
