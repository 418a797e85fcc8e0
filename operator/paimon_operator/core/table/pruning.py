"""Which runs have outlived the history limits, or their purpose. Runs that users made are theirs to delete."""

from __future__ import annotations

from collections.abc import Container, Iterable
from datetime import UTC, datetime
from typing import Final

from paimon_operator.api.policies import RunPolicy
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Phase
from paimon_operator.core.decision import Delete
from paimon_operator.core.ports import Kind

_EPOCH: Final = datetime.fromtimestamp(0, UTC)


def outlived(runs: Iterable[PaimonRun], named: Container[str], policy: RunPolicy) -> tuple[Delete, ...]:
    """Deletions of the oldest finished runs beyond the limits, and of runs that never began and never will.

    `named` are the runs that the table's status names. A run whose result is unknown is kept for its reader.
    """
    own = [run for run in runs if _is_prunable(run, named)]
    stranded = [run for run in own if _never_begins(run)]
    limits = {
        Phase.SUCCEEDED: policy.successful_runs_history_limit,
        Phase.FAILED: policy.failed_runs_history_limit,
    }
    finished = [
        run
        for phase, limit in limits.items()
        if limit is not None
        for run in sorted((each for each in own if each.status.phase is phase), key=_age, reverse=True)[limit:]
    ]
    return tuple(Delete(kind=Kind.RUN, name=run.metadata.name, uid=run.metadata.uid) for run in (*stranded, *finished))


def _is_prunable(run: PaimonRun, named: Container[str]) -> bool:
    made_by_operator = run.spec.trigger is not None
    return made_by_operator and run.metadata.name not in named and run.metadata.deletion_timestamp is None


def _never_begins(run: PaimonRun) -> bool:
    """The table does not name it any more, or its create arrived after that: only a run that it names may begin."""
    waits = run.status.phase in (None, Phase.PENDING) and not run.status.attempts
    return waits and run.metadata.controller_uid is not None


def _age(run: PaimonRun) -> tuple[datetime, str]:
    return run.status.completion_time or run.metadata.creation_timestamp or _EPOCH, run.metadata.name
