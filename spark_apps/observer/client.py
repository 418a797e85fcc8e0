"""Sends reports to the operator: one request, repeated until a replica that leads answers."""

from __future__ import annotations

import time
import urllib.error
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

from paimon_contract.documents import DocumentError
from paimon_contract.looks import MAX_BYTES, LookAnswer, LookRequest, read_answer, request_text
from spark_apps.operator_http import OperatorHttp

TRIES: Final = 6
"""Requests to replicas of which one leads. Each new connection may reach another one."""
PAUSE_S: Final = 1.0
"""Seconds between them."""
_NOT_LEADING: Final = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS)


class NotReportedError(Exception):
    """The operator has not taken a report. The message is one clause with the reason."""


@dataclass(frozen=True)
class OperatorClient:
    """The operator at `url`."""

    url: str
    token_file: Path
    sleep: Callable[[float], object] = time.sleep

    def send(self, request: LookRequest) -> LookAnswer:
        """The answer to a request. Raises NotReportedError."""
        http = OperatorHttp(self.url, self.token_file, MAX_BYTES)
        for tried in range(1, TRIES + 1):
            try:
                return read_answer(http.post(request_text(request).encode()))
            except urllib.error.HTTPError as error:
                with error:
                    if tried == TRIES or error.code not in _NOT_LEADING:
                        raise NotReportedError(f"{self.url}: status {error.code} {error.read(200)!r}") from error
            except (OSError, DocumentError, ValueError) as error:
                raise NotReportedError(f"{self.url}: {type(error).__name__}: {error}") from error
            self.sleep(PAUSE_S)
        raise NotReportedError(f"{self.url}: no replica leads")
