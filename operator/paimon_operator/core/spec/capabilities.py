"""What a table can bear or has shown, read from its manifest and status alone."""

from __future__ import annotations

from paimon_operator.api.table.spec import BucketType, PaimonTableSpec
from paimon_operator.api.table.status import TableStatus


def ever_ready(status: TableStatus) -> bool:
    """Whether the table was verified under this object at least once: only then may it be dropped with it."""
    return status.provision is not None and status.provision.last_time is not None


def may_be_active(spec: PaimonTableSpec) -> bool:
    """Whether the table bears outside writers: none where buckets grow with the keys."""
    fixed = spec.bucket is not None and spec.bucket.type is BucketType.FIXED
    return fixed or not spec.table_schema.primary_keys
