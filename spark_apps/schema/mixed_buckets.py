"""Files in another number of buckets than the table's option states: somebody has altered the option by hand.

Paimon accepts that, and a write then puts a key into a second bucket. Only a rescale makes such a table whole.
"""

from __future__ import annotations

from typing import Any

from paimon_contract.job import Job
from paimon_schema.bucket_count import BUCKET
from paimon_schema.drift import DriftChange, DriftKind
from spark_apps.catalog.bucket_layout import other_counts, read_layout, tag_of
from spark_apps.catalog.measure import BUCKET_MODES, FIXED
from spark_apps.catalog.session import Session
from spark_apps.failures.errors import RunError, spec_failure


def is_suspect(changes: tuple[DriftChange, ...], *, is_own: bool) -> bool:
    """Whether the layout has to be read: for a table that is adopted, or whose number others have changed."""
    return not is_own or any(each.kind is DriftKind.OPTION_CHANGED and each.field == BUCKET for each in changes)


def has_mixed_buckets(session: Session, table: Any) -> bool:
    """Whether files of a Fixed table (Java) have another number, and no rescale is unfinished."""
    mode = str(table.bucketMode().toString())
    if BUCKET_MODES.get(mode, mode) != FIXED or tag_of(table) is not None:
        return False
    return bool(other_counts(read_layout(session, table), int(table.coreOptions().bucket())))


def mixed_buckets(job: Job, table: Any) -> RunError:
    """The error for such a table whose manifest asks for no rescale."""
    count = int(table.coreOptions().bucket())
    return spec_failure(
        "TableDiffers",
        f"the table {job.table} has {count} buckets, but files in another number: somebody altered its option bucket",
        "alter the option back to the number of the files, or set bucket.fixed.onCountChange to Rescale",
        field="spec.bucket.fixed.count",
    )
