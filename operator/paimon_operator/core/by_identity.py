"""An argument of a cached function that is compared by identity.

Objects of the API are immutable. A comparison of two by their values would take longer than what is cached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class ByIdentity(Generic[T]):
    """Holds the value: as long as it is in a cache, no other object has its identity."""

    value: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
