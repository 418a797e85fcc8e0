"""What all reconcilers work with, joined once."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_operator.core.commits.table_claims import TableClaimIndex
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.ports import Clock, EventSink, ObjectStore
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.change_router import ChangeRouter
from paimon_operator.runtime.decision_applier import DecisionApplier


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """The API server, what is known of it, and what holds for every object."""

    store: ObjectStore
    events: EventSink
    cache: Cache
    claims: TableClaimIndex
    notices: ChangeRouter
    operator: OperatorFacts
    clock: Clock

    @property
    def executor(self) -> DecisionApplier:
        """Carries decisions out."""
        return DecisionApplier(self.store, self.events, self.notices)
