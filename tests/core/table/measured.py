"""Tables with a measurement: the stored health of a table that compacts by the operator."""

from __future__ import annotations

from typing import Any

from paimon_operator.api.table.facts import Health
from paimon_operator.api.table.schedule_state import LastDecision
from paimon_operator.api.table.status import CompactionState, StrategyState
from tests.support import builders
from tests.support.table_world import TableWorld

HOURLY = "10 * * * *"
DEDICATED = {"mode": "Dedicated", "minor": {"schedule": HOURLY}}
MERGED = {"sortedRunsMax": 1, "level0FilesMax": 0, "smallFilesMax": 0, "deleteRatio": "0%", "pinsCount": 0}
"""Nothing to merge."""


def measured_table(compaction: dict[str, Any] | None = None, **spec: Any) -> TableWorld:
    """A Ready table whose missed ticks are answered. Its first compactions have ended now, at snapshot 1."""
    seen = TableWorld(table=builders.table(compaction=compaction or DEDICATED, **spec)).ready()
    seen.run_due()
    return seen


def measure(seen: TableWorld, snapshot: int = 2, **health: Any) -> None:
    """Stores a measurement of now: what MERGED has, and what is given, at another snapshot than the last run's."""
    found = Health.model_validate(MERGED | health | {"observedAt": seen.now, "snapshotId": snapshot})
    status = seen.table.status
    assert status.table is not None
    facts = status.table.model_copy(update={"snapshot_id": snapshot})
    changed = status.model_copy(update={"health": found, "table": facts})
    seen.table = seen.table.model_copy(update={"status": changed})


def strategy_state(seen: TableWorld, strategy: str = "minor") -> StrategyState:
    """What the status remembers of a strategy."""
    state = getattr(seen.table.status.compaction or CompactionState(), strategy)
    assert state is not None, f"nothing is remembered of {strategy}"
    return StrategyState.model_validate(state)


def decision_of(seen: TableWorld, strategy: str = "minor") -> LastDecision:
    """The last decision about a strategy."""
    found = strategy_state(seen, strategy).decision
    assert found is not None, f"nothing was decided about {strategy}"
    return found


def checks_of(decision: LastDecision) -> dict[str, tuple[str, str, bool]]:
    """Threshold -> what was measured, from when on the operation is needed, and whether it is."""
    return {each.name: (each.measured, each.threshold, each.reached) for each in decision.checks}


def due(seen: TableWorld, runs: int = 9, **spec: Any) -> TableWorld:
    """The table an hour later, edited, and with so many sorted runs in a bucket."""
    seen.wait(hours=1)
    if spec:
        seen.edit(**spec)
    measure(seen, sortedRunsMax=runs)
    seen.settle()
    return seen
