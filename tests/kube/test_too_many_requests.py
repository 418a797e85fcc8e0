"""An answer 429 of the API server: all requests wait for as long as it says."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from paimon_operator.errors import RetryableError
from paimon_operator.kube.limiter import TokenBucket
from paimon_operator.kube.requests import ApiServer
from tests.support.virtual_time import VirtualTime

PATH = "/api/v1/namespaces/shop/pods"


class Busy:
    """A client of an API server that answers its first request with 429."""

    def __init__(self, headers: dict[str, str]) -> None:
        self.asked, self._first = 0, SimpleNamespace(status=429, headers=headers, read=self._read)

    async def param_serialize(self, *_: Any, **__: Any) -> tuple[str, str, dict[str, str], None, None]:
        return "GET", PATH, {}, None, None

    async def call_api(self, *_: Any, **__: Any) -> Any:
        self.asked += 1
        return self._first if self.asked == 1 else SimpleNamespace(status=200, headers={}, read=self._read)

    async def _read(self) -> bytes:
        return b"{}"


@pytest.mark.parametrize(
    ("sentence", "headers", "seconds"),
    [("as the answer says", {"Retry-After": "7"}, 7.0), ("and a second where it says nothing", {}, 1.0)],
)
async def test_every_namespace_waits(sentence: str, headers: dict[str, str], seconds: float) -> None:
    time, client = VirtualTime(), Busy(headers)
    limiter = TokenBucket(rate=20, burst=40, clock=time.seconds, call_later=time.call_later)
    server = ApiServer(client, limiter=limiter, timeout=10, observe=lambda *_: None)  # type: ignore[arg-type]
    with pytest.raises(RetryableError):
        await server.request("get", PATH, kind="Pod")
    waiting = asyncio.ensure_future(server.request("get", PATH.replace("shop", "bank"), kind="Pod"))
    asked = []
    for span in (0.0, seconds - 0.1, 0.2):
        time.advance(span)
        for _ in range(20):
            await asyncio.sleep(0)
        asked.append(client.asked)
    assert asked == [1, 1, 2], sentence
    await waiting
