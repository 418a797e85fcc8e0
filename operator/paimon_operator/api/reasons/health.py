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
    "BucketSizeFits": Explanation(
        "The bytes per bucket and partition suit the number of buckets.",
        "No action is needed.",
    ),
    "BucketsTooSmall": Explanation(
        "Half of the buckets have less than 200 MB, so fewer buckets would do. Nothing is stopped.",
        "Consider the number of buckets that the message names: docs/buckets.md.",
    ),
    "BucketsTooLarge": Explanation(
        "The largest bucket has more than 1 GB. One task processes it. Nothing is stopped.",
        "Consider the number of buckets that the message names: docs/buckets.md.",
    ),
}
"""Reason -> what it means and what to do."""
