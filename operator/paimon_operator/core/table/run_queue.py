"""The table's place in the queue for a run: `status.queuedRun`, from which `run_slots` knows the order."""

from __future__ import annotations

from datetime import datetime, timedelta

from paimon_operator.api.base import to_the_second
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.status import QueuedRun
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.table.observed import TableObserved


def wait_for_place(
    work: DueRun, queued: QueuedRun | None, observed: TableObserved, now: datetime, head_start: timedelta
) -> QueuedRun | None:
    """The place in the queue of a run that a limit stops; None if it may start. `queued` is the place until now.

    The table waits since its first tick without an answer, or since it first waited: by its newest tick, work that a
    budget has stopped for days would come after work that ran yesterday, each day. A time in the future is not
    trusted. An edit is due since it is seen, not since the table was created: else the edits of old tables would
    always come first.
    """
    due = now if work.trigger is RunTrigger.SPEC else work.waits_since
    since = to_the_second(min(due, now) if queued is None else min(due, now, queued.since))
    rank = since - head_start
    limit = observed.stopped_by(rank)
    if limit is None:
        return None
    return QueuedRun(type=work.type_, subject=work.subject, since=since, rank=rank, message=str(limit))
