"""Requests of users for work on the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.core.operations.base import DueRun


@dataclass(frozen=True)
class WholeTable:
    """`OnDemand` of an operation that has neither subjects nor parts."""

    type_: str

    def requested(self, run: PaimonRun, created: datetime) -> DueRun:
        """The work that the user's run requests."""
        return DueRun(type_=self.type_, trigger=RunTrigger.USER, due=created, run=run)
