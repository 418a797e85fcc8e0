"""The address of a bucket, which the client of botocore has used, while several threads read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from spark_apps.metadata.s3_get import Getter


class FakeClient:
    """Sends nothing. `during` is called in the middle of the first request."""

    def __init__(self) -> None:
        self.during: Callable[[], None] | None = None
        self._handler: Callable[..., None] = lambda **_: None
        self.meta = SimpleNamespace(events=SimpleNamespace(register=self._register))

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
