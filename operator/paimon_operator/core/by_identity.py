"""Results that belong to one object, by its identity.

Objects of the API are immutable. A comparison of two by their values would take longer than what is remembered.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class ResultOfEach(Generic[T, R]):
    """One result for each object. It is forgotten with the object, so a new version of it does not keep the old one."""

    def __init__(self, make: Callable[[T], R]) -> None:
        self._make = make
        self._known: dict[int, tuple[weakref.ref[T], R]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, value: T) -> R:
        """The result for the object, made once."""
        key = id(value)
        known = self._known.get(key)
        if known is not None and known[0]() is value:
            return known[1]
        result = self._make(value)
        self._known[key] = (weakref.ref(value, lambda _: self._known.pop(key, None)), result)
        return result
