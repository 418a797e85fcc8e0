"""The text of a reason in `docs/reasons.md`."""

from __future__ import annotations

from typing import NamedTuple


class Explanation(NamedTuple):
    """What a reason means, and what to do. Both are whole sentences."""

    means: str
    remedy: str
