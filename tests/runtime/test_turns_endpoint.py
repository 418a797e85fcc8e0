"""The endpoint of turns: who may ask, about which runs, and what is answered while nobody can decide."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from paimon_contract.turns import (
    MAX_BYTES,
    PATH,
    TURNS_AT_ONCE,
    TurnOf,
    TurnReport,
    TurnRequest,
    read_answer,
    request_text,
)
from paimon_operator.core.ports import PodIdentity
from paimon_operator.errors import RetryableError
from paimon_operator.runtime import turns
from paimon_operator.runtime.looks_server import LooksServer
from paimon_operator.runtime.turns_endpoint import TurnGiver, TurnsEndpoint
from tests.cluster.ports import free_ports
from tests.runtime.operator_in_memory import OperatorInMemory, lake
from tests.runtime.shared_driver import FACTS, WINDOW_S, SharedDriver, tables
from tests.runtime.test_looks_server import token_of


class Reviewer:
    """The API server accepts the token of this Pod alone."""

    def __init__(self, pod: PodIdentity) -> None:
        self.pod, self.token = pod, token_of(pod.uid)
        self.error: Exception | None = None
        self.asked, self.answers = asyncio.Queue[str](), asyncio.Event()
        self.answers.set()

    async def pod_of(self, token: str) -> PodIdentity | None:
        self.asked.put_nowait(token)
        await self.answers.wait()
        if self.error is not None:
            raise self.error
        return self.pod if token == self.token else None


class Served:
    """The endpoint beside an operator in memory, with the driver of a Pod that two runs share."""

    def __init__(self, operator: OperatorInMemory, driver: SharedDriver, session: aiohttp.ClientSession) -> None:
        self.driver, self.session, self.operator = driver, session, operator
        pod = driver.pod
        self.reviewer = Reviewer(PodIdentity(namespace=pod.namespace, name=pod.name, uid=pod.uid))
        (port,) = free_ports(1)
        self.endpoint = TurnsEndpoint()
        self.server = LooksServer(port=port, beside={PATH: self.endpoint.handle})
        self.url = f"http://127.0.0.1:{port}{PATH}"

    def lead(self) -> None:
        operator = self.operator
        self.endpoint.lead(TurnGiver(turns=operator.turns, batches=operator.batches, reviewer=self.reviewer))

    @property
    def runs(self) -> list[TurnOf]:
        """The runs of both turns."""
        jobs = self.driver.pod.jobs.items()
        return [TurnOf(name=json.loads(job)["run"]["name"], uid=uid) for uid, job in jobs]

    @property
    def first(self) -> TurnOf:
        """The run of the first turn."""
        return self.runs[0]

    @property
    def report(self) -> TurnReport:
        """The first run has succeeded."""
        name = self.first.name
        result = {"version": 1, "run": name, "operation": "Provision", "ok": True, "created": True}
        return TurnReport(run=self.first, result=json.dumps(result))

    async def post(self, request: TurnRequest | str, token: str | None = None) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {self.reviewer.token if token is None else token}"}
        text = request if isinstance(request, str) else request_text(request)
        async with self.session.post(self.url, data=text, headers=headers) as answer:
            return answer.status, await answer.text()


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    operator = await OperatorInMemory(sharing=FACTS).start()
    await operator.apply(lake(), *tables("a", "b"))
    await operator.pass_time(seconds=WINDOW_S)
    async with aiohttp.ClientSession() as session:
        made = Served(operator, await SharedDriver.start(operator), session)
        await made.server.start()
        made.lead()
        yield made
        await made.server.stop()
    await operator.stop()


async def test_a_turn_begins_and_its_result_is_stored(served: Served) -> None:
    status, text = await served.post(TurnRequest(next=served.first))
    assert (status, read_answer(text).begin) == (200, True)
    status, text = await served.post(TurnRequest(report=served.report))
    assert (status, read_answer(text).begin) == (200, False)
    await served.operator.settle()
    assert served.operator.condition("Ready", served.driver.pod.runs[served.first.name])[0] == "True"


async def test_two_runs_of_a_pod_are_in_their_turns_at_once(served: Served) -> None:
    answers = await asyncio.gather(*(served.post(TurnRequest(next=run)) for run in served.runs))
    assert [(status, read_answer(text).begin) for status, text in answers] == [(200, True)] * 2
    for run in served.runs:
        report = TurnReport(run=run, result=served.report.result.replace(served.first.name, run.name))
        assert (await served.post(TurnRequest(report=report)))[0] == 200
    await served.operator.settle()
    assert {served.operator.condition("Ready", table)[0] for table in "ab"} == {"True"}


async def test_a_pod_gets_no_more_answers_at_once_than_it_has_turns(served: Served) -> None:
    served.reviewer.answers.clear()
    asking = [asyncio.ensure_future(served.post(TurnRequest(next=served.first))) for _ in range(TURNS_AT_ONCE)]
    for _ in asking:
        await served.reviewer.asked.get()
    assert (await served.post(TurnRequest(next=served.first)))[0] == 429
    served.reviewer.error = RetryableError("away", status=503)
    served.reviewer.answers.set()
    assert [(await each)[0] for each in asking] == [503] * TURNS_AT_ONCE
    assert (await served.post(TurnRequest(next=served.first)))[0] == 503, "its requests are answered again"
    assert not served.endpoint._active


async def test_a_replica_that_does_not_lead_asks_to_try_again(served: Served) -> None:
    served.endpoint._giver = None
    status, _ = await served.post(TurnRequest(next=served.first))
    assert status == 503


TOKENS = {
    "none": ("", 403),
    "no token at all": ("abc", 403),
    "the claims of a Pod that is not known": (token_of("bank"), 503),
}


@pytest.mark.parametrize(("token", "expected"), TOKENS.values(), ids=TOKENS)
async def test_a_token_of_no_known_pod_costs_no_review(served: Served, token: str, expected: int) -> None:
    served.reviewer.error = AssertionError("reviewed")
    status, _ = await served.post(TurnRequest(next=served.first), token)
    assert status == expected


async def test_a_token_that_the_api_server_does_not_accept_is_refused(served: Served) -> None:
    status, _ = await served.post(TurnRequest(next=served.first), served.reviewer.token + "x")
    assert status == 401


@pytest.mark.parametrize("field", ["namespace", "name", "uid"])
async def test_a_token_that_is_bound_to_another_pod_is_refused(served: Served, field: str) -> None:
    identity = vars(served.reviewer.pod) | {field: "another"}
    served.reviewer.pod = PodIdentity(**identity)
    status, _ = await served.post(TurnRequest(next=served.first))
    assert status == 401


async def test_a_review_that_fails_is_to_be_tried_again(served: Served) -> None:
    served.reviewer.error = RetryableError("away", status=503)
    status, _ = await served.post(TurnRequest(next=served.first))
    assert status == 503


STRANGE = {
    "another name": lambda run: TurnOf(name="orders-drop-00000000", uid=run.uid),
    "another UID": lambda run: TurnOf(name=run.name, uid="another"),
}


@pytest.mark.parametrize("of", STRANGE.values(), ids=STRANGE)
@pytest.mark.parametrize("reports", [True, False])
async def test_a_pod_asks_and_reports_only_of_its_own_runs(served: Served, of: object, reports: bool) -> None:
    run = of(served.first)  # type: ignore[operator]
    request = TurnRequest(report=TurnReport(run=run, result="{}")) if reports else TurnRequest(next=run)
    status, text = await served.post(request)
    assert (status, "has no job of run" in text) == (400, True)


@pytest.mark.parametrize("body", ["", "[]", '{"version":2}', '{"version":1,"more":1}', "x" * (MAX_BYTES + 1)])
async def test_what_is_no_request_is_refused(served: Served, body: str) -> None:
    status, _ = await served.post(body)
    assert status == 400


async def test_what_no_reconcile_has_decided_is_to_be_tried_again(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "ANSWER_WITHIN_S", 0.0)
    status, text = await served.post(TurnRequest(next=served.first))
    assert (status, "not decided in time" in text) == (503, True)


async def test_the_next_turn_is_given_only_once_the_last_result_is_stored(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def undecided(*_: object) -> None:
        raise TimeoutError

    await served.post(TurnRequest(next=served.first))
    request = TurnRequest(report=served.report, next=served.runs[1])
    with monkeypatch.context() as patched:
        patched.setattr(served.operator.turns, "end", undecided)
        status, _ = await served.post(request)
        assert status == 503
    status, text = await served.post(request)
    assert (status, read_answer(text).begin) == (200, True)
    await served.operator.settle()
    assert served.operator.condition("Ready", served.driver.pod.runs[served.first.name])[0] == "True"
