"""How a driver Pod is let go: never while something of it may still be at work.

Our finalizer holds a deleted Pod until its kubelet has said how it ended, because a name that is gone from the API
server stops no container. The finalizer goes once what was said is stored in the run's status, or nobody will ask for
it any more.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.base import rfc3339
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run import PaimonRun
from paimon_operator.api.run_status import Phase, RunStatus
from paimon_operator.core import naming
from paimon_operator.core.conditions import Finding
from paimon_operator.core.decision import Decision, Delete, EventNote, Release
from paimon_operator.core.endings import ENDED
from paimon_operator.core.observed import Refusal
from paimon_operator.core.pods import PodObserved
from paimon_operator.core.ports import Kind
from paimon_operator.core.run_observed import RunObserved
from paimon_operator.core.steps import LOOK_AGAIN, Step, decided, held_up, under_way

Actions = tuple[Delete | Release, ...]
_LET_GO: Final = '{"metadata":{"finalizers":null}}'


def after_end(observed: RunObserved, now: datetime) -> Decision[RunStatus]:
    """A run that is over: its Pod is let go, then the run. A Pod that came late (its create was lost) is stopped."""
    run, pod = observed.run, observed.own_pod
    if pod is not None and not pod.settled(now):
        return _with_its_pod(observed, run.status, delete(pod), LOOK_AGAIN)
    if pod is not None and pod.guarded:
        return _with_its_pod(observed, run.status, release(pod), timedelta(0))
    if (left := left_behind(observed, now)) is not None:
        return _with_its_pod(observed, run.status, left, LOOK_AGAIN)
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
    if pod is None or (pod.settled(now) and not pod.guarded and (_over(run) or not pod.ended)):
        left = left_behind(observed, now)
        gone = Decision[RunStatus](status=None, finalizer="remove")
        return gone if left is None else _with_its_pod(observed, None, left, LOOK_AGAIN)
    last = release(pod) if pod.settled(now) else ()
    if _over(run):
        stop = () if pod.settled(now) else delete(pod)
        return _with_its_pod(observed, None, stop + last, LOOK_AGAIN)
    message = f"the run was cancelled and waits until pod {pod.name} is gone"
    findings = silence(observed, pod) if pod.silent(now) else under_way(Reason.WAITING_FOR_POD, message)
    actions = delete(pod) + last
    return decided(run, Step(status=run.status, findings=told(observed, findings, actions), actions=actions), now)


def left_behind(observed: RunObserved, now: datetime) -> tuple[Delete, ...] | None:
    """What is to be done about executors whose driver has ended; None once none of them is at work, nor stays.

    A driver that ends by itself deletes its executors. One that is killed does not: they notice and end, and their Pods
    would stay as long as the driver's, which is history.
    """
    asked = tuple(action for pod in observed.executors for action in delete(pod))
    at_work = any(not pod.settled(now) for pod in observed.executors)
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


def told(observed: RunObserved, findings: tuple[Finding, ...], actions: Actions) -> tuple[Finding, ...]:
    """`findings`, unless what has to be done about the Pod was refused: then a human is needed."""
    if not actions or observed.refusal is None:
        return findings
    return held_up(observed.refusal.reason, _refused(observed.refusal, actions))


def _refused(refusal: Refusal, actions: Actions) -> str:
    what = "let go" if isinstance(actions[0], Release) else "stopped"
    return f"pod {actions[0].name} cannot be {what}, and it is being tried again: {refusal.message}"


def orphaned(pod: PodObserved, now: datetime) -> Decision[RunStatus]:
    """A Pod whose run is gone: whatever it did, nobody asks for it any more."""
    if pod.settled(now):
        return Decision(status=None, actions=release(pod))
    return Decision(status=None, actions=delete(pod), requeue_after=LOOK_AGAIN)


def silence(observed: RunObserved, pod: PodObserved) -> tuple[Finding, ...]:
    """What a Pod is waited for whose node says nothing, until when, and the way out for someone who knows more."""
    where, by = f"pod {pod.name} -n {observed.run.metadata.namespace}", ""
    if pod.stopped_by is not None:
        by = f" until {rfc3339(pod.stopped_by)}, when its kubelet's own deadline has passed"
    message = (
        f"the node of pod {pod.name} is silent; a driver may still be at work there. The run waits{by}. "
        "Never take the finalizer off the run: that stops no driver. "
        f"If you know that the node is dead, do not wait: kubectl delete {where} --force --wait=false; "
        f"kubectl patch {where} --type merge -p '{_LET_GO}'"
    )
    return held_up(Reason.NODE_SILENT, message)


def delete(pod: PodObserved) -> tuple[Delete, ...]:
    """Ask the Pod to go, once."""
    return () if pod.deleting else (Delete(kind=Kind.POD, name=pod.name, uid=pod.uid),)


def release(pod: PodObserved) -> tuple[Release, ...]:
    """Let the Pod go: it stays as history, or is gone if its deletion was asked for."""
    if not pod.guarded:
        return ()
    return (Release(kind=Kind.POD, name=pod.name, uid=pod.uid, finalizers=pod.finalizers),)


def has_finalizer(run: PaimonRun) -> bool:
    """Whether the run stays until we let it go."""
    return naming.FINALIZER in run.metadata.finalizers


def _over(run: PaimonRun) -> bool:
    return run.status.phase in ENDED
