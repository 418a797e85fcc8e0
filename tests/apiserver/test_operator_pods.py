"""Driver Pods that someone deletes, or whose node fails: no second driver starts before the first has ended.

The test plays the kubelet, the scheduler and the garbage collector of Pods.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest

from paimon_operator.core.naming import FINALIZER
from tests.apiserver.api import Body, kubectl, namespace_names
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.pod import Pod
from tests.apiserver.replicas import stage_with_operator
from tests.apiserver.stage import RUNS, TABLES, Stage, conditions, if_released
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, Manifest, edited, keyed_table


@pytest.fixture(scope="module", autouse=True)
def stage(api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage_with_operator(api_server, "pods", tmp_path_factory.mktemp("operator")) as stage:
        yield stage


def start_driver(stage: Stage, table: str) -> Pod:
    """Creates a table and returns the Pod of its first run."""
    stage.create(edited(keyed_table(spec__writes=REMOVED), metadata__name=table))
    return stage.wait_for_pod(of=table)


def start_running_driver(stage: Stage, table: str) -> Pod:
    """Creates a table and returns the Pod of its first run, which the operator knows to be running."""
    pod = start_driver(stage, table)
    stage.run_pod(pod)
    stage.wait(lambda: run_of(stage, pod)["status"]["phase"] == "Running", "the run Running")
    return pod


def run_of(stage: Stage, pod: Pod) -> Manifest:
    return stage.get(RUNS, pod.run)


def wait_for_message(stage: Stage, pod: Pod, words: str) -> str:
    """Returns the message of the run's condition once it contains these words."""

    def message() -> str | None:
        text: str = conditions(run_of(stage, pod))["Succeeded"]["message"]
        return text if words in text else None

    return stage.wait(message, words)


def pods_of_table(stage: Stage, pod: Pod) -> list[str]:
    """Returns the names of all Pods of the same table."""
    return [each.name for each in stage.pods() if each.table == pod.table]


def wait_until_released(stage: Stage, pod: Pod) -> Manifest:
    """Returns the Pod's run once neither the run nor a Pod of the table has a finalizer."""
    run = stage.wait(lambda: if_released(run_of(stage, pod)), "a run without finalizer")
    assert not any(each.finalizers for each in stage.pods() if each.table == pod.table)
    return run


def reasons(run: Manifest) -> list[str | None]:
    return [attempt.get("reason") for attempt in run["status"]["attempts"]]


def test_a_pod_deleted_by_force_has_no_successor_until_its_kubelet_has_stopped_it(stage: Stage) -> None:
    pod = start_running_driver(stage, "forced")
    stage.delete_pod(pod, force=True)
    wait_for_message(stage, pod, "being deleted by someone else")
    assert pods_of_table(stage, pod) == [pod.name]
    stage.end_pod(pod, exit_code=143, message="")
    second = stage.wait_for_pod(of="forced")
    assert second.name == f"{pod.run}-2"
    assert stage.find_pod(pod) is None
    stage.succeed(second)
    assert reasons(wait_until_released(stage, second)) == ["PodLost", None]


def test_the_result_of_a_pod_deleted_during_its_end_is_read(stage: Stage) -> None:
    pod = start_running_driver(stage, "graceful")
    stage.delete_pod(pod)
    stage.succeed(pod)
    stage.delete_pod(pod, force=True)
    run = wait_until_released(stage, pod)
    assert (run["status"]["phase"], reasons(run)) == ("Succeeded", [None])
    stage.wait(lambda: stage.find_pod(pod) is None, "the deletion of the Pod")


def test_a_pod_deleted_before_it_was_bound_blocks_nothing(stage: Stage) -> None:
    pod = start_driver(stage, "unbound")
    stage.delete_pod(pod)
    second = stage.wait_for_pod(of="unbound")
    assert (second.name[-2:], stage.find_pod(pod)) == ("-2", None)
    stage.succeed(second)
    assert reasons(wait_until_released(stage, second)) == ["PodLost", None]


def test_while_a_node_is_silent_the_run_waits_and_the_override_in_its_message_works(stage: Stage) -> None:
    pod = start_running_driver(stage, "silent")
    collected = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC", "message": "no node"}
    status = {"status": {"phase": "Failed", "conditions": [collected]}}
    stage.core.patch_namespaced_pod_status(pod.name, stage.namespace, status)
    stage.delete_pod(pod, force=True)
    message = wait_for_message(stage, pod, "is silent; a driver may still be running there")
    assert (run_of(stage, pod)["status"]["phase"], pods_of_table(stage, pod)) == ("Running", [pod.name])
    assert stage.wait_for_condition(TABLES, "silent", "Stalled", "True", "NodeSilent")["message"].endswith(message)

    for command in re.findall(r"kubectl ([^;]+)", message):
        kubectl(stage.kubeconfig, *shlex.split(command))

    second = stage.wait_for_pod(of="silent")
    assert (second.name[-2:], stage.find_pod(pod)) == ("-2", None)
    stage.succeed(second)
    assert reasons(wait_until_released(stage, second)) == ["PodLost", None]


def test_a_cancelled_run_is_deleted_after_its_pod(stage: Stage) -> None:
    pod = start_running_driver(stage, "cancelled")
    stage.patch(TABLES, "cancelled", {"spec": {"suspend": True}})
    stage.delete(RUNS, pod.run)
    stage.wait(lambda: stage.read_pod(pod).is_terminating, "a terminating Pod")
    assert stage.find(RUNS, pod.run) is not None
    stage.end_pod(pod, exit_code=143, message="")
    stage.delete_pod(pod, force=True)
    wait_until_deleted(stage, pod.run)
    assert stage.find_pod(pod) is None


def test_a_pod_created_after_the_end_of_its_run_is_deleted(stage: Stage) -> None:
    pod = start_driver(stage, "late")
    stage.succeed(pod)
    wait_until_released(stage, pod)
    stage.delete_pod(pod)
    stage.wait(lambda: stage.find_pod(pod) is None, "the deletion of the ended Pod")

    kept = {key: pod.manifest["metadata"][key] for key in ("name", "labels", "ownerReferences", "finalizers")}
    body: Body = {**pod.manifest, "metadata": kept, "status": None}
    late = Pod.of(stage.core.create_namespaced_pod(stage.namespace, body))

    assert late.finalizers == [FINALIZER]
    stage.wait(lambda: stage.find_pod(late) is None, "the deletion of the late Pod")


def test_a_pod_whose_run_was_released_by_hand_is_released_when_it_has_ended(stage: Stage) -> None:
    pod = start_running_driver(stage, "orphan")
    stage.patch(TABLES, "orphan", {"spec": {"suspend": True}})
    stage.set_pod_finalizers(pod, [FINALIZER, "test.example/hold"])
    delete_run_by_hand(stage, pod.run)
    assert FINALIZER in stage.read_pod(pod).finalizers
    stage.end_pod(pod, exit_code=143, message="")
    stage.wait(lambda: stage.read_pod(pod).finalizers == ["test.example/hold"], "the operator's finalizer removed")
    stage.set_pod_finalizers(pod, None)


def test_no_other_run_creates_a_pod_while_the_driver_of_a_run_released_by_hand_is_running(stage: Stage) -> None:
    pod = start_running_driver(stage, "freed")
    delete_run_by_hand(stage, pod.run)
    stage.patch(TABLES, "freed", {"spec": {"options": {"file.compression": "lz4"}}})  # starts a run without a backoff

    words = f"pod {pod.name} of another run of the table must end first"
    stage.wait(lambda: [each for each in stage.all(RUNS) if words in str(each.get("status"))], "a blocked run")
    assert pods_of_table(stage, pod) == [pod.name]

    stage.end_pod(pod, exit_code=143, message="")
    stage.delete_pod(pod, force=True)
    stage.wait(lambda: pod.name not in (now := pods_of_table(stage, pod)) and len(now) == 1, "the next Pod, alone")


def delete_run_by_hand(stage: Stage, run: str) -> None:
    """Deletes a run and removes its finalizers, and waits until it is gone."""
    stage.delete(RUNS, run)
    stage.patch(RUNS, run, {"metadata": {"finalizers": None}})
    wait_until_deleted(stage, run)


def wait_until_deleted(stage: Stage, run: str) -> None:
    stage.wait(lambda: stage.find(RUNS, run) is None, f"the deletion of run {run}")


def test_a_namespace_with_a_running_driver_is_deleted_once_the_driver_has_ended(
    api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stage = Stage(api_server.kubeconfig, "going-with-a-pod")
    stage.create_catalog()
    logs = tmp_path_factory.mktemp("operator-of-a-deleted-namespace")
    with OperatorProcess(
        api_server.kubeconfig, logs, namespaces=[stage.namespace], lease_namespace="default"
    ) as operator:
        operator.wait_until_working()
        pod = start_running_driver(stage, "orders")
        stage.core.delete_namespace(stage.namespace)
        stage.wait(lambda: stage.read_pod(pod).is_terminating, "a terminating Pod")
        stage.end_pod(pod, exit_code=143, message="")
        stage.delete_pod(pod, force=True)
        stage.wait(
            lambda: stage.namespace not in namespace_names(stage.client),
            "the deletion of the namespace",
            operator=operator,
        )
