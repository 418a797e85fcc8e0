"""The check that `helm test` runs, with the operator's account on a real API server: success and each failure."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from paimon_operator.installation import rights as required
from paimon_operator.installation.rights import Right
from tests.apiserver.api import grant
from tests.apiserver.conftest import serving
from tests.apiserver.crds import install
from tests.apiserver.namespace_client import NamespaceClient
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.rights import RELEASE, Rights, rendered
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer

HOME = "paimon-system"
Object = dict[str, Any]


class Release:
    """An operator that watches one namespace, with the chart's rights."""

    def __init__(self, server: ApiServer, ns: NamespaceClient, logs: Path) -> None:
        self.ns, self.rights = ns, Rights(server, ns)
        self._rbac = client.RbacAuthorizationV1Api(ns.client)
        self.operator = OperatorProcess(
            self.rights.kubeconfig, logs, namespaces=[ns.namespace], lease_namespace=ns.namespace
        ).start()

    def check(self, *more: str, watched: str = HOME) -> tuple[int, list[str]]:
        """Runs the check and returns its exit code and findings."""
        home = ["--lease", RELEASE, "--namespace", self.ns.namespace, "--watched", watched]
        health = ["--health-host", "127.0.0.1", "--health-port", str(self.operator.health_port)]
        command = [sys.executable, "-m", "paimon_operator.installation.check", *home, *health, "--timeout", "5", *more]
        environment = {**os.environ, "KUBECONFIG": str(self.rights.kubeconfig)}
        done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()

    @contextmanager
    def also_may(self, verb: str, resource: str) -> Iterator[None]:
        """Grants one right too many in the operator's namespace for the duration of the block."""
        name, space = "too-much", self.ns.namespace
        account = {"kind": "ServiceAccount", "name": RELEASE, "namespace": space}
        grant(self.ns.client, space, name, account, [{"apiGroups": [""], "resources": [resource], "verbs": [verb]}])
        try:
            yield
        finally:
            self._rbac.delete_namespaced_role_binding(name, space)
            self._rbac.delete_namespaced_role(name, space)

    def close(self) -> None:
        self.operator.__exit__(None, None, None)
        self.rights.close()
        self.ns.close()


@pytest.fixture(scope="module")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server of this file alone: policies and a release are cluster-scoped."""
    with serving(tmp_path_factory) as server:
        yield server


@pytest.fixture(scope="module")
def release(api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    release = Release(api_server, NamespaceClient(api_server.kubeconfig, HOME), tmp_path_factory.mktemp("operator"))
    release.operator.wait_until_working()
    yield release
    release.close()


def test_a_good_installation_passes(release: Release) -> None:
    assert release.check("--timeout", "30") == (0, ["kinds: ok", "rights: ok", "leader: ok", "health: ok"])


@pytest.mark.parametrize(
    ("verb", "resource"), [("create", "pods"), pytest.param("patch", "paimontables/status", marks=pytest.mark.long)]
)
def test_a_missing_right_is_reported(release: Release, verb: str, resource: str) -> None:
    with release.rights.without(verb, resource):
        code, found = release.check()
    plural, _, sub = resource.partition("/")
    full = f"{plural}.paimon-operator.dev/{sub}" if sub else resource
    assert (code, found[1]) == (1, f"rights: the operator may not {verb} {full} in namespace {HOME}")


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        ("get", "secrets"),
        pytest.param("create", "pods/exec", marks=pytest.mark.long),
        pytest.param("list", "configmaps", marks=pytest.mark.long),
    ],
)
def test_a_right_too_many_is_reported(release: Release, verb: str, resource: str) -> None:
    expected = (1, f"rights: the operator may {verb} {resource} in namespace {HOME}")

    def found() -> bool:
        code, lines = release.check()
        return (code, lines[1]) == expected

    with release.also_may(verb, resource):
        release.ns.wait(found, "the report of the right")


def test_rights_in_a_namespace_that_is_not_watched_are_reported(release: Release) -> None:
    code, found = release.check(watched="default")
    assert code == 1
    assert f"rights: the operator may create pods in namespace {HOME}" in found
    assert "rights: the operator may not create pods in namespace default" in found


def test_an_endpoint_that_does_not_answer_fails(release: Release) -> None:
    code, found = release.check("--health-port", "1")
    assert code == 1
    assert found[-1].startswith("health: http://127.0.0.1:1/readyz: no answer: ")


@pytest.mark.long
def test_kinds_of_an_earlier_version_and_a_dead_leader_are_reported(tmp_path: Path) -> None:
    with ApiServer(tmp_path / "server", controllers=USUAL_CONTROLLERS) as server:
        install(server.kubeconfig)
        ns = NamespaceClient(server.kubeconfig, HOME)
        release = Release(server, ns, tmp_path)
        release.operator.wait_until_working().kill()
        lease = client.CoordinationV1Api(ns.client).read_namespaced_lease(RELEASE, HOME)
        assert lease.spec is not None
        holder = lease.spec.holder_identity
        assert f"leader: Lease {HOME}/{RELEASE}: held by {holder}, not renewed for 5 s" in release.check()[1]
        definitions = client.ApiextensionsV1Api(ns.client)
        path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/suspend"
        definitions.patch_custom_resource_definition(
            "paimontables.paimon-operator.dev", [{"op": "remove", "path": path}]
        )
        lacks = "kinds: the served CRD lacks PaimonTable.spec.suspend. Upgrade the CRDs to this version's."
        ns.wait(lambda: lacks in release.check()[1], "the served schema without the field")
        definitions.delete_custom_resource_definition("paimonruns.paimon-operator.dev")
        lacks = "kinds: the served CRD lacks PaimonRun. Upgrade the CRDs to this version's."
        ns.wait(lambda: lacks in release.check()[1], "the served kinds without one")


def granted(documents: list[Object], namespace: str | None) -> set[Right]:
    """Returns every right that the bindings of a namespace (None: of the cluster) give to the operator's account."""
    bindings = [
        document["roleRef"]
        for document in documents
        if document["kind"].endswith("Binding")
        and document["metadata"].get("namespace") == namespace
        and any(subject.get("name") == RELEASE for subject in document.get("subjects", []))
    ]
    return {
        Right(verb, group, resource, name)
        for document in documents
        for reference in bindings
        if (document["kind"], document["metadata"]["name"]) == (reference["kind"], reference["name"])
        and document["metadata"].get("namespace") == namespace
        for rule in document["rules"]
        for group, resource, verb, name in product(
            rule["apiGroups"], rule["resources"], rule["verbs"], rule.get("resourceNames", [""])
        )
    }


def test_the_chart_grants_the_required_rights_for_watched_namespaces() -> None:
    documents = rendered(HOME, watchNamespaces=["shop"])
    assert granted(documents, "shop") == set(required.where_watched(RELEASE))
    assert granted(documents, HOME) == set(required.at_home(RELEASE))
    assert granted(documents, None) == set(required.OVER_THE_CLUSTER)


def test_the_chart_grants_the_required_rights_for_all_namespaces() -> None:
    documents = rendered(HOME, allNamespaces=True)
    assert granted(documents, None) == {*required.where_watched(RELEASE), *required.OVER_THE_CLUSTER}
    assert granted(documents, HOME) == set(required.at_home(RELEASE))
