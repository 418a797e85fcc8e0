"""A story of a run that may share a driver Pod."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from paimon_operator.api.run.status import RunStatus
from paimon_operator.core.decision import Decision
from paimon_operator.core.launch.batch_pod import BatchMember, SharedPod, member_of
from paimon_operator.core.launch.driver_pod import Launch
from paimon_operator.core.run.machine import step
from paimon_operator.core.run.observed import Sharing, Turn
from paimon_operator.core.run.pod import PodObserved, read_pod
from paimon_operator.core.run.turn import has_begun
from tests.support import pods
from tests.support.run_story import Story

POD = "paimon-batch-lake-0c0ffee0"
UID = "uid-of-the-batch"


class SharedStory(Story):
    """A run that may share a Pod."""

    def __init__(self) -> None:
        super().__init__(type="Observe", compact=None)
        self.sharing: Sharing | None = Sharing()

    def member(self) -> BatchMember:
        """What the run brings into a shared Pod."""
        found = self.member_with(self.launch())
        assert found is not None
        return found

    def member_with(self, launch: Launch) -> BatchMember | None:
        """The same with another launch; None: it has its Pod alone."""
        assert self.table is not None
        return member_of(self.run, self.table, launch)

    def turn(self, **changes: str) -> Turn:
        """What the driver of the Pod asks. `changes` replace fields of the Pod."""
        member = self.member()
        usual = SharedPod(
            namespace="shop",
            name=POD,
            uid=UID,
            memory="2048Mi",
            cores=2,
            launch_hash=member.launch_hash,
            jobs={self.run.metadata.uid: member.job},
            runs={self.run.metadata.name: "orders"},
        )
        return Turn(pod=replace(usual, **changes), asks=True)  # type: ignore[arg-type]

    def decide(
        self, turn: Turn | None = None, status: pods.Json | None = None, *, uid: str = UID, later: int = 0
    ) -> Decision[RunStatus]:
        """Reconciles once, with the shared Pod in this `status` (None: 404), and stores the decision."""
        self.now += timedelta(seconds=later)
        observed = replace(self.observe(self.pod(status, uid)), sharing=self.sharing, turn=turn)
        decision = step(observed, self.now)
        self.carry_out(decision)
        return decision

    def pod(self, status: pods.Json | None, uid: str) -> PodObserved | None:
        if status is None:
            return None
        body = pods.pod(self.run, 1, owner_uid="uid-of-lake", **status)
        body["metadata"] |= {"name": POD, "uid": uid}
        return read_pod(body)


def begun() -> SharedStory:
    """A run whose turn has begun."""
    story = SharedStory()
    story.decide(story.turn())
    assert has_begun(story.run.status, UID)
    return story
