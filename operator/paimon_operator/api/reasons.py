"""The closed list of reasons: the one word behind a condition, a decision, an attempt or an Event."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Self

_RENAMED: Final = {
    "AsExpected": "NoActionNeeded",
    "StorageNotTried": "StorageUnverified",
    "WithinThresholds": "RunsSucceeding",
}
"""Words of release 0.1 and what they are called now."""


class Reason(StrEnum):
    """One word, what it means, and what to do about it. Spark reports some of them in its result."""

    means: str
    remedy: str

    def __new__(cls, word: str, means: str, remedy: str) -> Self:
        """A member is its word; meaning and remedy ride along for the docs."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.means, member.remedy = means, remedy
        return member

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """Reads a reason that an earlier release stored under another word."""
        return next((member for member in cls if member.value == _RENAMED.get(str(value))), None)

    # All is well, or on its way
    TABLE_MATCHES_SPEC = "TableMatchesSpec", "The table was verified against this spec.", "Nothing."
    PENDING = "Pending", "Nothing was done about this spec yet.", "Wait a moment."
    SPEC_CHANGED = (
        "SpecChanged",
        "The manifest or the catalog was edited after the run was decided, so the run started nothing.",
        "Nothing. The table decides again and starts another run if the new manifest needs one.",
    )
    PROVISIONING = (
        "Provisioning",
        "A run makes the table what the spec says, or verifies it.",
        "Wait for the run that status.activeRun names.",
    )
    NO_ACTION_NEEDED = "NoActionNeeded", "Nothing stands in the way.", "Nothing."
    RUN_SUCCEEDED = "RunSucceeded", "The run did what it was asked to.", "Nothing."
    LAUNCHING = "Launching", "The driver pod is being made.", "Wait a moment."
    RUNNING = "Running", "The driver pod is at work.", "Wait."
    POD_PENDING = (
        "PodPending",
        "The driver pod waits for a node, an image or a Secret. This is no failed attempt.",
        "See the message; mending what is missing is enough.",
    )
    WAITING_FOR_TABLE = (
        "WaitingForTable",
        "The run may start only while its table's status.activeRun names it.",
        "See the message: the table's active run has to end, or what the table's Stalled or Suspended says.",
    )
    IMAGE_PULL_FAILED = (
        "ImagePullFailed",
        "The node cannot pull the Spark image.",
        "Correct the image name or the pull secret; mending it is enough.",
    )
    UNSCHEDULABLE = (
        "Unschedulable",
        "No node has room for the driver pod.",
        "Free or add a node, or lower spark.driver; mending it is enough.",
    )
    BACKING_OFF = (
        "BackingOff",
        "An attempt failed and the next one waits for its time.",
        "Wait, or see the attempt's message.",
    )
    STOPPING = "Stopping", "The driver pod is being stopped.", "Wait."
    NODE_SILENT = (
        "NodeSilent",
        "A driver's or executor's pod was deleted or given up, and its node does not say whether it still works.",
        "Wait: the run goes on when the node answers, or at the time that the message names. If you know that the node "
        "is dead, do what the message says.",
    )
    STORAGE_REACHED = "StorageReached", "A run has reached the catalog's storage.", "Nothing."
    STORAGE_UNVERIFIED = (
        "StorageUnverified",
        "No run has reached the catalog's storage yet, so nothing is known about it.",
        "Make a PaimonTable in this catalog.",
    )

    # Decisions about scheduled work
    STARTED = "Started", "A run was started.", "Nothing."
    NOT_NEEDED = "NotNeeded", "It was due, and there was nothing to do.", "Nothing."
    ANOTHER_RUN_IS_ACTIVE = (
        "AnotherRunIsActive",
        "It is due, and waits until the table's active run ends.",
        "Wait; one run at a time may change a table.",
    )
    TABLE_NOT_READY = "TableNotReady", "It waits until the table is Ready.", "See the condition Ready."
    SUSPENDED = (
        "Suspended",
        "spec.suspend of the table or of its catalog is true: nothing new starts.",
        "Set suspend to false.",
    )
    NOT_SUSPENDED = "NotSuspended", "Work may start.", "Nothing."

    # Health
    RUNS_SUCCEEDING = (
        "RunsSucceeding",
        "No scheduled run and no write is failing.",
        "Nothing.",
    )
    NOT_MEASURED = "NotMeasured", "No run has measured the table yet.", "Nothing."
    RUN_FAILING = (
        "RunFailing",
        "Scheduled work or a write fails.",
        "See status for the operation, its message and the PaimonRun.",
    )

    # Outside writers
    SINGLE_COMMITTER = "SingleCommitter", "Nobody but the operator commits, one run at a time.", "Nothing."
    ATOMIC_RENAME = (
        "AtomicRename",
        "Others commit too, and the storage lets one of two commits win: the other is made again on top of it.",
        "Nothing.",
    )
    COMMIT_LOCK = (
        "CommitLock",
        "Others commit too, and the metastore has a lock for commits. It holds those apart who use it.",
        "See that the others use the same metastore, with lock.enabled=true.",
    )
    COMMIT_UNSAFE = (
        "CommitUnsafe",
        "Others commit to the table and the catalog has no commit lock: commits can get lost.",
        "Stop the others and set externalWriters to None or Paused, or the catalog's commitPolicy to AllowUnsafe; a "
        "catalog with the metastore Jdbc or Hive has a lock.",
    )
    OUTSIDE_COMMIT = (
        "OutsideCommit",
        "A run has found a commit that is not the operator's, though externalWriters is not Active.",
        "Stop that writer and say so in externalWriters, as the message tells.",
    )

    # The manifest must be edited
    INVALID_SPEC = "InvalidSpec", "A field of the manifest is wrong; the message names it.", "Edit the field."
    UNKNOWN_OPTION = (
        "UnknownOption",
        "The engine knows no option of this name.",
        "Use the name that the message proposes, or remove the option.",
    )
    UNSUPPORTED_BY_ENGINE = (
        "UnsupportedByEngine",
        "The catalog's engine cannot do this.",
        "Remove the block, or use a catalog with a newer engine.",
    )
    UNKNOWN_ENGINE = (
        "UnknownEngine",
        "The operator has no engine of this name.",
        "Use one of the engines that the message lists.",
    )
    STORAGE_NOT_ALLOWED = (
        "StorageNotAllowed",
        "The operator's settings do not allow this kind of storage.",
        "Use another kind of storage, or have the administrator of the operator allow it.",
    )
    CATALOG_NOT_FOUND = (
        "CatalogNotFound",
        "There is no PaimonCatalog of this name in the namespace.",
        "Make it, or correct spec.catalogRef in a new PaimonTable.",
    )
    CATALOG_INVALID = "CatalogInvalid", "The catalog is Stalled.", "See the catalog's conditions."
    DATABASE_NOT_ALLOWED = (
        "DatabaseNotAllowed",
        "The catalog does not allow this database.",
        "Ask for it in the catalog's allowedDatabases, or use an allowed one.",
    )
    LOCATION_NOT_FOUND = (
        "LocationNotFound",
        "The catalog names no location like this.",
        "Use one of the catalog's locations.",
    )
    TABLE_CLAIMED = "TableClaimed", "An older PaimonTable manages the same table.", "Delete one of the two objects."
    CONFLICT = (
        "Conflict",
        "The table belongs to another PaimonTable, perhaps of another cluster.",
        "Delete that object, or choose another table; it is looked at again by itself.",
    )
    TABLE_EXISTS = (
        "TableExists",
        "The table exists already and adoptionPolicy is Fail, or its files do and the metastore does not list it.",
        "Set adoptionPolicy to AdoptIfIdentical, or choose another table; it is looked at again by itself.",
    )
    TABLE_DIFFERS = (
        "TableDiffers",
        "The existing table differs from the manifest; it was not touched.",
        "Make the manifest say what the table is; the message lists the differences.",
    )
    TABLE_REFUSED = (
        "TableRefused",
        "Paimon refuses a table like this; the message is Paimon's own.",
        "Edit what the message names.",
    )
    TABLE_NOT_FOUND = (
        "TableNotFound",
        "The table has gone from the warehouse, or the PaimonTable of a run does not exist.",
        "Find out who dropped it; the operator makes it anew, without its rows. Or make the PaimonTable of the run.",
    )
    WRITE_NOT_FOUND = "WriteNotFound", "The table has no write of this name.", "Use one of the table's writes."
    RESULT_UNKNOWN = (
        "ResultUnknown",
        "What a write has put into the table cannot be found out by itself, so nothing is repeated.",
        "Do what the message asks: look at the snapshots that it names, or put the file where it says. If you correct "
        "rows by hand, set externalWriters to Paused after that (to None if it is Paused). Then delete the PaimonRun "
        "to go on: the write is tried again and asks its list of loaded files first.",
    )

    # The surroundings must be mended; tried again by itself
    SECRET_NOT_FOUND = (
        "SecretNotFound",
        "The Secret with the credentials, or a key in it, is missing.",
        "Make the Secret; it is tried again by itself.",
    )
    CREDENTIALS_REFUSED = (
        "CredentialsRefused",
        "The storage or the metastore does not accept the credentials.",
        "Correct the Secret; it is tried again by itself.",
    )
    CERTIFICATE_NOT_TRUSTED = (
        "CertificateNotTrusted",
        "The storage shows a certificate that no known authority has signed, or one for another name.",
        "Name the authority's certificate in spec.storage.s3.caConfigMapRef, or correct the endpoint's name.",
    )
    ACCESS_DENIED = (
        "AccessDenied",
        "The storage or the metastore knows the credentials, and they may not do this.",
        "Correct the permissions; it is tried again by itself.",
    )
    BUCKET_NOT_FOUND = (
        "BucketNotFound",
        "The bucket does not exist.",
        "Make the bucket, or correct the catalog; it is tried again by itself.",
    )
    INPUT_NOT_FOUND = (
        "InputNotFound",
        "The input path does not exist.",
        "Put the files there; it is tried again by itself.",
    )
    INPUT_SCHEMA_MISMATCH = (
        "InputSchemaMismatch",
        "An input file has a column that the table has not, or lacks one that must not be null; nothing was loaded.",
        "Correct the input file; it is tried again by itself.",
    )
    INPUT_MALFORMED = (
        "InputMalformed",
        "An input file cannot be read, or holds a value that does not fit its column; nothing was loaded.",
        "Correct the input file; it is tried again by itself.",
    )
    STORAGE_UNREACHABLE = (
        "StorageUnreachable",
        "The storage does not answer.",
        "Check endpoint and network; it is tried again by itself.",
    )
    METASTORE_UNREACHABLE = (
        "MetastoreUnreachable",
        "The catalog's metastore does not answer.",
        "Check the uri, the server and the network; it is tried again by itself.",
    )
    METASTORE_NOT_FOUND = (
        "MetastoreNotFound",
        "The database of the catalog's metastore, or one of Paimon's tables in it, does not exist.",
        "Make the database, or correct the uri in a new PaimonCatalog; it is tried again by itself.",
    )
    COMMIT_LOCK_UNRELIABLE = (
        "CommitLockUnreliable",
        "The metastore's table of locks keeps times without a zone: writers in other zones take a lock that is held.",
        "While nobody commits: ALTER TABLE paimon_distributed_locks ALTER COLUMN acquired_at TYPE TIMESTAMP WITH TIME "
        "ZONE; it is tried again by itself.",
    )

    # Runs that failed
    COMMIT_CONFLICT = "CommitConflict", "Another committer was faster.", "It is tried again by itself."
    COMMIT_LOCK_HELD = (
        "CommitLockHeld",
        "The commit lock that the metastore keeps for the table was not free in time.",
        "See paimon_distributed_locks of a Jdbc metastore, where the lock of a writer that died is free after 8 "
        "minutes, or SHOW LOCKS of a Hive one (docs/commit-safety.md).",
    )
    OUT_OF_MEMORY = (
        "OutOfMemory",
        "The driver ran out of memory.",
        "It is tried again with more; raise spark.driver.memory if it comes back.",
    )
    DEADLINE_EXCEEDED = (
        "DeadlineExceeded",
        "The run took longer than activeDeadline.",
        "Raise runPolicy.activeDeadline or the driver's size.",
    )
    POD_NOT_STARTED = (
        "PodNotStarted",
        "The driver pod did not start in time.",
        "See the message: node, image, or Secret.",
    )
    NO_EXECUTORS = (
        "NoExecutors",
        "No executor has come to the driver's help in time, or too many were lost; the message says more.",
        "Free or add nodes, correct the quota, image, admission policy or the executors' memory, or use mode Local.",
    )
    POD_LOST = (
        "PodLost",
        "The driver pod vanished before its result was read.",
        "It is tried again by itself where that is safe.",
    )
    EVICTED = (
        "Evicted",
        "The driver pod was pushed off its node.",
        "It is tried again by itself where that is safe.",
    )
    RESULT_MISSING = (
        "ResultMissing",
        "The driver ended without an error and without a result of this run.",
        "See the pod's log; the image may be of another version.",
    )
    DISK_FULL = (
        "DiskFull",
        "The driver's scratch space or the storage is full.",
        "Give it more room; it is tried again by itself.",
    )
    JOB_UNREADABLE = (
        "JobUnreadable",
        "The Spark image does not understand the job that the operator wrote.",
        "Use the Spark image of the operator's own release.",
    )
    ENGINE_MISMATCH = (
        "EngineMismatch",
        "The Spark image holds another engine than the catalog names.",
        "Correct the image of that engine in the operator's settings.",
    )
    DRIVER_FAILED = (
        "DriverFailed",
        "The driver ended with an error that has no reason of its own.",
        "See the message and the pod's log.",
    )
    CANCELLED = (
        "Cancelled",
        "The run was deleted, or its table is being deleted.",
        "Scheduled work comes back with its next tick, the table itself after 1 to 15 minutes; a write of type Once "
        "after any edit of the PaimonTable.",
    )
    NAME_TAKEN = (
        "NameTaken",
        "An object that is not the operator's has the name that the run needs.",
        "Delete that object.",
    )
    NOT_PERMITTED = (
        "NotPermitted",
        "The API server refuses what the operator has to do.",
        "Correct the operator's RBAC, quota or admission policy; it is tried again by itself.",
    )

    # Deletion
    DELETING = "Deleting", "The object is being deleted.", "Wait."
    WAITING_FOR_POD = "WaitingForPod", "Deletion waits until the driver pod is gone.", "Wait."
    DROPPING = "Dropping", "The table is being dropped.", "Wait."
    DROP_FAILING = (
        "DropFailing",
        "The table cannot be dropped yet; it is tried until it is.",
        "Mend what the message says, or set deletionPolicy to Retain, or annotate paimon-operator.dev/skip-drop=true.",
    )
    CATALOG_IN_USE = (
        "CatalogInUse",
        "PaimonTables still refer to the catalog that is being deleted.",
        "Delete the tables.",
    )


def known_reason(word: str | None, otherwise: Reason) -> Reason:
    """The member of the closed list that `word` names; `otherwise` for a word that this version does not know.

    Newer Spark images and stored statuses of other versions may carry unknown words.
    """
    return next((reason for reason in Reason if reason == word), otherwise)
