"""The closed list of reasons: the one word that explains a condition, a decision, an attempt or an Event.

Each group of reasons has a module with what they mean and what to do.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Self

from paimon_operator.api.reasons import (
    commits,
    deletion,
    environment,
    failures,
    health,
    manifests,
    progress,
    scheduling,
)
from paimon_operator.api.reasons.explanation import Explanation

GROUPS: Final = (progress, scheduling, health, commits, manifests, environment, failures, deletion)
_EXPLANATIONS: Final[dict[str, Explanation]] = {
    word: explanation for group in GROUPS for word, explanation in group.EXPLANATIONS.items()
}
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

    def __new__(cls, word: str) -> Self:
        """Creates a member that is equal to its word. Raises KeyError when no group explains the word."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.means, member.remedy = _EXPLANATIONS[word]
        return member

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """The reason that an earlier release stored under another word."""
        return next((member for member in cls if member.value == _RENAMED.get(str(value))), None)

    # Normal operation and progress
    TABLE_MATCHES_SPEC = "TableMatchesSpec"
    PENDING = "Pending"
    RESCALING = "Rescaling"
    SPEC_CHANGED = "SpecChanged"
    PROVISIONING = "Provisioning"
    NO_ACTION_NEEDED = "NoActionNeeded"
    RUN_SUCCEEDED = "RunSucceeded"
    LAUNCHING = "Launching"
    RUNNING = "Running"
    POD_PENDING = "PodPending"
    WAITING_FOR_TABLE = "WaitingForTable"
    WAITING_FOR_TURN = "WaitingForTurn"
    GIVING_WAY = "GivingWay"
    IMAGE_PULL_FAILED = "ImagePullFailed"
    UNSCHEDULABLE = "Unschedulable"
    BACKING_OFF = "BackingOff"
    STOPPING = "Stopping"
    NODE_SILENT = "NodeSilent"
    STORAGE_REACHED = "StorageReached"
    STORAGE_UNVERIFIED = "StorageUnverified"

    # Decisions about scheduled operations
    STARTED = "Started"
    NOT_NEEDED = "NotNeeded"
    ANOTHER_RUN_IS_ACTIVE = "AnotherRunIsActive"
    WAITING_FOR_EARLIER_WRITE = "WaitingForEarlierWrite"
    CLOCK_DIFFERS = "ClockDiffers"
    RUN_LIMIT_REACHED = "RunLimitReached"
    BUDGET_SPENT = "BudgetSpent"
    WAITING_FOR_WINDOW = "WaitingForWindow"
    TABLE_NOT_READY = "TableNotReady"
    SUSPENDED = "Suspended"
    NOT_SUSPENDED = "NotSuspended"

    # Health of a table
    RUNS_SUCCEEDING = "RunsSucceeding"
    NOT_MEASURED = "NotMeasured"
    RUN_FAILING = "RunFailing"
    THRESHOLD_EXCEEDED = "ThresholdExceeded"
    VERIFICATION_FAILED = "VerificationFailed"
    BUCKET_SIZE_FITS = "BucketSizeFits"
    BUCKETS_TOO_SMALL = "BucketsTooSmall"
    BUCKETS_TOO_LARGE = "BucketsTooLarge"
    TABLE_UNALTERED = "TableUnaltered"
    TABLE_ALTERED = "TableAltered"
    SCHEMA_NOT_COMPARED = "SchemaNotCompared"
    DRIFT_CONTESTED = "DriftContested"
    TOO_MANY_ORPHAN_FILES = "TooManyOrphanFiles"
    ORPHAN_REFERENCED = "OrphanReferenced"
    CORRECTION_LIMIT_REACHED = "CorrectionLimitReached"

    # Commits by other writers
    SINGLE_COMMITTER = "SingleCommitter"
    ATOMIC_RENAME = "AtomicRename"
    COMMIT_LOCK = "CommitLock"
    COMMIT_UNSAFE = "CommitUnsafe"
    OUTSIDE_COMMIT = "OutsideCommit"

    # Manifests that need an edit
    INVALID_SPEC = "InvalidSpec"
    SPEC_TOO_LARGE = "SpecTooLarge"
    UNKNOWN_OPTION = "UnknownOption"
    UNSUPPORTED_BY_ENGINE = "UnsupportedByEngine"
    UNKNOWN_ENGINE = "UnknownEngine"
    ENGINE_DOWNGRADE = "EngineDowngrade"
    STORAGE_NOT_ALLOWED = "StorageNotAllowed"
    CATALOG_NOT_FOUND = "CatalogNotFound"
    CATALOG_INVALID = "CatalogInvalid"
    WAREHOUSE_OVERLAPS = "WarehouseOverlaps"
    LIMIT_EXCEEDED = "LimitExceeded"
    DATABASE_NOT_ALLOWED = "DatabaseNotAllowed"
    LOCATION_NOT_FOUND = "LocationNotFound"
    TABLE_MISSING = "TableMissing"
    TABLE_CLAIMED = "TableClaimed"
    CONFLICT = "Conflict"
    TABLE_EXISTS = "TableExists"
    TABLE_DIFFERS = "TableDiffers"
    AWAITING_APPROVAL = "AwaitingApproval"
    TABLE_REFUSED = "TableRefused"
    RESCALE_REFUSED = "RescaleRefused"
    RESCALE_FAILED = "RescaleFailed"
    TABLE_NOT_FOUND = "TableNotFound"
    WRITE_NOT_FOUND = "WriteNotFound"
    RESULT_UNKNOWN = "ResultUnknown"

    # Environment to fix; retried without an edit
    SECRET_NOT_FOUND = "SecretNotFound"  # noqa: S105  (the word of a reason)
    CREDENTIALS_REFUSED = "CredentialsRefused"
    CERTIFICATE_NOT_TRUSTED = "CertificateNotTrusted"
    ACCESS_DENIED = "AccessDenied"
    BUCKET_NOT_FOUND = "BucketNotFound"
    INPUT_NOT_FOUND = "InputNotFound"
    INPUT_SCHEMA_MISMATCH = "InputSchemaMismatch"
    INPUT_MALFORMED = "InputMalformed"
    REFERENCE_UNREADABLE = "ReferenceUnreadable"
    CONFIGURATION_REFUSED = "ConfigurationRefused"
    STORAGE_UNREACHABLE = "StorageUnreachable"
    METASTORE_UNREACHABLE = "MetastoreUnreachable"
    METASTORE_NOT_FOUND = "MetastoreNotFound"
    COMMIT_LOCK_UNRELIABLE = "CommitLockUnreliable"

    # The operator itself
    INTERNAL_ERROR = "InternalError"

    # Failed runs
    COMMIT_CONFLICT = "CommitConflict"
    COMMIT_LOCK_HELD = "CommitLockHeld"
    OUT_OF_MEMORY = "OutOfMemory"
    DEADLINE_EXCEEDED = "DeadlineExceeded"
    POD_NOT_STARTED = "PodNotStarted"
    NO_EXECUTORS = "NoExecutors"
    POD_LOST = "PodLost"
    EVICTED = "Evicted"
    RESULT_MISSING = "ResultMissing"
    DISK_FULL = "DiskFull"
    TABLE_FILE_UNREADABLE = "TableFileUnreadable"
    JOB_UNREADABLE = "JobUnreadable"
    JOB_CHANGED = "JobChanged"
    ENGINE_MISMATCH = "EngineMismatch"
    DRIVER_FAILED = "DriverFailed"
    CANCELLED = "Cancelled"
    NAME_TAKEN = "NameTaken"
    NOT_PERMITTED = "NotPermitted"

    # Deletion
    DELETING = "Deleting"
    WAITING_FOR_POD = "WaitingForPod"
    DROPPING = "Dropping"
    DROP_FAILING = "DropFailing"
    TABLE_KEPT = "TableKept"
    CATALOG_IN_USE = "CatalogInUse"


def known_reason(word: str | None, otherwise: Reason) -> Reason:
    """The member of the closed list that `word` names; `otherwise` for a word that this version does not know.

    Newer Spark images and stored statuses of other versions may carry unknown words.
    """
    return next((reason for reason in Reason if reason == word), otherwise)
