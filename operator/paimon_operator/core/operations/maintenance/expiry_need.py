"""Whether an expiry of snapshots is needed: Paimon's own rule against the measured number and age of snapshots.

A tag or a consumer can keep a snapshot that the rule lets expire: then a run finds nothing to do. A table whose tags,
consumers or changelogs come and go with time needs a run at each tick, since the measurement does not show these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

from paimon_operator.api.measure import PinKind
from paimon_operator.api.retention import DEFAULT_NUM_RETAINED_MIN, DEFAULT_TIME_RETAINED, SnapshotRetention
from paimon_operator.api.table.facts import Health
from paimon_operator.api.table.schedule_state import Check
from paimon_operator.api.table.status import TableStatus
from paimon_operator.api.units import delta, readable_duration
from paimon_operator.core.operations.causes import Cause
from paimon_operator.core.operations.need import UNKNOWN, Need, by_checks, holding_measurement, unknown_with
from paimon_operator.core.operations.verification import state_of
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.edit_plan import known_schema

_OPTIONS: Final = ("snapshot.time-retained", "snapshot.num-retained.min", "snapshot.num-retained.max")
_BY_TIME: Final = ("changelog.num-retained", "changelog.time-retained", "consumer.", "tag.")
"""Beginnings of options by which the same run does more."""


def expiry_need(context: TableContext, status: TableStatus) -> Need:
    """Whether any snapshot may expire. Unknown where the run may have more to do than the measurement shows."""
    health, known = holding_measurement(context, status), known_schema(state_of(status))
    if health is None or health.snapshots is None or known is None:
        return UNKNOWN
    if _retention(known.options) != _retention(context.desired.options):
        return UNKNOWN
    block = context.effective.retention.snapshots if context.effective.retention else None
    limits = block or SnapshotRetention()
    found = "" if health.oldest_snapshot is not None else "there is no snapshot"
    checks = tuple(_checks(context, health, limits))
    if any(key.startswith(_BY_TIME) for key in known.options) or _may_have_tags(health):
        return unknown_with(checks, health.observed_at)
    next_run = _next_run(limits)
    return by_checks(checks, health.observed_at, cause=Cause.NO_SNAPSHOT, found=found, next_run=next_run)


def snapshots_gained(context: TableContext, health: Health) -> int:
    """Snapshots that may expire. Each has files of its own: at least one of the snapshot and two lists."""
    block = context.effective.retention.snapshots if context.effective.retention else None
    kept = (block.num_retained_min if block else None) or DEFAULT_NUM_RETAINED_MIN
    return max((health.snapshots or 0) - kept, 0)


def _checks(context: TableContext, health: Health, block: SnapshotRetention) -> Iterator[Check]:
    """As Paimon decides: beyond the largest number, or older than the time and beyond the smallest number."""
    count, smallest = health.snapshots or 0, _smallest(block)
    if block.num_retained_max is not None:
        beyond = count > block.num_retained_max
        yield _check("numRetainedMax", str(count), str(block.num_retained_max), reached=beyond)
    if health.oldest_snapshot is None:
        return
    longest = block.time_retained or DEFAULT_TIME_RETAINED
    age = max(context.now - health.oldest_snapshot, timedelta())
    yield _check("timeRetained", readable_duration(age), longest, reached=count > smallest and age > delta(longest))
    yield _check("numRetainedMin", str(count), str(smallest), reached=False)


def _smallest(block: SnapshotRetention) -> int:
    """The number of snapshots that stay whatever their age."""
    smallest = block.num_retained_min or DEFAULT_NUM_RETAINED_MIN
    return smallest if block.num_retained_max is None else min(smallest, block.num_retained_max)


def _next_run(block: SnapshotRetention) -> str:
    """The rule in words: the checks alone do not say that two of them go together."""
    smallest, largest = _smallest(block), block.num_retained_max
    beyond = f"{smallest} snapshots" if largest is None else f"{largest} snapshots, or more than {smallest}"
    old = f"of which the oldest is older than {block.time_retained or DEFAULT_TIME_RETAINED}"
    return f"A run starts at the first tick that finds more than {beyond} {old}"


def _check(name: str, measured: str, threshold: str, *, reached: bool) -> Check:
    return Check(name=name, measured=measured, threshold=threshold, reached=reached)


def _may_have_tags(health: Health) -> bool:
    """Whether there may be a tag, which can have a time of its own after which the same run removes it."""
    is_complete = health.pins_count is not None and health.pins_count <= len(health.pins)
    return not is_complete or any(each.kind == PinKind.TAG for each in health.pins)


def _retention(options: Mapping[str, str]) -> list[str | None]:
    return [options.get(key) for key in _OPTIONS]
