"""The chart's rights and policies for an operator that watches both tenants, with the policies on or off."""

from __future__ import annotations

from typing import Final

import yaml

from tests.apiserver.api import bind, grant, kubectl, user
from tests.apiserver.attacks.attack import CHART_ROLES, USERS, Actor, Scope
from tests.apiserver.attacks.attacker import Attacker
from tests.apiserver.namespace_client import RUNS, NamespaceClient
from tests.apiserver.operator_process import IMAGE
from tests.apiserver.rights import BINDING, POLICY, RELEASE, Object, rendered
from tests.apiserver.users import Right
from tests.cluster.apiserver import ApiServer

_RIGHTS: Final = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
_OFF: Final[Object] = {"admission": {"runs": False, "operator": False}}


class Installation:
    """The objects of the chart on the API server, without its Deployment."""

    def __init__(self, server: ApiServer, home: NamespaceClient, tenants: list[str]) -> None:
        """Installs the rights; no policy yet."""
        self._server, self._home, self._tenants = server, home, tenants
        self._policies = _only(self._render(), (POLICY, BINDING))
        self._apply(self._render(policies=False))
        self.kubeconfig = server.service_account_kubeconfig(home.namespace, RELEASE)

    def enforce(self, *, policies: bool) -> None:
        """Installs the chart with its policies on or off."""
        self._apply(self._render(policies=policies))
        if policies:
            self._kubectl("apply", self._policies)
        else:
            self._kubectl("delete", self._policies)

    def attackers(self, clients: dict[Scope, NamespaceClient]) -> dict[tuple[Scope, Actor], Attacker]:
        """Creates a user for each actor and namespace, and the attackers who have a token."""
        found = {}
        for scope, ns in clients.items():
            for actor in USERS:
                name = f"{ns.namespace}-{actor.name.lower()}"
                _bind(ns, actor, name)
                found[scope, actor] = Attacker(actor, name, ns.namespace, self._server.user_kubeconfig(name))
        shop, rival = clients[Scope.SHOP], clients[Scope.RIVAL]
        found[Scope.SHOP, Actor.OPERATOR] = Attacker(Actor.OPERATOR, RELEASE, shop.namespace, self.kubeconfig)
        driver = self._server.service_account_kubeconfig(rival.namespace, "paimon-driver")
        found[Scope.RIVAL, Actor.DRIVER] = Attacker(Actor.DRIVER, "paimon-driver", rival.namespace, driver)
        return found

    def _render(self, *, policies: bool = True) -> list[Object]:
        values: Object = {
            "watchNamespaces": self._tenants,
            "workloads": {"namespaces": self._tenants, "executorPolicy": policies},
            "spark": {"images": {"paimon-0.9": IMAGE}},
        }
        return rendered(self._home.namespace, **values, **({} if policies else _OFF))

    def _apply(self, documents: list[Object]) -> None:
        self._kubectl("apply", _only(documents, _RIGHTS))

    def _kubectl(self, verb: str, documents: list[Object]) -> None:
        flags = ["--server-side", "--force-conflicts"] if verb == "apply" else ["--ignore-not-found", "--wait=false"]
        kubectl(self._server.kubeconfig, verb, *flags, "-f", "-", stdin=yaml.safe_dump_all(documents))


def _only(documents: list[Object], kinds: tuple[str, ...]) -> list[Object]:
    return [each for each in documents if each["kind"] in kinds]


def _bind(ns: NamespaceClient, actor: Actor, name: str) -> None:
    if actor in CHART_ROLES:
        bind(ns.client, ns.namespace, name, user(name), role=actor.value, kind="ClusterRole")
    elif actor is Actor.EDITOR:
        bind(ns.client, ns.namespace, f"{name}-paimon", user(name), role=Actor.OWNER.value, kind="ClusterRole")
        bind(ns.client, ns.namespace, name, user(name), role="edit", kind="ClusterRole")
    else:
        grant(ns.client, ns.namespace, name, user(name), [Right(("create", "patch", "delete"), RUNS).rule()])
