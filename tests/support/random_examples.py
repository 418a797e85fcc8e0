"""The number of random examples of a test with the marker `worlds`: few in `make unit`, many in `make properties`."""

from __future__ import annotations

import os
from typing import Final

VARIABLE: Final = "PROPERTY_EXAMPLES"


def examples(usual: int) -> int:
    """The value of PROPERTY_EXAMPLES, or `usual` without it."""
    return int(os.environ.get(VARIABLE, usual))
