"""Files in another number of buckets than the table's option states: somebody has altered the option by hand.

Paimon accepts that, and a write then puts a key into a second bucket. Only a rescale makes such a table whole.
"""

from __future__ import annotations

from typing import Any

from paimon_contract.result import Outcome
from paimon_schema.bucket_count import BUCKET
from paimon_schema.drift import DriftKind
from spark_apps.catalog.bucket_layout import BUCKET_MODES, other_counts, read_layout, tag_of
from spark_apps.catalog.session import Session
from spark_apps.failures.errors import RunError, spec_failure
from spark_apps.metadata.settings import FIXED
from spark_apps.schema.drift_at_provision import DriftAtProvision


def needs_rescale(drift: DriftAtProvision, table: Any, session: Session, *, is_own: bool) -> bool:
    """Whether a rescale has to make the table (Java) whole. Raises RunError where the manifest asks for none.

    The files are read for a table that is adopted, or whose number others have changed.
    """
    if is_own and not _is_altered(drift):
        return False
    if not _has_mixed_buckets(table, session):
        return False
    if not drift.provision.rescales:
        raise _mixed_buckets(drift, is_own=is_own)
    return True


def _is_altered(drift: DriftAtProvision) -> bool:
    return any(each.kind is DriftKind.OPTION_CHANGED and each.field == BUCKET for each in drift.drift.changes)


def _has_mixed_buckets(table: Any, session: Session) -> bool:
    mode = str(table.bucketMode().toString())
    if BUCKET_MODES.get(mode, mode) != FIXED or tag_of(table) is not None:
        return False
    return bool(other_counts(read_layout(session, table), int(table.coreOptions().bucket())))


def _mixed_buckets(drift: DriftAtProvision, *, is_own: bool) -> RunError:
    return spec_failure(
        "TableDiffers",
        f"the table {drift.job.table} has files in another number of buckets than its option states: somebody altered "
        "the option by hand",
        "alter the option back to the number of the files, or set bucket.fixed.onCountChange to Rescale",
        field="spec.bucket.fixed.count",
        outcome=Outcome(drift=drift.as_found()) if is_own else None,
    )
