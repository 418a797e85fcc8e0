"""Platforms that set the users of Pods (OpenShift) and quotas that demand CPU limits, on a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest
from kubernetes import client

from paimon_operator.core.launch.pod_security import PodRules
from tests.apiserver.api import Body, create_account
from tests.apiserver.namespace_client import NamespaceClient
from tests.apiserver.operator_process import IMAGE
from tests.apiserver.rights import Rights, rendered
from tests.apiserver.test_operator_account import ENFORCED, catalogs, driver_of, refusal
from tests.cluster.apiserver import ApiServer, open_client
from tests.support.pod_edits import Edit, Object, in_pod_security, in_security

NAMESPACE: Final = "platform"
QUOTA: Final = "cpu"
SET_BY_OPENSHIFT: Final[Object] = {"fsGroup": 1000680000, "seLinuxOptions": {"level": "s0:c26,c5"}}


def driver(rules: PodRules) -> Object:
    _, pod = driver_of(catalogs()["catalog"], namespace=NAMESPACE, rules=rules)
    return pod


class Account:
    """The operator's account in a namespace of its own, with `spark.uid: null`. Every request is a dry run."""

    def __init__(self, server: ApiServer) -> None:
        self.ns = NamespaceClient(server.kubeconfig, NAMESPACE)
        spark = {"images": {"paimon-0.9": IMAGE}, "uid": None}
        self.rights = Rights(server, self.ns, spark=spark)
        create_account(self.ns.client, NAMESPACE, "paimon-spark")
        self.api = open_client(self.rights.kubeconfig)
        self.core = client.CoreV1Api(self.api)

    def creates(self, body: Object) -> str:
        """Returns the refusal of a Pod; empty when it is admitted."""
        sent: Body = body
        return refusal(lambda: self.core.create_namespaced_pod(NAMESPACE, sent, dry_run="All"))

    def close(self) -> None:
        self.api.close()  # type: ignore[no-untyped-call]  # not annotated
        self.rights.close()
        self.ns.close()


@pytest.fixture(scope="module")
def account(api_server: ApiServer) -> Iterator[Account]:
    made = Account(api_server)
    unowned = driver(PodRules(uid=None))
    unowned["metadata"]["ownerReferences"] = []
    made.ns.wait(lambda: ENFORCED in made.creates(unowned), "the policies enforced")
    yield made
    made.close()


def test_a_pod_is_admitted_before_and_after_openshift_has_set_its_user(account: Account) -> None:
    pod = driver(PodRules(uid=None))
    assert account.creates(pod) == ""
    for edit in (in_pod_security(**SET_BY_OPENSHIFT), in_security(runAsUser=1000680000, runAsNonRoot=True)):
        edit(pod)
    assert account.creates(pod) == ""


REFUSED: Final = {
    "root": in_pod_security(runAsUser=0),
    "root in its container": in_security(runAsUser=0),
    "an SELinux type": in_pod_security(seLinuxOptions={"level": "s0:c26,c5", "type": "spc_t"}),
    "an SELinux role": in_pod_security(seLinuxOptions={"role": "system_r"}),
    "an SELinux user": in_pod_security(seLinuxOptions={"user": "system_u"}),
}


@pytest.mark.parametrize("edit", REFUSED.values(), ids=REFUSED)
def test_a_platform_that_sets_users_still_lets_no_driver_have(account: Account, edit: Edit) -> None:
    pod = driver(PodRules(uid=None))
    edit(pod)
    assert account.creates(pod).startswith("4")


@pytest.fixture
def quota(account: Account) -> Iterator[None]:
    """Of CPU limits. No controller counts here, so the test writes the status that quotas are checked against."""
    hard = {"limits.cpu": "8"}
    body: Any = {"metadata": {"name": QUOTA}, "spec": {"hard": hard}}
    account.ns.core.create_namespaced_resource_quota(NAMESPACE, body)
    status: Any = {"status": {"hard": hard, "used": {"limits.cpu": "0"}}}
    account.ns.core.patch_namespaced_resource_quota_status(QUOTA, NAMESPACE, status)
    yield
    account.ns.core.delete_namespaced_resource_quota(QUOTA, NAMESPACE)


@pytest.mark.usefixtures("quota")
def test_a_quota_of_cpu_limits_admits_drivers_that_have_one(account: Account) -> None:
    def without() -> str:
        return account.creates(driver(PodRules(uid=None)))

    account.ns.wait(lambda: "must specify limits.cpu" in without(), "the quota enforced")
    assert account.creates(driver(PodRules(uid=None, cpu_limits=True))) == ""


def pods_of_the_release(**values: Any) -> list[Object]:
    """The operator's Pod, as its ReplicaSet makes it, and the Pod of `helm test`."""
    documents = rendered(NAMESPACE, **values)
    (deployment,) = (each for each in documents if each["kind"] == "Deployment")
    (of_helm_test,) = (each for each in documents if each["kind"] == "Pod")
    spec = deployment["spec"]["template"]["spec"]
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "operator"}, "spec": spec}, of_helm_test]


@pytest.mark.usefixtures("quota")
def test_a_quota_of_cpu_limits_admits_the_pods_of_a_release_that_have_one(account: Account) -> None:
    def answers(**values: Any) -> list[str]:
        return [refusal(partial(create, NAMESPACE, pod, dry_run="All")) for pod in pods_of_the_release(**values)]

    create: Any = account.ns.core.create_namespaced_pod
    account.ns.wait(lambda: all("must specify limits.cpu" in each for each in answers()), "the quota enforced")
    limits = {"limits": {"cpu": "1"}}
    assert answers(resources=limits, helmTest={"resources": limits}) == ["", ""]
