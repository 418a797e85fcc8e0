"""The plan accepts a change of a column's type exactly where each value survives and the engine was shown to read it.

All pairs of the types below are tried, on every engine. What survives is computed from the values themselves.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import pytest

from paimon_engines.loader import load_engines
from paimon_schema.data_types import DataType
from paimon_schema.type_parser import parse
from tests.schema.schemas import declared, plan, table
from tools.engines.widening_pairs import lossless

TYPES: Final = sorted(
    {each.before for each in lossless()} | {each.after for each in lossless()}
    | {"BOOLEAN", "DATE", "CHAR(1)", "VARCHAR(1)", "DECIMAL(4, 4)", "DECIMAL(10, 0)", "DECIMAL(1, 0)", "BINARY(5)"}
    | {"ARRAY<INT>", "ARRAY<BIGINT>", "MAP<STRING, INT>", "MAP<STRING, BIGINT>", "ROW<a INT>"}
)  # fmt: skip
INTEGERS: Final = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
NUMBERS: Final = (*INTEGERS, "FLOAT", "DOUBLE", "DECIMAL")
TEXTS: Final = ("CHAR", "VARCHAR", "STRING")
BYTES: Final = ("BINARY", "VARBINARY", "BYTES")


@pytest.mark.parametrize("engine", load_engines().values(), ids=lambda engine: engine.id)
def test_the_plan_accepts_exactly_the_widenings_that_lose_nothing(engine: Any) -> None:
    wrong = []
    for before, after in itertools.permutations(TYPES, 2):
        legal = is_legal(parse(before), parse(after), engine)
        found = plan(table(f"v {before}"), declared(f"v {after}"), engine)
        if legal != (not found.refusals):
            wrong.append((before, after, legal, [str(each) for each in found.refusals]))
    assert wrong == []


def test_every_type_of_the_matrix_is_among_the_pairs() -> None:
    assert len(TYPES) > 40


def is_legal(old: DataType, new: DataType, engine: Any) -> bool:
    if old.name in ("ARRAY", "MAP") and new.name == old.name:
        nested = "widenNestedField" in engine.schema_changes
        return nested and is_legal(old.children[-1], new.children[-1], engine)
    if old.is_nested or new.is_nested:
        return False
    survive = all(holds(new, value, of) for of, value in values(old))
    formats = frozenset().union(*(each for of in engine.widenings.values() for each in of.values()))
    return survive and engine.widening_formats(old.name, new.name) == formats


def values(of: DataType) -> list[tuple[str, Any]]:
    """Values by which a type differs from narrower ones, each with its kind."""
    if of.name in INTEGERS:
        bound = 2 ** (INTEGERS[of.name] - 1)
        return [("number", Fraction(-bound)), ("number", Fraction(bound - 1))]
    if of.name == "DECIMAL":
        most = Fraction(10 ** of.args[0] - 1, 10 ** of.args[1])
        return [("number", most), ("number", -most)]
    if of.name in ("FLOAT", "DOUBLE"):
        form = "f" if of.name == "FLOAT" else "d"
        return [("real", struct.unpack(form, struct.pack(form, 0.1))[0]), ("real", float("inf"))]
    if of.name in (*TEXTS, *BYTES):
        kind = "text" if of.name in TEXTS else "bytes"
        length = of.args[0] if of.args else 2**31 - 1
        return [(kind, length), *([] if of.name in ("CHAR", "BINARY") else [(kind, 0)])]
    return [(of.name, of.args[0] if of.args else 0)]


def holds(of: DataType, value: Any, kind: str) -> bool:
    """Whether a type stores a value of this kind as it is, for every reader."""
    tests: dict[str, Callable[[], bool]] = {
        "number": lambda: of.name in NUMBERS and _holds_number(of, value),
        "real": lambda: of.name in ("FLOAT", "DOUBLE") and _as_real(of, value) == value,
        # Not every reader fills CHAR and BINARY up to their length.
        "text": lambda: of.name in TEXTS and of.name != "CHAR" and value <= (of.args[0] if of.args else 2**31),
        "bytes": lambda: of.name in BYTES and of.name != "BINARY" and value <= (of.args[0] if of.args else 2**31),
    }
    if kind in tests:
        return tests[kind]()
    return of.name == kind and bool(of.args) and bool(value <= of.args[0])


def _holds_number(of: DataType, value: Fraction) -> bool:
    if of.name in INTEGERS:
        bound = 2 ** (INTEGERS[of.name] - 1)
        return bool(value == int(value) and -bound <= value < bound)
    if of.name == "DECIMAL":
        scaled = value * 10 ** of.args[1]
        return bool(scaled == int(scaled) and abs(scaled) < 10 ** of.args[0])
    # A DECIMAL that becomes a real number is another kind of value, even where its digits would fit.
    return value == int(value) and Fraction(_as_real(of, float(value))) == value


def _as_real(of: DataType, value: float) -> float:
    form = "f" if of.name == "FLOAT" else "d"
    real: float = struct.unpack(form, struct.pack(form, value))[0]
    return real
