"""Commits of others: how far a table has been looked at, and the first one that its manifest does not speak of.

Each run looks at the snapshots since the run before, its own start excepted, so that a commit made during a run is
found by the next. What is found holds for what `externalWriters` said then: whoever edits that field has accounted for
every commit so far, so the record goes, and the next run only notes where it starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from paimon_operator.api.base import rfc3339
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.run.status import OutsideCommit, RunStatus
from paimon_operator.api.table.spec import BucketType, PaimonTable, PaimonTableSpec
from paimon_operator.api.table.status import OutsideWriters, TableStatus
from paimon_operator.core.ports import Manifest
from paimon_operator.core.spec.capabilities import ever_ready, may_be_active


def since(table: PaimonTable) -> int | None:
    """The snapshot after which a run has to look; None: there is nothing to look for, or no known start."""
    known = _known(table.spec, table.status)
    return None if known is None else known.seen_snapshot


def record_result(status: TableStatus, result: RunStatus, stated: ExternalWriters) -> TableStatus:
    """The status with what an ended run saw. Commits before the table was this object's are nobody's fault."""
    if result.seen_snapshot is None or not ever_ready(status):
        return status
    known = status.outside_writers or OutsideWriters(stated=stated)
    seen = {"seen_snapshot": result.seen_snapshot, "commit": known.commit or result.outside_commit}
    return status.model_copy(update={"outside_writers": known.model_copy(update=seen)})


def on_spec_change(status: TableStatus, stated: ExternalWriters) -> TableStatus:
    """A new start after an edit of externalWriters; not before the active run's result, which speaks of the past."""
    known = status.outside_writers
    if status.active_run is not None or (known is not None and known.stated is stated):
        return status
    return status.model_copy(update={"outside_writers": OutsideWriters(stated=stated)})


def undeclared_commit(spec: PaimonTableSpec, status: TableStatus) -> OutsideCommit | None:
    """The commit of somebody else that the manifest, as it is now, does not speak of."""
    known = _known(spec, status)
    return None if known is None else known.commit


def _known(spec: PaimonTableSpec, status: TableStatus) -> OutsideWriters | None:
    """What is known of others under what the manifest says of them now; nothing is news once they are announced."""
    known, stated = status.outside_writers, spec.external_writers
    return known if known is not None and known.stated is stated is not ExternalWriters.ACTIVE else None


class ForeignWriters(StrEnum):
    """What is known of committers other than the operator."""

    NOBODY = "Nobody"
    ANNOUNCED = "Announced"
    FOUND = "Found"
    UNSUPPORTED = "Unbearable"
    """Found, on a table whose buckets grow with its keys: no storage and no lock makes that safe."""


def foreign_writers_of(table: Manifest) -> ForeignWriters:
    """Who commits beside the operator, as `unannounced` says it, from the plain object."""
    stated = (table.get("spec") or {}).get("externalWriters", ExternalWriters.NONE)
    known: Mapping[str, Any] = (table.get("status") or {}).get("outsideWriters") or {}
    if stated == ExternalWriters.ACTIVE:
        return ForeignWriters.ANNOUNCED
    if known.get("stated") != stated or "commit" not in known:
        return ForeignWriters.NOBODY
    return ForeignWriters.FOUND if _bears_others(table["spec"]) else ForeignWriters.UNSUPPORTED


def _bears_others(spec: Mapping[str, Any]) -> bool:
    """As `may_be_active`."""
    fixed = (spec.get("bucket") or {}).get("type") == BucketType.FIXED
    return fixed or not (spec.get("schema") or {}).get("primaryKeys")


def describe_commit(commit: OutsideCommit, spec: PaimonTableSpec, *, locked: bool) -> str:
    """Who committed what, and the ways out that this manifest has; `locked`: the metastore has a lock for commits."""
    who = f"commit user {commit.commit_user}" if commit.commit_user else "somebody without a commit user"
    what = f"snapshot {commit.snapshot_id} ({commit.kind}, {rfc3339(commit.time)}) was made by {who}"
    stated = spec.external_writers
    rests = ExternalWriters.NONE if stated is ExternalWriters.PAUSED else ExternalWriters.PAUSED
    ways = f"Stop that writer, then set externalWriters to {rests}"
    if may_be_active(spec) and locked:
        ways += "; or, if it has to go on and commits under the metastore's lock, to Active"
    elif may_be_active(spec):
        ways += "; or, if it has to go on, to Active, and the catalog's commitPolicy to AllowUnsafe"
    return f"{what}, not by the operator, while externalWriters is {stated}: commits can get lost. {ways}."
