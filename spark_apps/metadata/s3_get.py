"""GET of an object, and a list of one page, by botocore's signer and HTTP session.

They take half of the CPU time of botocore's client. One pass over 1,000 tables is at least 1,000 such requests.
Whatever is no plain answer is left to the client, which knows endpoints, redirects, retries, pages and the names of
errors.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote
from xml.etree import ElementTree

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError
from urllib3.exceptions import HTTPError

from spark_apps.metadata.base import SETTLED_S, Stamped

_NO_SUCH_KEY: Final = b"<Code>NoSuchKey</Code>"
_MAX_PAGE: Final = 8 << 20
"""Bytes of a list: 1,000 keys of 1,024 bytes, escaped."""


class NotPlainError(Exception):
    """The answer is neither what was asked for nor that there is none."""


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
        answer, content = self._send(self._request(bucket, key), max_bytes)
        if answer.status_code == HTTPStatus.NOT_FOUND and _NO_SUCH_KEY in content:
            return None
        _require_whole(answer, content, max_bytes)
        return Stamped(content, _stamp(answer.headers))

    def keys(self, bucket: str, prefix: str) -> list[str]:
        """The keys that begin with `prefix`, each up to the next `/` after it, if they are one page.

        Raises NotPlainError.
        """
        query = f"?delimiter=%2F&list-type=2&prefix={quote(prefix, safe='-_.~')}"  # (signed as it is sent)
        answer, content = self._send(self._request(bucket, "", query), _MAX_PAGE)
        _require_whole(answer, content, _MAX_PAGE)
        return list(_keys_in(content))

    def _send(self, request: Any, max_bytes: int) -> tuple[Any, bytes]:
        try:
            answer = self.session.send(request)
            content: bytes = answer.raw.read(max_bytes)
            if len(content) < max_bytes:
                answer.raw.release_conn()
            else:  # (the rest must not be read as the next answer)
                answer.raw.close()
        except (BotoCoreError, HTTPError) as error:
            raise NotPlainError(str(error)) from error
        return answer, content

    def _request(self, bucket: str, key: str, query: str = "") -> Any:
        address = self._addresses.get(bucket)
        if address is None or self.credentials is None:
            raise NotPlainError("the client knows the address of a bucket, and what to do without credentials")
        request = AWSRequest("GET", address + _quoted(key) + query, stream_output=True)
        S3SigV4Auth(self.credentials.get_frozen_credentials(), "s3", self.client.meta.region_name).add_auth(request)
        return request.prepare()


def _keys_in(content: bytes) -> Iterator[str]:
    """The keys of a page. Raises NotPlainError for anything but the only page of a list."""
    try:
        root = ElementTree.fromstring(content)  # noqa: S314  (botocore reads the same answers by the same parser)
    except ElementTree.ParseError as error:  # (a key may hold characters that XML does not allow)
        raise NotPlainError(str(error)) from error
    space = root.tag.removesuffix("ListBucketResult")
    if space == root.tag or root.findtext(f"{space}IsTruncated") != "false":
        raise NotPlainError("this is not the only page of a list")
    for place in (f"{space}Contents/{space}Key", f"{space}CommonPrefixes/{space}Prefix"):
        yield from (each.text or "" for each in root.iterfind(place))


def _quoted(key: str) -> str:
    return quote(key, safe="/-_.~")


def _require_whole(answer: Any, content: bytes, max_bytes: int) -> None:
    """Raises NotPlainError unless the content is all that the server has announced, or `max_bytes` of it.

    AWS announces no length of a list, which it sends in chunks. The last chunk is known as such, so a read of fewer
    than `max_bytes` has met the end: urllib3 raises an HTTPError otherwise.
    """
    announced = answer.headers.get("Content-Length", "")
    if answer.headers.get("Transfer-Encoding", "").lower() == "chunked":
        is_whole = len(content) < max_bytes
    else:
        is_whole = announced.isdecimal() and len(content) == min(int(announced), max_bytes)
    if answer.status_code != HTTPStatus.OK or not is_whole:
        raise NotPlainError(f"status {answer.status_code}, {len(content)} bytes")


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
