"""Rules about merging rows of the same key: merge engine, aggregates, sequences, changelog."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paimon_engines.engine import Engine
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.columns import AggregateFunction, Column
from paimon_operator.api.table.settings import SequenceGroup
from paimon_operator.api.table.spec import ChangelogProducerType, MergeEngineType, PaimonTableSpec
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.columns import column_types, missing_column
from paimon_operator.errors import SpecError
from paimon_schema.data_types import DataType

_AGGREGATING: Final = (MergeEngineType.AGGREGATION, MergeEngineType.PARTIAL_UPDATE)
_FIRST_ROW_PRODUCERS: Final = (ChangelogProducerType.NONE, ChangelogProducerType.LOOKUP)
_GROUPS: Final = "spec.mergeEngine.partialUpdate.sequenceGroups"
_NESTED: Final = (AggregateFunction.NESTED_UPDATE, AggregateFunction.NESTED_PARTIAL_UPDATE)


def merging_of(context: TableContext) -> Iterator[SpecError]:
    """Merge engine, column aggregates, sequence and sequence groups."""
    spec = context.spec
    yield from _needs_keys(spec)
    if spec.sequence is not None and engine_type(spec) is MergeEngineType.FIRST_ROW:
        yield SpecError(
            "spec.sequence", "FirstRow keeps the row that came first", "Remove sequence, or use Deduplicate."
        )
    known = column_types(spec)
    for index, column in enumerate(spec.table_schema.columns):
        if column.aggregate is not None:
            path = f"spec.schema.columns[{index}].aggregate"
            yield from _aggregate(spec, column, path)
            yield from _function(context.engine, column, known.get(column.name), path)
    yield from _sequence(spec)
    yield from _groups(spec)


def _needs_keys(spec: PaimonTableSpec) -> Iterator[SpecError]:
    keyed = bool(spec.table_schema.primary_keys)
    if spec.merge_engine is not None and not keyed:
        yield SpecError(
            "spec.mergeEngine",
            "rows merge by primary key, and there is none",
            "Set primaryKeys, or remove mergeEngine.",
        )
    if spec.sequence is not None and not keyed:
        yield SpecError(
            "spec.sequence", "rows merge by primary key, and there is none", "Set primaryKeys, or remove sequence."
        )


def changelog_of(context: TableContext) -> Iterator[SpecError]:
    """The changelog producer fits keys and merge engine."""
    producer = context.spec.changelog_producer
    if producer is None or producer.type is ChangelogProducerType.NONE:
        return
    if not context.spec.table_schema.primary_keys:
        yield SpecError(
            "spec.changelogProducer.type", "a changelog needs a primary key", "Use None, or set primaryKeys."
        )
    if engine_type(context.spec) is MergeEngineType.FIRST_ROW and producer.type not in _FIRST_ROW_PRODUCERS:
        yield SpecError(
            "spec.changelogProducer.type", f"FirstRow cannot make a changelog by {producer.type}", "Use None or Lookup."
        )


def engine_type(spec: PaimonTableSpec) -> MergeEngineType:
    """The merge engine; Deduplicate when the manifest names none."""
    return spec.merge_engine.type if spec.merge_engine else MergeEngineType.DEDUPLICATE


def sequence_groups(spec: PaimonTableSpec) -> tuple[SequenceGroup, ...]:
    """The sequence groups of PartialUpdate, empty without."""
    block = spec.merge_engine.partial_update if spec.merge_engine else None
    return block.sequence_groups if block else ()


def _aggregate(spec: PaimonTableSpec, column: Column, path: str) -> Iterator[SpecError]:
    """Whether this column may have an aggregate at all."""
    if engine_type(spec) not in _AGGREGATING:
        yield SpecError(
            path,
            f"{engine_type(spec)} does not aggregate, and Paimon would ignore this without a word",
            "Use the merge engine Aggregation or PartialUpdate, or remove aggregate.",
        )
    elif column.name in spec.table_schema.primary_keys:
        yield SpecError(path, "a primary key is the same in all rows that merge", "Remove aggregate.")
    elif _needs_group(spec, column):
        yield SpecError(
            path,
            f"PartialUpdate aggregates only columns of a sequence group, and {column.name!r} is in none",
            f"Add {column.name!r} to the columns of a sequence group.",
        )


def _needs_group(spec: PaimonTableSpec, column: Column) -> bool:
    if column.aggregate is None or engine_type(spec) is not MergeEngineType.PARTIAL_UPDATE:
        return False
    grouped = {name for group in sequence_groups(spec) for name in group.columns}
    return column.aggregate.function is not AggregateFunction.LAST_NON_NULL_VALUE and column.name not in grouped


def _function(engine: Engine, column: Column, data_type: DataType | None, path: str) -> Iterator[SpecError]:
    aggregate = column.aggregate
    if aggregate is None or data_type is None:
        return
    taken = engine.aggregate_functions.get(aggregate.function)
    if taken is None:
        yield SpecError(
            f"{path}.function",
            f"the engine {engine.id} has no function {aggregate.function}",
            f"Use one of: {', '.join(sorted(engine.aggregate_functions))}.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )
    elif type_root(data_type) not in taken:
        yield SpecError(
            f"{path}.function",
            f"{aggregate.function} cannot merge {data_type}",
            f"Use a column of type {' or '.join(sorted(taken))}, or another function.",
        )
    yield from _parameters(column, data_type, path)


def _parameters(column: Column, data_type: DataType, path: str) -> Iterator[SpecError]:
    aggregate = column.aggregate
    if aggregate is None:
        return
    function = aggregate.function
    if aggregate.delimiter is not None and function is not AggregateFunction.LISTAGG:
        yield SpecError(f"{path}.delimiter", f"{function} has no delimiter", "Remove it, or use listagg.")
    if aggregate.distinct and function not in (AggregateFunction.LISTAGG, AggregateFunction.COLLECT):
        yield SpecError(f"{path}.distinct", f"{function} has no distinct", "Remove it, or use listagg or collect.")
    fields = data_type.children[0].fields if data_type.name == "ARRAY" else ()
    for index, key in enumerate(aggregate.nested_key if function in _NESTED else ()):
        if key not in fields:
            yield SpecError(
                f"{path}.nestedKey[{index}]",
                f"{key!r} is not a field of the rows in {column.name!r}",
                f"Use one of: {', '.join(fields) or 'the column must be an ARRAY of ROW'}.",
            )


def _sequence(spec: PaimonTableSpec) -> Iterator[SpecError]:
    if spec.sequence is None:
        return
    if sequence_groups(spec):
        yield SpecError("spec.sequence", "sequence groups have sequence fields of their own", "Remove one of the two.")
    yield from _ordering(spec, spec.sequence.fields, "spec.sequence.fields")


def _ordering(spec: PaimonTableSpec, fields: tuple[str, ...], path: str) -> Iterator[SpecError]:
    """Sequence fields: each must name a column, once, of a comparable type, without an aggregate."""
    columns, known = {column.name: column for column in spec.table_schema.columns}, column_types(spec)
    for index, name in enumerate(fields):
        place = f"{path}[{index}]"
        if name not in columns:
            yield missing_column(spec, name, place)
        elif name in fields[:index]:
            yield SpecError(place, f"{name!r} is named twice", "Name it once.")
        elif columns[name].aggregate is not None:
            yield SpecError(place, f"{name!r} has an aggregate, and a sequence field must not", "Remove its aggregate.")
        elif name in known and known[name].is_nested:
            yield SpecError(place, f"values of type {known[name]} have no order", "Use a number, a time or a text.")


def _groups(spec: PaimonTableSpec) -> Iterator[SpecError]:
    owner: dict[str, int] = {}
    names = {column.name for column in spec.table_schema.columns}
    for number, group in enumerate(sequence_groups(spec)):
        path = f"{_GROUPS}[{number}]"
        yield from _ordering(spec, group.sequence_fields, f"{path}.sequenceFields")
        members = [(f"{path}.sequenceFields[{i}]", name) for i, name in enumerate(group.sequence_fields)]
        members += [(f"{path}.columns[{i}]", name) for i, name in enumerate(group.columns)]
        for place, name in members:
            # Groups with the same sequence fields would share one option key, and one of them would be lost.
            if owner.setdefault(name, number) != number:
                yield SpecError(
                    place, f"{name!r} is in the group {owner[name]} already", "Put each column into one group."
                )
        for index, name in enumerate(group.columns):
            if name not in names:
                yield missing_column(spec, name, f"{path}.columns[{index}]")
            elif name in spec.table_schema.primary_keys:
                yield SpecError(f"{path}.columns[{index}]", f"{name!r} is a primary key", "Leave it out of the group.")
            elif name in group.sequence_fields:
                yield SpecError(
                    f"{path}.columns[{index}]", f"{name!r} orders the group itself", "Leave it out of columns."
                )


def type_root(data_type: DataType) -> str:
    """The type's name in the engine's data, which lists arrays and maps of rows separately."""
    last = data_type.children[-1] if data_type.children else None
    if data_type.name in ("ARRAY", "MAP") and last is not None and last.name == "ROW":
        return f"{data_type.name}<ROW>"
    return data_type.name
