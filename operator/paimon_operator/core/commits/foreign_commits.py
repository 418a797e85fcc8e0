"""Detects foreign commits: the last snapshot inspected, the runs of users, and the first undeclared commit.

Each run inspects the snapshots since the start of the run before, so that a commit made during a run is found by the
next one. A record applies to the value of `externalWriters` that it was made under. An edit of that field declares all
commits so far: the record is dropped, and the next run only notes its starting snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from paimon_operator.api.base import rfc3339
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.run.status import OutsideCommit, RunStatus, RunTrigger
from paimon_operator.api.table.outside_writers import OutsideWriters
from paimon_operator.api.table.spec import PaimonTable, PaimonTableSpec
from paimon_operator.api.table.status import ActiveRun, TableStatus
from paimon_operator.core.naming import commit_user
from paimon_operator.core.ports import Manifest
from paimon_operator.core.spec.capabilities import ever_ready, may_be_active, supports_foreign_writers

MAX_USER_RUNS: Final = 16
"""Runs of users that are remembered. A driver that was taken for dead can commit while later runs are active."""


def inspected(table: PaimonTable) -> OutsideWriters:
    """What a run inspects commits from. Without `seen_snapshot` nothing is to be inspected, or no start is known."""
    return _effective_record(table.spec, table.status) or OutsideWriters(stated=table.spec.external_writers)


def record_result(status: TableStatus, active: ActiveRun, result: RunStatus, declared: ExternalWriters) -> TableStatus:
    """The status with what an ended run found. Commits before the table was verified under this object are ignored."""
    if not ever_ready(status):
        return status
    record = status.outside_writers or OutsideWriters(stated=declared)
    record = record.model_copy(update={"user_runs": _user_runs(record, active)})
    if result.seen_snapshot is not None:
        found = {
            "seen_snapshot": result.seen_snapshot,
            "seen_commit": result.seen_commit,
            "commit": record.commit or result.outside_commit,
        }
        record = record.model_copy(update=found)
    return status if record == status.outside_writers else status.model_copy(update={"outside_writers": record})


def _user_runs(record: OutsideWriters, active: ActiveRun) -> tuple[str, ...]:
    if active.trigger is not RunTrigger.USER or active.uid is None:
        return record.user_runs
    return (*record.user_runs, commit_user(active.name, active.uid))[-MAX_USER_RUNS:]


def known_user_runs(record: OutsideWriters) -> tuple[str, ...] | None:
    """Commit users of the runs that users have created; None if the record is of release 0.1, which had none of them.

    The commits that the next run inspects are those since the last run began. So the record is complete once a run of
    this release has reported where it began.
    """
    is_of_this_release = record.seen_commit is not None or record.seen_snapshot == 0
    return record.user_runs if is_of_this_release else None


def assume_commit(status: TableStatus, at: datetime) -> TableStatus:
    """The status if the next run finds a foreign commit; the same status if one was found or none is looked for."""
    record = status.outside_writers
    if record is None or record.seen_snapshot is None or record.commit is not None:
        return status
    commit = OutsideCommit(snapshot_id=record.seen_snapshot + 1, commit_user="", kind="APPEND", time=at)
    return status.model_copy(update={"outside_writers": record.model_copy(update={"commit": commit})})


def on_spec_change(status: TableStatus, declared: ExternalWriters, now: datetime) -> TableStatus:
    """The status with a new record after an edit of externalWriters.

    While a run is active the record stays: the run's result belongs to the value before the edit.
    """
    record = status.outside_writers
    if status.active_run is not None or (record is not None and record.stated is declared):
        return status
    # Until the edit others may have committed, so that the last measurement may not hold.
    health = None if status.health is None else status.health.model_copy(update={"in_doubt_since": now})
    known = {"outside_writers": OutsideWriters(stated=declared)} | ({} if record is None else {"health": health})
    return status.model_copy(update=known)


def undeclared_commit(spec: PaimonTableSpec, status: TableStatus) -> OutsideCommit | None:
    """The first foreign commit that the current manifest does not declare."""
    record = _effective_record(spec, status)
    return None if record is None else record.commit


def _effective_record(spec: PaimonTableSpec, status: TableStatus) -> OutsideWriters | None:
    record = status.outside_writers
    return record if record is not None and _is_effective(record.stated, spec.external_writers) else None


def _is_effective(recorded_under: str | None, declared: str) -> bool:
    """Whether a record still applies: foreign writers are not declared, and the declaration was not edited since."""
    return declared != ExternalWriters.ACTIVE and recorded_under == declared


class ForeignWriters(StrEnum):
    """Whether others than the operator commit to a table."""

    NONE = "None"
    DECLARED = "Declared"
    FOUND = "Found"
    UNSUPPORTED = "Unsupported"
    """Found, on a table whose buckets grow with its keys: no storage and no lock makes that safe."""


def foreign_writers_of(table: Manifest) -> ForeignWriters:
    """Who commits beside the operator, from plain JSON: a catalog asks this of each of its tables at every reconcile.

    For 10,000 settled tables this takes 0.1 s, parsing their models 1.2 s. Both use the same functions to decide.
    """
    spec: Mapping[str, Any] = table.get("spec") or {}
    record: Mapping[str, Any] = (table.get("status") or {}).get("outsideWriters") or {}
    declared = spec.get("externalWriters", ExternalWriters.NONE)
    if declared == ExternalWriters.ACTIVE:
        return ForeignWriters.DECLARED
    if "commit" not in record or not _is_effective(record.get("stated"), declared):
        return ForeignWriters.NONE
    bucket_type, keys = (spec.get("bucket") or {}).get("type"), (spec.get("schema") or {}).get("primaryKeys")
    supported = supports_foreign_writers(bucket_type, has_primary_key=bool(keys))
    return ForeignWriters.FOUND if supported else ForeignWriters.UNSUPPORTED


def describe_commit(commit: OutsideCommit, spec: PaimonTableSpec, *, locked: bool) -> str:
    """The commit, and every override that this manifest allows; `locked`: the metastore has a lock for commits."""
    who = f"commit user {commit.commit_user}" if commit.commit_user else "an unnamed commit user"
    what = f"snapshot {commit.snapshot_id} ({commit.kind}, {rfc3339(commit.time)}) was made by {who}"
    declared = spec.external_writers
    other = ExternalWriters.NONE if declared is ExternalWriters.PAUSED else ExternalWriters.PAUSED
    remedy = f"Stop that writer, then set externalWriters to {other}"
    if may_be_active(spec) and locked:
        remedy += "; or, if it must continue and commits under the metastore's lock, to Active"
    elif may_be_active(spec):
        remedy += "; or, if it must continue, to Active, and the catalog's commitPolicy to AllowUnsafe"
    return f"{what}, not by the operator, while externalWriters is {declared}: commits can get lost. {remedy}."
