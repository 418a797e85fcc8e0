"""Values of Paimon's options in the notation of a manifest."""

from __future__ import annotations

from typing import Final

from paimon_engines.bounds import ValueKind
from paimon_engines.values import DURATION, SIZE, WHOLE, magnitude
from paimon_operator.api.table.options import (
    EXPLAINED_OPTIONS,
    FLINK_PREFIXES,
    OPTION_FIELDS,
    may_be_proposed,
)

_MILLISECONDS: Final = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000}
_BYTES: Final = {"Gi": 2**30, "Mi": 2**20}
_MOST_TIME, _MOST_SIZE = 99_999, 999_999
"""The largest numbers in a duration and in a size of a manifest."""
_MOST_NUMBER: Final = 2**31 - 1


def duration(text: str) -> str | None:
    """`90m` for `90 min`; None for a time that no manifest can hold, such as 1500 ms."""
    return _in_units(ValueKind.DURATION, text, _MILLISECONDS, _MOST_TIME)


def size(text: str) -> str | None:
    """`256Mi` for `256 mb`; None for a size that no manifest can hold, such as 64 kb."""
    return _in_units(ValueKind.SIZE, text, _BYTES, _MOST_SIZE)


def number(text: str) -> int | None:
    """The whole number of 1 or more; None for anything else."""
    word = text.strip()
    return int(word) if WHOLE.fullmatch(word) and 1 <= int(word) <= _MOST_NUMBER else None


def names(text: str) -> list[str]:
    """The names in a list with commas."""
    return [each for each in (part.strip() for part in text.split(",")) if each]


def may_stand_in_options(key: str) -> bool:
    """Whether `spec.options` of a manifest may have the option."""
    refused = key in OPTION_FIELDS or key in EXPLAINED_OPTIONS or key.startswith(FLINK_PREFIXES)
    return not refused and may_be_proposed(key)


def _in_units(kind: ValueKind, text: str, units: dict[str, int], most: int) -> str | None:
    word = text.strip().lower()
    if not {ValueKind.DURATION: DURATION, ValueKind.SIZE: SIZE}[kind].fullmatch(word):
        return None
    amount = int(magnitude(kind, word))
    for unit, factor in units.items():
        if amount % factor == 0 and 1 <= amount // factor <= most:
            return f"{amount // factor}{unit}"
    return None
