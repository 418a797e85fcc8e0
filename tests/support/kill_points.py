"""The moments of a Write, an edit of the schema and a Rescale at which a test kills the driver."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from spark_apps.loading.ledger import Ledger
from spark_apps.operations import rescale
from spark_apps.schema import alter


@dataclass(frozen=True)
class Moment:
    """Before or after the n-th call of a function."""

    owner: Any
    """Class or module of the function."""
    name: str
    when: Literal["before", "after"]
    call: int = 1


RESCALE_MOMENTS: Final = {
    "before the tag": Moment(rescale, "create_tag", "before"),
    "after the tag": Moment(rescale, "create_tag", "after"),
    "after the number is altered": Moment(rescale, "begin", "after"),
    "after the first partition": Moment(rescale, "rewrite", "after"),
    "before the comparison": Moment(rescale, "verify", "before"),
    "after the comparison": Moment(rescale, "verify", "after"),
    "after the mark is removed": Moment(rescale, "unmark", "after"),
    "after the tag is deleted": Moment(rescale, "complete", "after"),
}
MOMENTS: Final = {
    **RESCALE_MOMENTS,
    "before the ledger": Moment(Ledger, "begin", "before"),
    "after the ledger": Moment(Ledger, "begin", "after"),
    "after the commit": Moment(Ledger, "mark_committed", "before"),
    "after the mark": Moment(Ledger, "mark_committed", "after"),
    "before the first schema": Moment(alter, "commit", "before"),
    "after the first schema": Moment(alter, "commit", "after"),
    "before the second schema": Moment(alter, "commit", "before", 2),
    "after the second schema": Moment(alter, "commit", "after", 2),
}


class Died(BaseException):
    """Simulates the end of the process. A driver never catches it, so its files are those of a killed driver.

    tests/spark/test_exactly_once.py compares it with a real SIGKILL at each moment.
    """


@contextlib.contextmanager
def dying(moment: str, die: Callable[[], None]) -> Iterator[None]:
    """Makes a job within the block call `die` at the moment."""
    at, calls = MOMENTS[moment], itertools.count(1)
    function = getattr(at.owner, at.name)

    def dying_function(*args: Any, **kwargs: Any) -> Any:
        if next(calls) != at.call:
            return function(*args, **kwargs)
        if at.when == "after":
            function(*args, **kwargs)
        die()
        return function(*args, **kwargs)

    setattr(at.owner, at.name, dying_function)
    try:
        yield
    finally:
        setattr(at.owner, at.name, function)
