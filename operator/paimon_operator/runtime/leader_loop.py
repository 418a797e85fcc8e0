"""The life of a leader: the order in which its parts start and stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from paimon_operator.errors import RetryableError
from paimon_operator.runtime.health import ProcessHealth
from paimon_operator.runtime.queue import WorkQueue
from paimon_operator.runtime.resync import Resync
from paimon_operator.runtime.workers import Workers

_PAUSE: Final = 2.0
"""Seconds between two attempts at the first list. Losing the Lease ends them if the API server stays unreachable."""
_WATCH_END: Final = 10.0
"""Seconds that kopf gets to close its streams."""
_log = logging.getLogger(__name__)

Forever = Callable[[], Coroutine[Any, Any, None]]
Watch = Callable[[asyncio.Event], Coroutine[Any, Any, None]]
"""Watches until the event is set."""


class LeaderLoop:
    """Lists all objects, then works until it is stopped or a part of it fails."""

    def __init__(
        self,
        *,
        resync: Resync,
        workers: Workers,
        queue: WorkQueue[Any],
        health: ProcessHealth,
        on_listed: Callable[[], None],
        heartbeat: Forever,
        watch: Watch,
    ) -> None:
        """`on_listed` is called once all objects are enqueued for the first time."""
        self._resync, self._workers, self._queue, self._health = resync, workers, queue, health
        self._on_listed, self._heartbeat, self._watch = on_listed, heartbeat, watch

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set. Then, in order: takes no further key, waits for busy workers, closes the watches.

        Raises the error of the part that failed: a watch, or a bug. A cancellation stops everything at once.
        """
        self._health.listing()
        await self._first_list()
        self._on_listed()
        self._workers.start()
        self._health.working(backlog=lambda: (self._queue.depth, self._workers.last_done))
        quit_watch = asyncio.Event()
        ours = self._tasks(stop)
        # kopf cancels every task that is younger than itself when it ends, so its task is created last.
        watch = asyncio.create_task(self._watch(quit_watch), name="watch")
        done, _ = await asyncio.wait({*ours, watch}, return_when=asyncio.FIRST_COMPLETED)
        _log.info("stopping: %s ended", ", ".join(sorted(task.get_name() for task in done)))
        await self._workers.stop()
        quit_watch.set()
        await asyncio.wait({watch}, timeout=_WATCH_END)
        for task in ours:
            task.cancel()
        for task in done:
            task.result()

    def _tasks(self, stop: asyncio.Event) -> list[asyncio.Task[None]]:
        """All parts that run until the end, except the watch."""
        parts = {
            "stop": _returns(stop.wait()),
            "workers": self._workers.watch_over(),
            "resync": self._resync.repeat(),
            "heartbeat": self._heartbeat(),
        }
        return [asyncio.create_task(part, name=name) for name, part in parts.items()]

    async def _first_list(self) -> None:
        while True:
            try:
                return await self._resync.list_all()
            except RetryableError as error:
                _log.warning("the first list of all objects failed and is retried: %s", error)
                await asyncio.sleep(_PAUSE)


async def _returns(waiting: Awaitable[object]) -> None:
    await waiting
