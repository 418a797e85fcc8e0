"""Sessions of several threads in one JVM."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

from spark_apps.catalog.session import Session


def test_one_thread_at_a_time_opens_its_session() -> None:
    """A login and the connection to a metastore are those of the whole process."""
    opening, second = threading.Lock(), threading.Event()

    def log_in(_: Session) -> None:
        if not opening.acquire(blocking=False):
            second.set()
            return
        second.wait(0.1)  # (only another thread that opens its session ends it sooner)
        opening.release()

    def opened(_: object) -> None:
        storage: Any = SimpleNamespace(log_in=log_in)
        unused: Any = None
        session = Session(unused, unused, unused, storage)
        session.__dict__["jvm"] = None
        session.open()

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(opened, range(3)))
    assert not second.is_set()
