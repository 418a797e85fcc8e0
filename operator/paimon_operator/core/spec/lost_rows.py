"""Commits of two writers that the storage serialises and Paimon does not compare, so that rows are wrong afterwards.

What they leave is measured on both engines: `tests/spark/test_lost_rows.py`.
"""

from __future__ import annotations

from typing import Final

from paimon_engines.engine import Engine
from paimon_operator.api.compaction import CompactionMode
from paimon_operator.api.table.effective import Effective
from paimon_operator.api.table.spec import BucketType, ChangelogProducerType, MergeEngineType, PaimonTableSpec

_TWICE: Final = (
    "writers that compact replace each other's deletion vectors, so that a changed row can be there twice: set "
    "compaction.mode to Dedicated"
)
_LOOKUPS: Final = (
    "writers that compact with lookups do not see what another one adds meanwhile, so that its rows are lost, older "
    "than they should be, or there twice: set compaction.mode to Dedicated"
)
_BACK: Final = (
    "a compaction brings back the rows that another writer deletes meanwhile, as Paimon {} does not compare their "
    "deletion vectors{}"
)


def lost_rows(spec: PaimonTableSpec, effective: Effective | None, engine: Engine | None) -> str | None:
    """How rows get lost beside other writers. None: they do not, or the table is not known well enough for a run."""
    compaction = effective.compaction if effective is not None else None
    if compaction is None or engine is None:
        return None
    if spec.table_schema.primary_keys:
        return _lost_by_two_that_compact(spec) if compaction.mode is CompactionMode.INLINE else None
    found = lost_by_compaction(spec, engine)
    if found is None or compaction.mode is CompactionMode.EXTERNAL:
        return None
    return f"{found}: set compaction.mode to External, and compact while nobody deletes"


def _lost_by_two_that_compact(spec: PaimonTableSpec) -> str | None:
    if spec.deletion_vectors is not None and spec.deletion_vectors.enabled:
        return _TWICE
    return _LOOKUPS if _looks_up(spec) else None


def _looks_up(spec: PaimonTableSpec) -> bool:
    """Whether a compaction looks up the earlier row of each key, instead of reading all files."""
    producer, merging = spec.changelog_producer, spec.merge_engine
    return (
        (producer is not None and producer.type is ChangelogProducerType.LOOKUP)
        or (merging is not None and merging.type is MergeEngineType.FIRST_ROW)
        or spec.options.get("force-lookup") == "true"
    )


def lost_by_compaction(spec: PaimonTableSpec, engine: Engine) -> str | None:
    """How a compaction of a table without primary key loses deletes, and why. None: it does not."""
    vectors = spec.deletion_vectors
    if vectors is None or not vectors.enabled or spec.table_schema.primary_keys:
        return None
    has_buckets = spec.bucket is not None and spec.bucket.type is BucketType.FIXED
    if engine.checks_lost_deletes and not has_buckets:
        return None
    return _BACK.format(engine.paimon, " in Fixed buckets" if engine.checks_lost_deletes else "")
