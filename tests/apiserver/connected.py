"""The operator's adapters, connected to the API server of the tests."""

from __future__ import annotations

import asyncio
import math
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
    """A client, the adapters on top of it, and every request with the code of its answer."""

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
    """Connects the adapters for the duration of the block."""
    client = await connect(str(kubeconfig))
    seen: list[tuple[str, str, int]] = []

    def observe(verb: str, kind: str, code: int, _: float) -> None:
        seen.append((verb, kind, code))

    try:
        loop = asyncio.get_running_loop()
        limiter = TokenBucket(rate=1000, burst=1000, clock=loop.time, call_later=loop.call_later)
        server = ApiServer(client, limiter=limiter, timeout=timeout_s, observe=observe, guard=guard)
        yield Connected(client, server, KubeObjects(server, namespaces=namespaces), seen)
    finally:
        await close(client)


async def close(client: ApiClient) -> None:
    """Closes the client's connections."""
    await client.close()  # type: ignore[no-untyped-call]  # not annotated
