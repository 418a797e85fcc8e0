"""One request to the operator over HTTP, with the token that the kubelet renews in a file."""

from __future__ import annotations

import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

TIMEOUT_S: Final = 10
"""Seconds for a connection, and for each part of the answer."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the token to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class OperatorHttp:
    """The operator at `url`. No proxy of the environment is used. An answer has at most `max_bytes`."""

    url: str
    token_file: Path
    max_bytes: int
    _opener: urllib.request.OpenerDirector = field(
        default_factory=lambda: urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects())
    )

    def post(self, body: bytes) -> bytes:
        """The answer to one request. Raises HTTPError for a refusal, OSError and ValueError for all else."""
        token = self.token_file.read_text(encoding="ascii").strip()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        request = urllib.request.Request(self.url, data=body, headers=headers, method="POST")  # noqa: S310  (http alone)
        try:
            with self._opener.open(request, timeout=TIMEOUT_S) as answer:
                content: bytes = answer.read(self.max_bytes + 1)
        except HTTPException as error:  # (an answer that is none, or that ends too early)
            raise OSError(f"{type(error).__name__}: {error}") from error
        if len(content) > self.max_bytes:
            raise ValueError(f"the answer has more than {self.max_bytes} bytes")
        return content
