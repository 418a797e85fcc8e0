"""An answer 429 of the API server: all requests wait for as long as it says, and the refused one is sent again.

tests/apiserver/test_few_seats.py has an API server that really answers so.
"""

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
    """A client of an API server that answers its first requests with 429."""

    def __init__(self, headers: dict[str, str], *, times: int = 1) -> None:
        self.asked, self._times = 0, times
        self._refusal = SimpleNamespace(status=429, headers=headers, read=self._read)

    async def param_serialize(self, *_: Any, **__: Any) -> tuple[str, str, dict[str, str], None, None]:
        return "GET", PATH, {}, None, None

    async def call_api(self, *_: Any, **__: Any) -> Any:
        self.asked += 1
        return self._refusal if self.asked <= self._times else SimpleNamespace(status=200, headers={}, read=self._read)

    async def _read(self) -> bytes:
        return b"{}"


@pytest.mark.parametrize(
    ("sentence", "headers", "seconds"),
    [("as the answer says", {"Retry-After": "7"}, 7.0), ("and a second where it says nothing", {}, 1.0)],
)
async def test_every_namespace_waits(sentence: str, headers: dict[str, str], seconds: float) -> None:
    time, client = VirtualTime(), Busy(headers)
    server = behind_limit(client, time)
    refused = asyncio.ensure_future(server.request("create", PATH, kind="Pod"))
    await passed(time, 0)
    waiting = asyncio.ensure_future(server.request("get", PATH.replace("shop", "bank"), kind="Pod"))
    asked = []
    for span in (0.0, seconds - 0.1, 0.3):
        await passed(time, span)
        asked.append(client.asked)
    assert asked == [1, 1, 3], sentence
    await asyncio.gather(refused, waiting)


async def test_a_request_that_is_refused_again_and_again_fails() -> None:
    """The reconcile begins again then: what it has read gets old."""
    time, client = VirtualTime(), Busy({}, times=9)
    refused = asyncio.ensure_future(behind_limit(client, time).request("create", PATH, kind="Pod"))
    for _ in range(9):
        await passed(time, 1)
    with pytest.raises(RetryableError, match="429"):
        await refused
    assert client.asked == 4


async def test_a_request_without_a_rate_limit_is_sent_once() -> None:
    """Nothing would make it wait. The renewal of the Lease is one, and has repetitions of its own."""
    client = Busy({}, times=9)
    server = ApiServer(client, limiter=None, timeout=10, observe=lambda *_: None)  # type: ignore[arg-type]
    with pytest.raises(RetryableError, match="429"):
        await server.request("update", PATH, kind="Lease")
    assert client.asked == 1


def behind_limit(client: Busy, time: VirtualTime) -> ApiServer:
    limiter = TokenBucket(rate=20, burst=40, clock=time.seconds, call_later=time.call_later)
    return ApiServer(client, limiter=limiter, timeout=10, observe=lambda *_: None)  # type: ignore[arg-type]


async def passed(time: VirtualTime, seconds: float) -> None:
    time.advance(seconds)
    for _ in range(20):
        await asyncio.sleep(0)
