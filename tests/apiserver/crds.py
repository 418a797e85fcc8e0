"""Objects of the three kinds on a real API server, and the installation of their CRDs."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client

from paimon_operator.core.naming import EXECUTOR_RIGHTS_PLURAL
from tests.apiserver.api import CustomObjects, create_namespace
from tests.cluster.apiserver import open_client
from tests.cluster.processes import wait_until

GROUP, VERSION, NAMESPACE = "paimon-operator.dev", "v1alpha1", "shop"
PLURALS = {"PaimonCatalog": "paimoncatalogs", "PaimonTable": "paimontables", "PaimonRun": "paimonruns"}
CRDS = Path(__file__).parents[2] / "crds"


class Objects:
    """Creates, replaces and lists objects of the three kinds in the namespace `shop`."""

    def __init__(self, kubeconfig: Path) -> None:
        self.client = open_client(kubeconfig)
        self._custom: CustomObjects = client.CustomObjectsApi(self.client)

    def create(self, manifest: dict[str, Any], *, dry_run: bool = False) -> dict[str, Any]:
        """Creates an object and returns it as stored. The API server refuses unknown fields, as with kubectl."""
        plural, more = PLURALS[manifest["kind"]], {"dry_run": "All"} if dry_run else {}
        created: dict[str, Any] = self._custom.create_namespaced_custom_object(
            GROUP, VERSION, NAMESPACE, plural, manifest, field_validation="Strict", **more
        )
        return created

    def replace(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """Replaces the object without its status, like an edit by a user."""
        plural, name = PLURALS[manifest["kind"]], manifest["metadata"]["name"]
        current = self._custom.get_namespaced_custom_object(GROUP, VERSION, NAMESPACE, plural, name)
        metadata = manifest["metadata"] | {"resourceVersion": current["metadata"]["resourceVersion"]}
        replaced: dict[str, Any] = self._custom.replace_namespaced_custom_object(
            GROUP, VERSION, NAMESPACE, plural, name, manifest | {"metadata": metadata}, field_validation="Strict"
        )
        return replaced

    def set_status(self, manifest: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
        """Replaces the object's status, like the operator."""
        plural, name = PLURALS[manifest["kind"]], manifest["metadata"]["name"]
        current = self._custom.get_namespaced_custom_object(GROUP, VERSION, NAMESPACE, plural, name)
        written: dict[str, Any] = self._custom.replace_namespaced_custom_object_status(
            GROUP, VERSION, NAMESPACE, plural, name, current | {"status": status}, field_validation="Strict"
        )
        return written

    def names(self, kind: str) -> list[str]:
        """Returns the names of all objects of a kind."""
        listed = self._custom.list_namespaced_custom_object(GROUP, VERSION, NAMESPACE, PLURALS[kind])
        return [item["metadata"]["name"] for item in listed["items"]]

    def clear(self) -> None:
        """Deletes all objects of the three kinds."""
        for plural in PLURALS.values():
            self._custom.delete_collection_namespaced_custom_object(GROUP, VERSION, NAMESPACE, plural)


def install(kubeconfig: Path) -> None:
    """Installs the CRDs, waits until their kinds are served and creates the namespace `shop`."""
    install_kinds(kubeconfig)
    create_namespace(open_client(kubeconfig), NAMESPACE)


def install_kinds(kubeconfig: Path) -> None:
    """Installs the CRDs and waits until their kinds are served."""
    api = open_client(kubeconfig)
    extensions = client.ApiextensionsV1Api(api)
    for path in sorted(CRDS.glob("*.yaml")):
        extensions.create_custom_resource_definition(yaml.safe_load(path.read_text()))
    if not wait_until(lambda: _served(api), timeout=120):
        raise TimeoutError("the API server does not serve all kinds after 120 s")


def _served(api: client.ApiClient) -> bool:
    custom = client.CustomObjectsApi(api)
    try:
        for plural in (*PLURALS.values(), EXECUTOR_RIGHTS_PLURAL):
            custom.list_namespaced_custom_object(GROUP, VERSION, NAMESPACE, plural)
    except client.ApiException as error:
        if error.status == HTTPStatus.NOT_FOUND:
            return False
        raise
    return True
