"""The configuration of kopf: it selects objects on the server, writes nothing and passes every event on."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import kopf
import pytest

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.runtime.watch import NoMemories, build_registry, build_settings, run_watches


class Listener:
    """Records the events and heartbeats that it receives."""

    def __init__(self) -> None:
        self.received: list[tuple[object, ...]] = []

    def on_event(self, kind: Kind, event: str | None, body: Manifest) -> None:
        self.received.append((kind, event, body["metadata"]["name"]))

    def on_heartbeat(self, namespace: str) -> None:
        self.received.append(("heartbeat", namespace))


async def refuse_login(_: type[aiohttp.ClientResponse]) -> tuple[str, aiohttp.ClientSession]:
    raise AssertionError("no test logs in")


def test_the_server_selects_pods_and_leases_scanning_is_off_and_no_task_waits_for_long() -> None:
    settings = build_settings(heartbeat="paimon-operator-canary", request_timeout=30)
    assert settings.watching.label_selectors["", "pods"] == "app.kubernetes.io/managed-by=paimon-operator"
    leases = settings.watching.field_selectors["coordination.k8s.io", "leases"]
    assert leases == "metadata.name=paimon-operator-canary"
    assert settings.scanning.disabled
    assert not settings.posting.enabled
    assert not settings.watching.initial_streaming, "nothing reads such lists"
    assert settings.queueing.idle_timeout <= 0.1


async def test_each_event_is_passed_on_unchanged_and_no_handler_returns_a_value() -> None:
    listener = Listener()
    registry = build_registry(listener, refuse_login)
    body: Any = {"metadata": {"namespace": "shop", "name": "x"}}
    answers: list[Any] = []
    for handler in registry._watching.get_all_handlers():
        call: Any = handler.fn  # its type requires every argument that kopf can pass
        answers.append(await call(type="MODIFIED", body=kopf.Body(body)))
    assert answers == [None] * 5, "an answer would be patched into the object's status"
    kinds = [Kind.TABLE, Kind.CATALOG, Kind.RUN, Kind.POD]
    assert listener.received == [*((kind, "MODIFIED", "x") for kind in kinds), ("heartbeat", "shop")]


def test_kopf_copies_nothing_of_an_object_to_compare_it_with_its_last_version() -> None:
    storage = build_settings(heartbeat="canary", request_timeout=30).persistence.diffbase_storage
    body, patch = kopf.Body({"metadata": {"name": "x"}, "spec": {"schema": {"columns": []}}}), kopf.Patch()
    assert storage.build(body=body) == {}
    assert storage.fetch(body=body) is None
    storage.store(body=body, patch=patch, essence=storage.build(body=body))
    assert patch == {}, "nothing is written to the object"


def test_no_handler_of_a_kind_that_writes_to_objects_is_registered() -> None:
    registry = build_registry(Listener(), refuse_login)
    assert registry._changing.get_all_handlers() == []
    assert registry._spawning.get_all_handlers() == []
    assert registry._indexing.get_all_handlers() == []


async def test_an_object_whose_deletion_no_watch_has_seen_leaves_nothing_in_kopf() -> None:
    memories = NoMemories()
    body: Any = {"metadata": {"uid": "4711"}}
    known = await memories.recall(body, noticed_by_listing=True)
    assert known.noticed_by_listing
    assert list(memories.iter_all_memories()) == []


async def test_the_watches_run_with_such_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    async def spawn_tasks(**arguments: Any) -> list[asyncio.Task[None]]:
        given.update(arguments)
        raise asyncio.CancelledError

    monkeypatch.setattr(kopf, "spawn_tasks", spawn_tasks)
    settings = build_settings(heartbeat="canary", request_timeout=30)
    registry, stop = build_registry(Listener(), refuse_login), asyncio.Event()
    with pytest.raises(asyncio.CancelledError):
        await run_watches(registry, settings, namespaces=(), stop=stop, take_signals=lambda: None)
    assert isinstance(given["memories"], NoMemories)
