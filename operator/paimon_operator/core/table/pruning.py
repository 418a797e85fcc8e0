"""Which runs have outlived the history limits, or their purpose. Runs that users made are theirs to delete."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Phase
from paimon_operator.core.decision import Delete
from paimon_operator.core.ports import Kind

_EPOCH: Final = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """A run that has ended: the part of it that decides whether it is deleted."""

    name: str
    uid: str
    phase: Phase
    ended: datetime | None
    of_operator: bool
    """Whether the operator made it."""
    deleting: bool


def outlived(
    runs: Iterable[PaimonRun], finished: Iterable[FinishedRun], named: Container[str], policy: RunPolicy
) -> tuple[Delete, ...]:
    """Deletions of the oldest finished runs beyond the limits, and of runs that never began and never will.

    `runs` are all others. `named` are the runs that the table's status names. A run whose result is unknown is kept for
    its reader.
    """
    runs = tuple(runs)
    stranded = [run for run in runs if _is_prunable(run, named) and _never_begins(run)]
    ended = [*finished, *(each for each in map(_finished, runs) if each is not None)]
    own = [run for run in ended if run.of_operator and run.name not in named and not run.deleting]
    limits = {
        Phase.SUCCEEDED: policy.successful_runs_history_limit,
        Phase.FAILED: policy.failed_runs_history_limit,
    }
    beyond = [
        run
        for phase, limit in limits.items()
        if limit is not None
        for run in sorted((each for each in own if each.phase is phase), key=_age, reverse=True)[limit:]
    ]
    names = [*((run.metadata.name, run.metadata.uid) for run in stranded), *((run.name, run.uid) for run in beyond)]
    return tuple(Delete(kind=Kind.RUN, name=name, uid=uid) for name, uid in names)


def _finished(run: PaimonRun) -> FinishedRun | None:
    """The run, if it has ended although it is read whole."""
    phase = run.status.phase
    if phase not in (Phase.SUCCEEDED, Phase.FAILED):
        return None
    return FinishedRun(
        name=run.metadata.name,
        uid=run.metadata.uid,
        phase=phase,
        ended=run.status.completion_time or run.metadata.creation_timestamp,
        of_operator=run.spec.trigger is not None,
        deleting=run.metadata.deletion_timestamp is not None,
    )


def _is_prunable(run: PaimonRun, named: Container[str]) -> bool:
    made_by_operator = run.spec.trigger is not None
    return made_by_operator and run.metadata.name not in named and run.metadata.deletion_timestamp is None


def _never_begins(run: PaimonRun) -> bool:
    """The table does not name it any more, or its create arrived after that: only a run that it names may begin."""
    waits = run.status.phase in (None, Phase.PENDING) and not run.status.attempts
    return waits and run.metadata.controller_uid is not None


def _age(run: FinishedRun) -> tuple[datetime, str]:
    return run.ended or _EPOCH, run.name
