"""The proof of an exported manifest: it is valid, and a table that it adopts stays exactly as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError

from paimon_engines.engine import Engine
from paimon_operator.api.base import Json, printable
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.edit_plan import declared_schema
from paimon_operator.core.spec.paimon_options import field_of_option
from paimon_operator.core.validation.table import broken_rules
from paimon_schema.data_types import not_writable
from paimon_schema.option_changes import options_that_differ
from paimon_schema.plan import Plan, make_plan
from paimon_schema.table_schema import TableSchema

COLUMNS: Final = "spec.schema.columns"
_OPTION: Final = re.compile(r"spec\.options\[(.*)\]")
_LEAVE: Final = "Leave the table to its present owner"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why a manifest does not declare exactly its table: the field, what is wrong (a clause), what to do (a sentence).

    `stays`: with adoptionPolicy Adopt the operator manages the table and keeps this as it is.
    """

    field: str
    problem: str
    remedy: str
    stays: bool = False


def problems_of(
    manifest: Json, schema: TableSchema, catalog: PaimonCatalog, engine: Engine, now: datetime
) -> tuple[Problem, ...]:
    """Everything in which the manifest would be refused, or would alter the table. Empty if it adopts the table."""
    unwritable = tuple(_unwritable(schema))
    try:
        table = PaimonTable.model_validate(manifest)
    except ValidationError as error:
        return unwritable or tuple(_invalid(error, manifest))
    facts = OperatorFacts(engines={engine.id: engine}, default_engine=engine.id, cluster_id="")
    context = TableContext.build(table, catalog, facts, now)
    broken = tuple(Problem(field=e.field, problem=e.problem, remedy=e.remedy) for e in broken_rules(context))
    return broken or tuple(_differences(context, schema))


def _unwritable(schema: TableSchema) -> Iterator[Problem]:
    for index, column in enumerate(schema.columns):
        why = not_writable(column.type)
        if why is not None:
            field = f"{COLUMNS}[{index}].type"
            yield Problem(field=field, problem=f"column {printable(column.name)}: {why}", remedy=f"{_LEAVE}.")


def _invalid(error: ValidationError, manifest: Json) -> Iterator[Problem]:
    for each in error.errors(include_url=False, include_context=False):
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in each["loc"]).lstrip(".")
        value = printable(str(_value_at(manifest, each["loc"])))
        yield Problem(
            field=path,
            problem=f"{value[:80]!r} cannot stand in a manifest ({each['msg']})",
            remedy=f"Alter the table, for example rename what has this name, or {_LEAVE[0].lower()}{_LEAVE[1:]}.",
        )


def _value_at(manifest: Json, path: tuple[int | str, ...]) -> Any:
    value: Any = manifest
    for part in path:
        is_there = part in value if isinstance(value, Mapping) else isinstance(value, list)
        value = value[part] if is_there else value
    return value


def _differences(context: TableContext, schema: TableSchema) -> Iterator[Problem]:
    """What the plan of the manifest would do, and options that AdoptIfIdentical does not overlook."""
    declared = declared_schema(context.desired)
    plan = make_plan(schema, declared, context.engine)
    yield from _of_plan(plan, context.engine, schema)
    named = {step.option for step in plan.steps} | {_option_of(each.field) for each in plan.refusals}
    for name, has, wants in options_that_differ(schema.options, declared.options, context.engine):
        if name not in named:
            yield Problem(
                field=field_of_option(name),
                problem=f"the table has {name}={has}, and a manifest cannot set that (it has {wants or 'none'})",
                remedy="Set adoptionPolicy to Adopt, which keeps the option, or remove it from the table.",
                stays=True,
            )


def _of_plan(plan: Plan, engine: Engine, schema: TableSchema) -> Iterator[Problem]:
    has = engine.canonical(schema.options)
    for refusal in plan.refusals:
        option = _option_of(refusal.field)
        if option is None:
            yield Problem(field=refusal.field, problem=refusal.sentence, remedy=f"{_LEAVE}, or create another one.")
            continue
        yield Problem(
            field=field_of_option(option),
            problem=f"no manifest can say {option}={has.get(option)}, and it cannot change once the table exists",
            remedy=f"{_LEAVE}, or create another one.",
        )
    for step in plan.steps:
        field = step.field if step.option is None else field_of_option(step.option)
        yield Problem(
            field=field,
            problem=f"no manifest can leave this as it is: {step.sentence}",
            remedy="Remove the comment signs if the table may be altered like that, or alter it first.",
        )


def _option_of(field: str) -> str | None:
    match = _OPTION.fullmatch(field)
    return None if match is None else match[1]
