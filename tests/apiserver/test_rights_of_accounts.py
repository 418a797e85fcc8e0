"""The rights of every account of the chart on a real API server equal the committed files.

After an intended change run `python -m tests.apiserver.accounts` and review the difference.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kubernetes import client

from tests.apiserver.accounts import ACCOUNTS, INSTALLS, LISTS, answers
from tests.apiserver.api import Body, bind, is_allowed, user
from tests.apiserver.namespace_client import NamespaceClient
from tests.apiserver.rights import Object, rendered
from tests.cluster.apiserver import ApiServer, open_client

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


# The roles for users

CREATE = [("create", "paimonruns")]
MAINTAIN = [
    *CREATE,
    ("delete", "paimonruns"),
    ("compact", "paimontables"),
    ("expiresnapshots", "paimontables"),
    ("expirepartitions", "paimontables"),
    ("compactmanifests", "paimontables"),
    ("analyze", "paimontables"),
    ("markpartitionsdone", "paimontables"),
    ("removeorphanfiles", "paimontables"),
    ("describe", "paimontables"),
    ("observe", "paimontables"),
]
OWN = [*MAINTAIN, ("create", "paimontables"), ("delete", "paimontables"), ("cancel", "paimontables")]
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
"""Allowed requests by role; the others of ASKED are refused."""


@pytest.fixture(scope="module")
def users(api_server: ApiServer) -> Iterator[NamespaceClient]:
    """The chart's roles with default values, and one user per role, named after it."""
    ns = NamespaceClient(api_server.kubeconfig, "roles")
    rbac = client.RbacAuthorizationV1Api(ns.client)
    roles = _roles()
    for each in roles:
        body: Body = each
        rbac.create_cluster_role(body)
    for role in MAY:
        bind(ns.client, ns.namespace, f"user-{role}", user(f"user-{role}"), role=role, kind="ClusterRole")
    yield ns
    for each in roles:
        rbac.delete_cluster_role(each["metadata"]["name"])
    ns.close()


@pytest.mark.parametrize("role", MAY)
def test_a_role_gives_exactly_these_rights(users: NamespaceClient, role: str) -> None:
    users.wait(lambda: _may(users, role, *READ[0]), "the role granted and aggregated")
    users.wait(lambda: {each for each in ASKED if _may(users, role, *each)} == set(MAY[role]), f"rights of {role}")


def test_an_administrator_of_a_namespace_can_bind_the_roles(users: NamespaceClient, api_server: ApiServer) -> None:
    users.wait(lambda: _may(users, "admin", "update", "paimonruns/finalizers"), "the aggregated role")
    with open_client(api_server.user_kubeconfig("user-admin")) as api:
        for role in ("paimon-reader", "paimon-maintainer", "paimon-table-owner", "paimon-administrator"):
            name = f"colleague-{role}"
            bind(api, users.namespace, name, user(name), role=role, kind="ClusterRole")


def test_values_aggregate_the_roles_to_edit_and_disable_them() -> None:
    def added(**roles: object) -> set[str]:
        label = "rbac.authorization.k8s.io/aggregate-to-edit"
        return {role["metadata"]["name"] for role in _roles(**roles) if label in role["metadata"]["labels"]}

    assert added() == set()
    assert added(aggregate={"edit": True}) == {"paimon-maintainer", "paimon-table-owner"}
    assert _roles(create=False) == []


def test_without_the_policy_a_maintainer_may_delete_no_run() -> None:
    """The policy limits the right to runs that never started."""
    documents = rendered("paimon-system", allNamespaces=True, admission={"runs": False})
    (maintainer,) = [each for each in documents if each["metadata"]["name"] == "paimon-maintainer"]
    assert [rule["verbs"] for rule in maintainer["rules"] if rule["resources"] == ["paimonruns"]] == [["create"]]


def _roles(**roles: object) -> list[Object]:
    named = [each for each in MAY if each.startswith("paimon-")]
    return [each for each in rendered("paimon-system", roles=roles) if each["metadata"]["name"] in named]


def _may(ns: NamespaceClient, role: str, verb: str, resource: str) -> bool:
    where = {"namespace": ns.namespace, "group": "paimon-operator.dev", "name": "orders"}
    return is_allowed(ns.client, f"user-{role}", verb, resource, **where)
