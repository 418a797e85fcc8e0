"""Maintenance of one table that is due together: its runs share the driver Pod of the first one.

All of these runs exist from the start, because their jobs stand in the Pod. Only the active run may begin. When it has
ended, the table decides as always what comes next. If that is one of its companions, the run is named as the active one
and has its turn in the same Pod; if not, the companions are deleted. Their ticks count as unanswered until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import AttemptState, RunTrigger
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import MAX_FOLLOWING, ActiveRun, TableStatus
from paimon_operator.core.decision import Create
from paimon_operator.core.launch.driver_memory import begins_larger, learned_of
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.spark_limits import most_memory_mib, spark_limits
from paimon_operator.core.table import active_run

_NONE: Final[tuple[ActiveRun, ...]] = ()


def named_runs(status: TableStatus) -> Iterator[ActiveRun]:
    """All runs that the status names and that may begin one day."""
    yield from (each for each in (status.active_run, status.deferred_run) if each is not None)
    yield from status.following_runs or _NONE


def at_start(context: TableContext, status: TableStatus, work: DueRun, due: Iterable[DueRun]) -> TableStatus:
    """The status with the companions of `work`, which starts now. `due` is all due work in its order.

    A companion that becomes the active run keeps those that are left of its Pod, and gets no others: they would have no
    place there.
    """
    first, known = active_run.name_of(context.table, work), status.following_runs or _NONE
    together = [each for each in due if _may_be_companion(context, status, each)]
    named = [active_run.new_active_run(context.table, each, context.catalog) for each in together]
    left = [each for each in named if each.name != first][:MAX_FOLLOWING]
    if any(each.name == first for each in known):
        left = [each for each in known if each.name in {each.name for each in left}]
    elif not _may_be_companion(context, status, work):
        left = []
    return _with(status, left)


def known_as(status: TableStatus, named: ActiveRun) -> ActiveRun:
    """`named`, with the UID of the companion that it was until now."""
    return next(
        (
            named.model_copy(update={"uid": each.uid})
            for each in status.following_runs or _NONE
            if each.name == named.name
        ),
        named,
    )


def while_active(
    context: TableContext, status: TableStatus, runs: Sequence[PaimonRun], run: PaimonRun | None, due: Iterable[DueRun]
) -> TableStatus:
    """The status during the active `run`: without companions that have no place in its Pod or are not due any more."""
    if not status.following_runs:
        return status
    wanted = {active_run.name_of(context.table, work) for work in due} if _may_share(run) else set()
    return _with(
        status, _existing(context.table, (each for each in status.following_runs if each.name in wanted), runs)
    )


def without_leftovers(status: TableStatus) -> TableStatus:
    """The status without companions where no run is active or waits for a place: their work is not due any more."""
    return _with(status, ()) if status.active_run is None and status.queued_run is None else status


def creations(table: PaimonTable, status: TableStatus, policy: RunPolicy) -> tuple[Create, ...]:
    """Creates the companions that do not exist yet."""
    missing = [each for each in status.following_runs or _NONE if each.uid is None]
    return tuple(active_run.create_action(table, each, policy) for each in missing)


def _existing(table: PaimonTable, named: Iterable[ActiveRun], runs: Sequence[PaimonRun]) -> Iterator[ActiveRun]:
    """With the UIDs of those that exist. One that was deleted is none any more: its work is due as before."""
    for each in named:
        found = active_run.find_run(table, each, runs)
        if found is not None and found.metadata.deletion_timestamp is None:
            yield each.model_copy(update={"uid": found.metadata.uid})
        elif each.uid is None and found is None:
            yield each


def _may_share(run: PaimonRun | None) -> bool:
    """Whether the active run may get a turn in a shared Pod, or has one now."""
    attempts = () if run is None else run.status.attempts
    return not attempts or (attempts[-1].shared is True and attempts[-1].state is not AttemptState.ENDED)


def _may_be_companion(context: TableContext, status: TableStatus, work: DueRun) -> bool:
    """Whether it is maintenance by schedule whose Pod may have other runs."""
    is_maintenance = registry.OPERATIONS.of(work.type_).is_held_with_maintenance
    return work.trigger is RunTrigger.SCHEDULE and is_maintenance and not _begins_larger(context, status, work)


def _begins_larger(context: TableContext, status: TableStatus, work: DueRun) -> bool:
    driver = context.effective.driver
    configured = units.mebibytes(driver.memory) if driver and driver.memory else 0  # (the defaults always fill it)
    most = most_memory_mib(spark_limits(context.catalog).driver)
    return begins_larger(configured, most, learned_of(status.learned_sizes, work.type_, work.subject))


def _with(status: TableStatus, following: Iterable[ActiveRun]) -> TableStatus:
    named = tuple(following) or None
    return status if named == status.following_runs else status.model_copy(update={"following_runs": named})
