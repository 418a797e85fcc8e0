"""Limits the rate of requests: a token bucket, and the pause that a Retry-After of the API server requires.

The official client has no limit. Without one, the operator could starve the requests of other clients.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class TokenBucket:
    """Allows `rate` requests per second on average and `burst` at once. Waiting callers proceed in order."""

    def __init__(
        self,
        *,
        rate: float,
        burst: int,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._rate, self._burst = rate, float(burst)
        self._clock, self._sleep = clock, sleep
        self._tokens, self._counted_at = float(burst), clock()
        self._held_until = clock()

    async def take(self) -> None:
        """Returns when one more request may be sent.

        The token is taken at once, and the balance may become negative: it gives each caller's wait without a queue.
        """
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._counted_at) * self._rate) - 1
        self._counted_at = now
        wait = max(-self._tokens / self._rate, self._held_until - now)
        if wait > 0:
            await self._sleep(wait)

    def hold(self, seconds: float) -> None:
        """Delays all requests for `seconds`, as a 429 with Retry-After requires."""
        self._held_until = max(self._held_until, self._clock() + seconds)
