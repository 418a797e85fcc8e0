"""Make the table what the manifest says, or verify that it is: whenever that part of the manifest changes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass, RunTrigger, RunType
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import LastDecision, LastFailure, ProvisionState, TableStatus
from paimon_operator.core.operations.base import DueRun, RunOutcome, identity
from paimon_operator.core.operations.schedule_state import retry_time
from paimon_operator.core.spec.capabilities import ever_ready
from paimon_operator.core.spec.context import TableContext

RETRIED: Final = frozenset(FailureClass) - {FailureClass.SPEC, FailureClass.RESULT_UNKNOWN}
"""All but errors of the manifest: without the table nothing else can happen, so nothing else would try it again."""
MENDED_ELSEWHERE: Final = frozenset({Reason.CONFLICT, Reason.TABLE_EXISTS})
"""Errors of the manifest that may end without an edit: the other owner, or the table that is in the way, may go."""
DOUBTFUL: Final = frozenset({Reason.TABLE_NOT_FOUND, Reason.CONFLICT})
"""Any run that ends by these has found that the table is no longer the one that was verified."""


class Provision:
    """The table exists, belongs to this object, and has the columns and options of the manifest."""

    type_ = RunType.PROVISION

    def due(self, context: TableContext, status: TableStatus) -> Iterator[DueRun]:
        """Due when the wanted table is not the verified one, unless it failed and waits for an edit or for its time."""
        wanted, state = context.wanted_hash, state_of(status)
        if state.hash == wanted:
            return
        failure = state.failure if state.failure and state.failure.spec_hash == wanted else None
        if failure is not None and (failure.next_try is None or failure.next_try > context.now):
            return
        repetition = failure.count if failure else 0
        yield DueRun(
            type_=RunType.PROVISION,
            trigger=RunTrigger.SPEC,
            due=context.created,
            spec_hash=wanted,
            identity=identity(f"{wanted}<{state.hash or ''}", repetition),
            after=state.last_run,
        )

    def outlook(self, context: TableContext, status: TableStatus) -> TableStatus:
        """A failure of another manifest than this one is over."""
        state = state_of(status)
        if state.failure is None or state.failure.spec_hash == context.wanted_hash != state.hash:
            return status
        return _with(status, state.model_copy(update={"failure": None}))

    def noted(self, status: TableStatus, work: DueRun, decision: LastDecision) -> TableStatus:  # noqa: ARG002
        """Nothing to note: what happens to the table is told by Ready and Reconciling."""
        return status

    def ended(self, status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
        """Success: the table is verified against the hash that the run was started for."""
        state = state_of(status)
        if not ended.succeeded:
            same = state.failure if state.failure and state.failure.spec_hash == ended.active.spec_hash else None
            retried = frozenset(FailureClass) if ended.reason in MENDED_ELSEWHERE else RETRIED
            next_try = retry_time(ended, same.count + 1 if same else 1, key, retried)
            failure = ended.as_failure(same, next_try)
            return _with(status, state.model_copy(update={"last_run": ended.active.name, "failure": failure}))
        done = ProvisionState(
            hash=ended.active.spec_hash,
            last_run=ended.active.name,
            last_time=ended.at,
            # An adopted table stays adopted when a later run verifies it.
            created=ended.result.created if state.created is None else state.created,
        )
        return _with(status, done)

    def failures(self, status: TableStatus) -> Iterator[tuple[str | None, LastFailure]]:
        """The failure of the last run, if it was one."""
        if status.provision is not None and status.provision.failure is not None:
            yield None, status.provision.failure

    def wakes(self, status: TableStatus) -> Iterator[datetime]:
        """When it is tried again."""
        yield from (failure.next_try for _, failure in self.failures(status) if failure.next_try is not None)


def state_of(status: TableStatus) -> ProvisionState:
    """What is remembered of making the table."""
    return status.provision or ProvisionState()


def require_verification(status: TableStatus) -> TableStatus:
    """What was verified holds no longer, so it is verified again: the table is made anew, or it is said why not."""
    return _with(status, state_of(status).model_copy(update={"hash": None}))


def on_spec_change(status: TableStatus, table: PaimonTable, now: datetime) -> TableStatus:
    """An edit of any field is a new try for a table that never came up: what was wrong may lie outside the manifest."""
    state = state_of(status)
    unseen = table.metadata.generation != status.observed_generation
    if not unseen or ever_ready(status) or state.failure is None or state.failure.failure_class in RETRIED:
        return status
    failure = state.failure.model_copy(update={"next_try": now})
    return _with(status, state.model_copy(update={"failure": failure}))


def _with(status: TableStatus, state: ProvisionState) -> TableStatus:
    return status.model_copy(update={"provision": state})
