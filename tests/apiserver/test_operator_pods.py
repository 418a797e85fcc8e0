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
from tests.apiserver.namespace_client import RUNS, TABLES, NamespaceClient, conditions, if_released
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.pod import Pod
from tests.apiserver.replicas import namespace_with_operator
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, Manifest, edited, keyed_table


@pytest.fixture(scope="module", autouse=True)
def ns(api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceClient]:
    with namespace_with_operator(api_server, "pods", tmp_path_factory.mktemp("operator")) as ns:
        yield ns


def start_driver(ns: NamespaceClient, table: str) -> Pod:
    """Creates a table and returns the Pod of its first run."""
    ns.create(edited(keyed_table(spec__writes=REMOVED), metadata__name=table))
    return ns.wait_for_pod(of=table)


def start_running_driver(ns: NamespaceClient, table: str) -> Pod:
    """Creates a table and returns the Pod of its first run, which the operator knows to be running."""
    pod = start_driver(ns, table)
    ns.run_pod(pod)
    ns.wait(lambda: run_of(ns, pod)["status"]["phase"] == "Running", "the run Running")
    return pod


def run_of(ns: NamespaceClient, pod: Pod) -> Manifest:
    return ns.get(RUNS, pod.run)


def wait_for_message(ns: NamespaceClient, pod: Pod, words: str) -> str:
    """Returns the message of the run's condition once it contains these words."""

    def message() -> str | None:
        text: str = conditions(run_of(ns, pod))["Succeeded"]["message"]
        return text if words in text else None

    return ns.wait(message, words)


def pods_of_table(ns: NamespaceClient, pod: Pod) -> list[str]:
    """Returns the names of all Pods of the same table."""
    return [each.name for each in ns.pods() if each.table == pod.table]


def wait_until_released(ns: NamespaceClient, pod: Pod) -> Manifest:
    """Returns the Pod's run once neither the run nor a Pod of the table has a finalizer."""
    run = ns.wait(lambda: if_released(run_of(ns, pod)), "a run without finalizer")
    assert not any(each.finalizers for each in ns.pods() if each.table == pod.table)
    return run


def reasons(run: Manifest) -> list[str | None]:
    return [attempt.get("reason") for attempt in run["status"]["attempts"]]


def succeed_after_loss(ns: NamespaceClient, lost: Pod) -> None:
    """Ends the second attempt with success, and checks that the first one was lost with its Pod."""
    second = ns.wait_for_pod(of=lost.table)
    assert (second.name[-2:], ns.find_pod(lost)) == ("-2", None)
    ns.succeed(second)
    assert reasons(wait_until_released(ns, second)) == ["PodLost", None]


def test_a_pod_deleted_by_force_has_no_successor_until_its_kubelet_has_stopped_it(ns: NamespaceClient) -> None:
    pod = start_running_driver(ns, "forced")
    ns.delete_pod(pod, force=True)
    wait_for_message(ns, pod, "being deleted by someone else")
    assert pods_of_table(ns, pod) == [pod.name]
    ns.end_pod(pod, exit_code=143, message="")
    second = ns.wait_for_pod(of="forced")
    assert second.name == f"{pod.run}-2"
    assert ns.find_pod(pod) is None
    ns.succeed(second)
    assert reasons(wait_until_released(ns, second)) == ["PodLost", None]


def test_the_result_of_a_pod_deleted_during_its_end_is_read(ns: NamespaceClient) -> None:
    pod = start_running_driver(ns, "graceful")
    ns.delete_pod(pod)
    ns.succeed(pod)
    ns.delete_pod(pod, force=True)
    run = wait_until_released(ns, pod)
    assert (run["status"]["phase"], reasons(run)) == ("Succeeded", [None])
    ns.wait(lambda: ns.find_pod(pod) is None, "the deletion of the Pod")


def test_a_pod_deleted_before_it_was_bound_blocks_nothing(ns: NamespaceClient) -> None:
    pod = start_driver(ns, "unbound")
    ns.delete_pod(pod)
    succeed_after_loss(ns, pod)


def test_while_a_node_is_silent_the_run_waits_and_the_override_in_its_message_works(ns: NamespaceClient) -> None:
    pod = start_running_driver(ns, "silent")
    collected = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC", "message": "no node"}
    status = {"status": {"phase": "Failed", "conditions": [collected]}}
    ns.core.patch_namespaced_pod_status(pod.name, ns.namespace, status)
    ns.delete_pod(pod, force=True)
    message = wait_for_message(ns, pod, "is silent; a driver may still be running there")
    assert (run_of(ns, pod)["status"]["phase"], pods_of_table(ns, pod)) == ("Running", [pod.name])
    assert ns.wait_for_condition(TABLES, "silent", "Stalled", "True", "NodeSilent")["message"].endswith(message)

    for command in re.findall(r"kubectl ([^;]+)", message):
        kubectl(ns.kubeconfig, *shlex.split(command))

    succeed_after_loss(ns, pod)


def test_a_cancelled_run_is_deleted_after_its_pod(ns: NamespaceClient) -> None:
    pod = start_running_driver(ns, "cancelled")
    ns.patch(TABLES, "cancelled", {"spec": {"suspend": True}})
    ns.delete(RUNS, pod.run)
    ns.wait(lambda: ns.read_pod(pod).is_terminating, "a terminating Pod")
    assert ns.find(RUNS, pod.run) is not None
    ns.end_pod(pod, exit_code=143, message="")
    ns.delete_pod(pod, force=True)
    wait_until_deleted(ns, pod.run)
    assert ns.find_pod(pod) is None


def test_a_pod_created_after_the_end_of_its_run_is_deleted(ns: NamespaceClient) -> None:
    pod = start_driver(ns, "late")
    ns.succeed(pod)
    wait_until_released(ns, pod)
    ns.delete_pod(pod)
    ns.wait(lambda: ns.find_pod(pod) is None, "the deletion of the ended Pod")

    kept = {key: pod.manifest["metadata"][key] for key in ("name", "labels", "ownerReferences", "finalizers")}
    body: Body = {**pod.manifest, "metadata": kept, "status": None}
    late = Pod.of(ns.core.create_namespaced_pod(ns.namespace, body))

    assert late.finalizers == [FINALIZER]
    ns.wait(lambda: ns.find_pod(late) is None, "the deletion of the late Pod")


def test_a_pod_whose_run_was_released_by_hand_is_released_when_it_has_ended(ns: NamespaceClient) -> None:
    pod = start_running_driver(ns, "orphan")
    ns.patch(TABLES, "orphan", {"spec": {"suspend": True}})
    ns.set_pod_finalizers(pod, [FINALIZER, "test.example/hold"])
    delete_run_by_hand(ns, pod.run)
    assert FINALIZER in ns.read_pod(pod).finalizers
    ns.end_pod(pod, exit_code=143, message="")
    ns.wait(lambda: ns.read_pod(pod).finalizers == ["test.example/hold"], "the operator's finalizer removed")
    ns.set_pod_finalizers(pod, None)


def test_no_other_run_creates_a_pod_while_the_driver_of_a_run_released_by_hand_is_running(ns: NamespaceClient) -> None:
    pod = start_running_driver(ns, "freed")
    delete_run_by_hand(ns, pod.run)
    ns.patch(TABLES, "freed", {"spec": {"options": {"file.compression": "lz4"}}})  # starts a run without a backoff

    words = f"pod {pod.name} of another run of the table must end first"
    ns.wait(lambda: [each for each in ns.all(RUNS) if words in str(each.get("status"))], "a blocked run")
    assert pods_of_table(ns, pod) == [pod.name]

    ns.end_pod(pod, exit_code=143, message="")
    ns.delete_pod(pod, force=True)
    ns.wait(lambda: pod.name not in (now := pods_of_table(ns, pod)) and len(now) == 1, "the next Pod, alone")


def delete_run_by_hand(ns: NamespaceClient, run: str) -> None:
    """Deletes a run and removes its finalizers, and waits until it is gone."""
    ns.delete(RUNS, run)
    ns.patch(RUNS, run, {"metadata": {"finalizers": None}})
    wait_until_deleted(ns, run)


def wait_until_deleted(ns: NamespaceClient, run: str) -> None:
    ns.wait(lambda: ns.find(RUNS, run) is None, f"the deletion of run {run}")


def test_a_namespace_with_a_running_driver_is_deleted_once_the_driver_has_ended(
    api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ns = NamespaceClient(api_server.kubeconfig, "going-with-a-pod")
    ns.create_catalog()
    logs = tmp_path_factory.mktemp("operator-of-a-deleted-namespace")
    with OperatorProcess(api_server.kubeconfig, logs, namespaces=[ns.namespace], lease_namespace="default") as operator:
        operator.wait_until_working()
        pod = start_running_driver(ns, "orders")
        ns.core.delete_namespace(ns.namespace)
        ns.wait(lambda: ns.read_pod(pod).is_terminating, "a terminating Pod")
        ns.end_pod(pod, exit_code=143, message="")
        ns.delete_pod(pod, force=True)
        ns.wait(
            lambda: ns.namespace not in namespace_names(ns.client),
            "the deletion of the namespace",
            operator=operator,
        )
