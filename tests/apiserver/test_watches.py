"""The watches on a real API server: what they deliver, and what a long list costs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.kube.connection import watch_session
from paimon_operator.runtime.watch import build_registry, build_settings, run_watches
from tests.apiserver.connected import connected
from tests.apiserver.namespace_client import NamespaceClient
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import keyed_table

TABLES = 120
"""More than two pages."""


@dataclass
class Listener:
    """Records what the watches deliver, and the tasks that there are meanwhile. Stops them after the object `last`."""

    last: str
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    listed: list[str] = field(default_factory=list)
    watched: list[tuple[str, str]] = field(default_factory=list)
    kinds: set[tuple[str, str]] = field(default_factory=set)
    tasks: int = 0
    all_listed: asyncio.Event = field(default_factory=asyncio.Event)

    def on_event(self, kind: Kind, event: str | None, body: Manifest) -> None:
        name = body["metadata"]["name"]
        self.kinds.add((kind, body["kind"]))
        self.tasks = max(self.tasks, len(asyncio.all_tasks()))
        if event is None:
            self.listed.append(name)
        else:
            self.watched.append((event, name))
        if len(self.listed) == TABLES:
            self.all_listed.set()
        if name == self.last:
            self.stop.set()

    def on_heartbeat(self, namespace: str) -> None:
        """There is none."""


@pytest.fixture
def ns(api_server: ApiServer) -> Iterator[NamespaceClient]:
    ns = NamespaceClient(api_server.kubeconfig, "watches")
    for number in range(TABLES):
        ns.create(keyed_table(metadata__name=f"t{number:03}"))
    yield ns
    ns.close()


async def test_a_list_makes_no_task_for_each_object_and_the_watch_goes_on_from_it(
    ns: NamespaceClient, api_server: ApiServer
) -> None:
    listener = Listener(last="later")
    watching = asyncio.create_task(watch(listener, api_server.kubeconfig, ns.namespace))
    listed = asyncio.create_task(listener.all_listed.wait())
    try:
        await asyncio.wait({watching, listed}, timeout=60, return_when=asyncio.FIRST_COMPLETED)
        assert not watching.done(), watching.result()
        await asyncio.to_thread(ns.create, keyed_table(metadata__name="later"))
        await asyncio.wait_for(watching, timeout=60)
    finally:
        watching.cancel()
        listed.cancel()
    assert listener.kinds == {("PaimonTable", "PaimonTable")}
    assert sorted(listener.listed) == [f"t{number:03}" for number in range(TABLES)]
    assert listener.watched == [("ADDED", "later")]
    assert listener.tasks < TABLES / 2, "the watches themselves have about forty"


async def watch(listener: Listener, kubeconfig: Path, namespace: str) -> None:
    """Watches until the listener has the last object."""
    async with connected(kubeconfig) as api:
        await run_watches(
            build_registry(listener, partial(watch_session, api.client)),
            build_settings(heartbeat="none", request_timeout=30),
            namespaces=(namespace,),
            stop=listener.stop,
            take_signals=lambda: None,
        )
