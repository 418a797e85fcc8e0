"""SIGKILL of the operator at marked points of a run's life. Afterwards: one run, one Pod, one result, the right status.

The points are placed from outside: the right to take the next step is withdrawn, the process is killed where it is
stuck, the right is given back, and a new process goes on. The operator runs as the chart's service account.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kubernetes import client

from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.rights import RELEASE, Rights
from tests.apiserver.stage import RUNS, TABLES, Stage
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, keyed_table


class Play:
    """A stage with the operator's rights, on which one operator follows the other."""

    def __init__(self, server: ApiServer, namespace: str, logs: Path) -> None:
        self.stage = Stage(server.kubeconfig, namespace)
        self.rights = Rights(server, self.stage)
        self._logs = logs
        self.operators: list[OperatorProcess] = []

    def start(self) -> OperatorProcess:
        settings = self.rights.environment()
        for own in ("watch_namespaces", "health_port", "metrics_port", "spark_images"):
            settings.pop(own)
        operator = OperatorProcess(
            self.rights.kubeconfig,
            self._logs,
            namespaces=[self.stage.namespace],
            lease_namespace=self.stage.namespace,
            name=f"operator-{len(self.operators)}",
            **settings,
        )
        self.operators.append(operator)
        return operator.start()

    def kill(self) -> None:
        """SIGKILL, and the end of a Lease that would stand for 15 s more: waiting for it is another test's matter."""
        self.operators[-1].kill()
        client.CoordinationV1Api(self.stage.client).delete_namespaced_lease(RELEASE, self.stage.namespace)

    def close(self) -> None:
        for operator in self.operators:
            operator.__exit__(None, None, None)
        self.rights.close()
        self.stage.close()


@pytest.fixture
def play(api_server: ApiServer, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Play]:
    play = Play(api_server, f"killed-{request.node.callspec.id}", tmp_path)
    yield play
    play.close()


def run_named(play: Play) -> None:
    """The table's status names the run; the run is not made."""
    with play.rights.without("create", "paimonruns"):
        _begin(play)
        play.stage.wait(lambda: play.stage.get(TABLES, "orders")["status"].get("activeRun"), "a named run")
        play.stage.wait_for_event("NotPermitted")
        assert play.stage.all(RUNS) == []
        play.kill()
    play.start()
    _end(play)


def intent_written(play: Play) -> None:
    """The attempt is written down; its Pod is not made."""
    with play.rights.without("create", "pods"):
        _begin(play)
        play.stage.wait(lambda: _attempts(play), "a written attempt")
        assert play.stage.pods() == []
        play.kill()
    play.start()
    _end(play)


def pod_created(play: Play) -> None:
    """The Pod is there; the run's status does not know it."""
    with play.rights.without("get", "pods"):
        _begin(play)
        play.stage.wait(play.stage.pods, "a Pod")
        assert [attempt.get("podUid") for attempt in _attempts(play)] == [None]
        play.kill()
    play.start()
    _end(play)


def pod_running(play: Play) -> None:
    """The container runs, and goes on running while there is no operator."""
    _begin(play)
    play.stage.run_pod(play.stage.wait_for_pod())
    play.stage.wait(lambda: _phase(play) == "Running", "the run Running")
    play.kill()
    play.start()
    _end(play)


def pod_finished(play: Play) -> None:
    """The container ends while there is no operator."""
    _begin(play)
    pod = play.stage.wait_for_pod()
    play.stage.run_pod(pod)
    play.stage.wait(lambda: _phase(play) == "Running", "the run Running")
    play.kill()
    play.stage.succeed(pod)
    play.start()
    _end(play, finish=False)


def end_stored(play: Play) -> None:
    """The run's result is stored; its Pod is not let go."""
    _begin(play)
    pod = play.stage.wait_for_pod()
    play.stage.run_pod(pod)
    play.stage.wait(lambda: _phase(play) == "Running", "the run Running")
    with play.rights.without("patch", "pods"):
        play.stage.succeed(pod)
        play.stage.wait(lambda: _phase(play) == "Succeeded", "the run Succeeded")
        assert not _released(play)
        play.kill()
        assert all(pod.metadata.finalizers for pod in play.stage.pods())
    play.start()
    _end(play, finish=False)


def status_written(play: Play) -> None:
    """The run's result is stored; the table's status does not have it."""
    _begin(play)
    pod = play.stage.wait_for_pod()
    play.stage.run_pod(pod)
    play.stage.wait(lambda: _phase(play) == "Running", "the run Running")
    with play.rights.without("patch", "paimontables/status"):
        play.stage.succeed(pod)
        play.stage.wait(lambda: _phase(play) == "Succeeded", "the run Succeeded")
        assert play.stage.get(TABLES, "orders")["status"]["activeRun"]
        play.kill()
    play.start()
    _end(play, finish=False)


POINTS = [run_named, intent_written, pod_created, pod_running, pod_finished, end_stored, status_written]


@pytest.mark.parametrize("point", POINTS, ids=[point.__name__.replace("_", "-") for point in POINTS])
def test_killed_at_a_point_of_a_runs_life_the_next_process_ends_it_once(
    play: Play, point: Callable[[Play], None]
) -> None:
    play.stage.create_catalog()
    play.start()
    point(play)

    stage = play.stage
    (run,) = stage.all(RUNS)
    (pod,) = stage.pods()
    (attempt,) = run["status"]["attempts"]
    assert (run["spec"]["type"], run["status"]["phase"]) == ("Provision", "Succeeded")
    assert (attempt["pod"], attempt["podUid"]) == (pod.metadata.name, pod.metadata.uid)
    status = stage.get(TABLES, "orders")["status"]
    assert "activeRun" not in status
    assert status["provision"]["lastRun"] == run["metadata"]["name"]


def _begin(play: Play) -> None:
    play.operators[-1].wait_until_working()
    play.stage.create(keyed_table(spec__writes=REMOVED))


def _end(play: Play, *, finish: bool = True) -> None:
    """The new process brings the table to Ready; the test ends the Pod if it has not ended."""
    if finish:
        pod = play.stage.wait_for_pod()
        play.stage.run_pod(pod)
        play.stage.wait(lambda: _phase(play) == "Running", "the run Running", operator=play.operators[-1])
        play.stage.succeed(pod)
    play.stage.wait_for_condition(TABLES, "orders", "Ready", "True")
    play.stage.wait(lambda: _released(play), "the run without its finalizer", operator=play.operators[-1])
    assert not any(pod.metadata.finalizers for pod in play.stage.pods()), "a run goes after its Pod was let go"


def _attempts(play: Play) -> list[dict[str, object]]:
    return [attempt for run in play.stage.all(RUNS) for attempt in run["status"].get("attempts", [])]


def _phase(play: Play) -> str:
    (run,) = play.stage.all(RUNS)
    return str(run["status"].get("phase"))


def _released(play: Play) -> bool:
    return all(not run["metadata"].get("finalizers") for run in play.stage.all(RUNS))
