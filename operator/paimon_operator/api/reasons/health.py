"""Health of a table."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.reasons.explanation import Explanation

EXPLANATIONS: Final = {
    "RunsSucceeding": Explanation(
        "No scheduled run and no write is failing.",
        "No action is needed.",
    ),
    "NotMeasured": Explanation(
        "No run has measured the table yet.",
        "No action is needed.",
    ),
    "RunFailing": Explanation(
        "A scheduled run or a write fails.",
        "See the table's status: it names the operation, the message and the PaimonRun.",
    ),
}
"""Reason -> what it means and what to do."""
