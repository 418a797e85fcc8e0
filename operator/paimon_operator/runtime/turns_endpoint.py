"""The endpoint at which drivers of shared Pods ask for turns: `POST /v1/turns`. Anybody in the cluster may reach it.

A request must bear a token that is bound to the very Pod whose jobs it is about. As with looks, a token that does not
even claim to be of a known Pod costs no request to the API server.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from aiohttp import web

from paimon_contract.documents import DocumentError
from paimon_contract.turns import (
    MAX_BYTES,
    TURNS_AT_ONCE,
    TurnAnswer,
    TurnOf,
    TurnReport,
    TurnRequest,
    answer_text,
    read_request,
)
from paimon_operator.core.launch.batch_pod import SharedPod
from paimon_operator.core.ports import TokenReviewer
from paimon_operator.errors import KubernetesError
from paimon_operator.runtime.batches import Batches
from paimon_operator.runtime.looks_server import BODY_TIMEOUT_S, claimed_pod
from paimon_operator.runtime.turns import TurnRequests

_SCHEME: Final = "Bearer "
_RETRY: Final = {"Retry-After": "1"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class TurnGiver:
    """What a leader needs to answer."""

    turns: TurnRequests
    batches: Batches
    reviewer: TokenReviewer
    on_answer: Callable[[bool], None] = lambda _: None
    """Called with whether a turn has begun that was asked for."""


class TurnsEndpoint:
    """Answers requests for turns. Without a giver, this process does not lead."""

    def __init__(self) -> None:
        self._giver: TurnGiver | None = None
        self._active = Counter[str]()
        """UID of a Pod -> how many of its requests are being answered."""

    def lead(self, giver: TurnGiver) -> None:
        """This process leads from now on."""
        self._giver = giver

    async def handle(self, request: web.Request) -> web.Response:
        """Answers one request. What may change soon is status 503, and the driver tries again."""
        giver, token = self._giver, request.headers.get("Authorization", "").removeprefix(_SCHEME)
        if giver is None:
            return _refused(HTTPStatus.SERVICE_UNAVAILABLE, "this replica does not lead", headers=_RETRY)
        claimed = claimed_pod(token)
        if claimed is None:
            return _refused(HTTPStatus.FORBIDDEN, "this is no token of a Pod")
        pod = giver.batches.pod(claimed)
        if pod is None:  # a new leader learns of the Pods within seconds
            return _refused(HTTPStatus.SERVICE_UNAVAILABLE, "no shared Pod of this UID is known", headers=_RETRY)
        if self._active[pod.uid] >= TURNS_AT_ONCE:
            return _refused(HTTPStatus.TOO_MANY_REQUESTS, "other requests of this Pod are answered", headers=_RETRY)
        self._active[pod.uid] += 1
        try:
            return await self._answer(giver, pod, token, request)
        finally:
            self._active[pod.uid] -= 1
            if not self._active[pod.uid]:
                del self._active[pod.uid]

    async def _answer(self, giver: TurnGiver, pod: SharedPod, token: str, request: web.Request) -> web.Response:
        try:
            known = await giver.reviewer.pod_of(token)
            if known is None or (known.namespace, known.name, known.uid) != (pod.namespace, pod.name, pod.uid):
                return _refused(HTTPStatus.UNAUTHORIZED, "the API server does not accept the token")
            async with asyncio.timeout(BODY_TIMEOUT_S):
                body = await request.read()
            if len(body) > MAX_BYTES:
                return _refused(HTTPStatus.BAD_REQUEST, f"a request has at most {MAX_BYTES} bytes")
            asked = _checked(read_request(body), pod)
            answer = TurnAnswer(begin=await carry_out(giver, pod, asked))
        except KubernetesError as error:
            _log.warning("the token of pod %s cannot be reviewed: %s", pod.name, error)
            return _refused(HTTPStatus.SERVICE_UNAVAILABLE, "the token cannot be reviewed", headers=_RETRY)
        except TimeoutError:
            return _refused(HTTPStatus.SERVICE_UNAVAILABLE, "this was not decided in time", headers=_RETRY)
        except DocumentError as error:
            return _refused(HTTPStatus.BAD_REQUEST, str(error))
        return web.Response(text=answer_text(answer), content_type="application/json")


def _checked(asked: TurnRequest, pod: SharedPod) -> TurnRequest:
    """The request. Raises DocumentError if it is about a run that the Pod has no job of."""
    reported = None if asked.report is None else asked.report.run
    for run in (reported, asked.next):
        if run is not None and not _is_member(run, pod):
            raise DocumentError(f"pod {pod.name} has no job of run {run.name[:253]!r}")
    return asked


def _is_member(run: TurnOf, pod: SharedPod) -> bool:
    return run.uid in pod.jobs and run.name in pod.runs


async def carry_out(giver: TurnGiver, pod: SharedPod, asked: TurnRequest) -> bool:
    """Stores the report and begins the next turn. Returns whether it has begun.

    Both at once, since each takes some requests: the driver goes on only when both are stored.
    """
    giver.batches.record_progress(pod)
    ended, begins = await asyncio.gather(
        _end(giver, pod, asked.report), _begin(giver, pod, asked.next), return_exceptions=True
    )
    for failure in (ended, begins):
        if isinstance(failure, BaseException):
            raise failure
    return begins is True


async def _end(giver: TurnGiver, pod: SharedPod, report: TurnReport | None) -> None:
    if report is not None:
        await giver.turns.end(pod, report.run, report.result)


async def _begin(giver: TurnGiver, pod: SharedPod, following: TurnOf | None) -> bool:
    if following is None:
        return False
    begins = not giver.batches.is_deleting(pod) and await giver.turns.begin(pod, following)
    giver.batches.record_turn(pod, following, begins=begins)
    giver.on_answer(begins)
    return begins


def _refused(status: HTTPStatus, why: str, *, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=status, text=f"{why}\n", headers=headers)
