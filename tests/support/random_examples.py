"""The number of random examples of a test with the marker `worlds`: few in `make unit`, many in `make properties`."""

from __future__ import annotations

import os
from typing import Final

VARIABLE: Final = "PROPERTY_EXAMPLES"


def examples(usual: int, *, most: int | None = None) -> int:
    """The value of PROPERTY_EXAMPLES, or `usual` without it; never more than `most`, for slow ones."""
    count = int(os.environ.get(VARIABLE, usual))
    return count if most is None else min(count, most)
