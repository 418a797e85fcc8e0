"""The dependencies of the reconcilers."""

from __future__ import annotations

from dataclasses import dataclass, field

from paimon_operator.core.commits.table_claims import TableClaimIndex
from paimon_operator.core.commits.warehouses import WarehouseIndex
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.ports import Clock, EventSink, ObjectStore
from paimon_operator.core.table.budgets import Budgets
from paimon_operator.core.table.run_slots import RunSlots
from paimon_operator.runtime.batches import Batches
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.change_router import ChangeRouter
from paimon_operator.runtime.decided_until import DecidedUntil
from paimon_operator.runtime.decision_applier import DecisionApplier
from paimon_operator.runtime.deferred_ticks import DeferredTicks
from paimon_operator.runtime.looks import Looks
from paimon_operator.runtime.new_tables import NewTables
from paimon_operator.runtime.reads import Doubts, Reads
from paimon_operator.runtime.turns import TurnRequests


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """API server, cache, looks, shared Pods, table claims, router, and the settings that apply to every object."""

    store: ObjectStore
    events: EventSink
    cache: Cache
    claims: TableClaimIndex
    warehouses: WarehouseIndex
    slots: RunSlots
    budgets: Budgets
    router: ChangeRouter
    looks: Looks
    batches: Batches
    turns: TurnRequests
    doubts: Doubts
    new_tables: NewTables
    operator: OperatorFacts
    clock: Clock
    decided: DecidedUntil
    deferred: DeferredTicks = field(default_factory=DeferredTicks)

    @property
    def reads(self) -> Reads:
        """Reads objects from the cache, or live."""
        return Reads(self.store, self.cache, self.router)

    @property
    def applier(self) -> DecisionApplier:
        """Applies decisions."""
        return DecisionApplier(self.store, self.events, self.router)
