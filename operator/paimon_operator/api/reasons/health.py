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
    "ThresholdExceeded": Explanation(
        "The table is beyond a threshold of its compaction, and no run has compacted it for longer than an interval of"
        " the schedule.",
        "The message and status.compaction.decision state what the compaction waits for: a limit, a window, a"
        " suspension or another run. Or raise the threshold.",
    ),
    "VerificationFailed": Explanation(
        "After a commit of a compaction the table held other rows than before. All maintenance of the table is held.",
        "Compare the table with the tag that status.verification names, repair it, and continue with the annotation"
        " paimon-operator.dev/accept-rows=<run>: docs/verify.md.",
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
    "TableUnaltered": Explanation(
        "The table's schema has no change that somebody else made.",
        "No action is needed.",
    ),
    "TableAltered": Explanation(
        "Somebody else has changed columns, options or comments of the table. A run that ends with this reason has"
        " committed nothing.",
        "Revert the change, declare it in the manifest, or accept it with the annotation"
        " paimon-operator.dev/accept-drift: docs/drift.md. driftPolicy Correct takes back what is legal.",
    ),
    "SchemaNotCompared": Explanation(
        "A run has found another schema in the table, and no run has compared it with the recorded one yet.",
        "No action is needed: a run of type Observe is due. It waits while the table is suspended or rescaled.",
    ),
    "DriftContested": Explanation(
        "Somebody else has changed the same field again after two corrections within an hour. The operator waits.",
        "Find out who changes the field. Stop that, or declare the same value in the manifest. The message names the"
        " field and the times.",
    ),
    "TooManyOrphanFiles": Explanation(
        "So many of the table's files are orphans that the table may be damaged. Nothing was removed.",
        "Read the list that the message names. If the files are waste, create a PaimonRun of type RemoveOrphanFiles"
        " with removeOrphanFiles.maxPercent: docs/orphan-files.md. Otherwise restore the table.",
    ),
    "OrphanReferenced": Explanation(
        "A file that was moved away as an orphan is referenced again. It was moved back, and nothing else was removed.",
        "Find out who has restored a snapshot or committed old files. Set retention.orphanFiles.mode to Report until"
        " then.",
    ),
    "CorrectionLimitReached": Explanation(
        "The operator has corrected the table three times within an hour, and waits before it corrects it again.",
        "Find out who changes the table. The message states when the operator retries.",
    ),
}
"""Reason -> what it means and what to do."""
