"""What a stored status changes in a run: reported to the log, which keeps the history, and to the metrics.

Called once a status is stored. A process that is killed between both reports that change nowhere.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Protocol

from paimon_operator.api.conditions import ConditionType, find
from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, AttemptState, RunStatus, RunTrigger
from paimon_operator.core.ports import Kind
from paimon_operator.core.run.completion import ENDED
from paimon_operator.core.run.cost import number_of_pods
from paimon_operator.runtime.logs import fields

_log = logging.getLogger(__name__)


class RunMetrics(Protocol):
    """Counts what happens to runs. `type_` is the type of the run, `namespace` its namespace."""

    def run_known(self, namespace: str, type_: str) -> None:
        """There is a run of the type: its counters begin at 0, so that its first failure counts as an increase."""

    def pod_started(self, type_: str, reason: Reason, pending_seconds: float) -> None:
        """The container of an attempt has started. `reason` is what it waited for last."""

    def schedule_answered(self, type_: str, late_seconds: float) -> None:
        """The first container of a scheduled run has started, so long after the tick."""

    def attempt_ended(self, namespace: str, type_: str, reason: Reason, pod_seconds: float) -> None:
        """An attempt has ended; RUN_SUCCEEDED, or why it failed. 0 seconds: its container never ran."""

    def run_ended(self, namespace: str, type_: str, phase: str, reason: Reason, seconds: float) -> None:
        """A run has ended, so long after its first reconcile."""


class RunChanges:
    """Reports changes of runs."""

    def __init__(self, metrics: RunMetrics) -> None:
        self._metrics = metrics

    def observe(self, run: PaimonRun) -> None:
        """Makes the run known to the metrics before an attempt ends."""
        self._metrics.run_known(run.metadata.namespace, run.spec.type)

    def report(self, run: PaimonRun, stored: RunStatus | None) -> None:
        """Reports what `stored` changes in `run`, which has the status before. None: nothing was stored."""
        if stored is None:
            return
        known = {attempt.number: attempt for attempt in run.status.attempts}
        for attempt in stored.attempts:
            self._report_attempt(run, stored, known.get(attempt.number), attempt)
        if stored.phase in ENDED and run.status.phase not in ENDED:
            self._report_end(run, stored)

    def _report_attempt(self, run: PaimonRun, stored: RunStatus, known: Attempt | None, attempt: Attempt) -> None:
        if known is None:
            _log_run(run, f"attempt {attempt.number} starts", attempt)
        if attempt.started is not None and (known is None or known.started is None):
            self._report_start(run, known, attempt.started, _between(attempt.launched, attempt.started))
        if attempt.state is AttemptState.ENDED and (known is None or known.state is not AttemptState.ENDED):
            self._report_attempt_end(run, stored, attempt)

    def _report_start(self, run: PaimonRun, known: Attempt | None, started: datetime, pending: float) -> None:
        type_, trigger = run.spec.type, run.spec.trigger
        reason = known_reason(known.reason if known else None, Reason.POD_PENDING)
        self._metrics.pod_started(type_, reason, pending)
        is_first = all(each.started is None for each in run.status.attempts)
        if is_first and trigger is not None and trigger.type is RunTrigger.SCHEDULE and trigger.due_time is not None:
            self._metrics.schedule_answered(type_, _between(trigger.due_time, started))

    def _report_attempt_end(self, run: PaimonRun, stored: RunStatus, attempt: Attempt) -> None:
        reason = Reason.RUN_SUCCEEDED if attempt.reason is None else known_reason(attempt.reason, Reason.DRIVER_FAILED)
        ran = attempt.started is not None and attempt.finished is not None
        seconds = _between(attempt.started, attempt.finished)
        used = seconds * number_of_pods(stored.spark)
        self._metrics.attempt_ended(run.metadata.namespace, run.spec.type, reason, used)
        after = f"after {seconds:.0f} s" if ran else "before its container started"
        text = f"attempt {attempt.number} ended {after}: {reason}"
        _log_run(run, text, attempt, {"reason": str(reason), "seconds": seconds if ran else None})

    def _report_end(self, run: PaimonRun, stored: RunStatus) -> None:
        found = find(stored.conditions, ConditionType.SUCCEEDED)
        reason = known_reason(found.reason if found else None, Reason.DRIVER_FAILED)
        seconds, phase = _between(stored.start_time, stored.completion_time), str(stored.phase)
        self._metrics.run_ended(run.metadata.namespace, run.spec.type, phase, reason, seconds)
        ended = {"phase": phase, "reason": str(reason), "seconds": seconds}
        _log_run(run, f"the run ended: {phase}, {reason}", None, ended)


_NOTHING: Final[Mapping[str, object]] = {}


def _log_run(run: PaimonRun, text: str, attempt: Attempt | None, more: Mapping[str, object] = _NOTHING) -> None:
    """One line of the log, with the fields that identify run, Pod and attempt."""
    meta = run.metadata
    about = {"run": meta.name, "table": run.spec.table_ref.name, "type": run.spec.type}
    pod = {} if attempt is None else {"pod": attempt.pod, "attempt": attempt.number}
    extra = fields(Kind.RUN, meta.namespace, meta.name, **about, **pod, **more)
    in_pod = "" if attempt is None else f" (Pod {attempt.pod})"
    _log.info("%s %s/%s: %s%s", Kind.RUN, meta.namespace, meta.name, text, in_pod, extra=extra)


def _between(earlier: datetime | None, later: datetime | None) -> float:
    """Seconds, never negative: both times may be of different clocks. 0 without one of them."""
    return 0.0 if earlier is None or later is None else max(0.0, (later - earlier).total_seconds())
