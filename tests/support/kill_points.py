"""The moments of a Write at which a driver may die, and how a test has it die there."""

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
"""Method of the ledger, and whether the driver dies before it or after it."""


class Died(BaseException):
    """Stands for the end of the process. No code of a driver may catch it, so a driver leaves what a killed one leaves.

    The tests of tests/spark/test_exactly_once.py compare it with a real SIGKILL at each moment.
    """


@contextlib.contextmanager
def dying(moment: str, die: Callable[[], None]) -> Iterator[None]:
    """Within the block a Write calls `die` at the moment."""
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
