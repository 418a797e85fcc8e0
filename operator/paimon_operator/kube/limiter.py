"""The pace of our requests: a token bucket, and the pause that the API server asks for with Retry-After.

The official client has no such limit, and an operator without one can starve everybody else's requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class TokenBucket:
    """At most `rate` requests per second on average and `burst` at once; waiting callers are served in order."""

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
        """Returns when one more request may go out.

        The token is taken at once and may be owed: each caller's wait is then known without a queue of waiters.
        """
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._counted_at) * self._rate) - 1
        self._counted_at = now
        wait = max(-self._tokens / self._rate, self._held_until - now)
        if wait > 0:
            await self._sleep(wait)

    def hold(self, seconds: float) -> None:
        """Lets nothing out for `seconds`: what a 429 with Retry-After asks for."""
        self._held_until = max(self._held_until, self._clock() + seconds)
