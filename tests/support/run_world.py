"""An API server, a kubelet and an operator around one run, for tests that kill the operator at any request.

It keeps the rules of Kubernetes that matter here: one object per name, graceful deletion, UIDs, finalizers, and that
the status of a Pod may differ from what runs on its node. Every write is checked against the invariants of a run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import AttemptState, Phase, RunStatus
from paimon_operator.api.spark import SparkMode
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
"""Retries of a run. The number is small, so that runs end."""


@dataclass
class RunWorld:
    """The objects of one run on the API server, and the processes in its Pods."""

    story: Story
    pods: dict[str, Json] = field(default_factory=dict)
    running: dict[str, datetime] = field(default_factory=dict)
    """Pods in which a process runs or may still start -> the time at which their kubelet stops them."""
    executors: dict[str, Json] = field(default_factory=dict)
    """Executor Pods by name. They stay until they are deleted; their processes end at their own deadline."""
    unreachable: bool = False
    """The node keeps running Pods and reports nothing."""
    config_maps: set[str] = field(default_factory=set)
    rights: set[str] = field(default_factory=set)
    gone: bool = False
    """The run was deleted, and its finalizer removed."""
    reported_success: bool = False
    """A driver of this run has written a successful result."""
    launches: list[str] = field(default_factory=list)
    """UIDs of driver Pods in the order of their creation."""

    # The operator

    def reconcile(self, killed_after: int | None = None) -> Decision[RunStatus] | None:
        """Reconciles once. The operator is killed after `killed_after` requests (None: it is not killed)."""
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
            has_ended = self.story.run.status.phase in ENDED
            assert has_ended or not self.running_drivers(), "a cancelled run was removed before its driver ended"
            assert self.running_executors() == [], "a cancelled run was removed while executors were running"
            self.gone = True

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
            assert self.running_drivers() == [], "the run ended before its driver did"
        if new.phase is Phase.SUCCEEDED:
            assert self.reported_success, "success without a result"

    def _act(self, action: Action) -> None:
        if isinstance(action, Create) and action.kind is Kind.CONFIG_MAP:
            self.config_maps.add(action.body["metadata"]["name"])
        elif isinstance(action, Create) and action.kind is Kind.EXECUTOR_RIGHTS:
            self.rights.add(action.body["metadata"]["name"])
        elif isinstance(action, Create):
            self._create_pod(action)
        elif action.name in self.executors:
            assert isinstance(action, Delete)
            self.executors[action.name]["metadata"]["deletionTimestamp"] = self.story.now.isoformat()
        elif self.pods.get(action.name, {}).get("metadata", {}).get("uid") != action.uid:
            pass  # deleted, or the name of another Pod
        elif isinstance(action, Delete):
            self.delete_pod(action.name)
        else:
            self._release_pod(action.name)

    def _release_pod(self, name: str) -> None:
        attempt = self.story.run.status.attempts[-1]
        cancelled = self.story.run.metadata.deletion_timestamp is not None
        assert cancelled or attempt.state is AttemptState.ENDED, "a Pod was released before its end was stored"
        self.remove_finalizer(name)

    def _create_pod(self, action: Create) -> None:
        name, run = action.body["metadata"]["name"], self.story.run
        if name in self.pods:
            assert controller_uid(self.pods[name]) == action.owner_uid
            return  # 409: it is ours
        assert not self.gone
        assert run.status.phase not in ENDED, "an ended run created a Pod"
        assert run.metadata.deletion_timestamp is None, "a cancelled run created a Pod"
        assert self.running_drivers() == [], "two drivers of one run"
        assert self.running_executors() == [], "an attempt beside executors of an earlier one"
        attempt = run.status.attempts[-1]
        assert (attempt.pod, attempt.state) == (name, AttemptState.LAUNCHING), "the intent was not stored first"
        assert attempt.pod_uid is None, "a Pod that was observed and lost was created again"
        assert run.metadata.name in self.config_maps, "a Pod before its ConfigMap"
        if run.status.spark is not None and run.status.spark.mode is SparkMode.CLUSTER:
            assert run.metadata.name in self.rights, "a Pod before the rights of its executors"
        body = pods.pod(run, attempt.number)
        body["metadata"]["uid"] = f"uid-{len(self.launches)}"
        body["metadata"]["creationTimestamp"] = self.story.now.isoformat()
        self.launches.append(body["metadata"]["uid"])
        body["metadata"]["finalizers"] = list(action.body["metadata"].get("finalizers", ()))
        seconds = body["spec"]["activeDeadlineSeconds"] = action.body["spec"]["activeDeadlineSeconds"]
        self.pods[name] = body
        self.running[name] = self.story.now + timedelta(seconds=seconds)

    # The kubelet and users

    def running_drivers(self) -> list[str]:
        """Names of the driver Pods in which a process runs or may still start."""
        return list(self.running)

    def create_executor(self) -> None:
        """Creates a Pod as the running driver does. The Pod outlives a killed driver."""
        (driver,) = self.running_drivers()
        body = pods.executor(len(self.executors) + 1, of=driver)
        body["metadata"]["creationTimestamp"] = self.story.now.isoformat()
        self.executors[body["metadata"]["name"]] = body

    def running_executors(self) -> list[str]:
        """Names of the executors that have not ended."""
        return [name for name, body in self.executors.items() if self.story.now < _deadline(body)]

    def unfinished_pods(self) -> list[str]:
        """Names of the Pods whose end is not reported."""
        return [name for name, body in self.pods.items() if body["status"]["phase"] not in ("Succeeded", "Failed")]

    def set_pod(self, name: str, status: Json) -> None:
        """Stores a status of a driver Pod, as the kubelet reports it."""
        self.pods[name]["status"] = status
        self.pods[name]["spec"]["nodeName"] = "node-1"
        if status["phase"] in ("Succeeded", "Failed"):
            self.running.pop(name, None)
        for each in status.get("containerStatuses", ()):
            message = each["state"].get("terminated", {}).get("message", "")
            self.reported_success = self.reported_success or message == pods.result(self.story.run)

    def delete_pod(self, name: str, *, force: bool = False) -> None:
        """Deletes a Pod. A bound Pod stays until its kubelet has stopped it, unless the deletion is forced."""
        meta = self.pods[name]["metadata"]
        bound = "nodeName" in self.pods[name]["spec"]
        at_once = force or not bound or name not in self.unfinished_pods()
        meta["grace"] = 0 if at_once else meta.get("grace", 30)
        meta["deletionTimestamp"] = (self.story.now + timedelta(seconds=meta["grace"])).isoformat()
        if not bound:
            self.running.pop(name, None)  # no node can get it any more
        self._remove_if_free(name)

    def remove_finalizer(self, name: str) -> None:
        self.pods[name]["metadata"]["finalizers"] = []
        self._remove_if_free(name)

    def collect(self, name: str) -> None:
        """Fails the Pod and forces its deletion, as the Pod garbage collector does after its node was removed."""
        self.pods[name]["status"] = pods.collected(self.pods[name]["status"])
        self.delete_pod(name, force=True)

    def finish_deletions(self) -> None:
        """Stops every terminating Pod and reports its end, as the kubelet does."""
        going = [name for name, body in self.executors.items() if "deletionTimestamp" in body["metadata"]]
        for name in going:
            del self.executors[name]
        for name, body in list(self.pods.items()):
            if "deletionTimestamp" in body["metadata"]:
                if name in self.running:
                    self.set_pod(name, pods.ended(143, finished=self.story.now))
                body["metadata"]["grace"] = 0
                self._remove_if_free(name)

    def pass_time(self, delta: timedelta) -> datetime:
        """Advances the time and returns it. A kubelet enforces deadlines even when its node is unreachable."""
        self.story.now += delta
        for name in [name for name, end in self.running.items() if end <= self.story.now]:
            self.running.pop(name)
        return self.story.now

    def _remove_if_free(self, name: str) -> None:
        meta = self.pods[name]["metadata"]
        if "deletionTimestamp" in meta and meta["grace"] == 0 and not meta["finalizers"]:
            del self.pods[name]


def _deadline(executor: Json) -> datetime:
    made = datetime.fromisoformat(executor["metadata"]["creationTimestamp"])
    return made + timedelta(seconds=executor["spec"]["activeDeadlineSeconds"])
