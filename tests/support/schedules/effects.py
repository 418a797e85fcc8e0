"""What runs of maintenance have done, of everything that they can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from paimon_engines.engine import Engine
from tests.support.schedules.operated_schedule import is_supported


class Effect(StrEnum):
    """What a run that has succeeded has done to its table."""

    FULL = "Full compaction"
    MINOR = "Minor compaction"
    SORT = "Sort compaction"
    VERIFIED = "commits of a compaction verified"
    RECORDS = "records expired"
    MANIFESTS = "manifests compacted"
    STATISTICS = "statistics written"
    SNAPSHOTS = "snapshots expired"
    TAGGED = "tags created automatically"
    TAGS_BY_NUMBER = "automatic tags removed, as there are too many"
    TAGS_BY_TIME = "tags removed after their time"
    CONSUMERS = "consumers expired"
    CHANGELOGS_KEPT = "changelogs kept longer than their snapshots"
    CHANGELOGS = "changelogs expired"
    PARTITIONS = "partitions expired"
    MARKED = "partitions marked as done"
    MARKED_AGAIN = "marks renewed"
    ORPHANS_REPORTED = "orphan files reported"
    ORPHANS_REMOVED = "orphan files removed"
    OBSERVED = "table observed"


def effects_of(engine: Engine) -> set[Effect]:
    """What the engine supports."""
    can = {
        Effect.MINOR: engine.has_minor_compaction,
        Effect.SORT: engine.has_incremental_clustering,
        Effect.MANIFESTS: is_supported("CompactManifests", engine),
        Effect.STATISTICS: is_supported("Analyze", engine),
    }
    return {each for each in Effect if can.get(each, True)}


def reported(job: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[Effect]:
    """What a run reports that has succeeded."""
    before, after = (result.get(each, {}).get("snapshotId") for each in ("before", "after"))
    operation = job["operation"]
    if operation == "Compact" and before != after:
        yield Effect(f"{job['compact']['strategy']} compaction")
    if result.get("verification", {}).get("commits"):
        yield Effect.VERIFIED
    counted = {
        Effect.MANIFESTS: operation == "CompactManifests" and before != after,
        Effect.STATISTICS: operation == "Analyze" and before != after,
        Effect.SNAPSHOTS: result.get("expired"),
        Effect.PARTITIONS: result.get("partitions", {}).get("expired"),
        Effect.MARKED: result.get("partitionsDone", {}).get("marked"),
        Effect.ORPHANS_REPORTED: result.get("orphanFiles", {}).get("orphans"),
        Effect.ORPHANS_REMOVED: result.get("orphanFiles", {}).get("moved"),
        Effect.OBSERVED: operation == "Observe",
    }
    yield from (each for each, count in counted.items() if count)
