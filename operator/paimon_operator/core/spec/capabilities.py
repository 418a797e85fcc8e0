"""What a table supports and whether it was ever ready, derived from its manifest and status."""

from __future__ import annotations

from paimon_operator.api.table.spec import BucketType, OnCountChange, PaimonTableSpec
from paimon_operator.api.table.status import TableStatus


def ever_ready(status: TableStatus) -> bool:
    """Whether the table was verified under this object at least once: only then may it be dropped with it."""
    return status.provision is not None and status.provision.last_time is not None


def verified_by(status: TableStatus) -> str | None:
    """Id of the engine that last verified the table; None before the first verification.

    Release 0.1 did not store it: the engine of its last reconcile counts instead, so that an upgrade verifies nothing.
    """
    if status.engine is not None or not ever_ready(status):
        return status.engine
    return status.effective.engine if status.effective else None


def may_be_active(spec: PaimonTableSpec) -> bool:
    """Whether the table supports foreign writers."""
    bucket_type = None if spec.bucket is None else spec.bucket.type
    return supports_foreign_writers(bucket_type, has_primary_key=bool(spec.table_schema.primary_keys))


def supports_foreign_writers(bucket_type: str | None, *, has_primary_key: bool) -> bool:
    """Whether a table of this layout supports foreign writers: not where buckets grow with the keys.

    Two writers would put one key into two buckets. `bucket_type` is spec.bucket.type, None when it is not given.
    """
    return bucket_type == BucketType.FIXED or not has_primary_key


def may_be_rescaled(spec: PaimonTableSpec) -> bool:
    """Whether an edit of the number of buckets rescales the table."""
    fixed = spec.bucket.fixed if spec.bucket is not None else None
    return fixed is not None and fixed.on_count_change is OnCountChange.RESCALE
