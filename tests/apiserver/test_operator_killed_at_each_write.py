"""SIGKILL of the operator after each write that it makes for an edit of the schema and for a rescale.

Each process lives until its first write is stored, so every gap between two writes is one between two processes. The
test acts as the kubelet: the drivers' results are scripted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.apiserver.killing_proxy import KillingProxy, killing_proxy
from tests.apiserver.namespace_client import RUNS, TABLES, NamespaceClient, conditions
from tests.apiserver.pod import Pod
from tests.apiserver.replicas import Replicas
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, Manifest, keyed_table

WRITES_OF_A_RUN = {
    "PATCH paimontables/status",
    "POST paimonruns",
    "PATCH paimonruns/status",
    "POST configmaps",
    "POST pods",
    "PATCH pods",
    "PATCH paimonruns",
}
MOST_KILLS = 60
MEASURE = {"schemaId": 0, "snapshotId": 1, "bucketMode": "Fixed", "files": 80, "rows": 10, "sizeBytes": 2048}


def measure(count: int, *, rescaling: bool = False) -> Manifest:
    return MEASURE | {"bucketCount": count, "partitions": 40} | ({"rescaling": True} if rescaling else {})


class Story:
    """One table whose operator is killed after each write. `results` are those of the runs, in order."""

    def __init__(self, replicas: Replicas, proxy: KillingProxy) -> None:
        self.replicas, self.proxy, self.ns = replicas, proxy, replicas.ns
        self.results: list[Manifest] = []
        self.of_run: dict[str, Manifest] = {}
        self.kills = 0

    @property
    def table(self) -> Manifest:
        return self.ns.get(TABLES, "orders")

    def live(self, *results: Manifest, until: Callable[[Story], bool]) -> None:
        """Runs an operator that is not killed."""
        self.results += results
        self.proxy.disarm()
        operator = self.replicas.add()
        self._wait(until, lambda: None)
        operator.kill()
        self.replicas.delete_lease()

    def kill_at_each_write(self, *results: Manifest, until: Callable[[Story], bool]) -> list[str]:
        """Runs operators, each of which ends after its first write. Returns the writes."""
        self.results += results
        before = len(self.proxy.writes)
        self._start()
        self._wait(until, self._restart)
        self.replicas.newest.kill()
        self.replicas.delete_lease()
        return self.proxy.writes[before:]

    def _wait(self, until: Callable[[Story], bool], each: Callable[[], None]) -> None:
        def reached() -> bool:
            each()
            for pod in self.ns.pods():
                self._act_as_kubelet(pod)
            return until(self)

        self.ns.wait(reached, "the end of the story", operator=self.replicas.newest)

    def _start(self) -> None:
        operator = self.replicas.add()
        self.proxy.arm(operator.kill)

    def _restart(self) -> None:
        if self.proxy.has_killed:
            self.kills += 1
            assert self.kills < MOST_KILLS, self.proxy.writes
            self.replicas.delete_lease()
            self._start()

    def _act_as_kubelet(self, pod: Pod) -> None:
        """Starts the Pod, and ends it once its run has recorded the start."""
        if not pod.is_active:
            return
        if pod.phase == "Pending":
            self.ns.run_pod(pod)
        elif self.ns.get(RUNS, pod.run)["status"].get("phase") == "Running":
            if pod.run not in self.of_run:
                self.of_run[pod.run] = self.results.pop(0)
            self.ns.succeed(pod, **self.of_run[pod.run])


def is_settled(story: Story) -> bool:
    """Whether the table is Ready for its current manifest, no run is active, and all runs are released."""
    table = story.table
    status: Manifest = table.get("status") or {}
    current = status.get("observedGeneration") == table["metadata"]["generation"]
    if not current or "activeRun" in status or conditions(table)["Ready"]["status"] != "True":
        return False
    return not any(run["metadata"].get("finalizers") for run in story.ns.all(RUNS))


def has_done(partitions: int) -> Callable[[Story], bool]:
    """Whether the status shows that so many partitions are rescaled."""
    return lambda story: bool(story.table["status"].get("rescale", {}).get("done") == partitions)


@pytest.fixture(scope="class")
def story(
    api_server: ApiServer, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Story]:
    """A Ready table with 2 buckets, without an operator."""
    ns = NamespaceClient(api_server.kubeconfig, f"each-write-{request.cls.__name__.lower()}")
    replicas = Replicas(api_server, ns, tmp_path_factory.mktemp("operators"))
    with killing_proxy(api_server) as proxy:
        replicas.rights.kubeconfig = proxy.kubeconfig(replicas.rights.kubeconfig)
        ns.create_catalog()
        policy = {"successfulRunsHistoryLimit": 20}
        ns.create(keyed_table(spec__writes=REMOVED, spec__bucket=bucket(2), spec__runPolicy=policy))
        made = Story(replicas, proxy)
        made.live({"table": measure(2), "created": True}, until=is_settled)
        yield made
        replicas.close()
    ns.close()


def bucket(count: int) -> Manifest:
    return {"type": "Fixed", "fixed": {"count": count, "onCountChange": "Rescale"}}


def runs_of(story: Story) -> list[str]:
    """Types of all runs, which must have succeeded at their first attempt."""
    runs = sorted(story.ns.all(RUNS), key=lambda run: (run["metadata"]["creationTimestamp"], run["spec"]["type"]))
    assert all(run["status"]["phase"] == "Succeeded" and len(run["status"]["attempts"]) == 1 for run in runs)
    return [run["spec"]["type"] for run in runs]


class TestAnEditOfTheSchema:
    def test_it_ends_in_the_declared_state_after_a_kill_at_each_write(self, story: Story) -> None:
        columns: list[Any] = [*story.table["spec"]["schema"]["columns"], {"name": "more", "type": "INT"}]
        story.ns.patch(TABLES, "orders", {"spec": {"schema": {"columns": columns}}})

        made = story.kill_at_each_write({"table": measure(2) | {"schemaId": 1}, "created": False}, until=is_settled)

        assert set(made) >= WRITES_OF_A_RUN, made
        assert story.kills >= len(WRITES_OF_A_RUN)
        assert runs_of(story) == ["Provision", "Provision"]
        status = story.table["status"]
        assert status["table"]["schemaId"] == 1
        assert "plan" not in status
        assert not any(pod.finalizers for pod in story.ns.pods()), "a run is released after its Pod"


@pytest.mark.long
class TestARescale:
    """Two runs rewrite the partitions, and a third one verifies the table. A run may be released in the next."""

    def test_its_first_run(self, story: Story) -> None:
        story.ns.patch(TABLES, "orders", {"spec": {"bucket": bucket(8)}})
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
        assert runs_of(story) == ["Provision", "Rescale", "Rescale", "Provision"]
        status = story.table["status"]
        assert (status["table"]["bucketCount"], status["rescale"].get("unfinished")) == (8, None)
        assert "WritesPaused" not in conditions(story.table)
        assert not any(pod.finalizers for pod in story.ns.pods()), "a run is released after its Pod"
