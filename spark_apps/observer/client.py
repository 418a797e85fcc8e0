"""Sends reports to the operator over HTTP, with the token that the kubelet renews in a file."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from paimon_contract.documents import DocumentError
from paimon_contract.looks import MAX_BYTES, LookAnswer, LookRequest, read_answer, request_text

TIMEOUT_S: Final = 10
"""Seconds for a connection, and for each part of the answer."""
TRIES: Final = 6
"""Requests to replicas of which one leads. Each new connection may reach another one."""
PAUSE_S: Final = 1.0
"""Seconds between them."""
_NOT_LEADING: Final = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS)


class NotReportedError(Exception):
    """The operator has not taken a report. The message is one clause with the reason."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the token to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class OperatorClient:
    """The operator at `url`. No proxy of the environment is used."""

    url: str
    token_file: Path
    sleep: Callable[[float], object] = time.sleep
    _opener: urllib.request.OpenerDirector = field(
        default_factory=lambda: urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects())
    )

    def send(self, request: LookRequest) -> LookAnswer:
        """The answer to a request. Raises NotReportedError."""
        for tried in range(1, TRIES + 1):
            try:
                return read_answer(self._post(request_text(request).encode()))
            except urllib.error.HTTPError as error:
                with error:
                    if tried == TRIES or error.code not in _NOT_LEADING:
                        raise NotReportedError(f"{self.url}: status {error.code} {error.read(200)!r}") from error
            except (OSError, DocumentError, ValueError) as error:
                raise NotReportedError(f"{self.url}: {type(error).__name__}: {error}") from error
            self.sleep(PAUSE_S)
        raise NotReportedError(f"{self.url}: no replica leads")

    def _post(self, body: bytes) -> bytes:
        token = self.token_file.read_text(encoding="ascii").strip()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        request = urllib.request.Request(self.url, data=body, headers=headers, method="POST")  # noqa: S310  (http alone)
        with self._opener.open(request, timeout=TIMEOUT_S) as answer:
            content: bytes = answer.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"the answer has more than {MAX_BYTES} bytes")
        return content
