"""Rules about the verification of maintenance: tables whose compactions change what a reader sees cannot be compared.

`api/table/verify_rules.py` has those in CEL that need no default of the catalog.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.table.maintenance import OnMismatch, Verify
from paimon_operator.api.table.spec import BucketType, MergeEngineType
from paimon_operator.core.spec.context import MAINTENANCE, TableContext
from paimon_operator.errors import SpecError

_VERIFY: Final = f"{MAINTENANCE}.verify"
_ON_MISMATCH: Final = f"{MAINTENANCE}.onMismatch"


def maintenance_of(context: TableContext) -> Iterator[SpecError]:
    """The block `maintenance`."""
    wanted = context.spec.maintenance
    if wanted is None:
        return
    if wanted.verify is Verify.NEVER:
        if wanted.on_mismatch is not None:
            yield SpecError(_ON_MISMATCH, "it is set with verify Never", "Remove it, or set verify to Sample.")
        return
    for problem in _incomparable(context):
        yield SpecError(_VERIFY, problem, "Set verify to Never.")
    if wanted.on_mismatch is OnMismatch.ROLLBACK and context.spec.external_writers is ExternalWriters.ACTIVE:
        problem = "a rollback would lose the commits of other writers, and externalWriters is Active"
        yield SpecError(_ON_MISMATCH, problem, "Use Hold.")


def _incomparable(context: TableContext) -> Iterator[str]:
    """Why rows before and after a compaction differ although none is lost."""
    spec, retention = context.spec, context.effective.retention
    if spec.merge_engine is not None and spec.merge_engine.type is MergeEngineType.FIRST_ROW:
        yield "a compaction makes rows visible with mergeEngine.type FirstRow"
    if spec.table_schema.primary_keys and spec.deletion_vectors is not None and spec.deletion_vectors.enabled:
        yield "a compaction makes rows visible with primaryKeys and deletionVectors"
    if spec.bucket is not None and spec.bucket.type is BucketType.POSTPONE:
        yield "a compaction makes rows visible with bucket.type Postpone"
    if retention is not None and retention.records is not None:
        yield "a compaction removes expired records with retention.records"
