"""The endpoint to which observers report: `POST /v1/looks`. Anybody in the cluster may reach it.

A request is answered only while this process leads. It must bear a token that is bound to the Pod of an observer. A
token that does not even claim so costs no request to the API server.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from aiohttp import web

from paimon_contract.documents import to_json, to_text
from paimon_contract.looks import MAX_BYTES, PATH
from paimon_operator.api.looks import read_request
from paimon_operator.core.ports import Clock, TokenReviewer
from paimon_operator.errors import ContractError, KubernetesError
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.looks import Looks

BODY_TIMEOUT_S: Final = 20.0
"""Seconds in which a request must have arrived."""
_SHUTDOWN_S: Final = 2.0
"""Seconds for requests that are being answered when the process ends. The observer sends them again."""
_MAX_TOKEN: Final = 8_192
_SCHEME: Final = "Bearer "
_RETRY: Final = {"Retry-After": "1"}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """What a leader needs to answer."""

    looks: Looks
    reviewer: TokenReviewer
    clock: Clock


class LooksServer:
    """The HTTP server. Without a receiver, this process does not lead."""

    def __init__(self, *, port: int, beside: Mapping[str, Handler] | None = None) -> None:
        """`beside` has what answers at other paths."""
        self._port = port
        self._receiver: Receiver | None = None
        app = web.Application(client_max_size=MAX_BYTES)
        others = (web.post(path, handler) for path, handler in (beside or {}).items())
        app.add_routes([web.post(PATH, self._handle), *others])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=_SHUTDOWN_S)
        self._active: set[str] = set()

    def lead(self, receiver: Receiver) -> None:
        """This process leads from now on."""
        self._receiver = receiver

    async def start(self) -> None:
        """Listens on all addresses; raises OSError when the port is taken."""
        await self._runner.setup()
        await web.TCPSite(self._runner, host=None, port=self._port).start()

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.Response:
        receiver, token = self._receiver, request.headers.get("Authorization", "").removeprefix(_SCHEME)
        if receiver is None:
            return _refused(HTTPStatus.SERVICE_UNAVAILABLE, "this replica does not lead", headers=_RETRY)
        pod = claimed_pod(token)
        if pod is None or not receiver.looks.is_observer(pod):
            return _refused(HTTPStatus.FORBIDDEN, "this is no token of an observer's Pod")
        if pod in self._active:
            return _refused(HTTPStatus.TOO_MANY_REQUESTS, "another request of this Pod is answered", headers=_RETRY)
        self._active.add(pod)
        try:
            return await self._answer(receiver, token, request)
        finally:
            self._active.discard(pod)

    async def _answer(self, receiver: Receiver, token: str, request: web.Request) -> web.Response:
        received = receiver.clock.now()  # before the body: the age in it is of an earlier time
        try:
            catalog = await _catalog(receiver, token)
            if catalog is None:
                return _refused(HTTPStatus.UNAUTHORIZED, "the API server does not accept the token")
            async with asyncio.timeout(BODY_TIMEOUT_S):
                body = await request.read()
            answer = await receiver.looks.receive(catalog, read_request(body), received)
        except KubernetesError as error:
            _log.warning("the token of an observer cannot be reviewed: %s", error)
            return _refused(HTTPStatus.SERVICE_UNAVAILABLE, "the token cannot be reviewed", headers=_RETRY)
        except TimeoutError:
            return _refused(HTTPStatus.REQUEST_TIMEOUT, "the request did not arrive in time")
        except ContractError as error:
            _log.warning("%s: its observer reports %s", catalog, error)
            return _refused(HTTPStatus.BAD_REQUEST, str(error))
        # (an answer of 5,000 tables takes a tenth of a second)
        text = await asyncio.to_thread(lambda: to_text(to_json(answer)))
        return web.Response(text=text, content_type="application/json")


async def _catalog(receiver: Receiver, token: str) -> Key | None:
    pod = await receiver.reviewer.pod_of(token)
    return None if pod is None else receiver.looks.catalog_of(pod)


def claimed_pod(token: str) -> str | None:
    """UID of the Pod that the token says it is bound to, unverified; None for what is no such token."""
    parts = token.split(".") if len(token) <= _MAX_TOKEN else []
    if len(parts) != 3:  # noqa: PLR2004  (header, claims and signature)
        return None
    try:
        claims: Any = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return str(claims["kubernetes.io"]["pod"]["uid"])
    except (binascii.Error, ValueError, KeyError, TypeError, RecursionError):
        return None


def _refused(status: HTTPStatus, why: str, *, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=status, text=f"{why}\n", headers=headers)
