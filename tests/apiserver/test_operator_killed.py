"""SIGKILL of the operator at marked points of a run. Afterwards: one run, one Pod, one result, the right status.

Each point is reached from outside: the test withdraws the right to the next step, kills the process that is blocked by
it, grants the right again and starts a new process. The operator runs as the chart's service account.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.apiserver.namespace_client import RUNS, TABLES, NamespaceClient
from tests.apiserver.pod import Pod
from tests.apiserver.replicas import Replicas
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, keyed_table


@pytest.fixture
def replicas(api_server: ApiServer, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Replicas]:
    """The operators of a new namespace, started one after the other."""
    ns = NamespaceClient(api_server.kubeconfig, f"killed-{request.node.callspec.id}")
    replicas = Replicas(api_server, ns, tmp_path)
    yield replicas
    replicas.close()
    ns.close()


def run_named(replicas: Replicas) -> None:
    """The table's status names the run, which does not exist."""
    with replicas.rights.without("create", "paimonruns"):
        _begin(replicas)
        replicas.ns.wait(lambda: replicas.ns.get(TABLES, "orders")["status"].get("activeRun"), "a named run")
        replicas.ns.wait_for_event("NotPermitted")
        assert replicas.ns.all(RUNS) == []
        replicas.kill_newest()
    replicas.add()
    _end(replicas)


def intent_written(replicas: Replicas) -> None:
    """The run's status has the attempt, whose Pod does not exist."""
    with replicas.rights.without("create", "pods"):
        _begin(replicas)
        replicas.ns.wait(lambda: _attempts(replicas), "a written attempt")
        assert replicas.ns.pods() == []
        replicas.kill_newest()
    replicas.add()
    _end(replicas)


def pod_created(replicas: Replicas) -> None:
    """The Pod exists; the run's status does not have its uid."""
    with replicas.rights.without("get", "pods"):
        _begin(replicas)
        replicas.ns.wait(replicas.ns.pods, "a Pod")
        assert [attempt.get("podUid") for attempt in _attempts(replicas)] == [None]
        replicas.kill_newest()
    replicas.add()
    _end(replicas)


def pod_running(replicas: Replicas) -> None:
    """The container runs, also while no operator runs."""
    _begin_running(replicas)
    replicas.kill_newest()
    replicas.add()
    _end(replicas)


def pod_finished(replicas: Replicas) -> None:
    """The container ends while no operator runs."""
    pod = _begin_running(replicas)
    replicas.kill_newest()
    replicas.ns.succeed(pod)
    replicas.add()
    _end(replicas, finish=False)


def end_stored(replicas: Replicas) -> None:
    """The run's result is stored; its Pod is not released."""
    pod = _begin_running(replicas)
    with replicas.rights.without("patch", "pods"):
        replicas.ns.succeed(pod)
        replicas.ns.wait(lambda: _phase(replicas) == "Succeeded", "the run Succeeded")
        assert not _released(replicas)
        replicas.kill_newest()
        assert all(pod.finalizers for pod in replicas.ns.pods())
    replicas.add()
    _end(replicas, finish=False)


def status_written(replicas: Replicas) -> None:
    """The run's result is stored; the table's status does not have it."""
    pod = _begin_running(replicas)
    with replicas.rights.without("patch", "paimontables/status"):
        replicas.ns.succeed(pod)
        replicas.ns.wait(lambda: _phase(replicas) == "Succeeded", "the run Succeeded")
        assert replicas.ns.get(TABLES, "orders")["status"]["activeRun"]
        replicas.kill_newest()
    replicas.add()
    _end(replicas, finish=False)


POINTS = [run_named, intent_written, pod_created, pod_running, pod_finished, end_stored, status_written]
IN_EVERY_RUN = [intent_written, pod_created, end_stored]
"""Points at which something is written that its owner does not know yet. The unit tests kill at every write."""


def _row(point: Callable[[Replicas], None]) -> ParameterSet:
    marks = () if point in IN_EVERY_RUN else pytest.mark.long
    return pytest.param(point, id=point.__name__.replace("_", "-"), marks=marks)


@pytest.mark.parametrize("point", [_row(point) for point in POINTS])
def test_after_a_kill_at_any_point_of_a_run_the_next_process_completes_it_once(
    replicas: Replicas, point: Callable[[Replicas], None]
) -> None:
    replicas.ns.create_catalog()
    replicas.add()
    point(replicas)

    ns = replicas.ns
    (run,) = ns.all(RUNS)
    (pod,) = ns.pods()
    (attempt,) = run["status"]["attempts"]
    assert (run["spec"]["type"], run["status"]["phase"]) == ("Provision", "Succeeded")
    assert (attempt["pod"], attempt["podUid"]) == (pod.name, pod.uid)
    status = ns.get(TABLES, "orders")["status"]
    assert "activeRun" not in status
    assert status["provision"]["lastRun"] == run["metadata"]["name"]


def _begin(replicas: Replicas) -> None:
    """Creates a table once the operator leads."""
    replicas.newest.wait_until_working()
    replicas.ns.create(keyed_table(spec__writes=REMOVED))


def _begin_running(replicas: Replicas) -> Pod:
    """Creates a table and returns the Pod of its run once the run is Running."""
    _begin(replicas)
    pod = replicas.ns.wait_for_pod()
    _run(replicas, pod)
    return pod


def _run(replicas: Replicas, pod: Pod) -> None:
    replicas.ns.run_pod(pod)
    replicas.ns.wait(lambda: _phase(replicas) == "Running", "the run Running", operator=replicas.newest)


def _end(replicas: Replicas, *, finish: bool = True) -> None:
    """Waits until the new process has made the table Ready; with `finish` the test runs and ends the Pod."""
    if finish:
        pod = replicas.ns.wait_for_pod()
        _run(replicas, pod)
        replicas.ns.succeed(pod)
    replicas.ns.wait_for_condition(TABLES, "orders", "Ready", "True")
    replicas.ns.wait(lambda: _released(replicas), "the run without its finalizer", operator=replicas.newest)
    assert not any(pod.finalizers for pod in replicas.ns.pods()), "the run is released after its Pod"


def _attempts(replicas: Replicas) -> list[dict[str, object]]:
    return [attempt for run in replicas.ns.all(RUNS) for attempt in run["status"].get("attempts", [])]


def _phase(replicas: Replicas) -> str:
    (run,) = replicas.ns.all(RUNS)
    return str(run["status"].get("phase"))


def _released(replicas: Replicas) -> bool:
    return all(not run["metadata"].get("finalizers") for run in replicas.ns.all(RUNS))
