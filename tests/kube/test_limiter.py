"""The rate limit of requests on a virtual clock."""

from __future__ import annotations

import pytest

from paimon_operator.kube.limiter import TokenBucket
from tests.support.virtual_time import VirtualTime


class Pace:
    """A token bucket. `take` returns the seconds that the caller would wait."""

    def __init__(self, *, rate: float, burst: int) -> None:
        self.time = VirtualTime()
        self.waits: list[float] = []
        self.bucket = TokenBucket(rate=rate, burst=burst, clock=self.time.seconds, sleep=self._sleep)

    async def take(self) -> float:
        self.waits = [0.0]
        await self.bucket.take()
        return self.waits[-1]

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


async def test_a_burst_is_sent_at_once_and_further_requests_at_the_rate() -> None:
    pace = Pace(rate=20, burst=40)
    assert [await pace.take() for _ in range(40)] == [0.0] * 40
    assert [await pace.take() for _ in range(3)] == pytest.approx([0.05, 0.1, 0.15])


async def test_the_bucket_refills_over_time_up_to_one_burst() -> None:
    pace = Pace(rate=20, burst=2)
    for _ in range(4):
        await pace.take()
    pace.time.advance(0.1)
    assert await pace.take() == pytest.approx(0.05)
    pace.time.advance(3600)
    assert [await pace.take() for _ in range(3)] == pytest.approx([0.0, 0.0, 0.05])


async def test_unlimited_demand_does_not_exceed_the_rate_over_an_hour() -> None:
    pace = Pace(rate=20, burst=40)
    sent = 0
    while pace.time.seconds() < 3600:
        pace.time.advance(await pace.take())
        sent += 1
    assert sent == pytest.approx(3600 * 20 + 40, abs=2)


async def test_a_retry_after_delays_every_request() -> None:
    pace = Pace(rate=20, burst=40)
    pace.bucket.hold(7)
    assert await pace.take() == 7
    pace.time.advance(3)
    assert await pace.take() == 4
    pace.time.advance(4)
    assert await pace.take() == 0


async def test_a_shorter_retry_after_does_not_shorten_a_longer_one() -> None:
    pace = Pace(rate=20, burst=40)
    pace.bucket.hold(7)
    pace.bucket.hold(1)
    assert await pace.take() == 7
