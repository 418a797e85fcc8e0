"""The rights that the operator's account needs, and those that it must not have. `helm test` checks each of them.

A test compares this table with the rules of the chart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

_OURS: Final = "paimon-operator.dev"
_LEASES: Final = "coordination.k8s.io"
_RBAC: Final = "rbac.authorization.k8s.io"
_ADMISSION: Final = "admissionregistration.k8s.io"
IDENTITY_NAMESPACE: Final = "kube-system"
"""Its UID identifies the cluster."""
EVERYWHERE: Final = ""
"""Stands for all namespaces."""


@dataclass(frozen=True, slots=True)
class Right:
    """One verb on one resource (`pods/exec`), optionally of one name only."""

    verb: str
    group: str
    resource: str
    name: str = ""

    def __str__(self) -> str:
        plural, _, sub = self.resource.partition("/")
        full = f"{plural}.{self.group}" if self.group else plural
        return f"{self.verb} {full}{'/' + sub if sub else ''}{' ' + self.name if self.name else ''}"


@dataclass(frozen=True, slots=True)
class Question:
    """One right in one namespace, and whether the account must have it."""

    right: Right
    namespace: str
    allowed: bool


def _rights(group: str, resources: str, verbs: str, *, name: str = "") -> tuple[Right, ...]:
    return tuple(Right(verb, group, resource, name) for resource, verb in product(resources.split(), verbs.split()))


def where_watched(lease: str) -> tuple[Right, ...]:
    """The rights in each watched namespace."""
    return (
        *_rights(_OURS, "paimoncatalogs paimontables paimonruns", "get list watch patch"),
        *_rights(_OURS, "paimonruns", "create delete"),
        *_rights(_OURS, "paimoncatalogs/status paimontables/status paimonruns/status", "patch"),
        *_rights(_OURS, "paimontables/finalizers paimonruns/finalizers", "update"),
        *_rights("", "pods", "get list watch create delete patch"),
        *_rights(_OURS, "paimonexecutorrights", "get create"),
        *_rights("", "configmaps", "get create"),
        *_rights("events.k8s.io", "events", "get create patch"),
        *_rights(_LEASES, "leases", "get list watch create patch", name=f"{lease}-canary"),
    )


def at_home(lease: str) -> tuple[Right, ...]:
    """The rights in the namespace of the operator itself."""
    return (*_rights(_LEASES, "leases", "create"), *_rights(_LEASES, "leases", "get update", name=lease))


OVER_THE_CLUSTER: Final = (
    *_rights("", "namespaces", "get", name=IDENTITY_NAMESPACE),
    *_rights("authentication.k8s.io", "tokenreviews", "create"),
)

NEVER: Final = (
    Right("*", "*", "*"),
    *_rights("", "secrets", "get list watch create update patch delete"),
    *_rights("", "pods/exec pods/attach pods/portforward", "get create"),
    *_rights("", "pods/ephemeralcontainers pods/status", "update patch"),
    *_rights("", "pods/log", "get"),
    *_rights("", "pods/binding pods/eviction", "create"),
    *_rights("", "configmaps", "list watch update patch delete"),
    *_rights("", "serviceaccounts", "create update patch impersonate"),
    *_rights("", "serviceaccounts/token", "create"),
    *_rights("", "services persistentvolumeclaims", "create update patch delete"),
    *_rights("apps", "deployments daemonsets statefulsets", "create update patch delete"),
    *_rights("batch", "jobs cronjobs", "create update patch delete"),
    *_rights(_RBAC, "roles rolebindings", "create update patch delete"),
    *_rights(_RBAC, "roles", "bind escalate"),
    *_rights(_LEASES, "leases", "delete deletecollection"),
    *_rights(_OURS, "paimontables paimoncatalogs", "create delete deletecollection"),
    *_rights(_OURS, "paimonexecutorrights", "list watch update patch delete deletecollection"),
    *_rights("", "pods", "deletecollection"),
)
"""Rights that the account must have in no namespace, not even in a watched one or in the operator's own."""

NEVER_OVER_THE_CLUSTER: Final = (
    *_rights("", "namespaces", "list create update patch delete"),
    *_rights("", "nodes", "get list update patch"),
    *_rights("", "nodes/proxy", "get create"),
    *_rights("", "persistentvolumes", "create"),
    *_rights("", "users groups", "impersonate"),
    *_rights(_RBAC, "clusterroles clusterrolebindings", "create update patch delete"),
    *_rights(_RBAC, "clusterroles", "bind escalate"),
    *_rights("apiextensions.k8s.io", "customresourcedefinitions", "create update patch delete"),
    *_rights(_ADMISSION, "validatingadmissionpolicies validatingadmissionpolicybindings", "create update patch delete"),
    *_rights(_ADMISSION, "validatingwebhookconfigurations mutatingwebhookconfigurations", "create update patch delete"),
    *_rights("certificates.k8s.io", "certificatesigningrequests/approval", "update"),
)


def questions(*, lease: str, home: str, watched: Sequence[str]) -> Iterator[Question]:
    """All checks of an account. `watched` is empty for an operator that watches all namespaces."""
    places = tuple(watched) or (EVERYWHERE,)
    needed = where_watched(lease)
    yield from (Question(right, place, True) for place in places for right in needed)
    yield from (Question(right, home, True) for right in at_home(lease))
    yield from (Question(right, EVERYWHERE, True) for right in OVER_THE_CLUSTER)
    others = tuple(dict.fromkeys((EVERYWHERE, home, IDENTITY_NAMESPACE, "default")))
    asked = dict.fromkeys((*places, *others))
    yield from (Question(right, place, False) for place in asked for right in NEVER)
    yield from (Question(right, EVERYWHERE, False) for right in NEVER_OVER_THE_CLUSTER)
    if watched:
        elsewhere = [place for place in others if place not in watched]
        yield from (Question(r, place, False) for place in elsewhere for r in needed if not _is_home(r, place, home))


def _is_home(right: Right, place: str, home: str) -> bool:
    """Whether it is the create of the Lease in the operator's own namespace, which RBAC cannot limit by name."""
    return place == home and right.resource == "leases" and right.verb == "create"
