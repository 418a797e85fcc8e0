"""How objects on S3 are listed and compared, with the answers of servers that differ."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from unittest import mock

from spark_apps.orphans.s3 import S3Storage

AT = datetime(2026, 11, 1, 3, 0, 12, tzinfo=UTC)


def test_an_object_is_the_same_when_listed_and_when_asked_for() -> None:
    """MinIO lists milliseconds. The header Last-Modified never has them."""
    client: Any = mock.MagicMock()
    listed = {"Key": "w/shop.db/orders/x", "Size": 3, "LastModified": AT.replace(microsecond=789_000)}
    client.get_paginator.return_value.paginate.return_value = [{"Contents": [listed]}]
    client.head_object.return_value = {"ContentLength": 3, "LastModified": AT}
    storage = S3Storage(client, mock.MagicMock())
    (walked,) = storage.walk("s3://b/w/shop.db/orders")
    asked = storage.status("s3://b/w/shop.db/orders/x")
    assert asked is not None
    assert (walked.size, walked.modified_ms) == (asked.size, asked.modified_ms) == (3, 1000 * int(AT.timestamp()))
