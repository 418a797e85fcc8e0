"""Rules about default values of columns: which columns may have one, and that the text is a value of the type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.columns import NO_DEFAULT, Column
from paimon_operator.api.table.spec import MergeEngineType
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.columns import column_types
from paimon_operator.core.validation.merging import engine_type
from paimon_operator.errors import SpecError
from paimon_schema.data_types import DataType

_MERGING: Final = (MergeEngineType.PARTIAL_UPDATE, MergeEngineType.AGGREGATION)
_INTEGERS: Final = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
"""Type -> bits."""
_WHOLE: Final = re.compile(r"-?[0-9]{1,19}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,38}(\.[0-9]{1,38})?")
_QUOTED: Final = re.compile("'.*'", re.DOTALL)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?")


def defaults_of(context: TableContext) -> Iterator[SpecError]:
    """Default values: the engine stores them, the column may have one, and the text fits the type."""
    known, keys = column_types(context.spec), _keys(context)
    for index, column in enumerate(context.spec.table_schema.columns):
        path = f"spec.schema.columns[{index}].defaultValue"
        if column.default_value is None:
            continue
        if not context.engine.stores_default_values:
            yield SpecError(
                path,
                f"the engine {context.engine.id} stores NULL and no default value",
                "Remove it, or use a catalog with a newer engine.",
                reason=Reason.UNSUPPORTED_BY_ENGINE,
            )
        if column.name in keys:
            yield SpecError(path, f"{column.name!r} is a key, which is never NULL", "Remove defaultValue.")
        if engine_type(context.spec) in _MERGING:
            yield SpecError(
                path,
                f"{engine_type(context.spec)} would merge it into rows where the column is absent",
                "Remove defaultValue, or use Deduplicate or FirstRow.",
            )
        if column.name in known:
            yield from _value(column, column.default_value, known[column.name], path)


def _keys(context: TableContext) -> set[str]:
    schema, bucket = context.spec.table_schema, context.spec.bucket
    return {*schema.primary_keys, *schema.partition_keys, *(bucket.fixed.keys if bucket and bucket.fixed else ())}


def _value(column: Column, text: str, data_type: DataType, path: str) -> Iterator[SpecError]:
    if not data_type.nullable:
        yield SpecError(
            path, f"{column.name!r} is NOT NULL, which is checked first", "Remove NOT NULL, or defaultValue."
        )
    if data_type.name in NO_DEFAULT or data_type.is_nested:
        yield SpecError(path, f"a column of type {data_type} has no default value", "Remove defaultValue.")
    elif _QUOTED.fullmatch(text):
        yield SpecError(path, f"Paimon takes the quotes off {text}", "Write the text without quotes around it.")
    elif not _FORMS[data_type.name](text, data_type):
        yield SpecError(path, f"{text!r} is no value of type {data_type}", f"Write {_EXAMPLES[data_type.name]}.")


def _is_whole(text: str, data_type: DataType) -> bool:
    bound = 2 ** (_INTEGERS[data_type.name] - 1)
    return _WHOLE.fullmatch(text) is not None and -bound <= int(text) < bound


def _is_decimal(text: str, data_type: DataType) -> bool:
    """Whether the number fits without rounding."""
    precision, scale = data_type.args if len(data_type.args) > 1 else (*(data_type.args or (10,)), 0)
    if not _NUMBER.fullmatch(text):
        return False
    places = Decimal(text).normalize().as_tuple()
    exponent = int(places.exponent)
    return -exponent <= scale and len(places.digits) + exponent <= precision - scale


def _is_short(text: str, data_type: DataType) -> bool:
    return not data_type.args or len(text) <= data_type.args[0]


def _is_time(pattern: re.Pattern[str], parse: Callable[[str], date]) -> Callable[[str, DataType], bool]:
    def fits(text: str, data_type: DataType) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        digits = len(text.partition(".")[2])
        return pattern.fullmatch(text) is not None and digits <= (data_type.args[0] if data_type.args else digits)

    return fits


_FORMS: Final[dict[str, Callable[[str, DataType], bool]]] = {
    **dict.fromkeys(_INTEGERS, _is_whole),
    "BOOLEAN": lambda text, _: text in ("true", "false"),
    "DECIMAL": _is_decimal,
    **dict.fromkeys(("FLOAT", "DOUBLE"), lambda text, _: _NUMBER.fullmatch(text) is not None),
    **dict.fromkeys(("STRING", "CHAR", "VARCHAR"), _is_short),
    "DATE": _is_time(_DATE, date.fromisoformat),
    "TIMESTAMP": _is_time(_TIMESTAMP, datetime.fromisoformat),
}
_EXAMPLES: Final = {
    **dict.fromkeys(_INTEGERS, "a whole number in the range of the type"),
    "BOOLEAN": "true or false",
    "DECIMAL": "a number with no more digits than the type has",
    **dict.fromkeys(("FLOAT", "DOUBLE"), "a number like 1.5"),
    **dict.fromkeys(("STRING", "CHAR", "VARCHAR"), "a text that is not longer than the type"),
    "DATE": "a date like 2026-01-31",
    "TIMESTAMP": "a time like 2026-01-31 12:00:00, with no more digits than the type has",
}
