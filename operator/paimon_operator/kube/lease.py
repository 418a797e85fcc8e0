"""Leader election: one Lease of coordination.k8s.io, taken before anything is watched and renewed until the end.

The times are client-go's (15, 10 and 2 seconds). A follower measures the holder's expiry by its own monotonic clock,
from when it saw the Lease change. After RENEW_DEADLINE every mutation is rejected, and in-flight ones are aborted
before a follower can take over. A leader that dies is replaced after at most WORST_CASE.

This is own code because `kubernetes.aio.leaderelection` measures with the wall clock, has no release of the Lease, and
has no fencing: it does not stop the mutations of a leader that lost the Lease.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from paimon_operator.api.base import GROUP
from paimon_operator.core.ports import Clock
from paimon_operator.errors import AlreadyExistsError, KubernetesError, LeaseLostError, NotFoundError, StaleError
from paimon_operator.kube.requests import ApiServer, Json
from paimon_operator.kube.resources import LEASES

DURATION: Final = 15.0
"""Seconds a follower waits after the last renewal it saw before it takes the Lease over."""
RENEW_DEADLINE: Final = 10.0
"""Seconds without a successful renewal after which the leader stops itself."""
RETRY_PERIOD: Final = 2.0
"""Seconds between two tries. A try to acquire waits up to a fifth longer, by the hash of the identity."""
WORST_CASE: Final = DURATION + 2 * 1.2 * RETRY_PERIOD
"""Seconds from a leader's last renewal to the next leader: one pause until it is seen, and one after the wait."""
NOTE: Final = f"{GROUP}/decided-until"
"""The annotation with the leader's note."""
_KIND: Final = "Lease"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _ObservedLease:
    """The version of the Lease last read, and the monotonic time when it was first read."""

    version: str
    since: float


class Note(Protocol):
    """What a leader tells the next one, by an annotation of the Lease."""

    def found(self, text: str | None) -> None:
        """Takes what the leader before has written; None: nothing."""

    def text(self) -> str | None:
        """What to write now; None leaves what is there."""


class Lease:
    """The leader's Lease as one candidate sees it."""

    def __init__(
        self,
        server: ApiServer,
        *,
        namespace: str,
        name: str,
        identity: str,
        clock: Clock,
        monotonic: Callable[[], float],
        note: Note,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`identity` is unique for this process; an earlier process of the same Pod has another one.

        `server` must have no rate limit in common with other requests: a renewal never waits.
        """
        self._server, self._namespace, self._name, self._identity = server, namespace, name, identity
        self._clock, self._monotonic, self._note, self._sleep = clock, monotonic, note, sleep
        self._path = LEASES.path(namespace, name)
        self._seen: _ObservedLease | None = None
        self._held: Json | None = None
        self._renewed_at = 0.0

    def check(self) -> float:
        """Seconds until another process may lead at the earliest; the guard before every mutation.

        Raises LeaseLostError unless this process surely leads at this moment.
        """
        held_for = self._monotonic() - self._renewed_at
        if self._held is None or held_for > RENEW_DEADLINE:
            raise LeaseLostError(f"the Lease {self._namespace}/{self._name} was not renewed for {RENEW_DEADLINE:.0f} s")
        return DURATION - held_for

    async def acquire(self) -> None:
        """Returns when this process leads. Errors of the API server are logged and retried."""
        spread = 1 + hashlib.sha256(self._identity.encode()).digest()[0] / 1280  # at most a fifth
        while True:
            try:
                if await self._try_to_take():
                    _log.info("leading: %s holds Lease %s/%s", self._identity, self._namespace, self._name)
                    return
            except KubernetesError as error:
                _log.warning("Lease %s/%s: %s", self._namespace, self._name, error)
            await self._sleep(RETRY_PERIOD * spread)

    async def hold(self) -> None:
        """Renews until the task is cancelled. Raises LeaseLostError as soon as leading is no longer certain."""
        while True:
            await self._sleep(RETRY_PERIOD)
            try:
                await self._renew()
            except (StaleError, NotFoundError) as error:
                raise LeaseLostError(f"the Lease {self._namespace}/{self._name} was taken away: {error}") from error
            except KubernetesError as error:
                _log.warning("Lease %s/%s not renewed: %s", self._namespace, self._name, error)
            self.check()

    async def release(self) -> None:
        """Releases the Lease, so that a follower takes over at once. Call it after everything else has stopped."""
        if self._held is None:
            return
        held, self._held = self._held, None
        try:
            try:
                await self._vacate(held)
            except StaleError:  # possibly our own renewal, whose response was not awaited
                lease = await self._server.request("get", self._path, kind=_KIND)
                if lease["spec"].get("holderIdentity") == self._identity:
                    await self._vacate(lease)
        except KubernetesError as error:
            _log.warning("Lease %s/%s not released, the next leader waits: %s", self._namespace, self._name, error)

    async def _vacate(self, lease: Json) -> None:
        spec = lease["spec"] | {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": self._now()}
        await self._server.request("update", self._path, kind=_KIND, body=self._with_note(lease) | {"spec": spec})

    async def _try_to_take(self) -> bool:
        try:
            lease = await self._server.request("get", self._path, kind=_KIND)
        except NotFoundError:
            return await self._create()
        if self._may_be_alive(lease):
            return False
        spec = lease["spec"] | {"leaseTransitions": lease["spec"].get("leaseTransitions", 0) + 1}
        try:
            await self._write(lease | {"spec": spec | {"acquireTime": self._now()}})
        except StaleError:
            return False  # another candidate was faster
        self._note.found((lease["metadata"].get("annotations") or {}).get(NOTE))
        return True

    def _may_be_alive(self, lease: Json) -> bool:
        """Whether another process holds the Lease and has renewed it within its duration, by our monotonic clock."""
        spec, version = lease["spec"], lease["metadata"]["resourceVersion"]
        if self._seen is None or self._seen.version != version:
            self._seen = _ObservedLease(version, self._monotonic())
        others = spec.get("holderIdentity", "") not in (
            "",
            self._identity,
        )  # it is ours after a create without a response
        return others and self._monotonic() - self._seen.since < spec.get("leaseDurationSeconds", DURATION)

    async def _create(self) -> bool:
        metadata = {"namespace": self._namespace, "name": self._name}
        spec = {"leaseTransitions": 0, "acquireTime": self._now()}
        started = self._monotonic()
        body = self._ours({"apiVersion": LEASES.api_version, "kind": _KIND, "metadata": metadata, "spec": spec})
        try:
            self._held = await self._server.request("create", LEASES.path(self._namespace), kind=_KIND, body=body)
        except AlreadyExistsError:
            return False
        self._renewed_at = started
        return True

    async def _renew(self) -> None:
        if self._held is None:
            raise LeaseLostError(f"the Lease {self._namespace}/{self._name} is not held")
        try:
            await self._write(self._held)
        except StaleError:  # possibly our own renewal, stored without a response
            lease = await self._server.request("get", self._path, kind=_KIND)
            if lease["spec"].get("holderIdentity") != self._identity:
                raise
            await self._write(lease)

    async def _write(self, lease: Json) -> None:
        """Stores `lease` as ours, if it is still at the resourceVersion it carries. Counted from before the request."""
        started = self._monotonic()
        self._held = await self._server.request("update", self._path, kind=_KIND, body=self._ours(lease))
        self._renewed_at = started

    def _ours(self, lease: Json) -> Json:
        times = {"holderIdentity": self._identity, "leaseDurationSeconds": int(DURATION), "renewTime": self._now()}
        return self._with_note(lease) | {"spec": lease["spec"] | times}

    def _with_note(self, lease: Json) -> Json:
        text, metadata = self._note.text(), lease["metadata"]
        noted = {} if text is None else {"annotations": (metadata.get("annotations") or {}) | {NOTE: text}}
        return lease | {"metadata": metadata | noted}

    def _now(self) -> str:
        return self._clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
