"""The admission policy of drivers in mode Cluster on a real API server: a driver creates only its own executors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiException

from paimon_contract.job import Job, JobCatalog, JobRun, JobTable
from paimon_contract.parameters.compact import CompactParameters
from paimon_operator.api.base import GROUP, VERSION
from paimon_operator.api.pod_overlay import PodOverlay
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.naming import EXECUTOR_RIGHTS_PLURAL
from tests.apiserver.api import Body
from tests.apiserver.conftest import serving
from tests.apiserver.refused_executors import A_POD, NOT_ITS_MOUNT, NOT_ITS_SHAPE, REFUSED, WEAK_SANDBOX
from tests.cluster.apiserver import ApiServer
from tests.cluster.processes import wait_until
from tests.support import builders
from tests.support.executor_namespace import IMAGE, ExecutorNamespace, chart_objects, executor_of, launch_of
from tests.support.pod_edits import (
    Edit,
    container,
    in_container,
    in_spec,
    labels,
    mount,
    token,
    without_deadline,
)

NAMESPACE = "executors"
MINE, OTHERS = "orders-compact-by-hand", "orders-compact-0c0ffee0"
"""A run that a user has named, and one of the operator."""
EARLIER_IMAGE = "paimon-spark:before-the-upgrade"
OVERLAY = PodOverlay(
    labels={"team": "shop", **{f"{'queue' * 40}/{n}": "v" * 63 for n in range(19)}},
    annotations={"note": "long work", **{f"{'notes' * 40}/{n}": "two words" for n in range(19)}},
)
"""The largest overlay, which tests the limits of the policy too."""
Object = dict[str, Any]


@dataclass
class Driving:
    """A running driver and the Pod of another run's driver. `api` is a client with the driver's token."""

    ns: ExecutorNamespace
    pod: Any
    data: Object
    other: Any
    api: Any

    def executor(self) -> Object:
        return executor_of(self.pod, self.data)

    def answer(self, body: Object) -> str:
        """Returns the refusal of this Pod, created by the driver; empty when it is admitted."""
        try:
            self.api.create_namespaced_pod(NAMESPACE, body, dry_run="All", field_validation="Strict")
        except ApiException as refusal:
            return f"{refusal.status} {refusal.body}"
        return ""

    def refusal(self, body: Object) -> str:
        """Returns the refusal of a Pod that must not be admitted."""
        answer = self.answer(body)
        assert answer
        return answer


def compaction(name: str, **spec: Any) -> PaimonRun:
    return builders.run(name, table=builders.table(namespace=NAMESPACE), **spec)


def job_of(run: PaimonRun) -> Job:
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
    """A server of this file alone: policies and a release are cluster-scoped."""
    with serving(tmp_path_factory) as server:
        yield server


@pytest.fixture(scope="module")
def driving(api_server: ApiServer) -> Iterator[Driving]:
    """A running driver in a namespace without Pod Security, so that every refusal is the policy's."""
    ns = ExecutorNamespace(api_server, NAMESPACE, restricted=False)
    runtimes = client.NodeV1Api(ns.core.api_client)
    runtime: Body = {"metadata": {"name": WEAK_SANDBOX}, "handler": "runc"}
    runtimes.create_runtime_class(runtime)
    mine, others = compaction(MINE), compaction(OTHERS, trigger={"type": "Schedule"})
    data, pod = ns.make(mine, replace(launch_of(job_of(mine)), image=EARLIER_IMAGE, overlay=OVERLAY))
    _, other = ns.make(others, launch_of(job_of(others), variables=()))
    made = Driving(ns, pod, data, other, ns.as_driver(pod))
    wait_for_policy(made)
    yield made
    ns.core.delete_namespace(NAMESPACE)


def wait_for_policy(made: Driving) -> None:
    """Waits until the API server enforces the policy."""

    def refused() -> bool:
        body = made.executor()
        body["metadata"]["name"] = "anything"
        try:
            made.api.create_namespaced_pod(NAMESPACE, body, dry_run="All")
        except ApiException as error:
            return "one of its executors" in str(error.body)
        return False

    assert wait_until(refused, timeout=60, interval=0.5)


def test_a_driver_creates_an_executor_of_its_own_run(driving: Driving) -> None:
    made = driving.api.create_namespaced_pod(NAMESPACE, driving.executor(), field_validation="Strict")
    assert made.spec.service_account_name == "paimon-spark"
    driving.api.delete_namespaced_pod(made.metadata.name, NAMESPACE, grace_period_seconds=0)


@pytest.mark.parametrize("labels", [{}, {"app.kubernetes.io/managed-by": "paimon-operator"}])
def test_the_policy_does_not_apply_to_other_users_even_in_a_namespace_without_runs(
    driving: Driving, labels: dict[str, str]
) -> None:
    """An API server that finds no parameters refuses before it evaluates the user."""
    quiet = f"nothing-of-ours-{len(labels)}"
    driving.ns.core.create_namespace({"metadata": {"name": quiet}})
    try:
        accounts = driving.ns.core.list_namespaced_service_account
        assert wait_until(lambda: bool(accounts(quiet).items), timeout=60)
        body = {"metadata": {"name": "p", "labels": labels}, "spec": {"containers": [{"name": "c", "image": "any"}]}}
        driving.ns.core.create_namespaced_pod(quiet, body)
        driving.ns.core.delete_namespaced_pod("p", quiet, grace_period_seconds=0)
    finally:
        driving.ns.core.delete_namespace(quiet)


def test_without_any_rights_in_the_namespace_a_driver_creates_no_executor(driving: Driving) -> None:
    kept = [driving.ns.take(each) for each in (f"paimon-run-{MINE}", OTHERS)]
    try:
        assert wait_until(lambda: "no params found" in driving.answer(driving.executor()), timeout=60)
    finally:
        for each in kept:
            driving.ns.give(each)
    assert wait_until(lambda: driving.answer(driving.executor()) == "", timeout=60)


def test_without_the_rights_of_its_run_a_driver_can_use_any_secret_but_only_in_a_pod_of_an_executors_shape(
    driving: Driving,
) -> None:
    """docs/access.md warns of this. A policy evaluates its parameters one by one; no rule detects a missing one."""
    stolen = driving.executor()
    mount("secret", secretName="bank")(stolen)
    assert NOT_ITS_MOUNT in driving.refusal(stolen)
    kept = driving.ns.take(f"paimon-run-{MINE}")
    try:
        assert wait_until(lambda: driving.answer(stolen) == "", timeout=60)
        for edit in (in_spec(hostNetwork=True), without_deadline, token(), labels({"spark-role": "driver"})):
            body = driving.executor()
            edit(body)
            assert driving.refusal(body)
    finally:
        driving.ns.give(kept)
    assert wait_until(lambda: NOT_ITS_MOUNT in driving.answer(stolen), timeout=60)


def test_a_policy_that_is_installed_again_knows_the_rights_of_later_runs(driving: Driving) -> None:
    """`helm uninstall` and `helm install`: with ConfigMaps as parameters it knew only those of before."""
    policies = [each for each in chart_objects(NAMESPACE) if "Policy" in each["kind"]]
    driving.ns.delete(*policies)
    hostile = driving.executor()
    hostile["metadata"]["name"] = "anything"
    assert wait_until(lambda: driving.answer(hostile) == "", timeout=60), "no policy is in force"
    driving.ns.apply(*policies)
    wait_for_policy(driving)
    run = compaction("orders-compact-1a7e1a7e")
    data, pod = driving.ns.make(run, launch_of(job_of(run)))
    later = Driving(driving.ns, pod, data, driving.other, driving.ns.as_driver(pod))
    stolen = later.executor()
    mount("secret", secretName="bank")(stolen)
    assert wait_until(lambda: NOT_ITS_MOUNT in later.answer(stolen), timeout=60)
    assert later.answer(later.executor()) == ""


def test_the_rights_of_a_run_never_change_and_nobody_but_the_operator_writes_any(driving: Driving) -> None:
    more: Object = {"spec": {"mayUse": ["secret/bank"]}}
    kind = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "PaimonExecutorRights", "metadata": {"name": "forged"}}
    place, ns = (GROUP, VERSION, NAMESPACE, EXECUTOR_RIGHTS_PLURAL), driving.ns
    attempts: dict[str, Callable[[], Any]] = {
        "never change": lambda: ns.as_operator.patch_namespaced_custom_object(*place, f"paimon-run-{MINE}", more),
        "only the operator may say": lambda: ns.custom.create_namespaced_custom_object(*place, {**kind, **more}),
    }
    for why, attempt in attempts.items():
        with pytest.raises(ApiException) as refused:
            attempt()
        assert why in str(refused.value.body)


@pytest.mark.parametrize(
    "image",
    [EARLIER_IMAGE, IMAGE],
    ids=["its own, of before an upgrade", "of the chart, for an attempt after the upgrade"],
)
def test_an_executor_can_have_the_image_of_its_run_or_of_the_chart(driving: Driving, image: str) -> None:
    body = driving.executor()
    container(body)["image"] = image
    assert driving.answer(body) == ""


def test_the_annotation_of_a_limit_range_is_admitted(driving: Driving) -> None:
    """The API server itself adds this annotation before it evaluates the policy."""
    limits = {"limits": [{"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "100m"}}]}
    driving.ns.core.create_namespaced_limit_range(NAMESPACE, {"metadata": {"name": "cpu"}, "spec": limits})

    def annotated() -> bool:
        made = driving.api.create_namespaced_pod(NAMESPACE, driving.executor(), dry_run="All")
        return "kubernetes.io/limit-ranger" in made.metadata.annotations

    try:
        assert wait_until(annotated, timeout=60)
    finally:
        driving.ns.core.delete_namespaced_limit_range("cpu", NAMESPACE)


@pytest.mark.parametrize(("sentence", "edit", "why"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_driver_creates_no_pod_with(driving: Driving, sentence: str, edit: Edit, why: str) -> None:
    body = deepcopy(driving.executor())
    edit(body)
    answer = driving.refusal(body)
    assert answer.startswith("403"), (sentence, answer)
    assert why in answer, (sentence, answer)


def test_the_policy_applies_to_the_drivers_account_of_a_catalog(driving: Driving) -> None:
    account = driving.ns.account_of_drivers("lake")
    run = compaction("orders-compact-1dea1dea")
    data, pod = driving.ns.make(run, launch_of(job_of(run), driver_account=account))
    own = Driving(driving.ns, pod, data, driving.other, driving.ns.as_driver(pod))
    stolen = own.executor()
    mount("secret", secretName="bank")(stolen)
    assert wait_until(lambda: NOT_ITS_MOUNT in own.answer(stolen), timeout=60), "the rights of its run are known"
    assert own.answer(own.executor()) == ""

    for edit, why in (
        (in_container(command=["sh", "-c", "env"]), NOT_ITS_SHAPE),
        (in_spec(serviceAccountName=account), "an executor must"),  # the message of either policy
    ):
        body = own.executor()
        edit(body)
        assert why in own.refusal(body)


def test_an_executor_must_have_the_runtime_class_and_the_priority_of_its_run(driving: Driving) -> None:
    run = compaction("orders-compact-5a7db0c5")
    overlay = PodOverlay(runtime_class_name=WEAK_SANDBOX, priority_class_name="system-cluster-critical")
    data, pod = driving.ns.make(run, replace(launch_of(job_of(run)), overlay=overlay))
    own = Driving(driving.ns, pod, data, driving.other, driving.ns.as_driver(pod))
    outside = own.executor()
    del outside["spec"]["runtimeClassName"]
    assert wait_until(lambda: "runtime class" in own.answer(outside), timeout=60), "the rights of its run are known"
    assert own.answer(own.executor()) == ""


@pytest.mark.parametrize(
    "audience", ["sts.amazonaws.com", "pods.eks.amazonaws.com", "api://AzureADTokenExchange", "sts.aliyuncs.com"]
)
def test_a_token_for_a_cloud_can_be_projected_into_an_executor(driving: Driving, audience: str) -> None:
    body = driving.executor()
    token(audience=audience)(body)
    assert driving.answer(body) == ""


def test_a_second_owner_beside_its_driver_is_refused(driving: Driving) -> None:
    body = driving.executor()
    body["metadata"]["ownerReferences"].append({"apiVersion": "v1", **A_POD})
    assert "owned by its driver" in driving.refusal(body)


def test_the_secret_of_another_run_is_refused(driving: Driving) -> None:
    """The other run has no Secret. This run's Secret is refused to it, although both have the same account."""
    other = driving.ns.as_driver(driving.other)
    body = executor_of(driving.other, driving.data)
    body["metadata"]["labels"] = {
        key: value.replace(MINE, OTHERS)
        for key, value in body["metadata"]["labels"].items()
        if key not in OVERLAY.labels
    }
    del body["metadata"]["annotations"]
    with pytest.raises(ApiException) as refused:
        other.create_namespaced_pod(NAMESPACE, body, dry_run="All")
    assert "environment may take" in str(refused.value.body)


def test_a_token_that_is_bound_to_no_pod_creates_no_pod(driving: Driving) -> None:
    with pytest.raises(ApiException) as refused:
        driving.ns.as_account().create_namespaced_pod(NAMESPACE, driving.executor(), dry_run="All")
    assert "the token of its own Pod" in str(refused.value.body)


def test_a_driver_can_delete_no_pod_but_its_executors(driving: Driving) -> None:
    for pod in (driving.other, driving.pod):
        with pytest.raises(ApiException) as refused:
            driving.api.delete_namespaced_pod(pod.metadata.name, NAMESPACE, dry_run="All")
        assert "may only delete its own executors" in str(refused.value.body)
    with pytest.raises(ApiException) as refused:
        driving.api.delete_collection_namespaced_pod(NAMESPACE, dry_run="All")
    assert "may only delete its own executors" in str(refused.value.body)
