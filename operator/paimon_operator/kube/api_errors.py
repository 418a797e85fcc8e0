"""What an answer of the API server means: its HTTP status and Status object as one of our errors."""

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
"""Beside 5xx. 410 is a list whose continuation expired: listing again from the start mends it."""
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _CONFLICT = 401, 403, 404, 409
_SERVER_ERRORS: Final = 500


def error_for(status: int, headers: Mapping[str, str], text: str, *, doing: str) -> KubernetesError:
    """The error for an answer with HTTP status 400 or more. `doing` says what was tried, for the message."""
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
    """The Status in the body; empty for bodies that are none (a proxy's error page)."""
    try:
        answer = json.loads(text)
    except json.JSONDecodeError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _retry_after(headers: Mapping[str, str], answer: Mapping[str, Any]) -> float | None:
    """Seconds to wait, from the header or from the Status' details. The API server never sends a date."""
    seconds = headers.get("Retry-After") or (answer.get("details") or {}).get("retryAfterSeconds")
    try:
        return float(seconds) if seconds else None
    except (TypeError, ValueError):
        return None


def _namespace_terminating(answer: Mapping[str, Any]) -> bool:
    causes = (answer.get("details") or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
