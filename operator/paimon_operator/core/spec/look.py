"""A look of the catalog's observer at a table, as the operator has received it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from paimon_operator.api.measure import Measure


@dataclass(frozen=True, kw_only=True)
class Look:
    """The last look. It is advice: nothing is committed or deleted because of it alone."""

    looked_at: datetime
    """By the operator's clock, not later than the look began: what was committed before is in it."""
    measure: Measure | None = None
    unknown: str | None = None
    """Why the table could not be read; None if it was."""
