"""Failed runs."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.reasons.explanation import Explanation

EXPLANATIONS: Final = {
    "CommitConflict": Explanation(
        "Another writer committed first.",
        "No action is needed; the operator retries the run.",
    ),
    "CommitLockHeld": Explanation(
        "The commit lock of the table in the metastore was not released in time.",
        "With Jdbc, see the table paimon_distributed_locks; the lock of a dead writer expires after 8 minutes. With "
        "Hive, see SHOW LOCKS. See docs/commit-safety.md.",
    ),
    "OutOfMemory": Explanation(
        "The driver ran out of memory.",
        "The operator retries with more memory. If the reason returns, raise spark.driver.memory.",
    ),
    "DeadlineExceeded": Explanation(
        "The run took longer than activeDeadline.",
        "Raise runPolicy.activeDeadline or the size of the driver.",
    ),
    "PodNotStarted": Explanation(
        "The driver Pod did not start in time.",
        "Fix what the message names: the node, the image or the Secret.",
    ),
    "NoExecutors": Explanation(
        "No executor registered with the driver in time, or too many executors were lost.",
        "Free or add nodes; correct the quota, image, admission policy or executor memory; or use mode Local. See the"
        " message.",
    ),
    "PodLost": Explanation(
        "The driver Pod disappeared before the operator read its result.",
        "No action is needed; the operator retries where a retry is safe.",
    ),
    "Evicted": Explanation(
        "The driver Pod was evicted from its node.",
        "No action is needed; the operator retries where a retry is safe.",
    ),
    "ResultMissing": Explanation(
        "The driver ended without an error but without a result of this run.",
        "See the Pod's log. Check that the Spark image is of the operator's release.",
    ),
    "DiskFull": Explanation(
        "The scratch volume of a Spark Pod or the storage is full.",
        "Raise spark.driver.scratch or spark.executor.scratch, or free space in the storage. The operator retries "
        "without an edit.",
    ),
    "TableFileUnreadable": Explanation(
        "The table needs a file that is missing or damaged. If another program has expired the snapshot during the "
        "run, the next attempt succeeds.",
        "Stop what deletes files in the table's directory. Put the file back, or return to a snapshot that does not "
        "need it: docs/howto-recover.md.",
    ),
    "JobUnreadable": Explanation(
        "The Spark image cannot read the job that the operator wrote.",
        "During an upgrade, no action is needed: the operator starts another run. Otherwise, use the Spark image of "
        "the operator's own release.",
    ),
    "JobChanged": Explanation(
        "The run's ConfigMap does not hold the job that the operator wrote, or the rights of its executors are gone "
        "and the manifest was edited since. No driver starts.",
        "Find out who creates or deletes ConfigMaps, or deletes PaimonExecutorRights, in the namespace. The table "
        "starts another run; create a run of your own again.",
    ),
    "EngineMismatch": Explanation(
        "The Spark image contains another engine than the catalog names.",
        "Correct the image of that engine in the operator's settings.",
    ),
    "DriverFailed": Explanation(
        "The driver ended with an error that has no reason of its own.",
        "See the message and the Pod's log.",
    ),
    "Cancelled": Explanation(
        "The run was deleted, or its table is being deleted.",
        "Scheduled operations run again at their next tick, Provision after 1 to 15 minutes. A write of type Once "
        "runs again after any edit of the PaimonTable.",
    ),
    "NameTaken": Explanation(
        "An object that the operator does not control has the name that the run needs.",
        "Delete or rename that object.",
    ),
    "NotPermitted": Explanation(
        "The API server rejects a request of the operator.",
        "Correct the operator's RBAC, the quota or the admission policy. The operator retries without an edit.",
    ),
}
"""Reason -> what it means and what to do."""
