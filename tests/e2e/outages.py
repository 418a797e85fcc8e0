"""Outages of what the tables depend on, for as long as a block lasts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.cluster.node import Cluster


@contextmanager
def s3_stopped() -> Iterator[None]:
    """The S3 server refuses connections inside the block; its data stays."""
    cluster = Cluster()
    cluster.stop_service("versitygw")
    try:
        yield
    finally:
        cluster.start_service("versitygw")
