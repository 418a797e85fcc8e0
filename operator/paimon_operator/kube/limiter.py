"""Limits the rate of requests: a token bucket, and the pause that a Retry-After of the API server requires.

The official client has no limit. Without one, the operator could starve the requests of other clients.

This is own code because the limiters for asyncio (aiolimiter, asynciolimiter) have one queue in the order of arrival,
and those with keys (pyrate-limiter) give each key a rate of its own. Here namespaces take turns at one rate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from paimon_operator.core.turns import Turns

_LEAST: Final = 1.0
"""Requests per second at the slowest."""
_FASTER: Final = 1.02
"""How many times as fast it gets with each request after it has slowed down: 35 of them double it."""
_ROUNDING: Final = 1e-9
"""Seconds. Less is an error of adding floats, and no time to wait."""


class TokenBucket:
    """Allows `rate` requests per second on average and `burst` at once. Namespaces that wait take turns.

    After a 429 the rate is halved and there is no burst. From then on it grows with each request, up to `rate`. A burst
    after the pause would be refused again, and cost another pause of seconds.
    """

    def __init__(
        self,
        *,
        rate: float,
        burst: int,
        clock: Callable[[], float],
        call_later: Callable[[float, Callable[[], None]], object],
        on_wait: Callable[[float], None] = lambda _: None,
    ) -> None:
        """`on_wait(seconds)` is called for each request that may be sent, 0 for one that has not waited."""
        self._rate, self._most, self._slack = rate, rate, (burst - 1) / rate
        """Requests per second now, and at most."""
        self._clock, self._call_later = clock, call_later
        self._full_at = self._held_until = clock()
        """When the bucket is full again. Each request that is sent delays this by one interval."""
        self._waiting: Turns[asyncio.Event] = Turns()
        self._timer_is_set, self._on_wait = False, on_wait

    async def take(self, namespace: str) -> None:
        """Returns when one more request of `namespace` may be sent. A cancelled caller takes no token."""
        admitted, asked = asyncio.Event(), self._clock()
        self._waiting.add(namespace, admitted)
        self._admit()
        try:
            await admitted.wait()
        except asyncio.CancelledError:
            self._give_back(namespace, admitted)
            raise
        self._on_wait(self._clock() - asked)

    def hold(self, seconds: float) -> None:
        """Delays all requests for `seconds`, as a 429 with Retry-After requires, and slows down those after it.

        Several answers to requests that were on their way together slow down once.
        """
        if self._clock() >= self._held_until:
            self._rate = max(self._rate / 2, min(_LEAST, self._most))
        self._held_until = max(self._held_until, self._clock() + seconds)
        self._full_at = max(self._full_at, self._held_until + self._slack)

    @property
    def _wait(self) -> float:
        """Seconds until the next request may be sent."""
        return max(self._full_at - self._slack, self._held_until) - self._clock()

    def _admit(self) -> None:
        while self._waiting and self._wait < _ROUNDING:
            self._waiting.pop().set()
            self._full_at = max(self._full_at, self._clock()) + 1 / self._rate
            self._rate = min(self._rate * _FASTER, self._most)
        if self._waiting and not self._timer_is_set:
            self._timer_is_set = True
            self._call_later(self._wait, self._on_timer)

    def _on_timer(self) -> None:
        self._timer_is_set = False
        self._admit()

    def _give_back(self, namespace: str, admitted: asyncio.Event) -> None:
        if admitted.is_set():  # a task can be cancelled between its admission and its next step
            self._full_at -= 1 / self._rate
            self._admit()
        else:
            self._waiting.remove(namespace, admitted)
