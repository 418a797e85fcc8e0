"""The operator's own adapters, connected to the test's API server."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kubernetes.aio.client import ApiClient

from paimon_operator.kube.connection import connect
from paimon_operator.kube.limiter import TokenBucket
from paimon_operator.kube.objects import KubeObjects
from paimon_operator.kube.requests import ApiServer


@dataclass
class Connected:
    """A client, the paced API server over it, the store, and every request with its answer's code."""

    client: ApiClient
    server: ApiServer
    store: KubeObjects
    requests: list[tuple[str, str, int]] = field(default_factory=list)


@asynccontextmanager
async def connected(
    kubeconfig: Path,
    *,
    namespaces: tuple[str, ...] = (),
    timeout_s: float = 10.0,
    guard: Callable[[], float] = lambda: math.inf,
) -> AsyncIterator[Connected]:
    client = await connect(str(kubeconfig))
    seen: list[tuple[str, str, int]] = []

    def observe(verb: str, kind: str, code: int, _: float) -> None:
        seen.append((verb, kind, code))

    try:
        limiter = TokenBucket(rate=1000, burst=1000, clock=time.monotonic)
        server = ApiServer(client, limiter=limiter, timeout=timeout_s, observe=observe, guard=guard)
        yield Connected(client, server, KubeObjects(server, namespaces=namespaces), seen)
    finally:
        await client.close()
