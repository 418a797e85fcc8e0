"""The endpoints `/livez`, `/readyz` and `/metrics`.

Liveness depends on progress, not on backlog: a long queue after an outage of the API server is no reason to restart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from aiohttp import web

from paimon_operator.runtime.metrics import Metrics

STUCK_AFTER: Final = 300.0
"""Seconds with queued keys but no finished key. Longer than any single reconcile, timeouts of its requests included."""
DEAF_AFTER: Final = 120.0
"""Seconds in which a written renewal of the heartbeat was not delivered by the watch."""


class ProcessHealth:
    """The state of this process as its parts report it. `clock` is monotonic, in seconds."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._awaited: dict[str, float] = {}
        self._phase = "starting"
        self._ready = False
        self._backlog: Callable[[], tuple[int, float]] = lambda: (0, clock())

    def standby(self) -> None:
        """Ready to take over. A follower is ready: otherwise a rollout would wait for two leaders."""
        self._phase, self._ready = "waiting for the Lease", True

    def listing(self) -> None:
        """Leading, but the first list of all objects is not complete."""
        self._phase, self._ready = "leading, listing everything", False

    def working(self, *, backlog: Callable[[], tuple[int, float]]) -> None:
        """Working. `backlog` returns the number of queued keys and the time when a key was last finished."""
        self._phase, self._ready = "leading", True
        self._backlog = backlog

    def on_renewal(self, namespace: str, written: bool) -> None:
        """The heartbeat of `namespace` is being renewed. Not `written`: the renewal failed, and none is awaited."""
        if written:
            self._awaited.setdefault(namespace, self._clock())
        else:
            self._awaited.pop(namespace, None)

    def on_heartbeat(self, namespace: str) -> None:
        """The watch delivered the heartbeat of `namespace`."""
        self._awaited.pop(namespace, None)

    @property
    def heartbeat_age(self) -> float:
        """Seconds since the oldest renewal that is still awaited; 0 if none is."""
        return self._clock() - min(self._awaited.values()) if self._awaited else 0.0

    def problems(self) -> list[str]:
        """Reasons to replace this process; empty if it is healthy."""
        now = self._clock()
        deaf = [name for name, since in self._awaited.items() if now - since > DEAF_AFTER]
        found = [f"watches in namespace {name} delivered nothing for {DEAF_AFTER:.0f} s" for name in sorted(deaf)]
        waiting, last_done = self._backlog()
        if waiting and now - last_done > STUCK_AFTER:
            found.append(f"{waiting} objects wait and none was finished for {STUCK_AFTER:.0f} s")
        return found

    async def live(self, _: web.Request) -> web.Response:
        problems = self.problems()
        return web.Response(text="\n".join(problems or [self._phase]) + "\n", status=500 if problems else 200)

    async def ready(self, _: web.Request) -> web.Response:
        return web.Response(text=self._phase + "\n", status=200 if self._ready else 503)


class Endpoints:
    """The two HTTP servers."""

    def __init__(self, health: ProcessHealth, metrics: Metrics, *, health_port: int, metrics_port: int) -> None:
        self._metrics = metrics
        self._runners = [
            (web.AppRunner(_app({"/livez": health.live, "/readyz": health.ready}), access_log=None), health_port),
            (web.AppRunner(_app({"/metrics": self._text}), access_log=None), metrics_port),
        ]

    async def start(self) -> None:
        """Listens on all addresses; raises OSError when a port is taken."""
        for runner, port in self._runners:
            await runner.setup()
            await web.TCPSite(runner, host=None, port=port).start()

    async def stop(self) -> None:
        for runner, _ in self._runners:
            await runner.cleanup()

    async def _text(self, _: web.Request) -> web.Response:
        return web.Response(body=self._metrics.text(), headers={"Content-Type": "text/plain; version=0.0.4"})


def _app(routes: dict[str, Callable[[web.Request], object]]) -> web.Application:
    app = web.Application()
    app.add_routes([web.get(path, handler) for path, handler in routes.items()])  # type: ignore[arg-type]
    return app
