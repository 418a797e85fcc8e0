"""Lists of watches from a real HTTP server: their objects go to the handlers, and kopf gets pages without them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import aiohttp
import kopf
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from paimon_operator.api.base import API_VERSION
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.runtime.cache import DELIVERED
from paimon_operator.runtime.lists import response_of_lists
from paimon_operator.runtime.watch import build_registry
from tests.runtime.test_watch import Listener


def item(name: str) -> dict[str, Any]:
    return {"metadata": {"namespace": "shop", "name": name}}


TABLES: dict[str, Any] = {
    "kind": "PaimonTableList",
    "apiVersion": API_VERSION,
    "metadata": {"resourceVersion": "7", "continue": "more"},
    "items": [item("orders"), item("events")],
}
OTHERS = {
    "a list of another kind": (HTTPStatus.OK, {"kind": "LeaseList", "items": [item("heartbeat")]}),
    "one object": (HTTPStatus.OK, {"kind": "PaimonTable", "items": "a field that it has"}),
    "the resources of a group": (HTTPStatus.OK, {"kind": "APIResourceList", "resources": [{"name": "paimontables"}]}),
    "an error": (HTTPStatus.GONE, {"kind": "Status", "code": 410}),
    "a list that comes with an error": (HTTPStatus.SERVICE_UNAVAILABLE, TABLES),
    "no object": (HTTPStatus.OK, ["PaimonTableList"]),
    "a kind that is no text": (HTTPStatus.OK, {"kind": {}, "items": [item("orders")]}),
}


async def read(document: object, response: type[aiohttp.ClientResponse], status: HTTPStatus = HTTPStatus.OK) -> Any:
    """What kopf reads of an API server's answer."""

    async def answer(_: web.Request) -> web.Response:
        return web.json_response(document, status=status)

    application = web.Application()
    application.router.add_get("/", answer)
    async with (
        TestServer(application) as server,
        aiohttp.ClientSession(response_class=response) as session,
        session.get(server.make_url("/")) as answered,
    ):
        return await answered.json()


@dataclass
class Received:
    """What has been passed on. `on_event` fails for the object of one name."""

    fails_for: str = ""
    events: list[tuple[Kind, str | None, Manifest]] = field(default_factory=list)

    def on_event(self, kind: Kind, event: str | None, body: Manifest) -> None:
        if body["metadata"]["name"] == self.fails_for:
            raise ValueError("not read")
        self.events.append((kind, event, body))


async def test_the_objects_are_passed_on_in_order_and_the_page_says_where_the_list_goes_on() -> None:
    received = Received()
    page = await read(TABLES, response_of_lists(received.on_event, Kind.TABLE))
    assert page == {**TABLES, "items": []}
    expected = [{"kind": "PaimonTable", "apiVersion": API_VERSION, **each} for each in TABLES["items"]]
    assert received.events == [(Kind.TABLE, None, body) for body in expected]


async def test_other_tasks_run_between_two_objects() -> None:
    seen: list[int] = []
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    try:
        await read(TABLES, response_of_lists(lambda *_: seen.append(turns), Kind.TABLE))
    finally:
        task.cancel()
    first, second = seen
    assert second > first


@pytest.mark.parametrize("what", OTHERS)
async def test_every_other_answer_is_unchanged(what: str) -> None:
    received, (status, document) = Received(), OTHERS[what]
    assert await read(document, response_of_lists(received.on_event, Kind.TABLE), status) == document
    assert received.events == []


async def test_an_object_that_cannot_be_handled_is_logged_and_the_next_one_is_passed_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    received = Received(fails_for="orders")
    await read(TABLES, response_of_lists(received.on_event, Kind.TABLE))
    assert [body["metadata"]["name"] for _, _, body in received.events] == ["events"]
    assert "PaimonTable shop/orders: this object of a list was not handled" in caplog.text
    assert "ValueError: not read" in caplog.text
    assert vars(caplog.records[0])["fields"] == {"kind": "PaimonTable", "namespace": "shop", "name": "orders"}


@pytest.mark.parametrize("kind", DELIVERED)
async def test_the_watches_read_the_lists_of_every_kind_that_they_deliver(kind: Kind) -> None:
    listener, classes = Listener(), []

    async def log_in(response: type[aiohttp.ClientResponse]) -> tuple[str, aiohttp.ClientSession]:
        classes.append(response)
        return "https://api", aiohttp.ClientSession()

    (handler,) = build_registry(listener, log_in)._activities.get_all_handlers()
    call: Any = handler.fn  # its type requires every argument that kopf can pass
    given: kopf.AiohttpSession = await call()
    await given.aiohttp_session.close()
    await read({"kind": f"{kind}List", "items": [item("orders")]}, classes[0])
    assert listener.received == [(kind, None, "orders")]
