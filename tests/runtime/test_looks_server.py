"""The endpoint of looks: who may report, what is refused, and the whole way from an observer to a table's status."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import aiohttp
import pytest

from paimon_contract.documents import to_json
from paimon_contract.looks import MAX_BYTES, MAX_REPORTED, PATH, LookRequest, SameTable, TableLook, request_text
from paimon_contract.result import ResultTable
from paimon_operator.core.ports import PodIdentity
from paimon_operator.errors import RetryableError
from paimon_operator.runtime.looks_server import LooksServer, Receiver, claimed_pod
from tests.cluster.ports import free_ports
from tests.runtime.test_looks import LAKE, POD, Kept


def token_of(pod: str) -> str:
    """A token that says it is of a Pod of this UID."""
    claims = base64.urlsafe_b64encode(json.dumps({"kubernetes.io": {"pod": {"uid": pod}}}).encode()).decode()
    return f"e30.{claims.rstrip('=')}.c2ln"


GOOD = token_of(POD.uid)


@dataclass
class FakeReviewer:
    """The API server accepts `GOOD` alone."""

    reviewed: list[str] = field(default_factory=list)
    error: Exception | None = None
    wait: asyncio.Event | None = None
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def pod_of(self, token: str) -> PodIdentity | None:
        self.reviewed.append(token)
        self.was_asked.set()
        if self.error is not None:
            raise self.error
        if self.wait is not None:
            await self.wait.wait()
        return POD if token == GOOD else None


class Served:
    """The endpoint of a process that leads, and a client of it."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self.kept, self.reviewer, self.session = Kept(), FakeReviewer(), session
        self.url = f"http://127.0.0.1:{port}{PATH}"
        self.server = LooksServer(port=port)

    def lead(self) -> None:
        self.server.lead(Receiver(looks=self.kept.looks, reviewer=self.reviewer, clock=self.kept.time))

    async def post(self, body: str | bytes, token: str = GOOD) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {token}"}
        async with self.session.post(self.url, data=body, headers=headers) as answer:
            return answer.status, await answer.text()


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with aiohttp.ClientSession() as session:
        made = Served(session, free_ports(1)[0])
        await made.server.start()
        made.lead()
        yield made
        await made.server.stop()


NOTHING = request_text(LookRequest())
ORDERS = TableLook(uid="uid-of-orders", table=ResultTable(snapshot_id=5, files=3, size_bytes=10))


async def test_a_report_is_kept_and_answered_with_what_to_look_at(served: Served) -> None:
    status, text = await served.post(request_text(LookRequest(age_seconds=7, tables=(ORDERS,))))
    assert status == 200
    assert [each["uid"] for each in json.loads(text)["tables"]] == ["uid-of-orders", "uid-of-web-events"]
    look = served.kept.looks.of(LAKE, "uid-of-orders")
    assert look is not None
    assert look.measure is not None
    assert (look.measure.snapshot_id, look.measure.bytes) == (5, 10)
    assert look.looked_at == served.kept.time.now() - timedelta(seconds=7)


async def test_a_replica_that_does_not_lead_asks_to_try_again() -> None:
    (port,) = free_ports(1)
    server = LooksServer(port=port)
    await server.start()
    async with aiohttp.ClientSession() as session, session.post(f"http://127.0.0.1:{port}{PATH}") as answer:
        assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
    await server.stop()


TOKENS = {
    "none": ("", 403, 0),
    "no token at all": ("abc", 403, 0),
    "claims that are no JSON": ("e30.e30e30.c2ln", 403, 0),
    "the claims of another Pod": (token_of("bank"), 403, 0),
    "the claims of the observer, but another signature": (GOOD + "x", 401, 1),
}


@pytest.mark.parametrize(("token", "status", "reviews"), TOKENS.values(), ids=TOKENS)
async def test_a_token_is_refused_and_costs_a_review_only_if_it_may_be_right(
    served: Served, token: str, status: int, reviews: int
) -> None:
    assert (await served.post(NOTHING, token))[0] == status
    assert len(served.reviewer.reviewed) == reviews


async def test_a_review_that_fails_asks_to_try_again(served: Served) -> None:
    served.reviewer.error = RetryableError("the API server is away")
    assert (await served.post(NOTHING))[0] == 503


async def test_a_second_request_of_a_pod_waits_for_the_first(served: Served) -> None:
    served.reviewer.wait = asyncio.Event()
    first = asyncio.create_task(served.post(NOTHING))
    await served.reviewer.was_asked.wait()
    assert (await served.post(NOTHING))[0] == 429
    served.reviewer.wait.set()
    assert (await first)[0] == 200
    assert (await served.post(NOTHING))[0] == 200


def edited(**members: Any) -> str:
    return json.dumps(to_json(LookRequest(tables=(ORDERS,))) | members)


BODIES = {
    "no JSON": ("<html>", 400, "not a report"),
    "another version": (edited(version=2), 400, "version: 2"),
    "a text in place of a number": (edited(ageSeconds="7"), 400, "ageSeconds"),
    "a future look": (edited(ageSeconds=-1), 400, "an age of at most"),
    "a number beyond 64 bits": (edited(ageSeconds=2**70), 400, "a number of 22 digits"),
    "too many tables": (edited(same=[to_json(SameTable(uid="u"))] * (MAX_REPORTED + 1)), 400, "at most 1000 tables"),
    "too many bytes": (" " * (MAX_BYTES + 1), 413, "exceed"),
    "deep nesting": ("[" * 100_000, 400, "not a report"),
}


@pytest.mark.parametrize(("body", "status", "why"), BODIES.values(), ids=BODIES)
async def test_a_report_is_refused_with(served: Served, body: str, status: int, why: str) -> None:
    found, text = await served.post(body)
    assert (found, why in text) == (status, True), text
    assert served.kept.looks.of(LAKE, "uid-of-orders") is None


VALUES: dict[str, tuple[dict[str, Any], str]] = {
    "a share above 100": ({"deletePercent": 101}, "delete_percent"),
    "a negative number of files": ({"files": -7}, "files"),
    "a long partition": ({"oldestPartition": "x" * 300}, "oldest_partition"),
    "no time": ({"oldestSnapshot": "yesterday"}, "oldest_snapshot"),
}


@pytest.mark.parametrize(("values", "field_"), VALUES.values(), ids=VALUES)
async def test_a_table_whose_values_no_status_can_hold_is_unknown_and_stops_no_other(
    served: Served, values: dict[str, Any], field_: str
) -> None:
    other = to_json(TableLook(uid="uid-of-web-events", table=ResultTable(snapshot_id=1)))
    status, _ = await served.post(edited(tables=[{"uid": "uid-of-orders", "table": values}, other]))
    assert status == 200
    look, fine = (served.kept.looks.of(LAKE, uid) for uid in ("uid-of-orders", "uid-of-web-events"))
    assert look is not None
    assert fine is not None
    assert (look.measure, fine.unknown) == (None, None)
    assert field_ in str(look.unknown)


async def test_a_reason_reaches_no_terminal(served: Served) -> None:
    await served.post(edited(tables=[{"uid": "uid-of-orders", "unknown": "\x1b[2J" + "x" * 999}]))
    look = served.kept.looks.of(LAKE, "uid-of-orders")
    assert look is not None
    assert look.unknown == " [2J" + "x" * 252


def test_a_token_of_deep_or_wrong_claims_is_of_no_pod() -> None:
    deep = base64.urlsafe_b64encode(("[" * 5000).encode()).decode()
    assert [claimed_pod(token) for token in (f"a.{deep}.b", "a.b", "a.!.b", "a." * 5000)] == [None] * 4
    assert claimed_pod(GOOD) == POD.uid
