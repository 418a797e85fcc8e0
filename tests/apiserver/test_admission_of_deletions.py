"""The chart's admission policy of deletions of PaimonRuns on a real API server: who can delete which run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client

from paimon_operator.core.naming import FINALIZER
from tests.apiserver.api import account_user
from tests.apiserver.namespace_client import GROUP, RUNS, TABLES, VERSION, NamespaceClient
from tests.apiserver.rights import Rights
from tests.apiserver.users import ALLOWED, Right, User
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, Manifest, edited, keyed_table, run

LAUNCHED = {"number": 1, "state": "Launching", "pod": "p-1", "launched": "2026-11-21T08:00:00Z"}
STARTED = LAUNCHED | {"state": "Running", "podUid": "u", "started": "2026-11-21T08:00:00Z"}
RUNS_THERE: dict[str, tuple[dict[str, object], list[dict[str, Any]]]] = {
    "waiting": ({}, []),
    "refused": ({}, [LAUNCHED]),
    "started": ({}, [STARTED]),
    "scheduled": ({"spec__trigger": {"type": "Schedule", "message": "due at 03:00"}}, []),
}
"""Runs of the table `orders` by name: edits of the manifest, and the attempts in its status."""


@pytest.fixture(scope="module")
def ns(api_server: ApiServer) -> Iterator[NamespaceClient]:
    ns = NamespaceClient(api_server.kubeconfig, "who-deletes")
    ns.create(edited(keyed_table(spec__writes=REMOVED), metadata__name="orders"))
    for name, (edits, attempts) in RUNS_THERE.items():
        ns.create(run(metadata__name=name, metadata__finalizers=[FINALIZER], **edits))
        status: Manifest = {"status": {"attempts": attempts}}
        custom = client.CustomObjectsApi(ns.client)
        custom.patch_namespaced_custom_object_status(GROUP, VERSION, ns.namespace, RUNS, name, status)
    yield ns
    ns.close()


@pytest.fixture(scope="module")
def rights(api_server: ApiServer, ns: NamespaceClient) -> Iterator[Rights]:
    """The chart's rights and policies, once the API server enforces them."""
    rights = Rights(api_server, ns)
    first = User.with_rights(api_server, ns, "first", [Right(("delete",))])
    ns.wait(lambda: "verb cancel" in first.try_delete("started"), "the policy enforced")
    yield rights
    rights.close()


@pytest.fixture(scope="module")
def maintainer(api_server: ApiServer, ns: NamespaceClient, rights: Rights) -> User:
    """A user who may delete runs, and may cancel those of another table only."""
    elsewhere = Right(("cancel",), TABLES, ("payroll",))
    made = User.with_rights(api_server, ns, "jo", [Right(("delete", "get")), elsewhere])
    ns.wait(lambda: made.try_delete("waiting") == ALLOWED, "the rights granted")
    return made


@pytest.mark.parametrize("name", ["waiting", "refused"])
def test_a_maintainer_takes_back_a_users_run_that_never_started(maintainer: User, name: str) -> None:
    """S3: with such a run a maintainer could hold a table, and could not undo it."""
    assert maintainer.try_delete(name) == ALLOWED


@pytest.mark.parametrize("name", ["started", "scheduled"])
def test_a_maintainer_cancels_no_run(maintainer: User, name: str) -> None:
    answer = maintainer.try_delete(name)
    assert f"may not delete PaimonRun {name}" in answer
    assert "verb cancel on paimontables/orders is missing" in answer


@pytest.mark.parametrize("name", RUNS_THERE)
def test_the_verb_cancel_on_the_table_and_the_operator_delete_every_run(
    api_server: ApiServer, ns: NamespaceClient, rights: Rights, name: str
) -> None:
    verb = Right(("cancel",), TABLES, ("orders",))
    owner = User.with_rights(api_server, ns, f"owner-{name}", [Right(("delete",)), verb])
    ns.wait(lambda: owner.try_delete(name) == ALLOWED, "the rights granted")
    assert User(ns, rights.kubeconfig).try_delete(name) == ALLOWED


@pytest.mark.parametrize("controller", ["generic-garbage-collector", "namespace-controller"])
def test_controllers_of_kubernetes_delete_every_run(
    api_server: ApiServer, rights: Rights, ns: NamespaceClient, controller: str
) -> None:
    """A deleted table or namespace takes its runs along. An administrator impersonates the controller."""
    collector = User.impersonating(api_server, ns, account_user("kube-system", controller))
    assert [collector.try_delete(name) for name in RUNS_THERE] == [ALLOWED] * len(RUNS_THERE)


def test_the_api_server_reports_no_type_error_in_the_policy(ns: NamespaceClient, rights: Rights) -> None:
    policies = client.AdmissionregistrationV1Api(ns.client)
    metadata = rights.policy().metadata
    assert metadata is not None

    def type_checking() -> client.V1TypeChecking | None:
        status = policies.read_validating_admission_policy(f"{metadata.name}-deletion").status
        return status.type_checking if status else None

    assert ns.wait(type_checking, "the types checked").expression_warnings is None
