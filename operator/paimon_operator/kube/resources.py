"""Group, version and plural of each kind, and the paths that follow from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from paimon_operator.api.base import API_VERSION
from paimon_operator.core.naming import EXECUTOR_RIGHTS_PLURAL, PLURALS
from paimon_operator.core.ports import Kind


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind in the API. `api_version` as in a manifest (`v1`, `events.k8s.io/v1`), `plural` as in a path."""

    api_version: str
    plural: str
    namespaced: bool = True

    def path(self, namespace: str | None, name: str | None = None, *, sub: str | None = None) -> str:
        """The path of one object, its subresource, or the collection (of all namespaces when `namespace` is None)."""
        root = f"/api/{self.api_version}" if "/" not in self.api_version else f"/apis/{self.api_version}"
        inside = f"/namespaces/{quote(namespace, safe='')}" if self.namespaced and namespace is not None else ""
        tail = "".join(f"/{quote(part, safe='')}" for part in (name, sub) if part is not None)
        return f"{root}{inside}/{self.plural}{tail}"


RESOURCES: Final[dict[Kind, Resource]] = {
    **{kind: Resource(API_VERSION, plural) for kind, plural in PLURALS.items()},
    Kind.EXECUTOR_RIGHTS: Resource(API_VERSION, EXECUTOR_RIGHTS_PLURAL),
    Kind.POD: Resource("v1", "pods"),
    Kind.CONFIG_MAP: Resource("v1", "configmaps"),
    Kind.EVENT: Resource("events.k8s.io/v1", "events"),
    Kind.NAMESPACE: Resource("v1", "namespaces", namespaced=False),
}
LEASES: Final = Resource("coordination.k8s.io/v1", "leases")
_IN_NAMESPACE: Final = re.compile("/namespaces/([^/]+)/")


def namespace_of(path: str) -> str:
    """The namespace of a path of `Resource.path`; empty for a collection of all namespaces and for a namespace itself.

    The rate limit reads it from the path, so that no caller can forget it or take the turn of another namespace.
    """
    found = _IN_NAMESPACE.search(path)
    return found.group(1) if found else ""
