"""Values of Paimon's options: whether Paimon can read a text, and whether the value makes sense.

Paimon stores any text and fails when it first reads it, or later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from paimon_engines.bounds import Range, ValueKind
from paimon_engines.engine import Option


@dataclass(frozen=True)
class _Form:
    """The name and the test of one kind of value."""

    name: str
    reads: Callable[[str], bool]


_DURATION = re.compile(r"([0-9]{1,19}) ?(|d|days?|h|hours?|m|min|minutes?|s|sec|seconds?|ms|milli(?:s|seconds?)?)")
_SIZE = re.compile(r"([0-9]{1,19}) ?(|b|bytes|kb?|kibibytes|mb?|mebibytes|gb?|gibibytes|tb?|tebibytes)")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_BYTES: Final = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
"""By the unit's first letter."""
_MILLISECONDS: Final = {"": 1, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000}
"""By the unit's first letter, except milliseconds."""
_UNITS: Final = {ValueKind.SIZE: " bytes", ValueKind.DURATION: " ms"}
_LARGEST: Final = 2**63 - 1
"""Paimon holds bytes and milliseconds in 64 bits."""
_UNTRIMMED: Final = frozenset({ValueKind.BOOLEAN, ValueKind.INTEGER, ValueKind.LONG})
"""Kinds that Paimon does not read with a space around the value."""


def _whole(bound: int) -> Callable[[str], bool]:
    return lambda text: _WHOLE.fullmatch(text) is not None and -bound <= int(text) < bound


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


_FORMS: Final = {
    ValueKind.BOOLEAN: _Form("true or false", ("true", "false").__contains__),
    ValueKind.INTEGER: _Form("a whole number of 32 bits", _whole(2**31)),
    ValueKind.LONG: _Form("a whole number of 64 bits", _whole(2**63)),
    ValueKind.FLOAT: _Form("a number", _matches(_NUMBER)),
    ValueKind.DOUBLE: _Form("a number", _matches(_NUMBER)),
    ValueKind.DURATION: _Form("a duration like '15 min'", _matches(_DURATION)),
    ValueKind.SIZE: _Form("a size like '128 mb'", _matches(_SIZE)),
}


def value_problem(option: Option, text: str) -> str | None:
    """The problem with an option's value, as a clause that begins with the value; None if it is valid."""
    if option.kind is ValueKind.ENUM:
        # As Paimon reads enums: by their text, in any case.
        known = text.lower() in {value.lower() for value in option.values}
        return None if known else f"{text!r} is none of {', '.join(option.values)}"
    form = _FORMS.get(option.kind)
    if form is None:
        return None
    word = text.lower() if option.kind in _UNTRIMMED else text.strip().lower()
    if not form.reads(word):
        return f"{text!r} is not {form.name}"
    if option.kind in _UNITS and _magnitude(option.kind, word) > _LARGEST:
        return f"{text!r} is not at most {_LARGEST}{_UNITS[option.kind]}"
    if option.range is None or option.range.contains(_magnitude(option.kind, word)):
        return None
    return f"{text!r} is not {_described(option.range, _UNITS.get(option.kind, ''))}"


def size_in_bytes(text: str) -> int | None:
    """Bytes of a size like `64 kb`; None for a text that Paimon cannot read."""
    word = text.strip().lower()
    return int(_magnitude(ValueKind.SIZE, word)) if _SIZE.fullmatch(word) else None


def _magnitude(kind: ValueKind, word: str) -> float:
    """The number in a text that its form reads: bytes of a size, milliseconds of a duration."""
    if kind in (ValueKind.FLOAT, ValueKind.DOUBLE):
        return float(word)
    found = {ValueKind.SIZE: _SIZE, ValueKind.DURATION: _DURATION}.get(kind)
    match = found.fullmatch(word) if found else None
    if match is None:
        return int(word)
    if kind is ValueKind.SIZE:
        return int(match[1]) * _BYTES[match[2][:1]]
    return int(match[1]) * (1 if match[2].startswith(("ms", "mil")) else _MILLISECONDS[match[2][:1]])


def _described(limits: Range, unit: str) -> str:
    """The range in words: `from 1 to 22`, `at least 2`, `above 0 and below 1`, `-1 or at least 1`."""
    if limits.least is not None and limits.most is not None:
        words = [f"from {limits.least} to {limits.most}{unit}"]
    else:
        pairs = (("at least", limits.least), ("at most", limits.most), ("above", limits.above), ("below", limits.below))
        words = [f"{word} {number}{unit}" for word, number in pairs if number is not None]
    power = "a power of two " if limits.power_of_two else ""
    exceptions = "".join(f"{number} or " for number in limits.also)
    return exceptions + power + " and ".join(words)
