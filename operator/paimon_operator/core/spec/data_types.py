"""Paimon's type texts: `DECIMAL(12,2)`, `ARRAY<ROW<sku STRING, n INT>>`, optionally ending in `NOT NULL`.

`parse` turns a text into a `DataType`. `canonical` writes it in one form, so that spaces and aliases are no edit.
Limits of precision and scale are those of Paimon's `DataTypes`. `not_writable` names the types that Spark cannot write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

MAX_LENGTH: Final = 2147483647
"""The length that turns VARCHAR into STRING and VARBINARY into BYTES."""

NOT_NULL: Final = " NOT NULL"

SPARK_TIMESTAMP_DIGITS: Final = 6
MAX_DEPTH: Final = 16
"""Deeper nesting is refused: the parser is recursive, and a manifest must not exhaust its stack."""

_TOKEN = re.compile(
    r"\s*(?:(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<quoted>`(?:[^`]|``)+`)|(?P<number>[0-9]+)|(?P<mark>[<>(),]))"
)
_MARKS: Final = frozenset("<>(),")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_INTEGERS: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_NUMERIC: Final = frozenset((*_INTEGERS, "FLOAT", "DOUBLE", "DECIMAL"))
_SIMPLE: Final = frozenset(("BOOLEAN", "DATE", "STRING", "BYTES", "VARIANT", "BLOB", *_NUMERIC - {"DECIMAL"}))
DEFAULT_DECIMAL_PRECISION: Final = 10
DEFAULT_DECIMAL_SCALE: Final = 0
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
_NESTED: Final = frozenset(("ARRAY", "MAP", "MULTISET", "ROW"))


class TypeTextError(ValueError):
    """An invalid type text. The message is one clause with the problem; `remedy` is a sentence."""

    def __init__(
        self, problem: str, remedy: str = "Use a Paimon type such as BIGINT, DECIMAL(12,2) or TIMESTAMP(6)."
    ) -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


@dataclass(frozen=True)
class DataType:
    """A Paimon type. `args` holds a length, a precision or precision and scale; `children` the nested types."""

    name: str
    args: tuple[int, ...] = ()
    children: tuple[DataType, ...] = ()
    fields: tuple[str, ...] = ()
    """Names of a ROW's fields, in the order of `children`."""
    nullable: bool = True

    @property
    def is_nested(self) -> bool:
        """Whether it cannot be a key: ARRAY, MAP, MULTISET, ROW and VARIANT."""
        return self.name in _NESTED or self.name == "VARIANT"

    def __str__(self) -> str:
        suffix = "" if self.nullable else NOT_NULL
        return self._body() + suffix

    def _body(self) -> str:
        if self.name == "ROW":
            inner = ", ".join(f"{_field_name(n)} {t}" for n, t in zip(self.fields, self.children, strict=True))
            return f"ROW<{inner}>"
        if self.children:
            return f"{self.name}<{', '.join(map(str, self.children))}>"
        if self.args:
            return f"{self.name}({','.join(map(str, self.args))})"
        return self.name


def canonical(text: str) -> str:
    """The canonical form of a type text. Raises TypeTextError."""
    return str(parse(text))


@lru_cache(maxsize=8192)
def parse(text: str) -> DataType:
    """Reads a whole type text. Raises TypeTextError for anything that is not exactly one type.

    Cached: tables share few types, and every reconcile of a table parses all of its types.
    """
    reader = _Reader(_tokens(text))
    result = reader.type_(depth=0)
    reader.end()
    return result


def paimon_json(data_type: DataType) -> str | dict[str, Any]:
    """The type as it stands in Paimon's schema files: a text, or an object for a nested type."""
    if not data_type.children:
        return str(data_type)
    name = data_type.name + ("" if data_type.nullable else NOT_NULL)
    children = [paimon_json(child) for child in data_type.children]
    if data_type.name == "ROW":
        named = enumerate(zip(data_type.fields, children, strict=True))
        fields = [{"id": number, "name": field, "type": child} for number, (field, child) in named]
        return {"type": name, "fields": fields}
    if data_type.name == "MAP":
        return {"type": name, "key": children[0], "value": children[1]}
    return {"type": name, "element": children[0]}


def not_writable(data_type: DataType) -> str | None:
    """Why Spark cannot fill a column of this type without loss, or None when it can (tests/spark/test_types)."""
    for child in data_type.children:
        if problem := not_writable(child):
            return problem
    name, args = data_type.name, data_type.args
    if name in ("TIME", "MULTISET", "VARIANT", "BLOB"):
        return f"Spark 3.5 has no type for {data_type._body()}"
    if name in ("TIMESTAMP", "TIMESTAMP_LTZ") and args > (SPARK_TIMESTAMP_DIGITS,):
        return f"Spark's timestamps have {SPARK_TIMESTAMP_DIGITS} digits, so {data_type._body()} would lose some"
    return None


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


def _field_name(name: str) -> str:
    # A name that reads as a plain word needs no quotes; ROW<order INT> is as clear to Paimon as with them.
    return name if _PLAIN_NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"


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
        data_type = self._nested(name, depth) if name in _NESTED else self._atomic(name)
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
        precision = numbers[0] if numbers else DEFAULT_DECIMAL_PRECISION
        scale = numbers[1] if len(numbers) > 1 else DEFAULT_DECIMAL_SCALE
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
