"""SIGKILL of the operator after each write that it makes for a rescale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.apiserver.namespace_client import conditions
from tests.apiserver.story import WRITES_OF_A_RUN, Story, is_settled, telling, types_of
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import Manifest

MEASURE = {"schemaId": 0, "snapshotId": 1, "bucketMode": "Fixed", "files": 80, "rows": 10, "sizeBytes": 2048}


def measure(count: int, *, rescaling: bool = False) -> Manifest:
    return MEASURE | {"bucketCount": count, "partitions": 40} | ({"rescaling": True} if rescaling else {})


def bucket(count: int) -> Manifest:
    return {"type": "Fixed", "fixed": {"count": count, "onCountChange": "Rescale"}}


def has_done(partitions: int) -> Callable[[Story], bool]:
    """Whether the status shows that so many partitions are rescaled."""
    return lambda story: bool(story.status.get("rescale", {}).get("done") == partitions)


@pytest.fixture(scope="class")
def story(api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """A Ready table with 2 buckets, without an operator."""
    logs = tmp_path_factory.mktemp("operators")
    with telling(api_server, "each-write-of-a-rescale", logs, spec__bucket=bucket(2)) as story:
        story.live({"table": measure(2), "created": True}, until=is_settled)
        yield story


@pytest.mark.long
class TestARescale:
    """Two runs rewrite the partitions, and a third one verifies the table. A run may be released in the next."""

    def test_its_first_run(self, story: Story) -> None:
        story.edit(bucket=bucket(8))
        progress = {"done": 12, "total": 40, "finished": False}

        story.kill_at_each_write({"table": measure(8, rescaling=True), "rescale": progress}, until=has_done(12))

        paused = conditions(story.table)["WritesPaused"]
        assert (paused["status"], paused["reason"]) == ("True", "Rescaling")
        assert "12 of 40 partitions" in paused["message"]

    def test_its_second_run(self, story: Story) -> None:
        progress = {"done": 40, "total": 40, "finished": True}

        story.kill_at_each_write({"table": measure(8), "rescale": progress}, until=has_done(40))

        assert "WritesPaused" not in conditions(story.table)

    def test_its_verification_and_the_end(self, story: Story) -> None:
        story.kill_at_each_write({"table": measure(8), "created": False}, until=is_settled)

        made = Counter(story.proxy.writes)
        assert all(made[write] >= 4 for write in WRITES_OF_A_RUN), made
        assert (made["POST paimonruns"], made["POST configmaps"], made["POST pods"]) == (4, 4, 4)
        assert story.kills >= 3 * len(WRITES_OF_A_RUN)
        assert types_of(story) == ["Provision", "Rescale", "Rescale", "Provision"]
        status = story.status
        assert (status["table"]["bucketCount"], status["rescale"].get("unfinished")) == (8, None)
        assert "WritesPaused" not in conditions(story.table)
        assert not any(pod.finalizers for pod in story.ns.pods()), "a run is released after its Pod"
