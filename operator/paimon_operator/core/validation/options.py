"""Rules about Paimon options: the free options of a manifest, and those that typed fields make.

Paimon stores unknown keys and invalid values without an error, so they are checked against the engine's data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from paimon_engines.engine import Engine
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.options import (
    OPTION_FIELDS,
    RESERVED_OPTIONS,
    RESERVED_PREFIXES,
    RESERVED_WORDS,
    allowed_in_table,
    allowed_in_write,
)
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.paimon_options import table_options, value_problem
from paimon_operator.errors import SpecError

_WITH_A_PLACE: Final = re.compile(RESERVED_WORDS)
COLUMN_PREFIX: Final = "fields."
"""Prefix of options for single columns. Their keys contain the column's name, so no list contains them."""


def free_options_of(context: TableContext) -> Iterator[SpecError]:
    """`spec.options` and the options of each write."""
    yield from _free(context.engine, context.spec.options, "spec.options", allowed_in_table)
    for index, write in enumerate(context.spec.writes):
        yield from _free(context.engine, write.options, f"spec.writes[{index}].options", allowed_in_write)


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


def _free(engine: Engine, options: Mapping[str, str], path: str, allowed: Callable[[str], bool]) -> Iterator[SpecError]:
    for key, value in options.items():
        place = f"{path}[{key}]"
        if key in OPTION_FIELDS:
            yield SpecError(place, f"{key} has a field of its own", f"Set {OPTION_FIELDS[key]} instead.")
        elif key in RESERVED_OPTIONS or key.startswith(RESERVED_PREFIXES):
            yield SpecError(place, f"{key} belongs to columns, reads, the storage or the operator", "Remove it.")
        elif _WITH_A_PLACE.search(key):
            yield SpecError(place, f"{key} names a place, code or another table", "Remove it.")
        elif (option := engine.options.get(key)) is None:
            yield _unknown(engine, key, place)
        elif not allowed(key):
            yield SpecError(place, f"{key} is not an option that may be set here", "Remove it; see docs/tables.md.")
        elif problem := value_problem(option, value):
            yield SpecError(place, problem, f"Write a value of Paimon's kind {option.kind}.")


def _unknown(engine: Engine, key: str, place: str) -> SpecError:
    nearest = engine.nearest_option(key)
    remedy = f"Did you mean {nearest}? Otherwise remove it." if nearest else "Remove it."
    problem = f"Paimon {engine.paimon} ({engine.id}) knows no option {key!r}"
    return SpecError(place, problem, remedy, reason=Reason.UNKNOWN_OPTION)
