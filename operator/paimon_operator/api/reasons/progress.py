"""Normal operation and progress."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.reasons.explanation import Explanation

EXPLANATIONS: Final = {
    "TableMatchesSpec": Explanation(
        "The table was verified against the current spec.",
        "No action is needed.",
    ),
    "Pending": Explanation(
        "The operator has not acted on this spec yet.",
        "Wait; the operator acts within seconds.",
    ),
    "Rescaling": Explanation(
        "Runs are rewriting the table with another number of buckets. Nothing else commits until they are complete.",
        "Wait: the message shows the progress. A table that is suspended continues when suspend is false.",
    ),
    "SpecChanged": Explanation(
        "The manifest or the catalog was edited after the run was created, so the run started nothing.",
        "No action is needed. The operator creates another run if the new manifest needs one.",
    ),
    "Provisioning": Explanation(
        "A run is making the table match the spec, or is verifying it.",
        "Wait for the run that status.activeRun names.",
    ),
    "NoActionNeeded": Explanation(
        "Nothing blocks the object, and nothing is left to do.",
        "No action is needed.",
    ),
    "RunSucceeded": Explanation(
        "The run did what its spec requested.",
        "No action is needed.",
    ),
    "Launching": Explanation(
        "The operator is creating the driver Pod.",
        "Wait; this takes seconds.",
    ),
    "Running": Explanation(
        "The driver Pod is running.",
        "Wait for the run to finish.",
    ),
    "PodPending": Explanation(
        "The driver Pod waits for a node, an image or a Secret. This does not count as a failed attempt.",
        "Provide what the message names. The Pod then starts without an edit.",
    ),
    "WaitingForTable": Explanation(
        "The run waits because its table's status.activeRun does not name it yet.",
        "Wait for the active run to end, or fix what the table's condition Stalled or Suspended names. See the "
        "message.",
    ),
    "WaitingForTurn": Explanation(
        "The run is small, so it waits some seconds for other small runs of its catalog, or for its turn in the driver "
        "Pod that they share. After half a minute the message names the Pod.",
        "Wait. A run without companions, or whose Pod makes no progress for two minutes, starts in a Pod of its own.",
    ),
    "GivingWay": Explanation(
        "The run was waiting for its turn in a shared driver Pod, and another run of the table has become due.",
        "Wait. The run starts after that one, and does not give way again.",
    ),
    "ImagePullFailed": Explanation(
        "The node cannot pull the Spark image.",
        "Correct the image name or the pull secret. The Pod then starts without an edit of the table.",
    ),
    "Unschedulable": Explanation(
        "No node has room for the driver Pod.",
        "Free or add a node, or lower spark.driver. The Pod starts as soon as a node has room.",
    ),
    "BackingOff": Explanation(
        "An attempt failed, and the next attempt waits for its time.",
        "Wait, or fix what the attempt's message names.",
    ),
    "Stopping": Explanation(
        "The operator is stopping the driver Pod.",
        "Wait until the Pod has ended.",
    ),
    "NodeSilent": Explanation(
        "A driver or executor Pod was deleted or reached its deadline, and its node does not report whether it still "
        "runs.",
        "Wait: the run continues when the node reports, or at the time in the message. If you know that the node is "
        "dead, follow the message.",
    ),
    "StorageReached": Explanation(
        "A run has reached the catalog's storage.",
        "No action is needed.",
    ),
    "StorageUnverified": Explanation(
        "No run has reached the catalog's storage yet, so the operator cannot report its state.",
        "Create a PaimonTable in this catalog.",
    ),
}
"""Reason -> what it means and what to do."""
