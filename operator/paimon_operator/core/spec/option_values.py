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
from paimon_engines.values import DURATION, NUMBER, SIZE, WHOLE, magnitude


@dataclass(frozen=True)
class _Form:
    """The name and the test of one kind of value."""

    name: str
    reads: Callable[[str], bool]


_UNITS: Final = {ValueKind.SIZE: " bytes", ValueKind.DURATION: " ms"}
_LARGEST: Final = 2**63 - 1
"""Paimon holds bytes and milliseconds in 64 bits."""
_UNTRIMMED: Final = frozenset({ValueKind.BOOLEAN, ValueKind.INTEGER, ValueKind.LONG})
"""Kinds that Paimon does not read with a space around the value."""


def _whole(bound: int) -> Callable[[str], bool]:
    return lambda text: WHOLE.fullmatch(text) is not None and -bound <= int(text) < bound


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


_FORMS: Final = {
    ValueKind.BOOLEAN: _Form("true or false", ("true", "false").__contains__),
    ValueKind.INTEGER: _Form("a whole number of 32 bits", _whole(2**31)),
    ValueKind.LONG: _Form("a whole number of 64 bits", _whole(2**63)),
    ValueKind.FLOAT: _Form("a number", _matches(NUMBER)),
    ValueKind.DOUBLE: _Form("a number", _matches(NUMBER)),
    ValueKind.DURATION: _Form("a duration like '15 min'", _matches(DURATION)),
    ValueKind.SIZE: _Form("a size like '128 mb'", _matches(SIZE)),
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
    if option.kind in _UNITS and magnitude(option.kind, word) > _LARGEST:
        return f"{text!r} is not at most {_LARGEST}{_UNITS[option.kind]}"
    if option.range is None or option.range.contains(magnitude(option.kind, word)):
        return None
    return f"{text!r} is not {_described(option.range, _UNITS.get(option.kind, ''))}"


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
