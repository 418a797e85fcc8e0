"""What no jar tells about options, as types: ranges of values, kinds the jar states wrongly, keys with a free part.

Field names are those of option_bounds.yaml, which explains them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

Json = Mapping[str, Any]

_LIMITS: Final = ("min", "max", "above", "below", "also", "powerOfTwo")


class ValueKind(StrEnum):
    """What a value of an option has to look like."""

    BOOLEAN = "Boolean"
    INTEGER = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    DURATION = "Duration"
    SIZE = "MemorySize"
    ENUM = "Enum"
    TEXT = "String"


@dataclass(frozen=True, kw_only=True)
class Range:
    """The values that make sense: whole or broken numbers, bytes or milliseconds."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    """Larger than this; the number itself is out of the range."""
    below: float | None = None
    also: tuple[float, ...] = ()
    """Values outside of the range that have a meaning of their own."""
    power_of_two: bool = False
    source: str
    """Where Paimon checks or uses the value; `ours` where it checks nothing."""

    def contains(self, value: float) -> bool:
        """Whether the value makes sense."""
        if value in self.also:
            return True
        inside = (self.least is None or value >= self.least) and (self.most is None or value <= self.most)
        between = (self.above is None or value > self.above) and (self.below is None or value < self.below)
        return inside and between and (not self.power_of_two or int(value).bit_count() == 1)


@dataclass(frozen=True, kw_only=True)
class FreeOption:
    """Options whose keys have a free part."""

    pattern: re.Pattern[str]
    """Fits the whole key. Its group `index` is a file index, `column` a column of the table."""
    kind: ValueKind
    range: Range | None
    names_columns: bool
    """Whether the value lists columns of the table."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """All of option_bounds.yaml."""

    ranges: Mapping[str, Range] = field(default_factory=dict)
    kinds: Mapping[str, ValueKind] = field(default_factory=dict)
    free: tuple[FreeOption, ...] = ()


NO_BOUNDS: Final = Bounds()


def parse_bounds(document: Json) -> Bounds:
    """The bounds from the document of option_bounds.yaml. Raises KeyError for an entry without source."""
    return Bounds(
        ranges=MappingProxyType({key: _range(entry) for key, entry in document["ranges"].items()}),
        kinds=MappingProxyType({key: ValueKind(entry["kind"]) for key, entry in document["kinds"].items()}),
        free=tuple(_free(entry) for entry in document["free"]),
    )


def _range(entry: Json) -> Range:
    return Range(
        least=entry.get("min"),
        most=entry.get("max"),
        above=entry.get("above"),
        below=entry.get("below"),
        also=tuple(entry.get("also", ())),
        power_of_two=entry.get("powerOfTwo", False),
        source=entry["source"],
    )


def _free(entry: Json) -> FreeOption:
    return FreeOption(
        pattern=re.compile(entry["pattern"]),
        kind=ValueKind(entry["kind"]),
        range=_range(entry) if any(limit in entry for limit in _LIMITS) else None,
        names_columns=entry.get("column") == "value",
    )
