"""Maps an error response of the API server, its HTTP status and Status object, to one of our errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from paimon_operator.errors import (
    AlreadyExistsError,
    ForbiddenError,
    InvalidObjectError,
    KubernetesError,
    NamespaceTerminatingError,
    NotFoundError,
    RetryableError,
    StaleError,
)

_LATER: Final = frozenset({408, 410, 429})
"""Retried, like 5xx. 410: the continuation of a list expired, and a new list from the start succeeds."""
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _CONFLICT = 401, 403, 404, 409
_SERVER_ERRORS: Final = 500


def error_for(status: int, headers: Mapping[str, str], text: str, *, doing: str) -> KubernetesError:
    """The error for a response with HTTP status 400 or more. `doing` names the request, for the message."""
    answer = _status_object(text)
    message = f"{doing}: {status} {answer.get('reason', '')}: {answer.get('message', text[:500])}"
    if status in _LATER or status >= _SERVER_ERRORS:
        return RetryableError(message, status=status, retry_after=_retry_after(headers, answer))
    if status == _CONFLICT:
        kind = AlreadyExistsError if answer.get("reason") == "AlreadyExists" else StaleError
        return kind(message, status=status)
    if status in (_UNAUTHORIZED, _FORBIDDEN):
        kind_403 = NamespaceTerminatingError if _namespace_terminating(answer) else ForbiddenError
        return kind_403(message, status=status)
    if status == _NOT_FOUND:
        return NotFoundError(message, status=status)
    return InvalidObjectError(message, status=status)


def _status_object(text: str) -> Mapping[str, Any]:
    """The Status in the body; empty for a body without one (a proxy's error page)."""
    try:
        answer = json.loads(text)
    except json.JSONDecodeError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _retry_after(headers: Mapping[str, str], answer: Mapping[str, Any]) -> float | None:
    """Seconds to wait, from the header or from the details of the Status. The API server never sends a date."""
    seconds = headers.get("Retry-After") or (answer.get("details") or {}).get("retryAfterSeconds")
    try:
        return float(seconds) if seconds else None
    except (TypeError, ValueError):
        return None


def _namespace_terminating(answer: Mapping[str, Any]) -> bool:
    causes = (answer.get("details") or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
