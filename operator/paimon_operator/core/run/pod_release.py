"""When a run's Pods are released: never while one of their containers may still run.

Our finalizer keeps a deleted Pod until its kubelet has reported how it ended, because deleting an object stops no
container. The finalizer is removed once the result is stored in the run's status, or its run no longer exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.base import rfc3339
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Phase, RunStatus
from paimon_operator.core import naming
from paimon_operator.core.conditions import Finding
from paimon_operator.core.decision import Decision, Delete, EventNote, Refusal, Release
from paimon_operator.core.ports import Kind
from paimon_operator.core.run.completion import ENDED
from paimon_operator.core.run.observed import RunObserved, last_attempt
from paimon_operator.core.run.pod import PodObserved
from paimon_operator.core.run.transition import MISSED_EVENT_REQUEUE, Step, blocked_findings, to_decision, under_way

Actions = tuple[Delete | Release, ...]
_NAMED: Final = 3
"""How many executors a message names."""
_LOG_KEPT_FOR: Final = timedelta(minutes=10)
"""How long a shared Pod stays after its end: no run's history has it."""
_STARTS_WITHIN: Final = timedelta(minutes=10)
"""How long a shared Pod may wait for a node, its image or its Secrets. Its runs wait less."""
_NO_FINALIZERS: Final = '{"metadata":{"finalizers":null}}'


def after_end(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """A finished run: its Pod is released, then its executors end, then the run's finalizer goes.

    A Pod whose create arrived late is stopped first.
    """
    run, pod = observed.run, observed.own_pod
    if pod is not None and not pod.stopped_or_expired(now):
        return _keep_result(observed, run.status, delete(pod), MISSED_EVENT_REQUEUE)
    if pod is not None and pod.has_finalizer:
        return _keep_result(observed, run.status, release(pod), timedelta(0))
    if (actions := left_behind(observed, now)) is not None:
        return _stop_executors_of_finished(observed, run.status, actions, now)
    if has_finalizer(run) and run.status.phase is Phase.UNKNOWN and not observed.end_is_recorded:
        return Decision(status=run.status, requeue_after=MISSED_EVENT_REQUEUE)
    if has_finalizer(run):
        requeue = None if _expires_at(run) is None else timedelta(0)
        return Decision(status=run.status, finalizer="remove", requeue_after=requeue)
    return _delete_when_expired(observed, now)


def _delete_when_expired(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """Deletes the run after spec.ttlAfterFinished, but not before the table has recorded its result."""
    run, expires = observed.run, _expires_at(observed.run)
    if expires is None:
        return Decision(status=run.status)
    if observed.is_active:
        return Decision(status=run.status, requeue_after=MISSED_EVENT_REQUEUE)
    if now < expires:
        return Decision(status=run.status, requeue_after=expires - now)
    gone = Delete(kind=Kind.RUN, name=run.metadata.name, uid=run.metadata.uid)
    return Decision(status=run.status, actions=(gone,), requeue_after=MISSED_EVENT_REQUEUE)


def _expires_at(run: PaimonRun) -> datetime | None:
    """When a finished run is deleted; None for one that stays. A run with an unknown result stays until it is read."""
    ttl, ended = run.spec.ttl_after_finished, run.status.completion_time
    if ttl is None or ended is None or run.status.phase is Phase.UNKNOWN:
        return None
    return ended + units.delta(ttl, field="spec.ttlAfterFinished")


def before_deletion(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """A deleted run: its driver Pod goes first, then its executors, then the run's finalizer."""
    run, pod = observed.run, observed.own_pod
    if not has_finalizer(run):
        return Decision(status=None)
    if pod is None or _needs_nothing_more(run, pod, now):
        return _executors_before_deletion(observed, now)
    if _is_finished(run):
        actions: Actions = release(pod) if pod.stopped_or_expired(now) else delete(pod)
        return _keep_result(observed, None, actions, MISSED_EVENT_REQUEUE)
    return _cancel(observed, pod, now)


def _needs_nothing_more(run: PaimonRun, pod: PodObserved, now: datetime) -> bool:
    """Whether a deleted run may go although its driver Pod still exists.

    The released Pod of a finished run stays as history. The Pod of a cancelled run must be gone (404), unless its node
    never reported its end: nothing else will remove that Pod. A shared Pod is no business of a run that has left it:
    others read its end, and runtime/shared_pods.py releases it.
    """
    if not pod.stopped_or_expired(now):
        return False
    last = last_attempt(run)
    if last is not None and last.shared:
        return True
    return not pod.has_finalizer and (_is_finished(run) or not pod.ended)


def _cancel(observed: RunObserved, pod: PodObserved, now: datetime) -> Decision[RunStatus]:
    """Deletes the driver Pod of an unfinished run, and releases it once no driver runs in it."""
    run = observed.run
    findings = under_way(Reason.WAITING_FOR_POD, f"the run was cancelled and waits until pod {pod.name} is gone")
    if pod.node_unreachable(now):
        findings = silence(observed, pod)
    actions: Actions = delete(pod)
    if pod.stopped_or_expired(now):
        actions = (*actions, *release(pod))
    findings = with_refusal(observed, findings, actions)
    return to_decision(run, Step(status=run.status, findings=findings, actions=actions), now)


def _executors_before_deletion(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """The driver is gone. The run's finalizer goes once its executors are gone too."""
    run, actions = observed.run, left_behind(observed, now)
    if actions is None and _is_finished(run) and not observed.end_is_recorded:
        return Decision(status=None, requeue_after=MISSED_EVENT_REQUEUE)
    if actions is None:
        return Decision(status=None, finalizer="remove")
    if _is_finished(run):
        return _stop_executors_of_finished(observed, None, actions, now)
    message = f"the run was cancelled and waits until its executors are gone: {named(observed.executors)}"
    findings = executors_silence(observed, now) or under_way(Reason.WAITING_FOR_POD, message)
    findings = with_refusal(observed, findings, actions)
    return to_decision(run, Step(status=run.status, findings=findings, actions=actions), now)


def left_behind(observed: RunObserved, now: datetime) -> tuple[Delete, ...] | None:
    """Deletions of executors whose driver has ended; empty while they end, None once none runs or remains.

    A driver that ends by itself deletes its executors. One that is killed does not: they notice it and end, and their
    Pods would stay as long as the driver's, which is kept as history.
    """
    deletions = tuple(action for pod in observed.executors for action in delete(pod))
    running = any(not pod.stopped_or_expired(now) for pod in observed.executors)
    return deletions if deletions or running else None


def _keep_result(
    observed: RunObserved, status: RunStatus | None, actions: Actions, requeue: timedelta
) -> Decision[RunStatus]:
    """The decision for a finished run. Its status is final, so a refusal is reported by an Event."""
    refusal, decision = observed.refusal, Decision(status=status, actions=actions, requeue_after=requeue)
    if not actions or refusal is None:
        return decision
    note = EventNote(type_="Warning", reason=refusal.reason, note=_refused(refusal, actions))
    return replace(decision, events=(note,))


def _stop_executors_of_finished(
    observed: RunObserved, status: RunStatus | None, actions: Actions, now: datetime
) -> Decision[RunStatus]:
    """The decision for a finished run whose executors remain. An unreachable node is reported by one Event.

    Nothing stores that it was reported. The run is therefore requeued for the moment at which the node counts as
    unreachable, and only a reconcile right after that moment reports it.
    """
    due = [pod.overdue_from for pod in observed.executors if pod.overdue_from is not None]
    soonest = min((moment - now for moment in due if moment > now), default=MISSED_EVENT_REQUEUE)
    decision = _keep_result(observed, status, actions, min(soonest, MISSED_EVENT_REQUEUE))
    if not any(moment <= now < moment + MISSED_EVENT_REQUEUE for moment in due):
        return decision
    findings = executors_silence(observed, now)
    notes = (EventNote(type_="Warning", reason=each.reason, note=each.message) for each in findings[:1])
    return replace(decision, events=(*decision.events, *notes))


def with_refusal(observed: RunObserved, findings: tuple[Finding, ...], actions: Actions) -> tuple[Finding, ...]:
    """`findings`; if the API server refused `actions`, findings that report the refusal to a human."""
    if not actions or observed.refusal is None:
        return findings
    return blocked_findings(observed.refusal.reason, _refused(observed.refusal, actions))


def _refused(refusal: Refusal, actions: Actions) -> str:
    what = "released" if isinstance(actions[0], Release) else "deleted"
    return f"pod {actions[0].name} cannot be {what}; this is tried again: {refusal.message}"


def orphaned(pod: PodObserved, now: datetime) -> Decision[RunStatus]:
    """A Pod whose run no longer exists: it is deleted, and released once no driver runs in it."""
    if pod.stopped_or_expired(now):
        return Decision(status=None, actions=release(pod))
    return Decision(status=None, actions=delete(pod), requeue_after=MISSED_EVENT_REQUEUE)


def unstarted_batch(pod: PodObserved, now: datetime) -> Decision[RunStatus]:
    """A shared Pod that has not ended: deleted if it has not started for so long that its runs have other Pods."""
    left = pod.created + _STARTS_WITHIN - now
    if pod.container.started is not None or pod.deleting:
        return Decision(status=None, requeue_after=MISSED_EVENT_REQUEUE if pod.deleting else None)
    return (
        Decision(status=None, requeue_after=left) if left > timedelta(0) else Decision(status=None, actions=delete(pod))
    )


def ended_batch(pod: PodObserved, now: datetime) -> Decision[RunStatus]:
    """A shared Pod that has ended and that no run reads any more: released, and deleted after its log could be read."""
    finished = None if pod.container.terminated is None else pod.container.terminated.finished
    left = (finished or pod.created) + _LOG_KEPT_FOR - now
    if left > timedelta(0):
        return Decision(status=None, actions=release(pod), requeue_after=left)
    return Decision(status=None, actions=(*release(pod), *delete(pod)))


def executors_silence(observed: RunObserved, now: datetime) -> tuple[Finding, ...]:
    """The findings about this run's executors whose nodes are unreachable; empty without such executors."""
    waiting = [pod for pod in observed.executors if pod.node_unreachable(now) and not pod.stopped_or_expired(now)]
    return silence(observed, *waiting[:_NAMED]) if waiting else ()


def named(executors: Sequence[PodObserved]) -> str:
    """The names of the first of `executors`, for a message."""
    return ", ".join(pod.name for pod in executors[:_NAMED])


def silence(observed: RunObserved, *pods: PodObserved) -> tuple[Finding, ...]:
    """Reports `pods` on nodes that are silent: what may still run, until when the run waits, and the override."""
    kind = "executor" if all(pod.executor for pod in pods) else "driver"
    article = "an" if kind == "executor" else "a"
    message = (
        f"the node of pod {named(pods)} is silent; {article} {kind} may still be running there. "
        f"The run waits{_until_deadline(pods)}. "
        f"Do not remove the finalizer of the run: that stops no {kind}. "
        f"If you know that the node is down, do not wait: {_override(observed, pods, kind)}"
    )
    return blocked_findings(Reason.NODE_SILENT, message)


def _until_deadline(pods: Sequence[PodObserved]) -> str:
    """Until when the kubelets have stopped all `pods` by themselves; empty if one of them has no deadline."""
    deadlines = [pod.kubelet_deadline for pod in pods if pod.kubelet_deadline is not None]
    if len(deadlines) < len(pods):
        return ""
    return f" until {rfc3339(max(deadlines))}, when its kubelet's own deadline has passed"


def _override(observed: RunObserved, pods: Sequence[PodObserved], kind: str) -> str:
    """The commands that end the wait. Executors carry no finalizer."""
    which = f"{' '.join(pod.name for pod in pods)} -n {observed.run.metadata.namespace}"
    command = f"kubectl delete pod {which} --force --wait=false"
    if kind == "executor":
        return command
    return f"{command}; kubectl patch pod {which} --type merge -p '{_NO_FINALIZERS}'"


def delete(pod: PodObserved) -> tuple[Delete, ...]:
    """The deletion of the Pod; nothing if it was requested before."""
    return () if pod.deleting else (Delete(kind=Kind.POD, name=pod.name, uid=pod.uid),)


def release(pod: PodObserved) -> tuple[Release, ...]:
    """The removal of our finalizer: the Pod stays as history, or disappears if its deletion was requested."""
    if not pod.has_finalizer:
        return ()
    return (Release(kind=Kind.POD, name=pod.name, uid=pod.uid, finalizers=pod.finalizers),)


def has_finalizer(run: PaimonRun) -> bool:
    """Whether the run carries our finalizer."""
    return naming.FINALIZER in run.metadata.finalizers


def _is_finished(run: PaimonRun) -> bool:
    return run.status.phase in ENDED
