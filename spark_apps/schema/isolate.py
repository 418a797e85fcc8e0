"""Which part of something that Paimon refuses is to blame.

Paimon's messages name options in words of their own, differently per version, and often none: so Paimon is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def invalid_part(
    without: Iterable[tuple[str, T]], growing: Iterable[tuple[str, T]], check: Callable[[T], None]
) -> str | None:
    """The part without which `check` passes; when several are wrong, the first that is, adding one after the other.

    Both are pairs of a part's name and what to check: the whole without that part, or the whole as far as that part.
    """
    alone = next((part for part, rest in without if _passes(rest, check)), None)
    return alone or next((part for part, so_far in growing if not _passes(so_far, check)), None)


def _passes(what: T, check: Callable[[T], None]) -> bool:
    try:
        check(what)
    except Exception:  # noqa: BLE001  (refused, whatever for)
        return False
    return True
