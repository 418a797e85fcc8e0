"""The moments of a Write, an edit of the schema and a Rescale at which a test kills the driver."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from spark_apps.catalog import verification
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


RESCALE_STEPS: Final = (
    "create_tag",
    "delete_tags",
    "alter",
    *["rewrite"] * 3,
    "verify",
    *["content_of"] * 2,
    "unmark",
    "alter",
    "delete_tags",
)
"""What a rescale of three partitions calls of its module, in order. `RESCALE_MOMENTS` has every gap between them."""
RESCALE_MOMENTS: Final = {
    "before the tag": Moment(rescale, "create_tag", "before"),
    "after older tags are deleted": Moment(rescale, "delete_tags", "after"),
    "after the tag": Moment(rescale, "alter", "before"),
    "after the number is altered": Moment(rescale, "alter", "after"),
    "after the first partition": Moment(rescale, "rewrite", "after"),
    "after the second partition": Moment(rescale, "rewrite", "after", 2),
    "after the last partition": Moment(rescale, "verify", "before"),
    "after the tag is read": Moment(rescale, "content_of", "after"),
    "after the table is read": Moment(rescale, "content_of", "after", 2),
    "after the comparison": Moment(rescale, "unmark", "before"),
    "after the mark is removed": Moment(rescale, "unmark", "after"),
    "after the tag is deleted": Moment(rescale, "delete_tags", "after", 2),
}
OTHER_RESCALE_MOMENTS: Final = {
    "before an empty partition is emptied": Moment(rescale, "empty", "before"),
    "after an empty partition is emptied": Moment(rescale, "empty", "after"),
}
VERIFICATION_MOMENTS: Final = {
    "before the tag of a difference": Moment(verification, "create_tag", "before"),
    "after the tag of a difference": Moment(verification, "create_tag", "after"),
    "after the rollback": Moment(verification, "roll_back", "after"),
}
"""They have a difference between the rows before and after a compaction."""
MOMENTS: Final = {
    **RESCALE_MOMENTS,
    **VERIFICATION_MOMENTS,
    **OTHER_RESCALE_MOMENTS,
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
def recording(names: Iterable[str]) -> Iterator[list[str]]:
    """Yields a list, to which each call of these functions of a Rescale adds its name."""
    called: list[str] = []
    functions = {name: getattr(rescale, name) for name in names}

    def recorded(name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            called.append(name)
            return functions[name](*args, **kwargs)

        return call

    for name in functions:
        setattr(rescale, name, recorded(name))
    try:
        yield called
    finally:
        for name, function in functions.items():
            setattr(rescale, name, function)


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
