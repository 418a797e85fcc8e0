"""The closed list of reasons: the one word that explains a condition, a decision, an attempt or an Event."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Self

_RENAMED: Final = {
    "AsExpected": "NoActionNeeded",
    "StorageNotTried": "StorageUnverified",
    "WithinThresholds": "RunsSucceeding",
}
"""Word of release 0.1 -> the word that replaced it."""


class Reason(StrEnum):
    """A reason with its meaning and its remedy. The driver reports some of them in its result."""

    means: str
    remedy: str

    def __new__(cls, word: str, means: str, remedy: str) -> Self:
        """Creates a member that is equal to its word; `docs/reasons.md` shows meaning and remedy."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.means, member.remedy = means, remedy
        return member

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """The reason that an earlier release stored under another word."""
        return next((member for member in cls if member.value == _RENAMED.get(str(value))), None)

    # Normal operation and progress
    TABLE_MATCHES_SPEC = (
        "TableMatchesSpec",
        "The table was verified against the current spec.",
        "No action is needed.",
    )
    PENDING = (
        "Pending",
        "The operator has not acted on this spec yet.",
        "Wait; the operator acts within seconds.",
    )
    SPEC_CHANGED = (
        "SpecChanged",
        "The manifest or the catalog was edited after the run was created, so the run started nothing.",
        "No action is needed. The operator creates another run if the new manifest needs one.",
    )
    PROVISIONING = (
        "Provisioning",
        "A run is making the table match the spec, or is verifying it.",
        "Wait for the run that status.activeRun names.",
    )
    NO_ACTION_NEEDED = (
        "NoActionNeeded",
        "Nothing blocks the object, and nothing is left to do.",
        "No action is needed.",
    )
    RUN_SUCCEEDED = (
        "RunSucceeded",
        "The run did what its spec requested.",
        "No action is needed.",
    )
    LAUNCHING = (
        "Launching",
        "The operator is creating the driver Pod.",
        "Wait; this takes seconds.",
    )
    RUNNING = (
        "Running",
        "The driver Pod is running.",
        "Wait for the run to finish.",
    )
    POD_PENDING = (
        "PodPending",
        "The driver Pod waits for a node, an image or a Secret. This does not count as a failed attempt.",
        "Provide what the message names. The Pod then starts without an edit.",
    )
    WAITING_FOR_TABLE = (
        "WaitingForTable",
        "The run waits because its table's status.activeRun does not name it yet.",
        "Wait for the active run to end, or fix what the table's condition Stalled or Suspended names. See the "
        "message.",
    )
    IMAGE_PULL_FAILED = (
        "ImagePullFailed",
        "The node cannot pull the Spark image.",
        "Correct the image name or the pull secret. The Pod then starts without an edit of the table.",
    )
    UNSCHEDULABLE = (
        "Unschedulable",
        "No node has room for the driver Pod.",
        "Free or add a node, or lower spark.driver. The Pod starts as soon as a node has room.",
    )
    BACKING_OFF = (
        "BackingOff",
        "An attempt failed, and the next attempt waits for its time.",
        "Wait, or fix what the attempt's message names.",
    )
    STOPPING = (
        "Stopping",
        "The operator is stopping the driver Pod.",
        "Wait until the Pod has ended.",
    )
    NODE_SILENT = (
        "NodeSilent",
        "A driver or executor Pod was deleted or reached its deadline, and its node does not report whether it "
        "still runs.",
        "Wait: the run continues when the node reports, or at the time in the message. If you know that the node "
        "is dead, follow the message.",
    )
    STORAGE_REACHED = (
        "StorageReached",
        "A run has reached the catalog's storage.",
        "No action is needed.",
    )
    STORAGE_UNVERIFIED = (
        "StorageUnverified",
        "No run has reached the catalog's storage yet, so the operator cannot report its state.",
        "Create a PaimonTable in this catalog.",
    )

    # Decisions about scheduled operations
    STARTED = (
        "Started",
        "The operator started a run.",
        "No action is needed.",
    )
    NOT_NEEDED = (
        "NotNeeded",
        "The operation was due, but the table did not need it.",
        "No action is needed.",
    )
    ANOTHER_RUN_IS_ACTIVE = (
        "AnotherRunIsActive",
        "The operation is due and waits until the table's active run ends.",
        "Wait; only one run at a time may change a table.",
    )
    TABLE_NOT_READY = (
        "TableNotReady",
        "The operation waits until the table is Ready.",
        "Fix what the table's condition Ready names.",
    )
    SUSPENDED = (
        "Suspended",
        "spec.suspend of the table or of its catalog is true, so no new run starts.",
        "Set suspend to false.",
    )
    NOT_SUSPENDED = (
        "NotSuspended",
        "New runs may start.",
        "No action is needed.",
    )

    # Health of a table
    RUNS_SUCCEEDING = (
        "RunsSucceeding",
        "No scheduled run and no write is failing.",
        "No action is needed.",
    )
    NOT_MEASURED = (
        "NotMeasured",
        "No run has measured the table yet.",
        "No action is needed.",
    )
    RUN_FAILING = (
        "RunFailing",
        "A scheduled run or a write fails.",
        "See the table's status: it names the operation, the message and the PaimonRun.",
    )

    # Commits by other writers
    SINGLE_COMMITTER = (
        "SingleCommitter",
        "Only the operator commits to the table, with one run at a time.",
        "No action is needed.",
    )
    ATOMIC_RENAME = (
        "AtomicRename",
        "Others commit too. The storage has an atomic rename: of two concurrent commits one wins, and the other "
        "is retried on top.",
        "No action is needed.",
    )
    COMMIT_LOCK = (
        "CommitLock",
        "Others commit too, and the metastore has a commit lock. It serialises the commits of writers that use it.",
        "Ensure that the other writers use the same metastore with lock.enabled=true.",
    )
    COMMIT_UNSAFE = (
        "CommitUnsafe",
        "Others commit to the table and the catalog has no commit lock, so concurrent commits can be lost.",
        "Stop the other writers and set externalWriters to None or Paused. Or use a catalog with the metastore "
        "Jdbc or Hive, which has a lock. Or override with the catalog's commitPolicy AllowUnsafe.",
    )
    OUTSIDE_COMMIT = (
        "OutsideCommit",
        "A run found a foreign commit, although externalWriters is not Active.",
        "Stop that writer, or declare it in externalWriters. The message names the commit.",
    )

    # Manifests that need an edit
    INVALID_SPEC = (
        "InvalidSpec",
        "A field of the manifest is wrong. The message names the field.",
        "Edit the field that the message names.",
    )
    UNKNOWN_OPTION = (
        "UnknownOption",
        "The engine has no option of this name.",
        "Use the name that the message proposes, or remove the option.",
    )
    UNSUPPORTED_BY_ENGINE = (
        "UnsupportedByEngine",
        "The catalog's engine does not support what the field requests.",
        "Remove the field that the message names, or use a catalog with a newer engine.",
    )
    UNKNOWN_ENGINE = (
        "UnknownEngine",
        "The operator has no engine of this name, or no Spark image for it.",
        "Use one of the engines that the message lists, or have the image added to the chart values.",
    )
    STORAGE_NOT_ALLOWED = (
        "StorageNotAllowed",
        "The operator's settings do not allow this kind of storage.",
        "Use another kind of storage, or ask the operator's administrator to allow this one.",
    )
    CATALOG_NOT_FOUND = (
        "CatalogNotFound",
        "The namespace has no PaimonCatalog of this name.",
        "Create the PaimonCatalog, or create the PaimonTable again with the right spec.catalogRef.",
    )
    CATALOG_INVALID = (
        "CatalogInvalid",
        "The PaimonCatalog of the table is Stalled.",
        "Fix what the catalog's conditions name.",
    )
    DATABASE_NOT_ALLOWED = (
        "DatabaseNotAllowed",
        "The catalog does not allow this database.",
        "Use an allowed database, or have this one added to the catalog's allowedDatabases.",
    )
    LOCATION_NOT_FOUND = (
        "LocationNotFound",
        "The catalog has no location of this name.",
        "Use one of the catalog's locations, or have this one added.",
    )
    TABLE_CLAIMED = (
        "TableClaimed",
        "An older PaimonTable manages the same physical table.",
        "Delete one of the two PaimonTables.",
    )
    CONFLICT = (
        "Conflict",
        "The table belongs to another PaimonTable, which may be in another cluster.",
        "Delete that PaimonTable, or choose another table. The operator retries without an edit.",
    )
    TABLE_EXISTS = (
        "TableExists",
        "The table exists and adoptionPolicy is Fail, or its files exist but the metastore does not list it.",
        "Set adoptionPolicy to AdoptIfIdentical, or choose another table. The operator retries without an edit.",
    )
    TABLE_DIFFERS = (
        "TableDiffers",
        "The existing table differs from the manifest. The operator did not change it.",
        "Edit the manifest so that it describes the existing table. The message lists the differences.",
    )
    TABLE_REFUSED = (
        "TableRefused",
        "Paimon rejects this table. The message is Paimon's own.",
        "Edit the field that the message names.",
    )
    TABLE_NOT_FOUND = (
        "TableNotFound",
        "The table no longer exists in the warehouse, or the PaimonTable of a run does not exist.",
        "Find out who dropped the table: the operator recreates it without its rows. For a run, create the "
        "PaimonTable.",
    )
    WRITE_NOT_FOUND = (
        "WriteNotFound",
        "The table has no write of this name.",
        "Use the name of one of the table's writes.",
    )
    RESULT_UNKNOWN = (
        "ResultUnknown",
        "It is unknown whether the write committed, so it is not retried automatically.",
        "Inspect the snapshots that the message names, or put the file where the message says. If you correct "
        "rows by hand, set externalWriters to Paused afterwards (to None if it is Paused). Then delete the "
        "PaimonRun to continue: the write is retried and first reads its ledger of loaded files.",
    )

    # Environment to fix; retried without an edit
    SECRET_NOT_FOUND = (
        "SecretNotFound",
        "The Secret with the credentials, or a key in it, is missing.",
        "Create the Secret. The operator retries without an edit.",
    )
    CREDENTIALS_REFUSED = (
        "CredentialsRefused",
        "The storage or the metastore rejects the credentials.",
        "Correct the Secret. The operator retries without an edit.",
    )
    CERTIFICATE_NOT_TRUSTED = (
        "CertificateNotTrusted",
        "The storage's certificate is signed by no trusted authority, or it is valid for another host name.",
        "Name the authority's certificate in spec.storage.s3.caConfigMapRef, or correct the host name of the endpoint.",
    )
    ACCESS_DENIED = (
        "AccessDenied",
        "The storage or the metastore accepts the credentials but denies the request.",
        "Correct the permissions. The operator retries without an edit.",
    )
    BUCKET_NOT_FOUND = (
        "BucketNotFound",
        "The bucket does not exist.",
        "Create the bucket, or correct the catalog. The operator retries without an edit.",
    )
    INPUT_NOT_FOUND = (
        "InputNotFound",
        "The input path of the write does not exist.",
        "Put the files there, or correct the path. The operator retries without an edit.",
    )
    INPUT_SCHEMA_MISMATCH = (
        "InputSchemaMismatch",
        "An input file has a column that the table lacks, or lacks a column that must not be null. No row was loaded.",
        "Correct the input file. The operator retries without an edit.",
    )
    INPUT_MALFORMED = (
        "InputMalformed",
        "An input file cannot be read, or a value does not fit its column. No row was loaded.",
        "Correct the input file. The operator retries without an edit.",
    )
    STORAGE_UNREACHABLE = (
        "StorageUnreachable",
        "The storage does not respond.",
        "Check the endpoint and the network. The operator retries without an edit.",
    )
    METASTORE_UNREACHABLE = (
        "MetastoreUnreachable",
        "The catalog's metastore does not respond.",
        "Check the uri, the server and the network. The operator retries without an edit.",
    )
    METASTORE_NOT_FOUND = (
        "MetastoreNotFound",
        "The database of the catalog's metastore, or one of Paimon's tables in it, does not exist.",
        "Create the database, or correct the uri in a new PaimonCatalog. The operator retries without an edit.",
    )
    COMMIT_LOCK_UNRELIABLE = (
        "CommitLockUnreliable",
        "The metastore's lock table stores times without a time zone, so a writer in another zone can take a lock"
        " that is held.",
        "While nobody commits, run ALTER TABLE paimon_distributed_locks ALTER COLUMN acquired_at TYPE TIMESTAMP "
        "WITH TIME ZONE. The operator retries without an edit.",
    )

    # Failed runs
    COMMIT_CONFLICT = (
        "CommitConflict",
        "Another writer committed first.",
        "No action is needed; the operator retries the run.",
    )
    COMMIT_LOCK_HELD = (
        "CommitLockHeld",
        "The commit lock of the table in the metastore was not released in time.",
        "With Jdbc, see the table paimon_distributed_locks; the lock of a dead writer expires after 8 minutes. "
        "With Hive, see SHOW LOCKS. See docs/commit-safety.md.",
    )
    OUT_OF_MEMORY = (
        "OutOfMemory",
        "The driver ran out of memory.",
        "The operator retries with more memory. If the reason returns, raise spark.driver.memory.",
    )
    DEADLINE_EXCEEDED = (
        "DeadlineExceeded",
        "The run took longer than activeDeadline.",
        "Raise runPolicy.activeDeadline or the size of the driver.",
    )
    POD_NOT_STARTED = (
        "PodNotStarted",
        "The driver Pod did not start in time.",
        "Fix what the message names: the node, the image or the Secret.",
    )
    NO_EXECUTORS = (
        "NoExecutors",
        "No executor registered with the driver in time, or too many executors were lost.",
        "Free or add nodes; correct the quota, image, admission policy or executor memory; or use mode Local. See"
        " the message.",
    )
    POD_LOST = (
        "PodLost",
        "The driver Pod disappeared before the operator read its result.",
        "No action is needed; the operator retries where a retry is safe.",
    )
    EVICTED = (
        "Evicted",
        "The driver Pod was evicted from its node.",
        "No action is needed; the operator retries where a retry is safe.",
    )
    RESULT_MISSING = (
        "ResultMissing",
        "The driver ended without an error but without a result of this run.",
        "See the Pod's log. Check that the Spark image is of the operator's release.",
    )
    DISK_FULL = (
        "DiskFull",
        "The driver's scratch volume or the storage is full.",
        "Enlarge it or free space. The operator retries without an edit.",
    )
    JOB_UNREADABLE = (
        "JobUnreadable",
        "The Spark image cannot read the job that the operator wrote.",
        "Use the Spark image of the operator's own release.",
    )
    ENGINE_MISMATCH = (
        "EngineMismatch",
        "The Spark image contains another engine than the catalog names.",
        "Correct the image of that engine in the operator's settings.",
    )
    DRIVER_FAILED = (
        "DriverFailed",
        "The driver ended with an error that has no reason of its own.",
        "See the message and the Pod's log.",
    )
    CANCELLED = (
        "Cancelled",
        "The run was deleted, or its table is being deleted.",
        "Scheduled operations run again at their next tick, Provision after 1 to 15 minutes. A write of type Once"
        " runs again after any edit of the PaimonTable.",
    )
    NAME_TAKEN = (
        "NameTaken",
        "An object that the operator does not control has the name that the run needs.",
        "Delete or rename that object.",
    )
    NOT_PERMITTED = (
        "NotPermitted",
        "The API server rejects a request of the operator.",
        "Correct the operator's RBAC, the quota or the admission policy. The operator retries without an edit.",
    )

    # Deletion
    DELETING = (
        "Deleting",
        "The object is being deleted.",
        "Wait until the deletion is complete.",
    )
    WAITING_FOR_POD = (
        "WaitingForPod",
        "Deletion waits until the driver Pod is gone.",
        "Wait until the Pod has ended.",
    )
    DROPPING = (
        "Dropping",
        "A run is dropping the table.",
        "Wait for the run to finish.",
    )
    DROP_FAILING = (
        "DropFailing",
        "The table cannot be dropped yet. The operator retries until it succeeds.",
        "Fix what the message names. To delete the object and keep the table, set deletionPolicy to Retain or "
        "annotate it with paimon-operator.dev/skip-drop=true.",
    )
    CATALOG_IN_USE = (
        "CatalogInUse",
        "PaimonTables still refer to the catalog that is being deleted.",
        "Delete these PaimonTables.",
    )


def known_reason(word: str | None, otherwise: Reason) -> Reason:
    """The member of the closed list that `word` names; `otherwise` for a word that this version does not know.

    Newer Spark images and stored statuses of other versions may carry unknown words.
    """
    return next((reason for reason in Reason if reason == word), otherwise)
