"""What a worker works on: an object's address."""

from __future__ import annotations

from typing import NamedTuple

from paimon_operator.core.ports import Kind, Manifest


class Key(NamedTuple):
    """One object, whatever its UID: a re-created object of the same name is worked on under the same key."""

    kind: Kind
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def key_of(kind: Kind, body: Manifest) -> Key:
    """The address of `body`."""
    return Key(kind, body["metadata"]["namespace"], body["metadata"]["name"])
