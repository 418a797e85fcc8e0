"""How a run's Pods are let go: never while something of them may still be at work.

Our finalizer holds a deleted Pod until its kubelet has said how it ended, because a name that is gone from the API
server stops no container. The finalizer goes once what was said is stored in the run's status, or nobody will ask for
it any more.
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
from paimon_operator.core.run.observed import RunObserved
from paimon_operator.core.run.pod import PodObserved
from paimon_operator.core.run.transition import LOOK_AGAIN, Step, blocked_findings, decide, under_way

Actions = tuple[Delete | Release, ...]
_NAMED: Final = 3
"""How many executors a message names."""
_LET_GO: Final = '{"metadata":{"finalizers":null}}'


def after_end(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """A run that is over: its Pod is let go, then the run. A Pod that came late (its create was lost) is stopped."""
    run, pod = observed.run, observed.own_pod
    if pod is not None and not pod.stopped_or_expired(now):
        return _with_its_pod(observed, run.status, delete(pod), LOOK_AGAIN)
    if pod is not None and pod.has_finalizer:
        return _with_its_pod(observed, run.status, release(pod), timedelta(0))
    if (left := left_behind(observed, now)) is not None:
        return _with_its_executors(observed, run.status, left, now)
    if has_finalizer(run):
        again = None if _outlived_at(run) is None else timedelta(0)
        return Decision(status=run.status, finalizer="remove", requeue_after=again)
    return _outlived(observed, now)


def _outlived(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """Its maker said how long a finished run is of use. Not before the table has taken the result."""
    run, until = observed.run, _outlived_at(observed.run)
    if until is None:
        return Decision(status=run.status)
    if observed.is_active:
        return Decision(status=run.status, requeue_after=LOOK_AGAIN)
    if now < until:
        return Decision(status=run.status, requeue_after=until - now)
    gone = Delete(kind=Kind.RUN, name=run.metadata.name, uid=run.metadata.uid)
    return Decision(status=run.status, actions=(gone,), requeue_after=LOOK_AGAIN)


def _outlived_at(run: PaimonRun) -> datetime | None:
    """When a finished run is to go. One whose result is unknown stays for its reader."""
    ttl, ended = run.spec.ttl_after_finished, run.status.completion_time
    if ttl is None or ended is None or run.status.phase is Phase.UNKNOWN:
        return None
    return ended + units.delta(ttl, field="spec.ttlAfterFinished")


def before_deletion(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """A deleted run is cancelled: its Pod goes first, and only a live 404 lets the run go, or a node given up."""
    run, pod = observed.run, observed.own_pod
    if not has_finalizer(run):
        return Decision(status=None)
    if pod is None or (pod.stopped_or_expired(now) and not pod.has_finalizer and (_over(run) or not pod.ended)):
        return _executors_before_deletion(observed, now)
    last = release(pod) if pod.stopped_or_expired(now) else ()
    if _over(run):
        stop = () if pod.stopped_or_expired(now) else delete(pod)
        return _with_its_pod(observed, None, stop + last, LOOK_AGAIN)
    message = f"the run was cancelled and waits until pod {pod.name} is gone"
    findings = silence(observed, pod) if pod.node_unreachable(now) else under_way(Reason.WAITING_FOR_POD, message)
    actions = delete(pod) + last
    return decide(
        run, Step(status=run.status, findings=with_refusal(observed, findings, actions), actions=actions), now
    )


def _executors_before_deletion(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """The driver is gone; its executors may not be."""
    run, left = observed.run, left_behind(observed, now)
    if left is None:
        return Decision(status=None, finalizer="remove")
    if _over(run):
        return _with_its_executors(observed, None, left, now)
    message = f"the run was cancelled and waits until its executors are gone: {named(observed.executors)}"
    findings = executors_silence(observed, now) or under_way(Reason.WAITING_FOR_POD, message)
    return decide(run, Step(status=run.status, findings=with_refusal(observed, findings, left), actions=left), now)


def left_behind(observed: RunObserved, now: datetime) -> tuple[Delete, ...] | None:
    """What is to be done about executors whose driver has ended; None once none of them is at work, nor stays.

    A driver that ends by itself deletes its executors. One that is killed does not: they notice and end, and their Pods
    would stay as long as the driver's, which is history.
    """
    asked = tuple(action for pod in observed.executors for action in delete(pod))
    at_work = any(not pod.stopped_or_expired(now) for pod in observed.executors)
    return asked if asked or at_work else None


def _with_its_pod(
    observed: RunObserved, status: RunStatus | None, actions: Actions, again: timedelta
) -> Decision[RunStatus]:
    """For a run that is over. Its status is final, so a refusal is told by an Event."""
    refusal, decision = observed.refusal, Decision(status=status, actions=actions, requeue_after=again)
    if not actions or refusal is None:
        return decision
    note = EventNote(type_="Warning", reason=refusal.reason, note=_refused(refusal, actions))
    return replace(decision, events=(note,))


def _with_its_executors(
    observed: RunObserved, status: RunStatus | None, actions: Actions, now: datetime
) -> Decision[RunStatus]:
    """For a run that is over, too: that their node is silent is told once, by the look at the moment it falls silent.

    Nothing remembers what was told, so that look is asked for, and later ones do not tell.
    """
    due = [pod.overdue_from for pod in observed.executors if pod.overdue_from is not None]
    soonest = min((moment - now for moment in due if moment > now), default=LOOK_AGAIN)
    decision = _with_its_pod(observed, status, actions, min(soonest, LOOK_AGAIN))
    if not any(moment <= now < moment + LOOK_AGAIN for moment in due):
        return decision
    findings = executors_silence(observed, now)
    notes = (EventNote(type_="Warning", reason=each.reason, note=each.message) for each in findings[:1])
    return replace(decision, events=(*decision.events, *notes))


def with_refusal(observed: RunObserved, findings: tuple[Finding, ...], actions: Actions) -> tuple[Finding, ...]:
    """`findings`, unless what has to be done about the Pod was refused: then a human is needed."""
    if not actions or observed.refusal is None:
        return findings
    return blocked_findings(observed.refusal.reason, _refused(observed.refusal, actions))


def _refused(refusal: Refusal, actions: Actions) -> str:
    what = "let go" if isinstance(actions[0], Release) else "stopped"
    return f"pod {actions[0].name} cannot be {what}, and it is being tried again: {refusal.message}"


def orphaned(pod: PodObserved, now: datetime) -> Decision[RunStatus]:
    """A Pod whose run is gone: whatever it did, nobody asks for it any more."""
    if pod.stopped_or_expired(now):
        return Decision(status=None, actions=release(pod))
    return Decision(status=None, actions=delete(pod), requeue_after=LOOK_AGAIN)


def executors_silence(observed: RunObserved, now: datetime) -> tuple[Finding, ...]:
    """What is told of this run's executors whose nodes are silent; empty without such."""
    at_work = [pod for pod in observed.executors if pod.node_unreachable(now) and not pod.stopped_or_expired(now)]
    return silence(observed, *at_work[:_NAMED]) if at_work else ()


def named(executors: Sequence[PodObserved]) -> str:
    """The first of them, for a message."""
    return ", ".join(pod.name for pod in executors[:_NAMED])


def silence(observed: RunObserved, *pods: PodObserved) -> tuple[Finding, ...]:
    """What Pods are waited for whose node says nothing, until when, and the way out for someone who knows more."""
    which = f"{' '.join(pod.name for pod in pods)} -n {observed.run.metadata.namespace}"
    article, what = ("an", "executor") if all(pod.executor for pod in pods) else ("a", "driver")
    kubelet_deadline, by = [pod.kubelet_deadline for pod in pods if pod.kubelet_deadline is not None], ""
    if len(kubelet_deadline) == len(pods):
        by = f" until {rfc3339(max(kubelet_deadline))}, when its kubelet's own deadline has passed"
    way_out = f"kubectl delete pod {which} --force --wait=false"
    if what == "driver":  # executors have no finalizer
        way_out += f"; kubectl patch pod {which} --type merge -p '{_LET_GO}'"
    message = (
        f"the node of pod {named(pods)} is silent; {article} {what} may still be at work there. The run waits{by}. "
        f"Never take the finalizer off the run: that stops no {what}. "
        f"If you know that the node is dead, do not wait: {way_out}"
    )
    return blocked_findings(Reason.NODE_SILENT, message)


def delete(pod: PodObserved) -> tuple[Delete, ...]:
    """Ask the Pod to go, once."""
    return () if pod.deleting else (Delete(kind=Kind.POD, name=pod.name, uid=pod.uid),)


def release(pod: PodObserved) -> tuple[Release, ...]:
    """Let the Pod go: it stays as history, or is gone if its deletion was asked for."""
    if not pod.has_finalizer:
        return ()
    return (Release(kind=Kind.POD, name=pod.name, uid=pod.uid, finalizers=pod.finalizers),)


def has_finalizer(run: PaimonRun) -> bool:
    """Whether the run stays until we let it go."""
    return naming.FINALIZER in run.metadata.finalizers


def _over(run: PaimonRun) -> bool:
    return run.status.phase in ENDED
