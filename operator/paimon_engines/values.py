"""Values of Paimon's options as texts: the number that a size, a duration or a number stands for. No I/O."""

from __future__ import annotations

import re
from typing import Final

from paimon_engines.bounds import ValueKind

DURATION: Final = re.compile(
    r"([0-9]{1,19}) ?(|d|days?|h|hours?|m|min|minutes?|s|sec|seconds?|ms|milli(?:s|seconds?)?)"
)
SIZE: Final = re.compile(r"([0-9]{1,19}) ?(|b|bytes|kb?|kibibytes|mb?|mebibytes|gb?|gibibytes|tb?|tebibytes)")
NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]{1,3})?")
WHOLE: Final = re.compile(r"[+-]?[0-9]{1,19}")
_FORMS: Final = {
    ValueKind.INTEGER: WHOLE,
    ValueKind.LONG: WHOLE,
    ValueKind.FLOAT: NUMBER,
    ValueKind.DOUBLE: NUMBER,
    ValueKind.DURATION: DURATION,
    ValueKind.SIZE: SIZE,
}
_BYTES: Final = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
"""By the unit's first letter."""
_MILLISECONDS: Final = {"": 1, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000}
"""By the unit's first letter, except milliseconds."""
_ANY_CASE: Final = (ValueKind.BOOLEAN, ValueKind.ENUM)


def magnitude(kind: ValueKind, word: str) -> float:
    """The number in a text of the kind's form, in lower case: bytes of a size, milliseconds of a duration."""
    if kind in (ValueKind.FLOAT, ValueKind.DOUBLE):
        return float(word)
    found = {ValueKind.SIZE: SIZE, ValueKind.DURATION: DURATION}.get(kind)
    match = found.fullmatch(word) if found else None
    if match is None:
        return int(word)
    if kind is ValueKind.SIZE:
        return int(match[1]) * _BYTES[match[2][:1]]
    return int(match[1]) * (1 if match[2].startswith(("ms", "mil")) else _MILLISECONDS[match[2][:1]])


def size_in_bytes(text: str) -> int | None:
    """Bytes of a size like `64 kb`; None for a text that Paimon cannot read."""
    word = text.strip().lower()
    return int(magnitude(ValueKind.SIZE, word)) if SIZE.fullmatch(word) else None


def duration_in_ms(text: str) -> int | None:
    """Milliseconds of a duration like `1 h`; None for a text that Paimon cannot read."""
    word = text.strip().lower()
    return int(magnitude(ValueKind.DURATION, word)) if DURATION.fullmatch(word) else None


def meaning(kind: ValueKind, text: str) -> str | float:
    """What two spellings of one value share: `1 h` and `60 min`, `TRUE` and `true`. Other texts mean themselves."""
    word, form = text.strip().lower(), _FORMS.get(kind)
    if form is not None and form.fullmatch(word):
        return magnitude(kind, word)
    return word if kind in _ANY_CASE else text
