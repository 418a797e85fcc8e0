"""What a driver of mode Cluster may do on a real API server: make the executors of its own run, and nothing else."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiException

from paimon_operator.api.contract import CompactJob, Job, JobCatalog, JobRun, JobTable
from paimon_operator.api.run import PaimonRun
from tests.cluster.apiserver import ApiServer
from tests.cluster.processes import wait_until
from tests.support import builders
from tests.support.executor_stage import IMAGE, ExecutorStage, executor_of, launch_of

NAMESPACE = "executors"
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
        compact=CompactJob(strategy="Full"),
    )


@pytest.fixture(scope="module")
def driving(api_server: ApiServer) -> Iterator[Driving]:
    """Without Pod Security, so that whatever is refused is refused by the policy."""
    stage = ExecutorStage(api_server, NAMESPACE, restricted=False)
    mine, others = a_run("orders-compact-8f3a91c2"), a_run("orders-compact-0c0ffee0")
    data, pod = stage.make(mine, launch_of(a_job(mine)))
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


def container(body: Object) -> Object:
    found: Object = body["spec"]["containers"][0]
    return found


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
        assert wait_until(lambda: bool(accounts(quiet).items), timeout=30)
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
        assert wait_until(lambda: "no params found" in driving.answer(driving.executor()), timeout=30)
    finally:
        for each in kept:
            each.metadata.resource_version = each.metadata.uid = None
            core.create_namespaced_config_map(NAMESPACE, each)
    assert wait_until(lambda: driving.answer(driving.executor()) == "", timeout=30)


def mount(kind: str, **source: Any) -> Callable[[Object], None]:
    def edit(body: Object) -> None:
        body["spec"]["volumes"].append({"name": "stolen", kind: source})
        container(body)["volumeMounts"].append({"name": "stolen", "mountPath": "/stolen"})

    return edit


def from_secret(name: str) -> Callable[[Object], None]:
    value = {"secretKeyRef": {"name": name, "key": "password"}}
    return lambda body: container(body)["env"].append({"name": "STOLEN", "valueFrom": value})


def in_spec(**fields: Any) -> Callable[[Object], None]:
    return lambda body: body["spec"].update(fields)


def in_container(**fields: Any) -> Callable[[Object], None]:
    return lambda body: container(body).update(fields)


def in_metadata(**fields: Any) -> Callable[[Object], None]:
    return lambda body: body["metadata"].update(fields)


def in_security(**fields: Any) -> Callable[[Object], None]:
    return lambda body: container(body)["securityContext"].update(fields)


def labelled(**labels: str) -> Callable[[Object], None]:
    return lambda body: body["metadata"]["labels"].update(
        {f"paimon-operator.dev/{key}": value for key, value in labels.items()}
    )


def owned_by(*owners: Object) -> Callable[[Object], None]:
    return in_metadata(ownerReferences=[{"apiVersion": "v1", **owner} for owner in owners])


ANOTHER_CONTAINER = {"name": "more", "image": IMAGE, "command": ["sh"]}
A_POD = {"kind": "Pod", "name": "p", "uid": "0000"}
NOT_ITS_MOUNT = "an executor may mount"
NOT_ITS_SHAPE = "one container"
WEAK = "must pass Pod Security restricted"

REFUSED: list[tuple[str, Callable[[Object], None], str]] = [
    ("another Secret as a volume", mount("secret", secretName="bank"), NOT_ITS_MOUNT),
    ("its own Secret's neighbour by prefix", mount("secret", secretName="lake-s3-root"), NOT_ITS_MOUNT),
    ("another Secret in its environment", from_secret("bank"), "environment may take"),
    ("a whole Secret in its environment", in_container(envFrom=[{"secretRef": {"name": "bank"}}]), "no whole Secret"),
    ("its own Secret whole", in_container(envFrom=[{"secretRef": {"name": "lake-s3"}}]), "no whole Secret"),
    ("a ConfigMap of others", mount("configMap", name="kube-root-ca.crt"), NOT_ITS_MOUNT),
    ("a claim of others", mount("persistentVolumeClaim", claimName="bank"), NOT_ITS_MOUNT),
    ("a token for its cloud and a Secret", mount("projected", sources=[{"serviceAccountToken": {"path": "t", "audience": "cloud"}}, {"secret": {"name": "bank"}}]), "may mount"),
    ("a token", mount("projected", sources=[{"serviceAccountToken": {"path": "t"}}]), "may mount"),
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
    ("another image", in_container(image="busybox"), "Spark images"),
    ("another tag of the image", in_container(image="paimon-spark:other"), "Spark images"),
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
    ("a port of the node", in_container(ports=[{"containerPort": 1, "hostPort": 1}]), WEAK),
    ("no label", in_metadata(labels={}), "name and the labels"),
    ("the labels of another run", labelled(run="orders-compact-0c0ffee0"), "name and the labels"),
    ("no role", labelled(role="driver"), "name and the labels"),
    ("a name of its own", in_metadata(name="bank-0"), "name and the labels"),
    ("the name of another driver's executor", in_metadata(name="orders-compact-0c0ffee0-1-exec-1"), "name and the labels"),
    ("a finalizer", in_metadata(finalizers=["paimon-operator.dev/finalizer"]), "name and the labels"),
    ("no owner", in_metadata(ownerReferences=[]), "owned by its driver"),
    ("another Pod as its owner", owned_by(A_POD), "owned by its driver"),
    ("a run as its owner", owned_by(A_POD | {"kind": "PaimonRun", "apiVersion": "paimon-operator.dev/v1alpha1"}), "owned by its driver"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "edit", "why"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_driver_makes_no_pod_with(driving: Driving, sentence: str, edit: Callable[[Object], None], why: str) -> None:
    body = deepcopy(driving.executor())
    edit(body)
    answer = driving.refused(body)
    assert answer.startswith("403"), (sentence, answer)
    assert why in answer, (sentence, answer)


def test_a_token_for_a_cloud_may_be_projected_into_an_executor(driving: Driving) -> None:
    body = driving.executor()
    mount("projected", sources=[{"serviceAccountToken": {"path": "token", "audience": "sts.example.com"}}])(body)
    driving.api.create_namespaced_pod(NAMESPACE, body, dry_run="All")


def test_a_second_owner_beside_its_driver_is_refused(driving: Driving) -> None:
    body = driving.executor()
    body["metadata"]["ownerReferences"].append({"apiVersion": "v1", **A_POD})
    assert "owned by its driver" in driving.refused(body)


def test_the_secret_of_another_run_is_not_its_own(driving: Driving) -> None:
    """The other run was given none; this one's Secret is refused to it, though both are the same account."""
    other = driving.stage.as_driver(driving.other)
    body = executor_of(driving.other, driving.data)
    body["metadata"]["labels"]["paimon-operator.dev/run"] = "orders-compact-0c0ffee0"
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
        assert "its own executors only" in str(refused.value.body)
    with pytest.raises(ApiException) as refused:
        driving.api.delete_collection_namespaced_pod(NAMESPACE, dry_run="All")
    assert "its own executors only" in str(refused.value.body)


@pytest.mark.parametrize(
    ("verb", "allowed"),
    [("get", True), ("list", True), ("watch", True), ("create", True), ("delete", True), ("deletecollection", True), ("patch", False), ("update", False)],
)  # fmt: skip
def test_a_driver_s_rights_on_pods(driving: Driving, verb: str, allowed: bool) -> None:
    assert can(driving, verb, "pods") is allowed


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        *((verb, "secrets") for verb in ("get", "list", "watch", "create")),
        *((verb, "configmaps") for verb in ("get", "list", "create", "update", "patch", "delete")),
        ("update", "pods/ephemeralcontainers"),
        ("create", "pods/exec"),
        ("create", "pods/attach"),
        ("get", "pods/log"),
        ("update", "pods/status"),
        ("create", "pods/binding"),
        ("create", "serviceaccounts/token"),
        ("list", "persistentvolumeclaims"),
        ("list", "services"),
    ],
)
def test_a_driver_has_no_other_right(driving: Driving, verb: str, resource: str) -> None:
    assert can(driving, verb, resource) is False


def test_an_executor_s_account_has_no_right_on_pods(driving: Driving) -> None:
    assert [verb for verb in ("get", "list", "create", "delete") if can(driving, verb, "pods", "paimon-spark")] == []


def can(driving: Driving, verb: str, what: str, account: str = "paimon-driver") -> bool:
    resource, _, sub = what.partition("/")
    attributes = {"namespace": NAMESPACE, "verb": verb, "resource": resource, "subresource": sub}
    user = f"system:serviceaccount:{NAMESPACE}:{account}"
    reviews = client.AuthorizationV1Api(driving.stage.core.api_client)
    review = reviews.create_subject_access_review({"spec": {"user": user, "resourceAttributes": attributes}})
    return bool(review.status.allowed)
