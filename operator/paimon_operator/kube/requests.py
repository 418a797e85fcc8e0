"""Sends requests to the API server, with a rate limit, a time-out, metrics and our errors. Plain JSON in and out.

The typed API of the client is not used: its models drop unknown fields and reject unexpected values.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import aiohttp
from kubernetes.aio.client import ApiClient
from kubernetes.aio.client.exceptions import ApiException

from paimon_operator.errors import RetryableError
from paimon_operator.kube.api_errors import error_for
from paimon_operator.kube.limiter import TokenBucket
from paimon_operator.kube.resources import namespace_of

Verb = Literal["get", "list", "create", "update", "patch", "merge", "apply", "delete"]
Json = dict[str, Any]
Query = Sequence[tuple[str, str]]

_METHODS: Final[dict[Verb, str]] = {
    "get": "GET",
    "list": "GET",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "merge": "PATCH",
    "apply": "PATCH",
    "delete": "DELETE",
}
_CONTENT_TYPES: Final[dict[Verb, str]] = {
    "patch": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
_JSON: Final = "application/json"
_READS: Final = frozenset({"get", "list"})
_TOO_MANY, _ERRORS = 429, 400
_DEFAULT_PAUSE: Final = 1.0
"""Seconds to pause after a 429 without Retry-After."""
_TRIES: Final = 4
"""How often a request is sent that is answered 429 each time: the server has done nothing, so it may be sent again.
Then the reconcile fails and is repeated, because what it has read gets old."""


def _unguarded() -> float:
    """The guard of a process without a Lease."""
    return math.inf


class ApiServer:
    """The API server behind one rate limit, for which the namespaces in the paths of the requests take turns.

    `observe(verb, kind, code, seconds)` is called once per response, with code 0 for none. `guard` is called before
    every mutation. It raises when this process must not change anything any more, because its Lease expired. It returns
    the seconds for which no other process can lead; the request is aborted after that time.
    """

    def __init__(
        self,
        client: ApiClient,
        *,
        limiter: TokenBucket | None,
        timeout: float,
        observe: Callable[[str, str, int, float], None],
        guard: Callable[[], float] = _unguarded,
    ) -> None:
        self._client, self._limiter, self._timeout = client, limiter, timeout
        self._observe, self._guard = observe, guard

    async def request(
        self, verb: Verb, path: str, *, kind: str, query: Query = (), body: object = None, accept: str | None = None
    ) -> Json:
        """The JSON of the response, in the form that `accept` names.

        Raises a KubernetesError; RetryableError with status 0: outcome unknown.
        """
        for _ in range(_TRIES - 1):
            try:
                return await self._once(verb, path, kind=kind, query=query, body=body, accept=accept)
            except RetryableError as error:
                if error.status != _TOO_MANY or self._limiter is None:
                    raise
        return await self._once(verb, path, kind=kind, query=query, body=body, accept=accept)

    async def _once(self, verb: Verb, path: str, *, kind: str, query: Query, body: object, accept: str | None) -> Json:
        if self._limiter is not None:
            await self._limiter.take(namespace_of(path))
        seconds = self._timeout
        if verb not in _READS:  # after the wait for a token, so that nothing delays the request after the guard
            seconds = min(seconds, self._guard())
        started = time.monotonic()
        sent = {"Accept": accept or _JSON, "Content-Type": _CONTENT_TYPES.get(verb, _JSON)}
        status, headers, text = await self._send(
            verb, path, kind=kind, query=query, body=body, headers=sent, seconds=seconds
        )
        self._observe(verb, kind, status, time.monotonic() - started)
        if status < _ERRORS:
            answer: Json = json.loads(text)
            return answer
        error = error_for(status, headers, text, doing=f"{verb} {path}")
        if status == _TOO_MANY and self._limiter is not None and isinstance(error, RetryableError):
            self._limiter.hold(error.retry_after or _DEFAULT_PAUSE)
        raise error

    async def _send(
        self, verb: Verb, path: str, *, kind: str, query: Query, body: object, headers: dict[str, str], seconds: float
    ) -> tuple[int, dict[str, str], str]:
        try:
            method, url, sent_headers, sent_body, _ = await self._client.param_serialize(
                _METHODS[verb],
                path,
                query_params=list(query),
                header_params=headers,
                body=body,
                auth_settings=["BearerToken"],
            )
            answer = await self._client.call_api(
                method, url, sent_headers, sent_body, _request_timeout=aiohttp.ClientTimeout(total=seconds)
            )
            data: bytes = await answer.read()  # type: ignore[no-untyped-call]
        except (aiohttp.ClientError, OSError, ApiException) as error:  # TimeoutError is an OSError
            self._observe(verb, kind, 0, seconds)
            raise RetryableError(f"{verb} {path}: no response: {type(error).__name__} {error}") from error
        received = {name.title(): value for name, value in answer.headers.items()}
        return answer.status, received, data.decode("utf-8", "replace")
