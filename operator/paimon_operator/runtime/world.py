"""What all reconcilers work with, joined once."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_operator.core.commits.table_claims import ClaimBook
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.ports import Clock, EventSink, ObjectStore
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.execute import Executor
from paimon_operator.runtime.notices import Notices


@dataclass(frozen=True, kw_only=True)
class World:
    """The API server, what is known of it, and what holds for every object."""

    store: ObjectStore
    events: EventSink
    cache: Cache
    claims: ClaimBook
    notices: Notices
    operator: OperatorFacts
    clock: Clock

    @property
    def executor(self) -> Executor:
        """Carries decisions out."""
        return Executor(self.store, self.events, self.notices)
