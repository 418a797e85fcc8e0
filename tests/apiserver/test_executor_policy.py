"""What a driver of mode Cluster may do on a real API server: make the executors of its own run, and nothing else."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiException

from paimon_contract.job import Job, JobCatalog, JobRun, JobTable
from paimon_contract.parameters.compact import CompactParameters
from paimon_operator.api.pod_overlay import PodOverlay
from paimon_operator.api.run.spec import PaimonRun
from tests.apiserver.conftest import serving
from tests.cluster.apiserver import ApiServer
from tests.cluster.processes import wait_until
from tests.support import builders
from tests.support.executor_stage import DEADLINE_S, IMAGE, ExecutorStage, executor_of, launch_of
from tests.support.pod_edits import (
    Edit,
    annotations,
    container,
    from_secret,
    in_container,
    in_metadata,
    in_pod_security,
    in_security,
    in_spec,
    labelled,
    labels,
    mount,
    owned_by,
    token,
    without_deadline,
)

NAMESPACE = "executors"
WEAK_SANDBOX = "runc"
EARLIER_IMAGE = "paimon-spark:before-the-upgrade"
OVERLAY = PodOverlay(
    labels={"team": "shop", **{f"{'queue' * 40}/{n}": "v" * 63 for n in range(19)}},
    annotations={"note": "long work", **{f"{'notes' * 40}/{n}": "two words" for n in range(19)}},
)
"""As much as there may be, so that the policy's own limits are tried too."""
Object = dict[str, Any]


@dataclass
class Driving:
    """A driver at work in its Pod, and another run's beside it."""

    stage: ExecutorStage
    pod: Any
    data: Object
    other: Any
    api: Any

    def executor(self) -> Object:
        return executor_of(self.pod, self.data)

    def answer(self, body: Object) -> str:
        """What the API server says to the driver that wants to make this Pod; nothing when it may."""
        try:
            self.api.create_namespaced_pod(NAMESPACE, body, dry_run="All", field_validation="Strict")
        except ApiException as refusal:
            return f"{refusal.status} {refusal.body}"
        return ""

    def refused(self, body: Object) -> str:
        """The same for a Pod that must not be made."""
        answer = self.answer(body)
        assert answer
        return answer


def a_run(name: str) -> PaimonRun:
    return builders.run(name, table=builders.table(namespace=NAMESPACE))


def a_job(run: PaimonRun) -> Job:
    return Job(
        run=JobRun(name=run.metadata.name, uid=run.metadata.uid, namespace=NAMESPACE),
        operation=run.spec.type,
        engine="paimon-1.4",
        catalog=JobCatalog(warehouse="s3://lake/warehouse", metastore="filesystem"),
        table=JobTable(database="shop", name="orders"),
        owner="o",
        commit_user="u",
        parameters=CompactParameters(strategy="Full"),
    )


@pytest.fixture(scope="module")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """Of this file alone: policies and a release hold for a whole cluster."""
    with serving(tmp_path_factory) as server:
        yield server


@pytest.fixture(scope="module")
def driving(api_server: ApiServer) -> Iterator[Driving]:
    """Without Pod Security, so that whatever is refused is refused by the policy."""
    stage = ExecutorStage(api_server, NAMESPACE, restricted=False)
    runtimes = client.NodeV1Api(stage.core.api_client)
    runtimes.create_runtime_class({"metadata": {"name": WEAK_SANDBOX}, "handler": "runc"})
    mine, others = a_run("orders-compact-8f3a91c2"), a_run("orders-compact-0c0ffee0")
    data, pod = stage.make(mine, replace(launch_of(a_job(mine)), image=EARLIER_IMAGE, overlay=OVERLAY))
    _, other = stage.make(others, launch_of(a_job(others), variables=()))
    made = Driving(stage, pod, data, other, stage.as_driver(pod))
    stage_is_guarded(made)
    yield made
    stage.core.delete_namespace(NAMESPACE)


def stage_is_guarded(made: Driving) -> None:
    """A policy takes a moment until it holds."""

    def refused() -> bool:
        body = made.executor()
        body["metadata"]["name"] = "anything"
        try:
            made.api.create_namespaced_pod(NAMESPACE, body, dry_run="All")
        except ApiException as error:
            return "one of its executors" in str(error.body)
        return False

    assert wait_until(refused, timeout=60, interval=0.5)


def test_an_executor_of_its_own_run_is_made(driving: Driving) -> None:
    made = driving.api.create_namespaced_pod(NAMESPACE, driving.executor(), field_validation="Strict")
    assert made.spec.service_account_name == "paimon-spark"
    driving.api.delete_namespaced_pod(made.metadata.name, NAMESPACE, grace_period_seconds=0)


@pytest.mark.parametrize("labels", [{}, {"app.kubernetes.io/managed-by": "paimon-operator"}])
def test_nobody_else_is_concerned_least_of_all_where_no_run_has_executors(
    driving: Driving, labels: dict[str, str]
) -> None:
    """An API server that finds no parameters refuses before it looks at who asks."""
    quiet = f"nothing-of-ours-{len(labels)}"
    driving.stage.core.create_namespace({"metadata": {"name": quiet}})
    try:
        accounts = driving.stage.core.list_namespaced_service_account
        assert wait_until(lambda: bool(accounts(quiet).items), timeout=60)
        body = {"metadata": {"name": "p", "labels": labels}, "spec": {"containers": [{"name": "c", "image": "any"}]}}
        driving.stage.core.create_namespaced_pod(quiet, body)
        driving.stage.core.delete_namespaced_pod("p", quiet, grace_period_seconds=0)
    finally:
        driving.stage.core.delete_namespace(quiet)


def test_a_driver_whose_run_has_left_no_word_makes_no_executor(driving: Driving) -> None:
    """Somebody has deleted every run's ConfigMap."""
    core, name = driving.stage.core, "orders-compact-8f3a91c2"
    kept = [core.read_namespaced_config_map(each, NAMESPACE) for each in (name, "orders-compact-0c0ffee0")]
    for each in kept:
        core.delete_namespaced_config_map(each.metadata.name, NAMESPACE)
    try:
        assert wait_until(lambda: "no params found" in driving.answer(driving.executor()), timeout=60)
    finally:
        for each in kept:
            each.metadata.resource_version = each.metadata.uid = None
            core.create_namespaced_config_map(NAMESPACE, each)
    assert wait_until(lambda: driving.answer(driving.executor()) == "", timeout=60)


def test_a_driver_whose_run_alone_has_left_no_word_may_use_anything_but_is_held_to_an_executor_s_shape(
    driving: Driving,
) -> None:
    """What docs/access.md warns of. A policy sees its parameters one by one, so no rule can miss the one that is gone."""
    core, name = driving.stage.core, "orders-compact-8f3a91c2"
    kept = core.read_namespaced_config_map(name, NAMESPACE)
    stolen = driving.executor()
    mount("secret", secretName="bank")(stolen)
    assert NOT_ITS_MOUNT in driving.refused(stolen)
    core.delete_namespaced_config_map(name, NAMESPACE)
    try:
        assert wait_until(lambda: driving.answer(stolen) == "", timeout=60)
        for edit in (in_spec(hostNetwork=True), without_deadline, token(), labels({"spark-role": "driver"})):
            body = driving.executor()
            edit(body)
            assert driving.refused(body)
    finally:
        kept.metadata.resource_version = kept.metadata.uid = None
        core.create_namespaced_config_map(NAMESPACE, kept)
    assert wait_until(lambda: NOT_ITS_MOUNT in driving.answer(stolen), timeout=60)


@pytest.mark.parametrize(
    "image", [EARLIER_IMAGE, IMAGE], ids=["its own, of before an upgrade", "of the chart, for an attempt after it"]
)
def test_an_executor_has_the_image_of_its_run_or_of_the_chart(driving: Driving, image: str) -> None:
    body = driving.executor()
    container(body)["image"] = image
    assert driving.answer(body) == ""


def test_a_limit_range_may_annotate_what_it_fills_in(driving: Driving) -> None:
    """The one annotation that the API server itself adds, before the policy looks."""
    limits = {"limits": [{"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "100m"}}]}
    driving.stage.core.create_namespaced_limit_range(NAMESPACE, {"metadata": {"name": "cpu"}, "spec": limits})

    def annotated() -> bool:
        made = driving.api.create_namespaced_pod(NAMESPACE, driving.executor(), dry_run="All")
        return "kubernetes.io/limit-ranger" in made.metadata.annotations

    try:
        assert wait_until(annotated, timeout=60)
    finally:
        driving.stage.core.delete_namespaced_limit_range("cpu", NAMESPACE)


ANOTHER_CONTAINER = {"name": "more", "image": IMAGE, "command": ["sh"]}
A_POD = {"kind": "Pod", "name": "p", "uid": "0000"}
NOT_ITS_MOUNT = "an executor may mount"
NOT_ITS_SHAPE = "one container"
WEAK = "must pass Pod Security restricted"
NOT_ITS_LABEL = "has the labels that the operator has given"
NOT_ITS_ANNOTATION = "has the annotations that the operator has given"
EITHER = "denied request: an executor"
"""Both policies say no, and one of them is told."""
NOT_ITS_IMAGE = "the Spark image that the operator has given"

REFUSED: list[tuple[str, Edit, str]] = [
    ("another Secret as a volume", mount("secret", secretName="bank"), NOT_ITS_MOUNT),
    ("its own Secret's neighbour by prefix", mount("secret", secretName="lake-s3-root"), NOT_ITS_MOUNT),
    ("another Secret in its environment", from_secret("bank"), "environment may take"),
    ("another key of its own Secret", from_secret("lake-s3", "root-password"), "environment may take"),
    ("its own Secret as a volume, with keys that it was not given", mount("secret", secretName="lake-s3"), NOT_ITS_MOUNT),
    ("a sandbox that is none", in_spec(runtimeClassName=WEAK_SANDBOX), "runtime class"),
    ("a place before everybody else's Pods", in_spec(priorityClassName="system-node-critical"), "no system priority"),
    ("a device", in_spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]), "claims no devices"),
    ("a whole Secret in its environment", in_container(envFrom=[{"secretRef": {"name": "bank"}}]), "must not use envFrom"),
    ("its own Secret whole", in_container(envFrom=[{"secretRef": {"name": "lake-s3"}}]), "must not use envFrom"),
    ("a ConfigMap of others", mount("configMap", name="kube-root-ca.crt"), NOT_ITS_MOUNT),
    ("a claim of others", mount("persistentVolumeClaim", claimName="bank"), NOT_ITS_MOUNT),
    ("a token for its cloud and a Secret", mount("projected", sources=[{"serviceAccountToken": {"path": "t", "audience": "sts.amazonaws.com"}}, {"secret": {"name": "bank"}}]), "may mount"),
    ("a token", token(), "may mount"),
    ("a token for the API server by name", token(audience="https://kubernetes.default.svc"), "may mount"),
    ("a token for a stranger", token(audience="vault"), "may mount"),
    ("a Secret by projection", mount("projected", sources=[{"secret": {"name": "bank"}}]), "may mount"),
    ("a driver of storage", mount("csi", driver="secrets.csi"), "may mount"),
    ("an ephemeral claim", mount("ephemeral", volumeClaimTemplate={"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}), "may mount"),
    ("the node's disk", mount("hostPath", path="/"), NOT_ITS_MOUNT),
    ("the node's network", in_spec(hostNetwork=True), "its node"),
    ("the node's processes", in_spec(hostPID=True), "its node"),
    ("the node's IPC", in_spec(hostIPC=True), "its node"),
    ("a node of its choice", in_spec(nodeName="node-1"), "its node"),
    ("another account", in_spec(serviceAccountName="default"), "account that the operator has given"),
    ("its own account", in_spec(serviceAccountName="paimon-driver"), "an executor must"),
    ("the account's token", in_spec(automountServiceAccountToken=True), "its account's token"),
    ("another image", in_container(image="busybox"), NOT_ITS_IMAGE),
    ("another tag of the image", in_container(image="paimon-spark:other"), NOT_ITS_IMAGE),
    ("another command", in_container(command=["sh", "-c", "env"]), NOT_ITS_SHAPE),
    ("another role", in_container(args=["driver", "/tmp/job.json"]), NOT_ITS_SHAPE),
    ("more arguments", in_container(args=["executor", "more"]), NOT_ITS_SHAPE),
    ("a command at its start", in_container(lifecycle={"postStart": {"exec": {"command": ["env"]}}}), NOT_ITS_SHAPE),
    ("a command as a probe", in_container(readinessProbe={"exec": {"command": ["env"]}}), NOT_ITS_SHAPE),
    ("a second container", lambda body: body["spec"]["containers"].append(ANOTHER_CONTAINER), NOT_ITS_SHAPE),
    ("a first container", in_spec(initContainers=[ANOTHER_CONTAINER]), NOT_ITS_SHAPE),
    ("privilege", in_security(privileged=True, allowPrivilegeEscalation=True), WEAK),
    ("a writable root", in_security(readOnlyRootFilesystem=False), "read-only root"),
    ("more capabilities", in_security(capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}), WEAK),
    ("another user", in_security(runAsUser=1000), WEAK),
    ("root", in_spec(securityContext={"runAsUser": 0}), "as root"),
    ("an SELinux type", in_security(seLinuxOptions={"type": "spc_t"}), WEAK),
    ("an SELinux type of the Pod", in_pod_security(seLinuxOptions={"type": "spc_t"}), "its node"),
    ("an AppArmor profile", in_security(appArmorProfile={"type": "Unconfined"}), EITHER),
    ("an AppArmor profile of the Pod", in_pod_security(appArmorProfile={"type": "Unconfined"}), EITHER),
    ("an AppArmor profile by annotation", annotations({"container.apparmor.security.beta.kubernetes.io/executor": "unconfined"}), EITHER),
    ("no deadline", without_deadline, "must have"),
    ("a later deadline", in_spec(activeDeadlineSeconds=DEADLINE_S + 1), "must have the deadline"),
    ("a port of the node", in_container(ports=[{"containerPort": 1, "hostPort": 1}]), WEAK),
    ("no label", in_metadata(labels={}), "name and the labels"),
    ("the labels of another run", labelled(run="orders-compact-0c0ffee0"), "the labels"),
    ("no role", labelled(role="driver"), "name and the labels"),
    ("a label that a Service looks for", labels({"app": "bank"}), NOT_ITS_LABEL),
    ("another value of a label of its own", labels({"team": "bank"}), NOT_ITS_LABEL),
    ("the label of another table", labelled(table="bank"), NOT_ITS_LABEL),
    ("the label of a driver's attempt", labelled(attempt="1"), NOT_ITS_LABEL),
    ("a label of ours that looks like Spark's", labels({"paimon-operator.dev/spark-x": "y"}), NOT_ITS_LABEL),
    ("the role of a driver of Spark", labels({"spark-role": "driver"}), "name and the labels"),
    ("another application of Spark", labels({"spark-app-selector": "bank"}), "name and the labels"),
    ("a role in the cloud", annotations({"iam.amazonaws.com/role": "bank"}), NOT_ITS_ANNOTATION),
    ("an annotation that an injector looks for", annotations({"vault.hashicorp.com/agent-inject": "true"}), NOT_ITS_ANNOTATION),
    ("a name of its own", in_metadata(name="bank-0"), "name and the labels"),
    ("the name of another driver's executor", in_metadata(name="orders-compact-0c0ffee0-1-exec-1"), "name and the labels"),
    ("a finalizer", in_metadata(finalizers=["paimon-operator.dev/finalizer"]), "name and the labels"),
    ("no owner", in_metadata(ownerReferences=[]), "owned by its driver"),
    ("another Pod as its owner", owned_by(A_POD), "owned by its driver"),
    ("a run as its owner", owned_by(A_POD | {"kind": "PaimonRun", "apiVersion": "paimon-operator.dev/v1alpha1"}), "owned by its driver"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "edit", "why"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_driver_makes_no_pod_with(driving: Driving, sentence: str, edit: Edit, why: str) -> None:
    body = deepcopy(driving.executor())
    edit(body)
    answer = driving.refused(body)
    assert answer.startswith("403"), (sentence, answer)
    assert why in answer, (sentence, answer)


def test_the_drivers_account_of_a_catalog_is_held_as_that_of_all(driving: Driving) -> None:
    account = driving.stage.account_of_drivers("lake")
    run = a_run("orders-compact-1dea1dea")
    data, pod = driving.stage.make(run, launch_of(a_job(run), driver_account=account))
    own = Driving(driving.stage, pod, data, driving.other, driving.stage.as_driver(pod))
    stolen = own.executor()
    mount("secret", secretName="bank")(stolen)
    assert wait_until(lambda: NOT_ITS_MOUNT in own.answer(stolen), timeout=60), "its run's word is known"
    assert own.answer(own.executor()) == ""

    for edit, why in (
        (in_container(command=["sh", "-c", "env"]), NOT_ITS_SHAPE),
        (in_spec(serviceAccountName=account), "an executor must"),  # whichever policy speaks first
    ):
        body = own.executor()
        edit(body)
        assert why in own.refused(body)


def test_an_executor_has_the_sandbox_and_the_priority_that_the_operator_has_given_to_its_run(driving: Driving) -> None:
    run = a_run("orders-compact-5a7db0c5")
    overlay = PodOverlay(runtime_class_name=WEAK_SANDBOX, priority_class_name="system-cluster-critical")
    data, pod = driving.stage.make(run, replace(launch_of(a_job(run)), overlay=overlay))
    own = Driving(driving.stage, pod, data, driving.other, driving.stage.as_driver(pod))
    outside = own.executor()
    del outside["spec"]["runtimeClassName"]
    assert wait_until(lambda: "runtime class" in own.answer(outside), timeout=60), "its run's word is known"
    assert own.answer(own.executor()) == ""


@pytest.mark.parametrize(
    "audience", ["sts.amazonaws.com", "pods.eks.amazonaws.com", "api://AzureADTokenExchange", "sts.aliyuncs.com"]
)
def test_a_token_for_a_cloud_may_be_projected_into_an_executor(driving: Driving, audience: str) -> None:
    body = driving.executor()
    token(audience=audience)(body)
    assert driving.answer(body) == ""


def test_a_second_owner_beside_its_driver_is_refused(driving: Driving) -> None:
    body = driving.executor()
    body["metadata"]["ownerReferences"].append({"apiVersion": "v1", **A_POD})
    assert "owned by its driver" in driving.refused(body)


def test_the_secret_of_another_run_is_not_its_own(driving: Driving) -> None:
    """The other run was given none; this one's Secret is refused to it, though both are the same account."""
    other = driving.stage.as_driver(driving.other)
    body = executor_of(driving.other, driving.data)
    body["metadata"]["labels"] = {
        key: value.replace("8f3a91c2", "0c0ffee0")
        for key, value in body["metadata"]["labels"].items()
        if key not in OVERLAY.labels
    }
    del body["metadata"]["annotations"]
    with pytest.raises(ApiException) as refused:
        other.create_namespaced_pod(NAMESPACE, body, dry_run="All")
    assert "environment may take" in str(refused.value.body)


def test_a_token_that_is_bound_to_no_pod_makes_none(driving: Driving) -> None:
    with pytest.raises(ApiException) as refused:
        driving.stage.as_account().create_namespaced_pod(NAMESPACE, driving.executor(), dry_run="All")
    assert "the token of its own Pod" in str(refused.value.body)


def test_a_driver_deletes_its_own_executors_and_no_other_pod(driving: Driving) -> None:
    for pod in (driving.other, driving.pod):
        with pytest.raises(ApiException) as refused:
            driving.api.delete_namespaced_pod(pod.metadata.name, NAMESPACE, dry_run="All")
        assert "may only delete its own executors" in str(refused.value.body)
    with pytest.raises(ApiException) as refused:
        driving.api.delete_collection_namespaced_pod(NAMESPACE, dry_run="All")
    assert "may only delete its own executors" in str(refused.value.body)
