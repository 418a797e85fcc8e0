"""Heartbeat of the watches: a Lease whose renewals must come back through each watch. If not, the watch is stuck."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from paimon_operator.core.naming import FIELD_MANAGER
from paimon_operator.core.ports import Clock
from paimon_operator.errors import KubernetesError
from paimon_operator.kube.requests import ApiServer
from paimon_operator.kube.resources import LEASES

PERIOD: Final = 15.0
"""Seconds between two renewals."""
_log = logging.getLogger(__name__)


class Heartbeat:
    """Renews one Lease in each of `namespaces`. By server-side apply, so that RBAC can limit creation by name."""

    def __init__(
        self,
        server: ApiServer,
        *,
        namespaces: Sequence[str],
        name: str,
        identity: str,
        clock: Clock,
        on_beat: Callable[[str, bool], None],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`on_beat(namespace, True)` is called before each renewal, and with False if the renewal failed."""
        self._server, self._namespaces, self._name, self._identity = server, tuple(namespaces), name, identity
        self._clock, self._on_beat, self._sleep = clock, on_beat, sleep

    async def run(self) -> None:
        """Renews until cancelled. Failures are logged."""
        while True:
            for namespace in self._namespaces:
                self._on_beat(namespace, True)
                try:
                    await self._renew(namespace)
                except KubernetesError as error:
                    self._on_beat(namespace, False)
                    _log.warning("heartbeat Lease %s/%s not renewed: %s", namespace, self._name, error)
            await self._sleep(PERIOD)

    async def _renew(self, namespace: str) -> None:
        renewed = self._clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        body = {
            "apiVersion": LEASES.api_version,
            "kind": "Lease",
            "metadata": {"namespace": namespace, "name": self._name},
            "spec": {"holderIdentity": self._identity, "renewTime": renewed, "leaseDurationSeconds": int(PERIOD)},
        }
        query = (("fieldManager", FIELD_MANAGER), ("force", "true"))
        await self._server.request("apply", LEASES.path(namespace, self._name), kind="Lease", query=query, body=body)
