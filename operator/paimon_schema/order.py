"""The order of columns: where those that the manifest does not declare stand, and the fewest moves to get there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from paimon_schema.steps import FIRST


def wanted_order(present: Sequence[str], declared: Sequence[str]) -> list[str]:
    """The order to reach: that of `declared`. A column that is not declared stays behind the one it follows now.

    `present` has all columns in their order now, `declared` some of them.
    """
    order, known = list(declared), set(declared)
    for place, name in enumerate(present):
        if name not in known:
            at = order.index(present[place - 1]) + 1 if place else 0
            order.insert(at, name)
            known.add(name)
    return order


def moves(present: Sequence[str], wanted: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The columns to move, one after the other, each with the column that precedes it then (FIRST: none).

    Both lists have the same names. Columns of a longest run that is in order already stay where they are.
    """
    places = {name: place for place, name in enumerate(wanted)}
    stay = _longest_in_order([places[name] for name in present])
    staying = {wanted[place] for place in stay}
    for place, name in enumerate(wanted):
        if name not in staying:
            yield name, wanted[place - 1] if place else FIRST


def _longest_in_order(places: Sequence[int]) -> list[int]:
    """A longest increasing part of `places`."""
    ends: list[int] = []
    at: list[int] = []
    for place in places:
        length = bisect_left(ends, place)
        if length == len(ends):
            ends.append(place)
        else:
            ends[length] = place
        at.append(length)
    found, length = [], len(ends) - 1
    for place, own in zip(reversed(places), reversed(at), strict=True):
        if own == length:
            found.append(place)
            length -= 1
    return found[::-1]
