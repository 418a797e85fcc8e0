"""The one Spark context of a JVM, which serves the jobs of several threads one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

PATIENCE_S: Final = 300.0
"""Seconds that a job waits for the job of another thread. Then it fails and is repeated alone: that one may hang."""
_USE: Final = threading.Lock()
_BROKEN: Final = threading.Event()
"""A job could not stop Spark, and the next one would commit in its name; or a job has had Spark for too long."""


@contextmanager
def within_patience(lock: threading.Lock) -> Iterator[None]:
    """Has the lock for the block. Raises RuntimeError if another thread has it for too long."""
    _acquire(lock)
    try:
        yield
    finally:
        lock.release()


def take() -> None:
    """Waits until no other thread uses Spark. Raises RuntimeError if that takes too long, or it is broken."""
    _acquire(_USE)
    if _BROKEN.is_set():
        _USE.release()
        raise RuntimeError("another job of this driver could not stop Spark, or has used it for too long")


def give_back(stop: Callable[[], None]) -> None:
    """Stops Spark, and lets the next thread use it."""
    try:
        stop()
    except Exception:
        _BROKEN.set()
        raise
    finally:
        _USE.release()


def is_broken() -> bool:
    """Whether no further job may use the JVM."""
    return _BROKEN.is_set()


def _acquire(lock: threading.Lock) -> None:
    if not lock.acquire(timeout=PATIENCE_S):
        _BROKEN.set()
        raise RuntimeError(f"another job of this driver has not ended its part within {PATIENCE_S:.0f} s")
