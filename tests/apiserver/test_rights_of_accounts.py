"""What every account of the chart may do, on a real API server, equals the committed files: no more, and no less.

After a change that is meant: `python -m tests.apiserver.accounts`, and let somebody read the difference.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kubernetes import client, config

from tests.apiserver.accounts import ACCOUNTS, INSTALLS, LISTS, answers
from tests.apiserver.rights import Object, rendered
from tests.apiserver.stage import Stage
from tests.cluster.apiserver import ApiServer

NAMES = {"everybody.txt"} | {f"{account.name}-{install}.txt" for account in ACCOUNTS for install in INSTALLS}


def test_kubectl_auth_can_i_lists_what_is_committed(api_server: ApiServer) -> None:
    committed = {path.name: path.read_text() for path in LISTS.glob("*.txt")}
    assert answers(api_server) == committed
    assert set(committed) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_no_list_names_secrets_or_everything(name: str) -> None:
    lines = (LISTS / name).read_text().splitlines()
    rights = [line.split(" | ")[0] for line in lines if " | " in line]
    assert not [resource for resource in rights if resource.startswith(("secrets", "*", "serviceaccounts"))]
    assert not [line for line in lines if "[*]" in line]


# The roles for people

MAKE = [("create", "paimonruns")]
MAINTAIN = [*MAKE, ("compact", "paimontables"), ("expiresnapshots", "paimontables")]
OWN = [*MAINTAIN, ("create", "paimontables"), ("delete", "paimontables"), ("delete", "paimonruns")]
ADMINISTER = [*OWN, ("create", "paimoncatalogs"), ("update", "paimonruns/finalizers")]
READ = [("list", "paimontables"), ("get", "paimonruns"), ("watch", "paimoncatalogs")]
NEVER = [("patch", "paimontables/status"), ("patch", "paimonruns/status"), ("patch", "paimoncatalogs/status")]
ASKED = [*READ, *ADMINISTER, *NEVER]
MAY = {
    "paimon-reader": READ,
    "paimon-maintainer": [*READ, *MAINTAIN],
    "paimon-table-owner": [*READ, *OWN],
    "paimon-administrator": [*READ, *ADMINISTER],
    "view": READ,
    "edit": READ,
    "admin": [*READ, *ADMINISTER],
}
"""By role; what is in ASKED and not here is refused."""


@pytest.fixture(scope="module")
def people(api_server: ApiServer) -> Iterator[Stage]:
    """The chart's roles as they are without any value, and one user per role, of the role's name."""
    stage = Stage(api_server.kubeconfig, "roles")
    rbac = client.RbacAuthorizationV1Api(stage.client)
    for role in _roles():
        rbac.create_cluster_role(role)
    for role in MAY:
        _bind(rbac, stage.namespace, role, f"user-{role}")
    yield stage
    for role in _roles():
        rbac.delete_cluster_role(role["metadata"]["name"])
    stage.close()


@pytest.mark.parametrize("role", MAY)
def test_a_role_may_what_it_says_and_nothing_else(people: Stage, role: str) -> None:
    people.wait(lambda: _may(people, role, *READ[0]), "the role at work, and aggregated")
    people.wait(lambda: {each for each in ASKED if _may(people, role, *each)} == set(MAY[role]), f"rights of {role}")


def test_who_administers_a_namespace_can_hand_the_roles_out(people: Stage, api_server: ApiServer) -> None:
    people.wait(lambda: _may(people, "admin", "update", "paimonruns/finalizers"), "the aggregated role")
    kubeconfig = api_server.user_kubeconfig("user-admin")
    rbac = client.RbacAuthorizationV1Api(config.new_client_from_config(str(kubeconfig)))
    for role in ("paimon-reader", "paimon-maintainer", "paimon-table-owner", "paimon-administrator"):
        _bind(rbac, people.namespace, role, f"colleague-{role}")


def test_the_roles_are_added_to_edit_only_by_a_value_and_are_left_out_by_another() -> None:
    def added(**roles: object) -> set[str]:
        label = "rbac.authorization.k8s.io/aggregate-to-edit"
        return {role["metadata"]["name"] for role in _roles(**roles) if label in role["metadata"]["labels"]}

    assert added() == set()
    assert added(aggregate={"edit": True}) == {"paimon-maintainer", "paimon-table-owner"}
    assert _roles(create=False) == []


def _roles(**roles: object) -> list[Object]:
    named = [each for each in MAY if each.startswith("paimon-")]
    return [each for each in rendered("paimon-system", roles=roles) if each["metadata"]["name"] in named]


def _bind(rbac: client.RbacAuthorizationV1Api, namespace: str, role: str, user: str) -> None:
    group = "rbac.authorization.k8s.io"
    reference = {"kind": "ClusterRole", "apiGroup": group, "name": role}
    subject = {"kind": "User", "apiGroup": group, "name": user}
    body = {"metadata": {"name": user}, "roleRef": reference, "subjects": [subject]}
    rbac.create_namespaced_role_binding(namespace, body)


def _may(stage: Stage, role: str, verb: str, resource: str) -> bool:
    plural, _, sub = resource.partition("/")
    asked = {"verb": verb, "group": "paimon-operator.dev", "resource": plural, "subresource": sub}
    attributes = {"namespace": stage.namespace, "name": "orders", **asked}
    body = {"spec": {"user": f"user-{role}", "resourceAttributes": attributes}}
    return bool(client.AuthorizationV1Api(stage.client).create_subject_access_review(body).status.allowed)
