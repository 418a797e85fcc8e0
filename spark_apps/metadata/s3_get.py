"""GET of an object by botocore's signer and HTTP session, at half of the CPU time of botocore's client.

One pass over 1,000 tables is at least 1,000 such requests. Whatever is no plain answer is left to the client, which
knows endpoints, redirects, retries and the names of errors.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError
from urllib3.exceptions import HTTPError

from spark_apps.metadata.base import SETTLED_S, Stamped

_NO_SUCH_KEY: Final = b"<Code>NoSuchKey</Code>"


class NotPlainError(Exception):
    """The answer is neither the object nor that there is none."""


@dataclass
class Getter:
    """Sends the requests by `session` (botocore's URLLib3Session), to the addresses that `client` has used."""

    client: Any
    credentials: Any
    """Of botocore, which renews them; None: there are none."""
    session: Any
    _addresses: dict[str, str] = field(default_factory=dict)
    """Bucket -> the URL of its objects, without the key."""
    _last: threading.local = field(default_factory=threading.local)
    """`url`: the last one of each thread. An observer reads in several."""

    def __post_init__(self) -> None:
        self.client.meta.events.register("before-send.s3.GetObject", self._remember)

    def get_by_client(self, bucket: str, key: str) -> Any:
        """The answer of the client. Raises its exceptions."""
        answer = self.client.get_object(Bucket=bucket, Key=key)
        last_url = getattr(self._last, "url", "")
        address = last_url.removesuffix(_quoted(key))
        if address != last_url:
            self._addresses[bucket] = address
        return answer

    def _remember(self, request: Any, **_: Any) -> None:
        self._last.url = request.url

    def get(self, bucket: str, key: str, max_bytes: int) -> Stamped | None:
        """At most `max_bytes` of an object; None: no such object. Raises NotPlainError."""
        try:
            answer = self.session.send(self._request(bucket, key))
            content = answer.raw.read(max_bytes)
            if len(content) < max_bytes:
                answer.raw.release_conn()
            else:  # (the rest must not be read as the next answer)
                answer.raw.close()
        except (BotoCoreError, HTTPError) as error:
            raise NotPlainError(str(error)) from error
        if answer.status_code == HTTPStatus.NOT_FOUND and _NO_SUCH_KEY in content:
            return None
        if answer.status_code != HTTPStatus.OK or not _is_whole(content, answer.headers, max_bytes):
            raise NotPlainError(f"status {answer.status_code}, {len(content)} bytes")
        return Stamped(content, _stamp(answer.headers))

    def _request(self, bucket: str, key: str) -> Any:
        address = self._addresses.get(bucket)
        if address is None or self.credentials is None:
            raise NotPlainError("the client knows the address of a bucket, and what to do without credentials")
        request = AWSRequest("GET", address + _quoted(key), stream_output=True)
        S3SigV4Auth(self.credentials.get_frozen_credentials(), "s3", self.client.meta.region_name).add_auth(request)
        return request.prepare()


def _quoted(key: str) -> str:
    return quote(key, safe="/-_.~")


def _is_whole(content: bytes, headers: Mapping[str, str], max_bytes: int) -> bool:
    """Whether the content is all that the server has announced, or `max_bytes` of it. Servers always announce it."""
    announced = headers.get("Content-Length", "")
    return announced.isdecimal() and len(content) == min(int(announced), max_bytes)


def _stamp(headers: Mapping[str, str]) -> str | None:
    """From the server's own two times, so that no clock of this machine counts."""
    try:
        written, now = (_time(headers[name]) for name in ("Last-Modified", "Date"))
    except (KeyError, ValueError):
        return None
    is_settled = (now - written).total_seconds() >= SETTLED_S
    return f"{headers.get('ETag', '')}/{headers['Last-Modified']}" if is_settled else None


def _time(text: str) -> datetime:
    """HTTP's times are in UTC, however they spell it."""
    return parsedate_to_datetime(text).replace(tzinfo=UTC)
