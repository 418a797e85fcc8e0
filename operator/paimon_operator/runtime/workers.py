"""Workers: take a key, reconcile it, requeue it. No error of a reconciler ends a worker."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, Protocol

from paimon_operator.core.backoff import Backoff
from paimon_operator.errors import KubernetesError, LeaseLostError, NotFoundError, RetryableError, StaleError
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.logs import fields
from paimon_operator.runtime.queue import QueueClosedError, WorkQueue

RETRY: Final = Backoff(first=timedelta(seconds=1), last=timedelta(minutes=5))
"""Pauses after an error of the API server or of the operator. A Retry-After is added."""
_DRAIN: Final = 20.0
"""Seconds to wait for busy keys when the process stops."""
_log = logging.getLogger(__name__)

Reconcile = Callable[[Key], Awaitable[timedelta | None]]
"""Reconciles one object. Returns when to requeue it; None: only after a change."""


class ReconcileObserver(Protocol):
    """Called after every reconcile with kind, result (`ok`, `retry`, `error`) and seconds."""

    def __call__(self, kind: str, result: str, seconds: float, /) -> None: ...


class Workers:
    """`count` tasks that share one queue."""

    def __init__(
        self,
        queue: WorkQueue[Key],
        reconcile: Reconcile,
        *,
        count: int,
        clock: Callable[[], float],
        measure: ReconcileObserver,
        on_error: Callable[[Key], None],
    ) -> None:
        """`on_error(key)` is called before a key whose reconcile failed is enqueued again."""
        self._queue, self._reconcile, self._count = queue, reconcile, count
        self._clock, self._measure, self._on_error = clock, measure, on_error
        self._failures: dict[Key, int] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.last_done = clock()
        """When a key was last finished, or the workers started."""

    def start(self) -> None:
        """Starts the tasks. kopf cancels every task that is younger than itself when it ends, so start these first."""
        self.last_done = self._clock()
        self._tasks = [asyncio.create_task(self._work(), name=f"worker-{number}") for number in range(self._count)]

    async def watch_over(self) -> None:
        """Never returns. Raises the error that ended a worker, which is a bug in this module."""
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()

    async def stop(self) -> None:
        """Takes no further key and waits up to 20 s for busy ones. The next process repeats those that did not end."""
        self._queue.close()
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=_DRAIN)
        for task in late:
            _log.warning("%s did not finish within %.0f s and is cut off", task.get_name(), _DRAIN)
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _work(self) -> None:
        while True:
            try:
                key = await self._queue.get()
            except QueueClosedError:
                return
            failed = True  # until the opposite is known: it may be cancelled
            try:
                failed = not await self._reconcile_key(key)
            finally:
                self._queue.done(key, failed=failed)
                self.last_done = self._clock()

    async def _reconcile_key(self, key: Key) -> bool:
        """Whether the reconcile has ended without an error."""
        started = self._clock()
        result = "ok"
        try:
            again = await self._reconcile(key)
        except (RetryableError, StaleError, NotFoundError, LeaseLostError) as error:
            result = "retry"
            _log.info("%s: retried later: %s", key, error, extra=fields(*key))
            self._retry(key, error)
        except KubernetesError as error:
            result = "error"
            _log.error("%s: the API server refused: %s", key, error, extra=fields(*key))
            self._retry(key, error)
        except Exception as error:  # noqa: BLE001  bugs of reconcilers are logged, counted and retried here
            result = "error"
            _log.exception("%s: a bug in the operator", key, extra=fields(*key))
            self._retry(key, error)
        else:
            self._failures.pop(key, None)
            if again is not None:
                self._queue.add_after(key, _left(again.total_seconds(), self._clock() - started))
        self._measure(key.kind, result, self._clock() - started)
        return result == "ok"

    def _retry(self, key: Key, error: Exception) -> None:
        self._on_error(key)
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        asked = error.retry_after or 0.0 if isinstance(error, RetryableError) else 0.0
        self._queue.add_after(key, asked + RETRY.delay(failures, str(key)).total_seconds())


def _left(delay: float, took: float) -> float:
    """Seconds left of a delay that was decided as the reconcile began, so that no tick comes later by its requests.

    At least one, or the delay: what takes longer than its delay does not follow itself at once.
    """
    return max(delay - took, min(delay, 1.0))
