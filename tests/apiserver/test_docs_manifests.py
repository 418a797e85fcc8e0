"""A real API server admits every block of YAML in the docs: each as the manifest that it is a part of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
import yaml

from tests.apiserver.api import apply, kubectl
from tests.apiserver.crds import Objects
from tests.apiserver.rights import rendered
from tests.cluster import prometheus_crds
from tests.cluster.apiserver import ApiServer
from tests.support.docs_manifests import Form, blocks, form, whole, whole_status
from tests.support.manifests import Manifest, catalog, keyed_table, run

DOCUMENTS = [
    (f"{block}-{number}" if number else str(block), document, form(document))
    for block in blocks()
    for number, document in enumerate(block.documents)
]
"""Each document with its place, which is unique, and its form."""
USUAL = {manifest["kind"]: manifest for manifest in (keyed_table(), catalog(), run())}
RELEASE_NAMESPACE: Final = "paimon-system"
MONITORS: Final = "servicemonitors.monitoring.coreos.com"


def of_form(wanted: Form) -> dict[str, Any]:
    """The documents of one form by their places."""
    return {place: document for place, document, of in DOCUMENTS if of is wanted}


OURS, FOREIGN, VALUES, STATUSES = (of_form(each) for each in Form)


def dry_run(server: ApiServer, *documents: Manifest) -> str:
    """Applies objects in a dry run, with unknown fields refused. Raises CalledProcessError."""
    command = ("apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-")
    return kubectl(server.kubeconfig, *command, stdin=yaml.safe_dump_all(documents))


def test_every_block_is_sent_to_the_server_by_one_of_these_tests() -> None:
    assert [place for place, _, of in DOCUMENTS if of is None] == []
    assert all((OURS, FOREIGN, VALUES, STATUSES))


@pytest.mark.parametrize("document", OURS.values(), ids=OURS)
def test_a_manifest_of_the_docs_is_admitted(objects: Objects, document: Any) -> None:
    manifest = whole(document)
    assert manifest is not None
    assert objects.create(manifest)["kind"] == manifest["kind"]


@pytest.mark.parametrize("document", FOREIGN.values(), ids=FOREIGN)
def test_an_object_of_kubernetes_in_the_docs_is_admitted(api_server: ApiServer, document: Manifest) -> None:
    assert "serverside-applied (server dry run)" in dry_run(api_server, document)


@pytest.fixture(scope="module")
def release_server(api_server: ApiServer) -> Iterator[ApiServer]:
    """The server with the namespace of a release, and the ServiceMonitor that the chart's values can ask for."""
    apply(api_server.kubeconfig, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": RELEASE_NAMESPACE}})
    kubectl(api_server.kubeconfig, "create", "-f", str(prometheus_crds.crd("servicemonitors")))
    kubectl(api_server.kubeconfig, "wait", "--for=condition=Established", f"crd/{MONITORS}", "--timeout=120s")
    yield api_server
    kubectl(api_server.kubeconfig, "delete", f"crd/{MONITORS}")


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_the_chart_with_values_of_the_docs_is_admitted(release_server: ApiServer, values: Manifest) -> None:
    served = ["monitoring.coreos.com/v1/ServiceMonitor"]
    documents = rendered(RELEASE_NAMESPACE, served, **values)
    # a dry run of the Pod of `helm test` needs its account
    apply(release_server.kubeconfig, *(each for each in documents if each["kind"] == "ServiceAccount"))
    applied = dry_run(release_server, *documents).splitlines()
    assert len([line for line in applied if line.endswith("serverside-applied (server dry run)")]) == len(documents)


@pytest.mark.parametrize("document", STATUSES.values(), ids=STATUSES)
def test_a_status_of_the_docs_is_stored_as_it_is(objects: Objects, document: Manifest) -> None:
    kind, status = whole_status(document) or ("", {})
    objects.create(USUAL[kind])
    assert objects.set_status(USUAL[kind], status)["status"] == status
