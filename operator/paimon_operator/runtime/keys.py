"""The key of an object: kind, namespace and name."""

from __future__ import annotations

from typing import NamedTuple

from paimon_operator.core.ports import Kind, Manifest


class Key(NamedTuple):
    """One object by its name. A recreated object has the same key."""

    kind: Kind
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def key_of(kind: Kind, body: Manifest) -> Key:
    """The key of `body`."""
    return Key(kind, body["metadata"]["namespace"], body["metadata"]["name"])
