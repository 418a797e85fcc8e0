"""The story of one table whose operator is killed after each write.

Each process lives until its first write is stored, so every gap between two writes is one between two processes. The
test acts as the kubelet: the drivers' results are scripted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from paimon_contract.exit_codes import ExitCode
from tests.apiserver.forked_operator import ForkedOperator
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
KEPT_RUNS = {"successfulRunsHistoryLimit": 20}


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

    @property
    def status(self) -> Manifest:
        status: Manifest = self.table.get("status") or {}
        return status

    def edit(self, **spec: object) -> None:
        """A user edits the manifest, while no operator runs."""
        self.ns.patch(TABLES, "orders", {"spec": spec})

    def live(self, *results: Manifest, until: Callable[[Story], bool]) -> None:
        """Runs an operator that is not killed."""
        self.results += results
        self.proxy.disarm()
        operator = self.replicas.add()
        self._reaches(until)
        operator.kill()
        self.replicas.delete_lease()

    def kill_at_each_write(self, *results: Manifest, until: Callable[[Story], bool]) -> list[str]:
        """Runs operators, each of which ends after its first write. Returns the writes."""
        self.results += results
        before = len(self.proxy.writes)
        self._start()
        while not self._reaches(until):
            self.kills += 1
            assert self.kills < MOST_KILLS, self.proxy.writes
            self.replicas.delete_lease()
            self._start()
        self.replicas.newest.kill()
        self.replicas.delete_lease()
        return self.proxy.writes[before:]

    def _reaches(self, until: Callable[[Story], bool]) -> bool:
        """Whether the story ends before the newest operator: each one has its own time."""

        def turn() -> str:
            self._act_as_kubelet()
            return "ended" if until(self) else "killed" if self.proxy.has_killed else ""

        return self.ns.wait(turn, "the end of the story", operator=self.replicas.newest) == "ended"

    def _start(self) -> None:
        operator = self.replicas.add()
        self.proxy.arm(operator.kill)

    def _act_as_kubelet(self) -> None:
        """Starts the Pod, and ends it once its run has recorded the start. No Pod ends otherwise."""
        active = [pod for pod in self.ns.pods() if pod.is_active]
        assert len(active) <= 1, f"two drivers at once: {[pod.name for pod in active]}"
        for pod in active:
            if pod.phase == "Pending":
                self.ns.run_pod(pod)
            elif self.ns.get(RUNS, pod.run)["status"].get("phase") == "Running":
                self._end(pod)

    def _end(self, pod: Pod) -> None:
        """Ends the Pod with the result of its run; one with an `error` is that of a wrong manifest."""
        if pod.run not in self.of_run:
            self.of_run[pod.run] = self.results.pop(0)
        result = self.of_run[pod.run]
        if "error" in result:
            self.ns.end_with_error(pod, exit_code=ExitCode.SPEC, **result)
        else:
            self.ns.succeed(pod, **result)


def is_settled(story: Story) -> bool:
    """Whether the table is Ready for its current manifest, no run is active, and all runs are released."""
    table = story.table
    status: Manifest = table.get("status") or {}
    current = status.get("observedGeneration") == table["metadata"]["generation"]
    if not current or "activeRun" in status or conditions(table)["Ready"]["status"] != "True":
        return False
    return not any(run["metadata"].get("finalizers") for run in story.ns.all(RUNS))


def runs_of(story: Story) -> list[Manifest]:
    """All runs in order, which must have ended at their first attempt, with one Pod each.

    Of the runs that were made within a second, the first one to end comes first.
    """
    runs = story.ns.all(RUNS)
    runs.sort(key=lambda run: (run["metadata"]["creationTimestamp"], int(run["metadata"]["resourceVersion"])))
    assert all(len(run["status"]["attempts"]) == 1 for run in runs)
    assert story.proxy.writes.count("POST pods") == len(runs)
    return runs


def job_of_last(story: Story) -> Manifest:
    """The job of the last run."""
    last = runs_of(story)[-1]["metadata"]["name"]
    (pod,) = [each for each in story.ns.pods() if each.run == last]
    return story.ns.read_job(pod)


def ends_of(story: Story) -> list[tuple[str, str]]:
    """Types and phases of all runs."""
    return [(run["spec"]["type"], run["status"]["phase"]) for run in runs_of(story)]


def types_of(story: Story) -> list[str]:
    """Types of all runs, which must have succeeded."""
    ends = ends_of(story)
    assert {phase for _, phase in ends} == {"Succeeded"}, ends
    return [type_ for type_, _ in ends]


@contextmanager
def telling(
    server: ApiServer, namespace: str, logs: Path, *, catalog: Manifest | None = None, **table: object
) -> Iterator[Story]:
    """A new namespace without an operator. `catalog` and `table` are edits of the usual manifests."""
    ns = NamespaceClient(server.kubeconfig, namespace)
    replicas = Replicas(server, ns, logs, process=ForkedOperator)
    with killing_proxy(server) as proxy:
        replicas.rights.kubeconfig = proxy.kubeconfig(replicas.rights.kubeconfig)
        ns.create_catalog(**catalog or {})
        ns.create(keyed_table(spec__writes=REMOVED, spec__runPolicy=KEPT_RUNS, **table))
        yield Story(replicas, proxy)
        replicas.close()
    ns.close()
