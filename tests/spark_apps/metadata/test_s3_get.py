"""The address of a bucket, which the client of botocore has used, while several threads read; and lists of one page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.credentials import Credentials
from botocore.httpsession import URLLib3Session

from spark_apps.metadata.s3_get import Getter, NotPlainError


class FakeClient:
    """Sends nothing. `during` is called in the middle of the first request."""

    def __init__(self) -> None:
        self.during: Callable[[], None] | None = None
        self._handler: Callable[..., None] = lambda **_: None
        self.meta = SimpleNamespace(events=SimpleNamespace(register=self._register), region_name="eu-1")

    def _register(self, _: str, handler: Callable[..., None]) -> None:
        self._handler = handler

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803  (the client's own names)
        self._handler(request=SimpleNamespace(url=f"http://s3/{Bucket}/{Key}"))
        during, self.during = self.during, None
        if during is not None:
            during()
        return {}


def test_a_request_of_another_thread_does_not_change_the_address_of_a_bucket() -> None:
    """The keys end alike: a warehouse that is the bucket itself, and the databases `shop` and `my-shop`."""
    client = FakeClient()
    getter = Getter(client, None, None)

    def in_another_thread() -> None:
        other = threading.Thread(target=getter.get_by_client, args=("lake", "my-shop.db/t/snapshot/LATEST"))
        other.start()
        other.join()

    client.during = in_another_thread
    getter.get_by_client("lake", "shop.db/t/snapshot/LATEST")
    assert getter._addresses == {"lake": "http://s3/lake/"}


SPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
INNER = (
    "<IsTruncated>false</IsTruncated><Contents><Key>t/a &amp; b</Key></Contents>"
    "<CommonPrefixes><Prefix>t/bucket-0/</Prefix></CommonPrefixes>"
)
PAGE = f"<ListBucketResult {SPACE}>{INNER}</ListBucketResult>"


class FakeSession:
    """Answers each request alike, and records their addresses."""

    def __init__(self, content: str, status: int = 200, announced: int | None = None, *, chunked: bool = False) -> None:
        self.asked: list[str] = []
        self._content, self._status = content.encode(), status
        length = len(self._content) if announced is None else announced
        self._headers = {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(length)}

    def send(self, request: Any) -> Any:
        self.asked.append(request.url)
        raw = SimpleNamespace(read=lambda _: self._content, release_conn=lambda: None, close=lambda: None)
        return SimpleNamespace(raw=raw, status_code=self._status, headers=self._headers)


def keys(session: FakeSession) -> list[str]:
    getter = Getter(FakeClient(), Credentials("a", "b"), session)
    getter.get_by_client("lake", "t/schema/schema-0")
    return getter.keys("lake", "t/")


PLAIN_LISTS = {
    "in chunks, as AWS sends it": FakeSession(PAGE, chunked=True),
    "with its length": FakeSession(PAGE),
    "without a namespace": FakeSession(PAGE.replace(SPACE, "")),
}


@pytest.mark.parametrize("session", PLAIN_LISTS.values(), ids=PLAIN_LISTS)
def test_a_list_of_one_page_has_keys_and_common_prefixes(session: FakeSession) -> None:
    assert keys(session) == ["t/a & b", "t/bucket-0/"]
    assert session.asked == ["http://s3/lake/?delimiter=%2F&list-type=2&prefix=t%2F"]


NO_PLAIN_LISTS = {
    "another page follows": FakeSession(PAGE.replace("false", "true")),
    "it does not say whether another page follows": FakeSession(PAGE.replace("IsTruncated", "Other")),
    "no list": FakeSession("<Error><Code>NoSuchBucket</Code></Error>"),
    "no XML, as with a control character in a key": FakeSession(PAGE.replace("a &amp; b", "\x01")),
    "refused": FakeSession(PAGE, status=403),
    "refused in chunks": FakeSession(PAGE, status=403, chunked=True),
    "cut off": FakeSession(PAGE, announced=10_000),
    "cut off in chunks": FakeSession(PAGE[:-5], chunked=True),
}


@pytest.mark.parametrize("session", NO_PLAIN_LISTS.values(), ids=NO_PLAIN_LISTS)
def test_any_other_answer_to_a_list_is_left_to_the_client(session: FakeSession) -> None:
    with pytest.raises(NotPlainError):
        keys(session)


class InChunks(BaseHTTPRequestHandler):
    """Sends PAGE in two chunks, and with `is_whole` the end of the last one."""

    protocol_version = "HTTP/1.1"
    is_whole = True

    def do_GET(self) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in (PAGE[:50].encode(), PAGE[50:].encode()):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n" if self.is_whole else b"")
        self.close_connection = not self.is_whole

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "the connection ends"])
def test_the_end_of_a_list_in_chunks_is_known(monkeypatch: pytest.MonkeyPatch, is_whole: bool) -> None:
    monkeypatch.setattr(InChunks, "is_whole", is_whole)
    with ThreadingHTTPServer(("127.0.0.1", 0), InChunks) as server:
        threading.Thread(target=server.serve_forever).start()
        getter = Getter(FakeClient(), Credentials("a", "b"), URLLib3Session(timeout=(3, 3)))
        getter._addresses["lake"] = f"http://127.0.0.1:{server.server_port}/lake/"
        try:
            found = getter.keys("lake", "t/")
        except NotPlainError:
            found = []
        finally:
            server.shutdown()
    assert found == (["t/a & b", "t/bucket-0/"] if is_whole else [])
