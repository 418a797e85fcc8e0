"""Asks the operator for the turns of a batch. A request is repeated until it is answered, or refused for good."""

from __future__ import annotations

import time
import urllib.error
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from paimon_contract.documents import DocumentError
from paimon_contract.turns import TurnRequest, read_answer, request_text
from spark_apps.operator_http import OperatorHttp
from spark_apps.progress import log_step

PATIENCE_S: Final = 60.0
"""Seconds for which a request is repeated: a new leader needs up to half of that."""
PAUSE_S: Final = 1.0
"""Seconds between two tries."""
_FOR_GOOD: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)


class NotAnsweredError(Exception):
    """The operator has not answered. It may have taken the report and begun the turn nevertheless."""


@dataclass(frozen=True)
class TurnClient:
    """The operator that gives the turns."""

    http: OperatorHttp
    sleep: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def ask(self, request: TurnRequest) -> bool:
        """Whether the turn of `request.next` begins. Its report is stored then. Raises NotAnsweredError."""
        until = self.clock() + PATIENCE_S
        while True:
            try:
                return read_answer(self.http.post(request_text(request).encode())).begin
            except urllib.error.HTTPError as error:
                with error:
                    problem = f"status {error.code} {error.read(200)!r}"
                    if error.code in _FOR_GOOD:
                        raise NotAnsweredError(problem) from error
            except (OSError, DocumentError, ValueError) as error:
                problem = f"{type(error).__name__}: {error}"
            if self.clock() >= until:
                raise NotAnsweredError(problem)
            log_step(f"the operator does not answer, trying again: {problem}")
            self.sleep(PAUSE_S)
