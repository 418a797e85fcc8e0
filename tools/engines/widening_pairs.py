"""The widenings that lose nothing, the extreme values of their types, and the places of a column where a type stands.

A number that becomes a text, a date that becomes a time and a time that changes its zone are no widenings: they change
what a value means. BINARY to a longer BINARY is none, because the value gets bytes that nobody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

INTEGERS: Final = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
"""Bits of each."""
_DECIMALS: Final = {
    "TINYINT": ("DECIMAL(3, 0)", "DECIMAL(12, 2)", "DECIMAL(38, 10)"),
    "SMALLINT": ("DECIMAL(5, 0)", "DECIMAL(12, 2)", "DECIMAL(38, 10)"),
    "INT": ("DECIMAL(10, 0)", "DECIMAL(12, 2)", "DECIMAL(38, 10)"),
    "BIGINT": ("DECIMAL(19, 0)", "DECIMAL(38, 10)"),
    # files hold up to 9 digits in 32 bits, up to 18 in 64, more in bytes; a row in memory up to 18 in 64 bits
    "DECIMAL(5, 2)": ("DECIMAL(9, 2)", "DECIMAL(9, 3)"),
    "DECIMAL(9, 2)": ("DECIMAL(10, 2)", "DECIMAL(18, 4)", "DECIMAL(19, 2)", "DECIMAL(38, 10)"),
    "DECIMAL(18, 2)": ("DECIMAL(19, 2)", "DECIMAL(19, 3)", "DECIMAL(38, 10)"),
    "DECIMAL(19, 2)": ("DECIMAL(20, 2)", "DECIMAL(38, 18)"),
}
_OTHERS: Final = {
    "TINYINT": ("FLOAT", "DOUBLE"),
    "SMALLINT": ("FLOAT", "DOUBLE"),
    "INT": ("DOUBLE",),
    "FLOAT": ("DOUBLE",),
    "CHAR(3)": ("CHAR(5)", "VARCHAR(3)", "VARCHAR(5)", "STRING"),
    "VARCHAR(3)": ("VARCHAR(5)", "STRING"),
    "BINARY(3)": ("VARBINARY(3)", "VARBINARY(5)", "BYTES"),
    "VARBINARY(3)": ("VARBINARY(5)", "BYTES"),
}
_FRACTIONS: Final = {0: (1, 3, 4, 6), 3: (4, 6), 4: (6,)}
"""Digits of a time, before and after: files hold up to 3 as milliseconds, up to 6 as microseconds."""


@dataclass(frozen=True)
class Widening:
    """One pair of types, as Paimon writes them."""

    before: str
    after: str

    @property
    def roots(self) -> tuple[str, str]:
        """Both types without their numbers."""
        return root(self.before), root(self.after)


def root(data_type: str) -> str:
    """DECIMAL of DECIMAL(10, 2)."""
    return data_type.partition("(")[0]


def lossless() -> Iterator[Widening]:
    """All pairs, each root with every boundary of its numbers at which a file or a row holds values differently."""
    for before, bits in INTEGERS.items():
        yield from (Widening(before, after) for after, more in INTEGERS.items() if more > bits)
    for listed in (_DECIMALS, _OTHERS):
        yield from (Widening(before, after) for before, afters in listed.items() for after in afters)
    for kind in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        for digits, more_digits in _FRACTIONS.items():
            yield from (Widening(f"{kind}({digits})", f"{kind}({more})") for more in more_digits)


def extremes(data_type: str) -> tuple[str, str, str]:
    """SQL of the least value of a type, of one between, and of the greatest."""
    name, numbers = root(data_type), [int(number) for number in re.findall(r"[0-9]+", data_type)]
    if name in INTEGERS:
        beyond = 2 ** (INTEGERS[name] - 1)
        return _cast(data_type, -beyond, -1, beyond - 1)
    if name == "DECIMAL":
        digits, scale = "9" * numbers[0], numbers[1]
        most = f"{digits[scale:]}.{digits[:scale]}".rstrip(".")
        return _cast(data_type, f"-{most}", f"-{10**-scale:.{scale}f}", most)
    if name in ("FLOAT", "DOUBLE"):
        return _cast(data_type, "-Infinity", "0.1", "3.4028235E38" if name == "FLOAT" else "1.7976931348623157E308")
    return _texts(name, *numbers) if name in _TEXTS else _times(name, *numbers)


_TEXTS: Final = frozenset(("CHAR", "VARCHAR", "STRING", "BINARY", "VARBINARY", "BYTES"))


def _texts(name: str, length: int = 5000) -> tuple[str, str, str]:
    fixed = name in ("CHAR", "BINARY")
    if name in ("CHAR", "VARCHAR", "STRING"):
        shortest = "a" * length if fixed else ""
        return f"'{shortest}'", f"'{'n' * length}'", f"'{'ß' * length}'"
    shortest = "00" * length if fixed else ""
    return f"X'{shortest}'", f"X'{'7f' * length}'", f"X'{'ff' * length}'"


def _times(name: str, digits: int) -> tuple[str, str, str]:
    fraction = "." + "987654"[:digits] if digits else ""
    word = "TIMESTAMP" if name == "TIMESTAMP_LTZ" else "TIMESTAMP_NTZ"
    # not the last second before 1970: ORC itself gives its fractions to the first second after it
    days = ("1900-01-01 00:00:00", "1969-12-31 23:59:58", "9999-12-31 23:59:59")
    least, between, greatest = (f"{word}'{day}{fraction}'" for day in days)
    return least, between, greatest


def _cast(data_type: str, *values: object) -> tuple[str, str, str]:
    least, between, greatest = (f"CAST('{value}' AS {data_type})" for value in values)
    return least, between, greatest


def widened(widening: Widening, value: str) -> str:
    """SQL of a value of the type before, as the type after."""
    if root(widening.after) in _TEXTS or root(widening.after).startswith("TIMESTAMP"):
        return value if root(widening.after) != "CHAR" else f"rpad({value}, {widening.after[5:-1]}, ' ')"
    return f"CAST({value} AS {widening.after})"


@dataclass(frozen=True)
class Place:
    """Where in a column a type stands: the column's type, the path of a change, SQL of a value, how a value is got."""

    type_of: Callable[[str], Any]
    path: tuple[str, ...]
    make: str
    get: Callable[[Any], Any]


PLACES: Final = {
    "column": Place(lambda data_type: data_type, (), "{}", lambda value: value),
    "field": Place(
        lambda data_type: {"type": "ROW", "fields": [{"id": 0, "name": "f", "type": data_type}]},
        ("f",),
        "named_struct('f', {})",
        lambda value: value["f"],
    ),
    "element": Place(
        lambda data_type: {"type": "ARRAY", "element": data_type}, ("element",), "array({})", lambda value: value[0]
    ),
    "value": Place(
        lambda data_type: {"type": "MAP", "key": "STRING NOT NULL", "value": data_type},
        ("value",),
        "map('x', {})",
        lambda value: value["x"],
    ),
}
