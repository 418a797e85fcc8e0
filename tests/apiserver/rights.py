"""The rights and the admission policies of the rendered chart. A test can withdraw single rights of the operator."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml
from kubernetes import client

from tests.apiserver.api import Body, account_user, as_json, is_allowed
from tests.apiserver.namespace_client import GROUP, NamespaceClient
from tests.apiserver.operator_process import IMAGE
from tests.cluster import programs
from tests.cluster.apiserver import ApiServer

CHART: Final = Path(__file__).resolve().parents[2] / "charts" / "paimon-operator"
RELEASE: Final = "paimon-operator"
POLICY: Final = "ValidatingAdmissionPolicy"
BINDING: Final = "ValidatingAdmissionPolicyBinding"
_KINDS: Final = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", POLICY, BINDING)
Object = dict[str, Any]


def rendered(namespace: str, served: Sequence[str] = (), **values: object) -> list[Object]:
    """Returns the chart's objects for an operator in `namespace`.

    `served` are kinds of other projects that the cluster has, as `--api-versions` of helm.
    """
    (helm,) = programs.build(["helm"])
    command = [str(helm), "template", RELEASE, str(CHART), "--namespace", namespace]
    flags = ["--kube-version", "1.34.4", "--values", "-", *(f"--api-versions={each}" for each in served)]
    text = subprocess.run(
        [*command, *flags], input=yaml.safe_dump(values), text=True, capture_output=True, check=True
    ).stdout
    return [document for document in yaml.safe_load_all(text) if document]


class Rights:
    """The chart's rights of an operator that watches only the namespace of `ns`, or (`everywhere`) all of them."""

    def __init__(self, server: ApiServer, ns: NamespaceClient, *, everywhere: bool = False, **values: object) -> None:
        self._server, self._ns = server, ns
        self._rbac = client.RbacAuthorizationV1Api(ns.client)
        self._admission = client.AdmissionregistrationV1Api(ns.client)
        scope: Object = {"allNamespaces": True} if everywhere else {"watchNamespaces": [ns.namespace]}
        # without the roles for users: their names are fixed, and they are cluster-scoped
        # and with the image of the operators that the tests start: a policy knows no other
        images = {"spark": {"images": {"paimon-0.9": IMAGE}}}
        given: Object = {"roles": {"create": False}, **images, **scope, **values}
        self._documents = rendered(ns.namespace, **given)
        for document in self._documents:
            if document["kind"] in _KINDS:
                self._create(document)
        self.kubeconfig = server.service_account_kubeconfig(ns.namespace, RELEASE)

    def environment(self) -> dict[str, str]:
        """Returns the operator's settings of the chart's Deployment, by their names in `Settings`."""
        (deployment,) = [document for document in self._documents if document["kind"] == "Deployment"]
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        prefix = "PAIMON_OPERATOR_"
        return {
            variable["name"].removeprefix(prefix).lower(): variable["value"]
            for variable in container["env"]
            if variable["name"].startswith(prefix)
        }

    @contextmanager
    def without(self, verb: str, resource: str) -> Iterator[None]:
        """Withdraws one right for the duration of the block, for example `patch`, `paimontables/status`."""
        name = RELEASE
        read = self._rbac.read_namespaced_role(name, self._ns.namespace)
        whole: list[Object] = as_json(read)["rules"]
        rules = [part for rule in whole for part in _without(rule, verb, resource)]
        self._rbac.patch_namespaced_role(name, self._ns.namespace, {"rules": rules})
        self._ns.wait(lambda: not self._allowed(verb, resource), f"no right to {verb} {resource}")
        try:
            yield
        finally:
            self._rbac.patch_namespaced_role(name, self._ns.namespace, {"rules": whole})
            self._ns.wait(lambda: self._allowed(verb, resource), f"the right to {verb} {resource}")

    def close(self) -> None:
        """Deletes the cluster-scoped objects."""
        for document in self._documents:
            name = document["metadata"]["name"]
            if document["kind"] == "ClusterRole":
                self._rbac.delete_cluster_role(name)
            if document["kind"] == "ClusterRoleBinding":
                self._rbac.delete_cluster_role_binding(name)
            if document["kind"] == POLICY:
                self._admission.delete_validating_admission_policy(name)
            if document["kind"] == BINDING:
                self._admission.delete_validating_admission_policy_binding(name)

    def policies(self) -> list[str]:
        """Returns the names of the chart's admission policies."""
        return [document["metadata"]["name"] for document in self._documents if document["kind"] == POLICY]

    def policy(self) -> client.V1ValidatingAdmissionPolicy:
        """Returns the current policy of runs."""
        (name,) = [each for each in self.policies() if each.endswith("-runs")]
        return self._admission.read_validating_admission_policy(name)

    def _allowed(self, verb: str, resource: str) -> bool:
        space = self._ns.namespace
        group = GROUP if resource.startswith("paimon") else ""
        user = account_user(space, RELEASE)
        return is_allowed(self._ns.client, user, verb, resource, namespace=space, group=group)

    def _create(self, document: Body) -> None:
        namespace = document["metadata"].get("namespace")
        match document["kind"]:
            case "ServiceAccount":
                self._ns.core.create_namespaced_service_account(namespace, document)
            case "Role":
                self._rbac.create_namespaced_role(namespace, document)
            case "RoleBinding":
                self._rbac.create_namespaced_role_binding(namespace, document)
            case "ClusterRole":
                self._rbac.create_cluster_role(document)
            case "ClusterRoleBinding":
                self._rbac.create_cluster_role_binding(document)
            case "ValidatingAdmissionPolicy":
                self._admission.create_validating_admission_policy(document)
            case "ValidatingAdmissionPolicyBinding":
                self._admission.create_validating_admission_policy_binding(document)


def _without(rule: Object, verb: str, resource: str) -> list[Object]:
    """Splits the rule: its other resources unchanged, this one without the verb."""
    others = rule | {"resources": [name for name in rule["resources"] if name != resource]}
    this = rule | {"resources": [resource], "verbs": [each for each in rule["verbs"] if each != verb]}
    parts = [others, this] if resource in rule["resources"] else [rule]
    return [part for part in parts if part["resources"] and part["verbs"]]
