"""A small world for one run: an API server that remembers, a kubelet that does anything, an operator that is killed.

The rules of Kubernetes that count here are played by the book: one object per name, graceful deletion, UIDs. At every
write it is checked that what must always hold does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from paimon_operator.api.run import PaimonRun
from paimon_operator.api.run_status import AttemptState, Phase, RunStatus
from paimon_operator.core.decision import Create, Decision, Delete
from paimon_operator.core.endings import ENDED
from paimon_operator.core.naming import controller_uid
from paimon_operator.core.pods import PodObserved, read_pod
from paimon_operator.core.ports import Kind
from paimon_operator.core.run_observed import RunObserved, current_pod
from paimon_operator.core.runs import step
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
    config_maps: set[str] = field(default_factory=set)
    gone: bool = False
    """The run object is deleted and finalised."""
    said_ok: bool = False
    """A driver of this run has written a result that says ok."""
    launches: list[str] = field(default_factory=list)
    """UIDs of Pods in the order in which they were made."""

    # The operator

    def look(self, killed_after: int | None = None) -> Decision[RunStatus] | None:
        """One reconciliation; the process dies after `killed_after` requests (None: it lives)."""
        if self.gone:
            return None
        story, run = self.story, self.story.run
        observed = RunObserved(
            run=run, table=story.table, pod=self._get_pod(run), limits=story.limits, launch=story.launch
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

    def _act(self, action: Create | Delete) -> None:
        if isinstance(action, Delete):
            body = self.pods.get(action.name)
            if body is not None and body["metadata"]["uid"] == action.uid:
                self.delete_pod(action.name)
        elif action.kind is Kind.CONFIG_MAP:
            self.config_maps.add(action.body["metadata"]["name"])
        else:
            self._create_pod(action)

    def _create_pod(self, action: Create) -> None:
        name, run = action.body["metadata"]["name"], self.story.run
        if name in self.pods:
            assert controller_uid(self.pods[name]) == action.owner_uid
            return  # 409: ours already
        assert not self.gone
        assert run.status.phase not in ENDED, "an ended run made a Pod"
        assert run.metadata.deletion_timestamp is None, "a cancelled run made a Pod"
        assert self.alive() == [], "two drivers of one run"
        attempt = run.status.attempts[-1]
        assert (attempt.pod, attempt.state) == (name, AttemptState.LAUNCHING), "the intent was not written down first"
        assert attempt.pod_uid is None, "a Pod that was seen and lost was made again"
        assert run.metadata.name in self.config_maps, "a Pod before its ConfigMap"
        body = pods.pod(run, attempt.number)
        body["metadata"]["uid"] = f"uid-{len(self.launches)}"
        body["metadata"]["creationTimestamp"] = self.story.now.isoformat()
        self.launches.append(body["metadata"]["uid"])
        self.pods[name] = body

    # The kubelet, and people

    def alive(self) -> list[str]:
        """Names of the Pods in which something runs or may yet run."""
        return [name for name, body in self.pods.items() if body["status"]["phase"] not in ("Succeeded", "Failed")]

    def set_pod(self, name: str, status: Json) -> None:
        """The kubelet reports `status` of an own Pod."""
        self.pods[name]["status"] = status
        for each in status.get("containerStatuses", ()):
            message = each["state"].get("terminated", {}).get("message", "")
            self.said_ok = self.said_ok or message == pods.result(self.story.run)

    def delete_pod(self, name: str) -> None:
        """Graceful: a Pod that has not ended stays until its kubelet is done with it."""
        if name in self.alive():
            self.pods[name]["metadata"]["deletionTimestamp"] = self.story.now.isoformat()
        else:
            del self.pods[name]

    def finish_deletions(self) -> None:
        """The kubelet is done with every Pod that was asked to go."""
        for name in [name for name, body in self.pods.items() if "deletionTimestamp" in body["metadata"]]:
            del self.pods[name]

    def pass_time(self, delta: timedelta) -> datetime:
        """Time goes by; returns the new time."""
        self.story.now += delta
        return self.story.now
