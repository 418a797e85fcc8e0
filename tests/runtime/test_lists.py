"""Lists of watches, served by a real HTTP server: their objects are passed on, and kopf gets pages without them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from paimon_operator.api.base import API_VERSION
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.runtime.lists import response_of_lists
from tests.cluster.ports import free_ports

TABLES = {
    "kind": "PaimonTableList",
    "apiVersion": API_VERSION,
    "metadata": {"resourceVersion": "7", "continue": "more"},
    "items": [{"metadata": {"name": "orders"}}, {"metadata": {"name": "events"}}],
}
OTHERS = {
    "a list of another kind": {"kind": "LeaseList", "items": [{"metadata": {"name": "heartbeat"}}]},
    "one object": {"kind": "PaimonTable", "items": "a field that it has"},
    "the resources of a group": {"kind": "APIResourceList", "resources": [{"name": "paimontables"}]},
    "an error": {"kind": "Status", "code": 410},
    "no object": ["PaimonTableList"],
}


@dataclass
class Served:
    """An API server that answers one document, and a client whose lists are read."""

    document: Any = None
    listed: list[Manifest] = field(default_factory=list)
    fails_for: str = ""

    async def answer(self, _: web.Request) -> web.Response:
        return web.json_response(self.document)

    def on_event(self, kind: Kind, event: None, body: Manifest) -> None:
        if body["metadata"]["name"] == self.fails_for:
            raise ValueError("not read")
        assert (body["kind"], event) == (kind, None)
        self.listed.append(body)

    async def get(self, document: Any) -> Any:
        self.document = document
        (port,) = free_ports(1)
        application = web.Application()
        application.router.add_get("/", self.answer)
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        response = response_of_lists(self.on_event, Kind.TABLE, Kind.POD)
        try:
            async with aiohttp.ClientSession(response_class=response) as session:
                return await (await session.get(f"http://127.0.0.1:{port}/")).json()
        finally:
            await runner.cleanup()


@pytest.fixture
def served() -> Served:
    return Served()


async def test_the_objects_are_passed_on_in_order_and_the_page_says_where_the_list_goes_on(served: Served) -> None:
    assert await served.get(TABLES) == {**TABLES, "items": []}
    assert [each["metadata"]["name"] for each in served.listed] == ["orders", "events"]
    assert {each["apiVersion"] for each in served.listed} == {API_VERSION}


async def test_an_object_of_a_list_of_pods_has_its_kind_although_the_api_server_leaves_it_out(served: Served) -> None:
    await served.get({"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "driver"}}]})
    assert served.listed == [{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "driver"}}]


@pytest.mark.parametrize("what", OTHERS)
async def test_every_other_answer_is_unchanged(served: Served, what: str) -> None:
    assert await served.get(OTHERS[what]) == OTHERS[what]
    assert served.listed == []


async def test_an_object_that_cannot_be_read_is_logged_and_the_next_one_is_passed_on(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    served.fails_for = "orders"
    await served.get(TABLES)
    assert [each["metadata"]["name"] for each in served.listed] == ["events"]
    assert "PaimonTable None/orders of a list is left out" in caplog.text
    assert "ValueError: not read" in caplog.text
