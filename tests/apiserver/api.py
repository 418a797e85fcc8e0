"""Requests to an API server that several tests send: namespaces, accounts, roles, reviews of access, kubectl."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

import yaml
from kubernetes import client

from tests.cluster.programs import KUBECTL
from tests.support.manifests import Manifest

RBAC: Final = "rbac.authorization.k8s.io"
Body = Any
"""A manifest as JSON. The client sends dictionaries as they are, but its annotations name only its models."""
CustomObjects = Any
"""The client's CustomObjectsApi, whose methods are annotated to return `object`. They return JSON."""


def as_json(model: object) -> Manifest:
    """Returns a model of the client as the JSON that the API server sent."""
    shown: Manifest = client.ApiClient().sanitize_for_serialization(model)  # type: ignore[no-untyped-call]  # not annotated
    return shown


def kubectl(kubeconfig: Path, *arguments: str, stdin: str = "") -> str:
    """Runs kubectl and returns what it prints; raises CalledProcessError."""
    command = [str(KUBECTL.path), f"--kubeconfig={kubeconfig}", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=True).stdout


def apply(kubeconfig: Path, *manifests: Manifest) -> None:
    """Applies manifests with kubectl."""
    kubectl(kubeconfig, "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=yaml.safe_dump_all(manifests))


def create_namespace(api: client.ApiClient, name: str, **labels: str) -> None:
    """Creates a namespace; `labels` are labels of Pod Security: `enforce="restricted"`."""
    given = {f"pod-security.kubernetes.io/{key}": value for key, value in labels.items()}
    metadata = client.V1ObjectMeta(name=name, labels=given)
    client.CoreV1Api(api).create_namespace(client.V1Namespace(metadata=metadata))


def namespace_names(api: client.ApiClient) -> set[str]:
    """Returns the names of all namespaces."""
    return {as_json(each)["metadata"]["name"] for each in client.CoreV1Api(api).list_namespace().items}


def account_names(api: client.ApiClient, namespace: str) -> set[str]:
    """Returns the names of the service accounts in a namespace."""
    accounts = client.CoreV1Api(api).list_namespaced_service_account(namespace).items
    return {as_json(each)["metadata"]["name"] for each in accounts}


def create_account(api: client.ApiClient, namespace: str, name: str) -> None:
    """Creates a service account."""
    body = client.V1ServiceAccount(metadata=client.V1ObjectMeta(name=name))
    client.CoreV1Api(api).create_namespaced_service_account(namespace, body)


def grant(api: client.ApiClient, namespace: str, name: str, subject: Manifest, rules: list[Manifest]) -> None:
    """Creates a Role with these rules and binds the subject to it; both objects are called `name`."""
    body: Body = {"metadata": {"name": name}, "rules": rules}
    client.RbacAuthorizationV1Api(api).create_namespaced_role(namespace, body)
    bind(api, namespace, name, subject, role=name)


def bind(api: client.ApiClient, namespace: str, name: str, subject: Manifest, *, role: str, kind: str = "Role") -> None:
    """Creates the RoleBinding `name`, by which the subject has the rights of the Role or ClusterRole."""
    reference = {"apiGroup": RBAC, "kind": kind, "name": role}
    body: Body = {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}
    client.RbacAuthorizationV1Api(api).create_namespaced_role_binding(namespace, body)


def user(name: str) -> Manifest:
    """Returns a user as the subject of a binding."""
    return {"kind": "User", "apiGroup": RBAC, "name": name}


def account_user(namespace: str, name: str) -> str:
    """Returns the user name of a service account."""
    return f"system:serviceaccount:{namespace}:{name}"


def is_allowed(
    api: client.ApiClient, user_name: str, verb: str, resource: str, *, namespace: str, group: str = "", name: str = ""
) -> bool:
    """Asks the API server whether the user has the right. `resource` can have a subresource: `pods/exec`."""
    plural, _, subresource = resource.partition("/")
    asked = {"verb": verb, "group": group, "resource": plural, "subresource": subresource, "name": name}
    body: Body = {"spec": {"user": user_name, "resourceAttributes": {"namespace": namespace, **asked}}}
    status = client.AuthorizationV1Api(api).create_subject_access_review(body).status
    assert status is not None
    return bool(status.allowed)
