"""The watches, through kopf: login, watch, report. The handlers pass events on and do nothing else. Before a watch
begins, its objects are listed: those do not reach kopf's handlers, see `lists`.

Only `on.event` is used. Every other kind of kopf handler stores its progress in annotations of users' objects or
keeps a task per object; a handler of this kind costs neither. Nothing here is global.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol

import aiohttp
import kopf
from kopf._core.reactor.inventory import ResourceMemories, ResourceMemory  # a public parameter's type

from paimon_operator.api.base import GROUP
from paimon_operator.core.naming import FIELD_MANAGER, MANAGED_BY_LABEL, PLURALS
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.errors import OperatorError
from paimon_operator.runtime.cache import DELIVERED
from paimon_operator.runtime.lists import response_of_lists

Login = Callable[[type[aiohttp.ClientResponse]], Awaitable[tuple[str, aiohttp.ClientSession]]]
"""Returns the API server's address and an authenticated session, whose responses are of the given class. Called at the
start and after every 401."""

_BACKOFFS: Final = (1, 1, 2, 3, 5, 8)
"""Seconds between the tries of a list or watch that is answered 403, 429 or 5xx; then the process ends. Shorter than
kopf's 54 s, since a leader whose Lease cannot be renewed ends after 10 s anyway."""
_LEASES: Final = ("coordination.k8s.io", "leases")
_PODS: Final = ("", "pods")


class WatchEndedError(OperatorError):
    """A task of kopf that must not end has ended without an error."""


class NoMemories(ResourceMemories):
    """What kopf remembers of each object between two events: nothing, since only other kinds of handlers need it.

    kopf itself forgets an object at its deletion. One whose deletion happens while no watch is open stays for ever.
    """

    async def recall(self, *args: Any, **kwargs: Any) -> ResourceMemory:
        """A new memory, which is not kept."""
        return await super().recall(*args, **{**kwargs, "ephemeral": True})


class NoComparison(kopf.DiffBaseStorage):
    """What kopf compares of an object with its last version: nothing, since only other kinds of handlers ask for it.

    Otherwise kopf copies each object of an event, which takes most of its time.
    """

    def build(self, **_: Any) -> kopf.BodyEssence:
        """Nothing of the object."""
        return kopf.BodyEssence()

    def fetch(self, **_: Any) -> None:
        """There is no last version."""

    def store(self, **_: Any) -> None:
        """Writes nothing to the object."""


class WatchHandlers(Protocol):
    """Receiver of watch events. It must not block, call the API server or raise: a dropped event is lost."""

    def on_event(self, kind: Kind, event: str | None, body: Manifest) -> None:
        """`event` is ADDED, MODIFIED, DELETED, or None for an object of a list."""

    def on_heartbeat(self, namespace: str) -> None:
        """A renewal of the heartbeat Lease was delivered by the watch."""


def build_registry(handlers: WatchHandlers, login: Login) -> kopf.OperatorRegistry:
    """The handlers of one operator."""
    registry = kopf.OperatorRegistry()
    response = response_of_lists(handlers.on_event, *DELIVERED)

    @kopf.on.login(registry=registry)
    async def log_in(**_: Any) -> kopf.AiohttpSession:
        server, session = await login(response)
        return kopf.AiohttpSession(server=server, aiohttp_session=session)

    def watch(kind: Kind, *resource: str) -> None:
        async def changed(type: str | None, body: kopf.Body, **_: Any) -> None:
            handlers.on_event(kind, type, dict(body))

        kopf.on.event(*resource, registry=registry, id=f"{kind}-changed")(changed)

    for kind, plural in PLURALS.items():
        watch(kind, GROUP, plural)
    watch(Kind.POD, *_PODS)

    @kopf.on.event(*_LEASES, registry=registry)
    async def heartbeat_changed(body: kopf.Body, **_: Any) -> None:
        handlers.on_heartbeat(body["metadata"]["namespace"])

    return registry


def build_settings(*, heartbeat: str, request_timeout: float) -> kopf.OperatorSettings:
    """kopf's settings. `heartbeat` is the name of the only Lease to watch; the API server applies the selectors."""
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False  # it posts one Event per call, without counting up; ours come from kube.events
    settings.persistence.diffbase_storage = NoComparison()
    settings.scanning.disabled = True  # else it lists and watches all CRDs and namespaces, and needs the right to
    settings.watching.label_selectors[_PODS] = f"{MANAGED_BY_LABEL}={FIELD_MANAGER}"
    settings.watching.field_selectors[_LEASES] = f"metadata.name={heartbeat}"
    settings.watching.chunk_size = 50  # objects per page: of each, etcd stores up to 1.5 MiB
    settings.watching.server_timeout = 300
    settings.watching.initial_streaming = False  # `lists` reads pages
    settings.queueing.idle_timeout = 0.1  # seconds for which kopf keeps two tasks after the last event of an object
    settings.networking.error_backoffs = _BACKOFFS
    settings.networking.request_timeout = request_timeout
    settings.networking.connect_timeout = min(10.0, request_timeout)
    return settings


async def run_watches(
    registry: kopf.OperatorRegistry,
    settings: kopf.OperatorSettings,
    *,
    namespaces: Sequence[str],
    stop: asyncio.Event,
    take_signals: Callable[[], None],
) -> None:
    """Watches until `stop` is set. Raises when a watch dies, also by a 410 between two pages of a list. It continues
    after a closed connection, a 410 of a watch, and a 429.

    The process ends after such an error. kopf's tasks run here and not in `kopf.operator`, which may never return after
    a watch has died: another watch then waits for credentials that no task fetches any more, and suppresses its
    cancellation (kopf 1.45.2). `take_signals` is called when kopf has replaced our signal handlers.
    """
    older = asyncio.all_tasks()
    tasks = await kopf.spawn_tasks(
        registry=registry,
        settings=settings,
        memories=NoMemories(),
        standalone=True,  # a Lease decides who leads; kopf's peering excludes no process
        clusterwide=not namespaces,
        namespaces=list(namespaces),
        stop_flag=stop,
    )
    take_signals()
    ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    if not stop.is_set():
        for task in ended:
            task.result()
        raise WatchEndedError(f"kopf's {', '.join(sorted(task.get_name() for task in ended))} ended")
    await kopf.run_tasks(tasks, ignored=older)
