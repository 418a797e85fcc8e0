"""The moments of a Write and of a Rescale at which a test kills the driver."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from spark_apps.loading.ledger import Ledger
from spark_apps.operations import rescale

MOMENTS: Final = {
    "before the ledger": ("begin", "before"),
    "after the ledger": ("begin", "after"),
    "after the commit": ("mark_committed", "before"),
    "after the mark": ("mark_committed", "after"),
}
"""Method of the ledger, and whether the driver is killed before or after it."""

RESCALE_MOMENTS: Final = {
    "before the tag": ("create_tag", "before"),
    "after the tag": ("create_tag", "after"),
    "after the number is altered": ("begin", "after"),
    "after the first partition": ("rewrite", "after"),
    "before the comparison": ("verify", "before"),
    "after the comparison": ("verify", "after"),
    "after the mark is removed": ("unmark", "after"),
    "after the tag is deleted": ("complete", "after"),
}
"""Function of the operation, and whether the driver is killed before or after it."""


class Died(BaseException):
    """Simulates the end of the process. A driver never catches it, so its files are those of a killed driver.

    tests/spark/test_exactly_once.py compares it with a real SIGKILL at each moment.
    """


@contextlib.contextmanager
def dying(moment: str, die: Callable[[], None]) -> Iterator[None]:
    """Makes a run within the block call `die` at the moment."""
    owner, (name, when) = (Ledger, MOMENTS[moment]) if moment in MOMENTS else (rescale, RESCALE_MOMENTS[moment])
    method = getattr(owner, name)

    def dying_method(*args: Any, **kwargs: Any) -> Any:
        if when == "after":
            method(*args, **kwargs)
        die()
        return method(*args, **kwargs)

    setattr(owner, name, dying_method)
    try:
        yield
    finally:
        setattr(owner, name, method)
