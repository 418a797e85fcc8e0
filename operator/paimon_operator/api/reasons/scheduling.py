"""Decisions about scheduled operations."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.reasons.explanation import Explanation

EXPLANATIONS: Final = {
    "Started": Explanation(
        "The operator started a run.",
        "No action is needed.",
    ),
    "NotNeeded": Explanation(
        "The operation was due, but the table did not need it.",
        "No action is needed.",
    ),
    "AnotherRunIsActive": Explanation(
        "The operation is due and waits until the table's active run ends.",
        "Wait; only one run at a time may change a table.",
    ),
    "WaitingForEarlierWrite": Explanation(
        "The write is due and waits, because a write before it in the list has failed and is retried soon.",
        "Wait, or fix the cause of the failure. After four failed runs the other writes go on.",
    ),
    "ClockDiffers": Explanation(
        "A time in the status lies in the future, so a clock was wrong. The time counts as now.",
        "Compare the clocks of the nodes on which the operator runs or has run.",
    ),
    "RunLimitReached": Explanation(
        "The operation is due and waits, because as many runs are active as limits.maxConcurrentRuns of the catalog or "
        "of the operator allows.",
        "Wait; status.queuedRun.rank decides which table of a namespace starts first. Or raise the limit.",
    ),
    "BudgetSpent": Explanation(
        "The maintenance is due and waits for the next day (UTC), because limits.maintenancePodHoursPerDay of the "
        "catalog or of the operator is used up.",
        "Wait, or create a PaimonRun, which starts at any time. Or raise the limit.",
    ),
    "WaitingForWindow": Explanation(
        "The operation is due and waits for a window of the catalog's maintenanceWindows. The message states when it "
        "starts.",
        "Wait, or create a PaimonRun, which starts at any time. To change the windows, edit the catalog.",
    ),
    "TableNotReady": Explanation(
        "The operation waits until the table is Ready.",
        "Fix what the table's condition Ready names.",
    ),
    "Suspended": Explanation(
        "spec.suspend of the table or of its catalog is true, so no new run starts.",
        "Set suspend to false.",
    ),
    "NotSuspended": Explanation(
        "New runs may start.",
        "No action is needed.",
    ),
}
"""Reason -> what it means and what to do."""
