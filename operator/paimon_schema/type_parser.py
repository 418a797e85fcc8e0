"""Parser of Paimon's type texts: `DECIMAL(12,2)`, `ARRAY<ROW<sku STRING, n INT>>`, optionally ending in `NOT NULL`.

`parse` turns a text into a `DataType`. `canonical` writes it in one form, so that spaces and aliases are no edit.
Limits of precision and scale are those of Paimon's `DataTypes`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from paimon_schema.data_types import NESTED, DataType

MAX_LENGTH: Final = 2147483647
"""The length that turns VARCHAR into STRING and VARBINARY into BYTES."""
MAX_DEPTH: Final = 16
"""Deeper nesting is refused: the parser is recursive, and a manifest must not exhaust its stack."""

_TOKEN = re.compile(
    r"\s*(?:(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<quoted>`(?:[^`]|``)+`)|(?P<number>[0-9]+)|(?P<mark>[<>(),]))"
)
_SHORT: Final = 64
"""Characters of a text that is cached."""
_MARKS: Final = frozenset("<>(),")

_SIMPLE: Final = frozenset(
    ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "STRING", "BYTES", "VARIANT", "BLOB")
)
_DEFAULT_DECIMAL_PRECISION: Final = 10
_DEFAULT_DECIMAL_SCALE: Final = 0
_ALIASES: Final = {"INTEGER": "INT", "DEC": "DECIMAL", "NUMERIC": "DECIMAL"}
# name -> (default length, smallest, largest); Paimon's CharType, VarCharType, BinaryType, VarBinaryType
_LENGTHS: Final = {
    "CHAR": (1, 1, MAX_LENGTH),
    "VARCHAR": (1, 1, MAX_LENGTH),
    "BINARY": (1, 1, MAX_LENGTH),
    "VARBINARY": (1, 1, MAX_LENGTH),
    "TIME": (0, 0, 9),
    "TIMESTAMP": (6, 0, 9),
    "TIMESTAMP_LTZ": (6, 0, 9),
}


class TypeTextError(ValueError):
    """An invalid type text. The message is one clause with the problem; `remedy` is a sentence."""

    def __init__(
        self, problem: str, remedy: str = "Use a Paimon type such as BIGINT, DECIMAL(12,2) or TIMESTAMP(6)."
    ) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


def canonical(text: str) -> str:
    """The canonical form of a type text. Raises TypeTextError."""
    return str(parse(text))


def parse(text: str) -> DataType:
    """Reads a whole type text. Raises TypeTextError for anything that is not exactly one type.

    Short texts are cached: tables share few types, and every reconcile of a table parses all of its types. A text of
    2048 characters takes 50 KiB when parsed, so a tenant could fill the memory with a cache of those.
    """
    return _cached(text) if len(text) <= _SHORT else _parsed(text)


@lru_cache(maxsize=8192)
def _cached(text: str) -> DataType:
    return _parsed(text)


def _parsed(text: str) -> DataType:
    reader = _Reader(_tokens(text))
    result = reader.type_(depth=0)
    reader.end()
    return result


def _tokens(text: str) -> list[str]:
    found, position = [], 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise TypeTextError(f"{text[position:].strip()[:20]!r} is not part of a type")
        found.append(match.group().strip())
        position = match.end()
    return found


class _Reader:
    """A recursive-descent reader over tokens; every method consumes what it names."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._at = tokens, 0

    def end(self) -> None:
        if self._at < len(self._tokens):
            raise TypeTextError(f"{self._tokens[self._at]!r} follows after the end of the type")

    def type_(self, depth: int) -> DataType:
        if depth > MAX_DEPTH:
            raise TypeTextError(f"types are nested deeper than {MAX_DEPTH} levels")
        name = self._name()
        data_type = self._nested(name, depth) if name in NESTED else self._atomic(name)
        return replace(data_type, nullable=not self._not_null())

    def _name(self) -> str:
        word = self._take("a type name").upper()
        return _ALIASES.get(word, word)

    def _atomic(self, name: str) -> DataType:
        if name == "DOUBLE":
            self._skip("PRECISION")
        if name in _SIMPLE:
            return DataType(name)
        if name == "DECIMAL":
            return DataType(name, self._decimal())
        if name in _LENGTHS:
            return self._with_length(name)
        raise TypeTextError(f"{name[:40]!r} is not a Paimon type")

    def _with_length(self, name: str) -> DataType:
        default, smallest, largest = _LENGTHS[name]
        numbers = self._numbers(at_most=1)
        zone = self._time_zone(name)
        if name == "TIMESTAMP" and not numbers and not zone:
            raise TypeTextError(
                "a bare TIMESTAMP means one thing to Spark and another to Paimon",
                "Write TIMESTAMP(6) for a time without zone or TIMESTAMP_LTZ(6) for a point in time.",
            )
        length = numbers[0] if numbers else default
        if not smallest <= length <= largest:
            raise TypeTextError(f"{name}({length}) is outside {name}({smallest}) to {name}({largest})")
        if name in ("VARCHAR", "VARBINARY") and length == MAX_LENGTH:
            return DataType("STRING" if name == "VARCHAR" else "BYTES")
        return DataType("TIMESTAMP_LTZ" if zone == "LOCAL" else name, (length,))

    def _decimal(self) -> tuple[int, int]:
        numbers = self._numbers(at_most=2)
        precision = numbers[0] if numbers else _DEFAULT_DECIMAL_PRECISION
        scale = numbers[1] if len(numbers) > 1 else _DEFAULT_DECIMAL_SCALE
        if not 1 <= precision <= 38:  # noqa: PLR2004 - DecimalType.MAX_PRECISION
            raise TypeTextError(f"DECIMAL precision {precision} is outside 1 to 38")
        if scale > precision:
            raise TypeTextError(f"DECIMAL scale {scale} is larger than its precision {precision}")
        return precision, scale

    def _nested(self, name: str, depth: int) -> DataType:
        self._expect("<")
        if name == "ROW":
            return self._row(depth)
        children = [self.type_(depth + 1)]
        if name == "MAP":
            self._expect(",")
            children.append(self.type_(depth + 1))
        self._expect(">")
        return DataType(name, children=tuple(children))

    def _row(self, depth: int) -> DataType:
        names, children = [], []
        while True:
            names.append(self._column())
            children.append(self.type_(depth + 1))
            if not self._skip(","):
                break
        self._expect(">")
        if len({n.lower() for n in names}) < len(names):
            raise TypeTextError("a ROW has two fields of the same name", "Give every field of the ROW its own name.")
        return DataType("ROW", children=tuple(children), fields=tuple(names))

    def _column(self) -> str:
        token = self._take("a field name")
        return token[1:-1].replace("``", "`") if token.startswith("`") else token

    def _time_zone(self, name: str) -> str | None:
        """`WITH LOCAL TIME ZONE` and `WITHOUT TIME ZONE`, as Paimon writes them itself."""
        if name not in ("TIMESTAMP", "TIME"):
            return None
        if self._skip("WITHOUT"):
            self._expect("TIME", "ZONE")
            return "WITHOUT"
        if name == "TIMESTAMP" and self._skip("WITH"):
            self._expect("LOCAL", "TIME", "ZONE")
            return "LOCAL"
        return None

    def _numbers(self, at_most: int) -> list[int]:
        if not self._skip("("):
            return []
        numbers = [self._number()]
        while len(numbers) < at_most and self._skip(","):
            numbers.append(self._number())
        self._expect(")")
        return numbers

    def _number(self) -> int:
        token = self._take("a number")
        if not token.isdigit() or len(token) > len(str(MAX_LENGTH)):
            raise TypeTextError(f"{token[:20]!r} stands where a number belongs")
        return int(token)

    def _not_null(self) -> bool:
        if not self._skip("NOT"):
            return False
        self._expect("NULL")
        return True

    def _take(self, what: str) -> str:
        if self._at >= len(self._tokens):
            raise TypeTextError(f"the text ends where {what} belongs")
        self._at += 1
        found = self._tokens[self._at - 1]
        if found in _MARKS:
            raise TypeTextError(f"{found!r} stands where {what} belongs")
        return found

    def _skip(self, token: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at].upper() == token:
            self._at += 1
            return True
        return False

    def _expect(self, *tokens: str) -> None:
        for token in tokens:
            if not self._skip(token):
                found = self._tokens[self._at] if self._at < len(self._tokens) else "the end"
                raise TypeTextError(f"{token!r} belongs where {found[:20]!r} stands")
