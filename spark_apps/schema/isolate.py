"""Finds the part of a definition that Paimon refuses.

Paimon's messages name options differently per version, and often not at all. So Paimon validates the definition again,
without one part or with one part more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def invalid_part(
    without: Iterable[tuple[str, T]], growing: Iterable[tuple[str, T]], check: Callable[[T], None]
) -> str | None:
    """The part without which `check` passes. When several are wrong: the first with which it fails, adding one by one.

    Both are pairs of a part's name and what to check: the whole without that part, or the whole as far as that part.
    """
    alone = next((part for part, rest in without if _passes(rest, check)), None)
    return alone or next((part for part, so_far in growing if not _passes(so_far, check)), None)


def _passes(what: T, check: Callable[[T], None]) -> bool:
    try:
        check(what)
    except Exception:  # noqa: BLE001  (refused, for any reason)
        return False
    return True
