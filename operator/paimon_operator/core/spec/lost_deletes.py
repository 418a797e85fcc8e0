"""Deletion vectors beside other writers: Paimon does not compare those of two commits that the storage serialises.

What two commits leave is measured on both engines: `tests/spark/test_lost_deletes.py`.
"""

from __future__ import annotations

from typing import Final

from paimon_engines.engine import Engine
from paimon_operator.api.compaction import CompactionMode
from paimon_operator.api.table.effective import Effective
from paimon_operator.api.table.spec import BucketType, PaimonTableSpec

_TWICE: Final = (
    "writers that compact replace each other's deletion vectors, so that a changed row can be there twice: set "
    "compaction.mode to Dedicated"
)
_BACK: Final = (
    "a compaction brings back the rows that another writer deletes meanwhile, as Paimon {} does not compare their "
    "deletion vectors{}"
)


def lost_deletes(spec: PaimonTableSpec, effective: Effective | None, engine: Engine | None) -> str | None:
    """How deletes get lost beside other writers. None: they do not, or the table is not known well enough for a run."""
    vectors, compaction = spec.deletion_vectors, effective.compaction if effective is not None else None
    if vectors is None or not vectors.enabled or compaction is None or engine is None:
        return None
    if spec.table_schema.primary_keys:
        return _TWICE if compaction.mode is CompactionMode.INLINE else None
    found = lost_by_compaction(spec, engine)
    if found is None or compaction.mode is CompactionMode.EXTERNAL:
        return None
    return f"{found}: set compaction.mode to External, and compact while nobody deletes"


def lost_by_compaction(spec: PaimonTableSpec, engine: Engine) -> str | None:
    """How a compaction of a table without primary key loses deletes, and why. None: it does not."""
    vectors = spec.deletion_vectors
    if vectors is None or not vectors.enabled or spec.table_schema.primary_keys:
        return None
    has_buckets = spec.bucket is not None and spec.bucket.type is BucketType.FIXED
    if engine.checks_lost_deletes and not has_buckets:
        return None
    return _BACK.format(engine.paimon, " in Fixed buckets" if engine.checks_lost_deletes else "")
