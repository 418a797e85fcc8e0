"""Driver Pods that somebody deletes, or whose node is gone: no second driver before the first has ended.

The test is the kubelet, the scheduler and the garbage collector of Pods.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator

import pytest
from kubernetes import client

from paimon_operator.core.naming import FINALIZER
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.stage import RUNS, TABLES, Stage, conditions
from tests.cluster import programs
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, Manifest, edited, keyed_table


@pytest.fixture(scope="module")
def stage(api_server: ApiServer) -> Iterator[Stage]:
    stage = Stage(api_server.kubeconfig, "pods")
    stage.create_catalog()
    yield stage
    stage.close()


@pytest.fixture(scope="module", autouse=True)
def operator(
    api_server: ApiServer, stage: Stage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OperatorProcess]:
    logs = tmp_path_factory.mktemp("operator")
    with OperatorProcess(
        api_server.kubeconfig, logs, namespaces=[stage.namespace], lease_namespace=stage.namespace
    ) as operator:
        yield operator.wait_until_working()
        assert operator.errors() == []


def started(stage: Stage, name: str) -> client.V1Pod:
    """The Pod of a new table's first run."""
    stage.create(edited(keyed_table(spec__writes=REMOVED), metadata__name=name))
    return stage.wait_for_pod(of=name)


def at_work(stage: Stage, name: str) -> client.V1Pod:
    """The same, when the operator has seen it run."""
    pod = started(stage, name)
    stage.run_pod(pod)
    stage.wait(lambda: run_of(stage, pod)["status"]["phase"] == "Running", "the run Running")
    return pod


def run_of(stage: Stage, pod: client.V1Pod) -> Manifest:
    return stage.get(RUNS, stage.run_of(pod)[0])


def said(stage: Stage, pod: client.V1Pod, words: str) -> str:
    """What the run says, once it says these words."""

    def message() -> str | None:
        told = conditions(run_of(stage, pod))["Succeeded"]["message"]
        return told if words in told else None

    return stage.wait(message, words) or ""


def pods_of(stage: Stage, pod: client.V1Pod) -> list[str]:
    label = "paimon-operator.dev/table"
    return [each.metadata.name for each in stage.pods() if each.metadata.labels[label] == pod.metadata.labels[label]]


def settled(stage: Stage, pod: client.V1Pod) -> Manifest:
    """The run, when it has ended and nothing is held any more."""
    run = stage.wait(lambda: _free(run_of(stage, pod)), "a run without finalizer")
    assert not any(each.metadata.finalizers for each in stage.pods() if each.metadata.name in pods_of(stage, pod))
    return run


def _free(item: Manifest) -> Manifest | None:
    return None if item["metadata"].get("finalizers") else item


def reasons(run: Manifest) -> list[str | None]:
    return [attempt.get("reason") for attempt in run["status"]["attempts"]]


def test_a_pod_that_was_deleted_by_force_is_waited_for_until_its_kubelet_has_stopped_it(stage: Stage) -> None:
    pod = at_work(stage, "forced")
    stage.delete_pod(pod, force=True)
    said(stage, pod, "being deleted by someone else")
    assert pods_of(stage, pod) == [pod.metadata.name]
    stage.end_pod(pod, exit_code=143, message="")
    second = stage.wait_for_pod(of="forced")
    assert second.metadata.name == f"{stage.run_of(pod)[0]}-2"
    assert stage.find_pod(pod) is None
    stage.succeed(second)
    assert reasons(settled(stage, second)) == ["PodLost", None]


def test_the_result_of_a_pod_that_was_deleted_while_it_ended_is_read(stage: Stage) -> None:
    pod = at_work(stage, "graceful")
    stage.delete_pod(pod)
    stage.succeed(pod)
    stage.delete_pod(pod, force=True)
    run = settled(stage, pod)
    assert (run["status"]["phase"], reasons(run)) == ("Succeeded", [None])
    stage.wait(lambda: stage.find_pod(pod) is None, "the Pod gone")


def test_a_pod_that_is_deleted_before_a_node_took_it_holds_nothing_up(stage: Stage) -> None:
    pod = started(stage, "unbound")
    stage.delete_pod(pod)
    second = stage.wait_for_pod(of="unbound")
    assert (second.metadata.name[-2:], stage.find_pod(pod)) == ("-2", None)
    stage.succeed(second)
    assert reasons(settled(stage, second)) == ["PodLost", None]


def test_while_a_node_is_silent_the_run_waits_and_the_way_out_that_it_tells_works(stage: Stage) -> None:
    pod = at_work(stage, "silent")
    collected = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC", "message": "no node"}
    status = {"status": {"phase": "Failed", "conditions": [collected]}}
    stage.core.patch_namespaced_pod_status(pod.metadata.name, stage.namespace, status)
    stage.delete_pod(pod, force=True)
    message = said(stage, pod, "is silent; a driver may still be running there")
    assert (run_of(stage, pod)["status"]["phase"], pods_of(stage, pod)) == ("Running", [pod.metadata.name])
    assert stage.wait_for_condition(TABLES, "silent", "Stalled", "True", "NodeSilent")["message"].endswith(message)

    (kubectl,) = programs.build(["kubectl"])
    for command in re.findall(r"kubectl ([^;]+)", message):
        kubeconfig = f"--kubeconfig={stage.kubeconfig}"
        subprocess.run([str(kubectl), kubeconfig, *shlex.split(command)], check=True, capture_output=True)

    second = stage.wait_for_pod(of="silent")
    assert (second.metadata.name[-2:], stage.find_pod(pod)) == ("-2", None)
    stage.succeed(second)
    assert reasons(settled(stage, second)) == ["PodLost", None]


def test_a_cancelled_run_waits_for_its_pod_and_both_go(stage: Stage) -> None:
    pod = at_work(stage, "cancelled")
    stage.patch(TABLES, "cancelled", {"spec": {"suspend": True}})
    run = stage.run_of(pod)[0]
    stage.delete(RUNS, run)
    stage.wait(lambda: _now(stage, pod).metadata.deletion_timestamp, "the Pod asked to go")
    assert stage.find(RUNS, run) is not None
    stage.end_pod(pod, exit_code=143, message="")
    stage.delete_pod(pod, force=True)
    stage.wait(lambda: stage.find(RUNS, run) is None, "the run gone")
    assert stage.find_pod(pod) is None


def test_a_pod_that_comes_after_its_run_has_ended_is_taken_away(stage: Stage) -> None:
    pod = started(stage, "late")
    stage.succeed(pod)
    settled(stage, pod)
    body = client.ApiClient().sanitize_for_serialization(pod)
    stage.delete_pod(pod)
    stage.wait(lambda: stage.find_pod(pod) is None, "its history gone")

    kept = {key: body["metadata"][key] for key in ("name", "labels", "ownerReferences", "finalizers")}
    late = stage.core.create_namespaced_pod(stage.namespace, {**body, "metadata": kept, "status": None})

    assert late.metadata.finalizers == [FINALIZER]
    stage.wait(lambda: stage.find_pod(late) is None, "the late Pod gone")


def test_a_pod_whose_run_was_freed_by_hand_is_let_go_when_it_has_ended(stage: Stage) -> None:
    pod = at_work(stage, "orphan")
    run = stage.run_of(pod)[0]
    stage.patch(TABLES, "orphan", {"spec": {"suspend": True}})
    stage.core.patch_namespaced_pod(
        pod.metadata.name, stage.namespace, {"metadata": {"finalizers": [FINALIZER, "test.example/hold"]}}
    )
    stage.delete(RUNS, run)
    stage.patch(RUNS, run, {"metadata": {"finalizers": None}})
    stage.wait(lambda: stage.find(RUNS, run) is None, "the run gone")
    assert FINALIZER in _now(stage, pod).metadata.finalizers
    stage.end_pod(pod, exit_code=143, message="")
    stage.wait(lambda: _now(stage, pod).metadata.finalizers == ["test.example/hold"], "the Pod let go")
    stage.core.patch_namespaced_pod(pod.metadata.name, stage.namespace, {"metadata": {"finalizers": None}})


def test_no_other_run_makes_a_pod_while_the_driver_of_a_run_that_was_freed_by_hand_is_at_work(stage: Stage) -> None:
    pod = at_work(stage, "freed")
    run = stage.run_of(pod)[0]
    stage.delete(RUNS, run)
    stage.patch(RUNS, run, {"metadata": {"finalizers": None}})

    stage.wait(lambda: stage.find(RUNS, run) is None, "the run gone")
    stage.patch(TABLES, "freed", {"spec": {"options": {"file.compression": "lz4"}}})  # does not wait for the next try

    words = f"pod {pod.metadata.name} of another run of the table must end first"
    stage.wait(lambda: [each for each in stage.all(RUNS) if words in str(each.get("status"))], "a run that waits")
    assert pods_of(stage, pod) == [pod.metadata.name]

    stage.end_pod(pod, exit_code=143, message="")
    stage.delete_pod(pod, force=True)
    stage.wait(lambda: pod.metadata.name not in (now := pods_of(stage, pod)) and len(now) == 1, "the next Pod, alone")


def test_a_namespace_with_a_driver_at_work_goes_once_the_driver_has_ended(
    api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stage = Stage(api_server.kubeconfig, "going-with-a-pod")
    stage.create_catalog()
    logs = tmp_path_factory.mktemp("operator-of-a-namespace-that-goes")
    with OperatorProcess(
        api_server.kubeconfig, logs, namespaces=[stage.namespace], lease_namespace="default"
    ) as operator:
        operator.wait_until_working()
        pod = at_work(stage, "orders")
        stage.core.delete_namespace(stage.namespace)
        stage.wait(lambda: _now(stage, pod).metadata.deletion_timestamp, "the Pod asked to go")
        stage.end_pod(pod, exit_code=143, message="")
        stage.delete_pod(pod, force=True)
        left = lambda: [space.metadata.name for space in stage.core.list_namespace().items]  # noqa: E731
        stage.wait(lambda: stage.namespace not in left(), "the namespace gone", operator=operator)


def _now(stage: Stage, pod: client.V1Pod) -> client.V1Pod:
    return stage.core.read_namespaced_pod(pod.metadata.name, stage.namespace)
