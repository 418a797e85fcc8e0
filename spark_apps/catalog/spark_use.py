"""The one Spark context of a JVM, which serves the jobs of several threads one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

_USE: Final = threading.RLock()
_LEFT: Final = threading.Event()
"""A context could not be stopped. A job that got it would commit as the job before."""


def take() -> None:
    """Waits until no other thread uses Spark. Raises RuntimeError if the context of an ended job is left."""
    _USE.acquire()
    if _LEFT.is_set():
        _USE.release()
        raise RuntimeError("the Spark of an earlier job in this driver could not be stopped")


def give_back(stop: Callable[[], None]) -> None:
    """Stops Spark, and lets the next thread use it."""
    try:
        stop()
    except Exception:
        _LEFT.set()
        raise
    finally:
        _USE.release()


def is_left() -> bool:
    """Whether there is a Spark context that no job uses."""
    from pyspark import SparkContext  # noqa: PLC0415  (pyspark takes long to import)

    if not _USE.acquire(blocking=False):
        return False
    try:
        return _LEFT.is_set() or SparkContext._active_spark_context is not None
    finally:
        _USE.release()
