"""A small world for one run: an API server that remembers, a kubelet that does anything, an operator that is killed.

The rules of Kubernetes that count here are played by the book: one object per name, graceful deletion, UIDs,
finalizers, and that what runs on a node is not what the API server says of it. At every write it is checked that what
must always hold does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import AttemptState, Phase, RunStatus
from paimon_operator.core.decision import Action, Create, Decision, Delete
from paimon_operator.core.naming import controller_uid
from paimon_operator.core.ports import Kind
from paimon_operator.core.run.completion import ENDED
from paimon_operator.core.run.machine import step
from paimon_operator.core.run.observed import RunObserved, current_pod, needs_executors
from paimon_operator.core.run.pod import PodObserved, read_pod
from tests.support import pods
from tests.support.pods import Json
from tests.support.run_story import Story

LIMIT = 1
"""Attempts after the first: few, so that runs get to their end."""


@dataclass
class World:
    """What the API server holds of one run, and what a kubelet makes of its Pods."""

    story: Story
    pods: dict[str, Json] = field(default_factory=dict)
    at_work: dict[str, datetime] = field(default_factory=dict)
    """The truth: Pods in which something runs or may yet run, and when their kubelet stops them in any case."""
    executors: dict[str, Json] = field(default_factory=dict)
    """Their Pods stay until they are deleted; what runs in them ends at their own deadline at the latest."""
    cut_off: bool = False
    """The node works on, and nobody hears of it."""
    config_maps: set[str] = field(default_factory=set)
    gone: bool = False
    """The run object is deleted and finalised."""
    said_ok: bool = False
    """A driver of this run has written a result that says ok."""
    launches: list[str] = field(default_factory=list)
    """UIDs of Pods in the order in which they were made."""

    # The operator

    def reconcile(self, killed_after: int | None = None) -> Decision[RunStatus] | None:
        """One reconciliation; the process dies after `killed_after` requests (None: it lives)."""
        if self.gone:
            return None
        story, run = self.story, self.story.run
        observed = RunObserved(
            run=run,
            table=story.table,
            pod=self._get_pod(run),
            limits=story.limits,
            launch=story.launch,
            executors=tuple(map(read_pod, self.executors.values())) if needs_executors(run) else (),
        )
        decision = step(observed, story.now)
        requests: list[Any] = [lambda: self._set_finalizers(decision), lambda: self._store_status(decision)]
        for action in decision.actions:
            requests.append(lambda action=action: self._act(action))
        for request in requests[:killed_after]:
            request()
        return decision

    def _get_pod(self, run: PaimonRun) -> PodObserved | None:
        body = self.pods.get(current_pod(run) or "")
        return None if body is None else read_pod(body)

    def _set_finalizers(self, decision: Decision[RunStatus]) -> None:
        self.story.carry_out(Decision(status=None, finalizer=decision.finalizer))
        metadata = self.story.run.metadata
        if metadata.deletion_timestamp is not None and not metadata.finalizers:
            assert not self.alive() or not self._guards_pod(), "a cancelled run went while its driver was alive"
            assert self.executors_at_work() == [], "a cancelled run went while executors were alive"
            self.gone = True

    def _guards_pod(self) -> bool:
        return self.story.run.status.phase not in ENDED

    def _store_status(self, decision: Decision[RunStatus]) -> None:
        if decision.status is None or self.gone:
            return
        old, new = self.story.run.status, decision.status
        self._check_status(old, new)
        self.story.carry_out(Decision(status=new))

    def _check_status(self, old: RunStatus, new: RunStatus) -> None:
        if old.phase in ENDED:
            assert new.to_json() == old.to_json(), "an ended run changed"
        assert [attempt.number for attempt in new.attempts] == list(range(1, len(new.attempts) + 1))
        assert len(old.attempts) <= len(new.attempts) <= len(old.attempts) + 1
        for before, after in zip(old.attempts, new.attempts, strict=False):
            if before.state is AttemptState.ENDED:
                assert after == before, "the end of an attempt was recorded twice"
        assert all(attempt.state is AttemptState.ENDED for attempt in new.attempts[:-1])
        assert len(new.attempts) <= LIMIT + 1, "more attempts than allowed"
        if new.phase in ENDED:
            assert self.alive() == [], "the run ended before its driver did"
        if new.phase is Phase.SUCCEEDED:
            assert self.said_ok, "success without a result"

    def _act(self, action: Action) -> None:
        if isinstance(action, Create) and action.kind is Kind.CONFIG_MAP:
            self.config_maps.add(action.body["metadata"]["name"])
        elif isinstance(action, Create):
            self._create_pod(action)
        elif action.name in self.executors:
            assert isinstance(action, Delete)
            self.executors[action.name]["metadata"]["deletionTimestamp"] = self.story.now.isoformat()
        elif self.pods.get(action.name, {}).get("metadata", {}).get("uid") != action.uid:
            pass  # gone, or another Pod's name by now
        elif isinstance(action, Delete):
            self.delete_pod(action.name)
        else:
            self._let_go(action.name)

    def _let_go(self, name: str) -> None:
        attempt = self.story.run.status.attempts[-1]
        cancelled = self.story.run.metadata.deletion_timestamp is not None
        assert cancelled or attempt.state is AttemptState.ENDED, "a Pod was let go before its end was stored"
        self.take_finalizer(name)

    def _create_pod(self, action: Create) -> None:
        name, run = action.body["metadata"]["name"], self.story.run
        if name in self.pods:
            assert controller_uid(self.pods[name]) == action.owner_uid
            return  # 409: ours already
        assert not self.gone
        assert run.status.phase not in ENDED, "an ended run made a Pod"
        assert run.metadata.deletion_timestamp is None, "a cancelled run made a Pod"
        assert self.alive() == [], "two drivers of one run"
        assert self.executors_at_work() == [], "an attempt beside executors of an earlier one"
        attempt = run.status.attempts[-1]
        assert (attempt.pod, attempt.state) == (name, AttemptState.LAUNCHING), "the intent was not written down first"
        assert attempt.pod_uid is None, "a Pod that was seen and lost was made again"
        assert run.metadata.name in self.config_maps, "a Pod before its ConfigMap"
        body = pods.pod(run, attempt.number)
        body["metadata"]["uid"] = f"uid-{len(self.launches)}"
        body["metadata"]["creationTimestamp"] = self.story.now.isoformat()
        self.launches.append(body["metadata"]["uid"])
        body["metadata"]["finalizers"] = list(action.body["metadata"].get("finalizers", ()))
        seconds = body["spec"]["activeDeadlineSeconds"] = action.body["spec"]["activeDeadlineSeconds"]
        self.pods[name] = body
        self.at_work[name] = self.story.now + timedelta(seconds=seconds)

    # The kubelet, and people

    def alive(self) -> list[str]:
        """Names of the Pods in which something runs or may yet run."""
        return list(self.at_work)

    def make_executor(self) -> None:
        """The driver at work makes one, which outlives it when it is killed."""
        (driver,) = self.alive()
        body = pods.executor(len(self.executors) + 1, of=driver)
        body["metadata"]["creationTimestamp"] = self.story.now.isoformat()
        self.executors[body["metadata"]["name"]] = body

    def executors_at_work(self) -> list[str]:
        """Names of executors that nothing has ended yet."""
        return [name for name, body in self.executors.items() if self.story.now < _deadline(body)]

    def open(self) -> list[str]:
        """Names of the Pods of which the API server knows no end."""
        return [name for name, body in self.pods.items() if body["status"]["phase"] not in ("Succeeded", "Failed")]

    def set_pod(self, name: str, status: Json) -> None:
        """The kubelet reports `status` of an own Pod."""
        self.pods[name]["status"] = status
        self.pods[name]["spec"]["nodeName"] = "node-1"
        if status["phase"] in ("Succeeded", "Failed"):
            self.at_work.pop(name, None)
        for each in status.get("containerStatuses", ()):
            message = each["state"].get("terminated", {}).get("message", "")
            self.said_ok = self.said_ok or message == pods.result(self.story.run)

    def delete_pod(self, name: str, *, force: bool = False) -> None:
        """A Pod that may be at work stays until its kubelet is done with it, unless the deletion is forced."""
        meta = self.pods[name]["metadata"]
        bound = "nodeName" in self.pods[name]["spec"]
        at_once = force or not bound or name not in self.open()
        meta["grace"] = 0 if at_once else meta.get("grace", 30)
        meta["deletionTimestamp"] = (self.story.now + timedelta(seconds=meta["grace"])).isoformat()
        if not bound:
            self.at_work.pop(name, None)  # no node can get it any more
        self._remove_if_free(name)

    def take_finalizer(self, name: str) -> None:
        self.pods[name]["metadata"]["finalizers"] = []
        self._remove_if_free(name)

    def collect(self, name: str) -> None:
        """The Pod's node is taken off the list: the garbage collector fails the Pod and forces its deletion."""
        self.pods[name]["status"] = pods.collected(self.pods[name]["status"])
        self.delete_pod(name, force=True)

    def finish_deletions(self) -> None:
        """The kubelet is done with every Pod that was asked to go, and says so."""
        going = [name for name, body in self.executors.items() if "deletionTimestamp" in body["metadata"]]
        for name in going:
            del self.executors[name]
        for name, body in list(self.pods.items()):
            if "deletionTimestamp" in body["metadata"]:
                if name in self.at_work:
                    self.set_pod(name, pods.ended(143, finished=self.story.now))
                body["metadata"]["grace"] = 0
                self._remove_if_free(name)

    def pass_time(self, delta: timedelta) -> datetime:
        """Time goes by, and a kubelet keeps deadlines even when it is cut off; returns the new time."""
        self.story.now += delta
        for name in [name for name, end in self.at_work.items() if end <= self.story.now]:
            self.at_work.pop(name)
        return self.story.now

    def _remove_if_free(self, name: str) -> None:
        meta = self.pods[name]["metadata"]
        if "deletionTimestamp" in meta and meta["grace"] == 0 and not meta["finalizers"]:
            del self.pods[name]


def _deadline(executor: Json) -> datetime:
    made = datetime.fromisoformat(executor["metadata"]["creationTimestamp"])
    return made + timedelta(seconds=executor["spec"]["activeDeadlineSeconds"])
