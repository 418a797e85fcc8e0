"""The moments of a Write at which a test kills the driver."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from spark_apps.loading.ledger import Ledger

MOMENTS: Final = {
    "before the ledger": ("begin", "before"),
    "after the ledger": ("begin", "after"),
    "after the commit": ("mark_committed", "before"),
    "after the mark": ("mark_committed", "after"),
}
"""Method of the ledger, and whether the driver is killed before or after it."""


class Died(BaseException):
    """Simulates the end of the process. A driver never catches it, so its files are those of a killed driver.

    tests/spark/test_exactly_once.py compares it with a real SIGKILL at each moment.
    """


@contextlib.contextmanager
def dying(moment: str, die: Callable[[], None]) -> Iterator[None]:
    """Makes a Write within the block call `die` at the moment."""
    name, when = MOMENTS[moment]
    method = getattr(Ledger, name)

    def dying_method(*args: Any, **kwargs: Any) -> Any:
        if when == "after":
            method(*args, **kwargs)
        die()
        return method(*args, **kwargs)

    setattr(Ledger, name, dying_method)
    try:
        yield
    finally:
        setattr(Ledger, name, method)
