"""The dependencies of the runtime, as Protocols: `kube` implements them, `runtime` uses them, `app` connects both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

Manifest = Mapping[str, Any]
"""A Kubernetes object as plain JSON, untyped."""


def whole(body: Manifest) -> Manifest:
    """All of an object."""
    return body


class Kind(StrEnum):
    """Every kind of object that the operator reads or writes. It deliberately handles no Secret."""

    TABLE = "PaimonTable"
    CATALOG = "PaimonCatalog"
    RUN = "PaimonRun"
    EXECUTOR_RIGHTS = "PaimonExecutorRights"
    POD = "Pod"
    CONFIG_MAP = "ConfigMap"
    EVENT = "Event"
    NAMESPACE = "Namespace"


class ObjectStore(Protocol):
    """Live reads and writes on the API server. Reads never come from a cache.

    Every method raises the `KubernetesError` tree: `RetryableError` for 429, 5xx and time-outs, `ForbiddenError`
    (`NamespaceTerminatingError` when that is why), `InvalidObjectError`; nothing else escapes.
    """

    async def get(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        """The object, or None when the server says 404."""

    async def list(
        self,
        kind: Kind,
        namespace: str | None,
        labels: Mapping[str, str] | None = None,
        *,
        keep: Callable[[Manifest], Manifest] = whole,
    ) -> Sequence[Manifest]:
        """All objects (of one namespace, or of every watched one when None) that carry `labels`.

        `keep` returns the part of an object that is needed: nothing else of it stays in memory after its page.
        """

    async def list_metadata(
        self, kind: Kind, namespace: str | None = None, labels: Mapping[str, str] | None = None
    ) -> Sequence[Manifest]:
        """Namespace, name, UID and resourceVersion of what `list` returns, as `metadata`."""

    async def create(self, kind: Kind, namespace: str, body: Manifest) -> Manifest:
        """The stored object. Raises AlreadyExistsError when the name is taken."""

    async def delete(self, kind: Kind, namespace: str, name: str, *, uid: str) -> None:
        """Requests deletion of exactly this object (UID precondition); a missing object is no error."""

    async def apply_status(self, kind: Kind, obj: Manifest, status: Manifest) -> Manifest:
        """Server-side apply of the whole status by our field manager; returns the stored object.

        Raises StaleError when the object is no longer as `obj` was read (edited, or another one has its name now), and
        NotFoundError when it is gone.
        """

    async def set_finalizers(self, kind: Kind, obj: Manifest, finalizers: Sequence[str]) -> Manifest | None:
        """Replaces metadata.finalizers if the object is still at its resourceVersion; raises StaleError otherwise."""

    async def release(
        self, kind: Kind, namespace: str, name: str, *, uid: str, finalizers: Sequence[str]
    ) -> Manifest | None:
        """Removes our finalizer from exactly this object, whatever else changes in it. None: there is no such object.

        Raises StaleError when the name is another object's now, or its finalizers are not `finalizers` any more.
        """


class EventSink(Protocol):
    """Posts Kubernetes Events; repeated ones are counted up, and a failure to post is logged, never raised."""

    async def post(self, regarding: Manifest, *, type_: str, reason: str, note: str) -> None:
        """`type_` is Normal or Warning, `reason` CamelCase, `note` one sentence of at most 1 KiB."""


@dataclass(frozen=True, kw_only=True)
class PodIdentity:
    """A Pod of the cluster."""

    namespace: str
    name: str
    uid: str


class TokenReviewer(Protocol):
    """Tells whose token it is."""

    async def pod_of(self, token: str) -> PodIdentity | None:
        """The Pod that the token is bound to; None for a token that is not valid for the operator.

        Raises the `KubernetesError` tree.
        """


class Clock(Protocol):
    """The source of `now` for all decisions."""

    def now(self) -> datetime:
        """The current time in UTC, aware."""
