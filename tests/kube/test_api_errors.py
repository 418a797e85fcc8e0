"""Responses of the API server and the errors that they become."""

from __future__ import annotations

import json
from typing import Any

import pytest

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
from paimon_operator.kube.api_errors import error_for


def status(reason: str, **details: Any) -> str:
    return json.dumps({"kind": "Status", "reason": reason, "message": "refused", "details": details})


TERMINATING = status("Forbidden", causes=[{"reason": "NamespaceTerminating", "message": "it is being terminated"}])

ANSWERS: list[tuple[int, str, type[KubernetesError]]] = [
    (400, status("BadRequest"), InvalidObjectError),
    (401, status("Unauthorized"), ForbiddenError),
    (403, status("Forbidden"), ForbiddenError),
    (403, TERMINATING, NamespaceTerminatingError),
    (404, status("NotFound"), NotFoundError),
    (408, status("Timeout"), RetryableError),
    (409, status("AlreadyExists"), AlreadyExistsError),
    (409, status("Conflict"), StaleError),
    (410, status("Expired"), RetryableError),
    (413, status("RequestEntityTooLarge"), InvalidObjectError),
    (422, status("Invalid"), InvalidObjectError),
    (429, status("TooManyRequests"), RetryableError),
    (500, status("InternalError"), RetryableError),
    (503, "<html>a proxy's page</html>", RetryableError),
    (504, "", RetryableError),
    (403, "null", ForbiddenError),
]


@pytest.mark.parametrize(("code", "text", "kind"), ANSWERS, ids=[f"{code} {text[:40]}" for code, text, _ in ANSWERS])
def test_each_response_becomes_its_error(code: int, text: str, kind: type[KubernetesError]) -> None:
    error = error_for(code, {}, text, doing="create /x")
    assert type(error) is kind
    assert error.status == code
    assert str(error).startswith(f"create /x: {code}")


PAUSES: list[tuple[dict[str, str], str, float | None]] = [
    ({"Retry-After": "7"}, status("TooManyRequests"), 7.0),
    ({}, status("TooManyRequests", retryAfterSeconds=3), 3.0),
    ({"Retry-After": "7"}, status("TooManyRequests", retryAfterSeconds=3), 7.0),
    ({}, status("TooManyRequests"), None),
    ({"Retry-After": "Sat, 21 Nov 2026 08:00:00 GMT"}, status("TooManyRequests"), None),
]


@pytest.mark.parametrize(("headers", "text", "seconds"), PAUSES)
def test_the_error_carries_the_retry_after_of_the_response(
    headers: dict[str, str], text: str, seconds: float | None
) -> None:
    error = error_for(429, headers, text, doing="list /x")
    assert isinstance(error, RetryableError)
    assert error.retry_after == seconds
