"""Paimon's data types, and which of them Spark cannot write. `type_parser` reads them from text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

NOT_NULL: Final = " NOT NULL"
NESTED: Final = frozenset(("ARRAY", "MAP", "MULTISET", "ROW"))
SPARK_TIMESTAMP_DIGITS: Final = 6
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class DataType:
    """A Paimon type. `args` holds a length, a precision or precision and scale; `children` the nested types."""

    name: str
    args: tuple[int, ...] = ()
    children: tuple[DataType, ...] = ()
    fields: tuple[str, ...] = ()
    """Names of a ROW's fields, in the order of `children`."""
    nullable: bool = True
    ids: tuple[int, ...] = field(default=(), compare=False, repr=False)
    """Paimon's ids of a ROW's fields, as a schema file has them: a field keeps its id when it is renamed."""
    comments: tuple[str | None, ...] = field(default=(), compare=False, repr=False)
    """Comments of a ROW's fields, as a schema file has them."""

    @property
    def is_nested(self) -> bool:
        """Whether it cannot be a key: ARRAY, MAP, MULTISET, ROW and VARIANT."""
        return self.name in NESTED or self.name == "VARIANT"

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


def _field_name(name: str) -> str:
    # A name that reads as a plain word needs no quotes; ROW<order INT> is as clear to Paimon as with them.
    return name if _PLAIN_NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"
