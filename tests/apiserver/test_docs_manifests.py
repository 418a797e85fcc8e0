"""A real API server admits every block of YAML in the docs: each as the manifest that it is a part of."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.apiserver.api import kubectl
from tests.apiserver.crds import Objects
from tests.cluster.apiserver import ApiServer
from tests.support.docs_manifests import blocks, is_foreign, whole

DOCUMENTS = [(str(block), document) for block in blocks() for document in block.documents]
OURS = [(place, manifest) for place, document in DOCUMENTS if (manifest := whole(document)) is not None]
FOREIGN = [(place, document) for place, document in DOCUMENTS if is_foreign(document)]


@pytest.mark.parametrize(("place", "manifest"), OURS, ids=[place for place, _ in OURS])
def test_a_manifest_of_the_docs_is_admitted(objects: Objects, place: str, manifest: dict[str, Any]) -> None:
    assert objects.create(manifest)["kind"] == manifest["kind"], place


def test_objects_of_kubernetes_in_the_docs_are_admitted(api_server: ApiServer) -> None:
    assert FOREIGN != []
    for place, document in FOREIGN:
        command = ("apply", "--dry-run=server", "--validate=strict", "-f", "-")
        assert "dry run" in kubectl(api_server.kubeconfig, *command, stdin=yaml.safe_dump(document)), place
