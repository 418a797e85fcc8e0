"""People and accounts with exactly the rights that a test gives them, and what the API server says to what they try."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kubernetes import client, config

from tests.apiserver.stage import GROUP, RUNS, VERSION, Stage
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import Manifest

ALLOWED: Final = ""
"""What the API server says when it has nothing against it."""


@dataclass(frozen=True)
class Right:
    """Verbs on a resource of our group, and on which objects of it (none named: on all)."""

    verbs: tuple[str, ...]
    resource: str = RUNS
    names: tuple[str, ...] = ()

    def rule(self) -> Manifest:
        named = {"resourceNames": list(self.names)} if self.names else {}
        return {"apiGroups": [GROUP], "resources": [self.resource], "verbs": list(self.verbs), **named}


class Person:
    """Somebody who tries things in the stage's namespace. Nothing that works is kept: all of it are dry runs."""

    def __init__(self, stage: Stage, kubeconfig: Path) -> None:
        self.kubeconfig, self._namespace = kubeconfig, stage.namespace
        self._custom = client.CustomObjectsApi(config.new_client_from_config(str(kubeconfig)))

    @classmethod
    def with_rights(cls, server: ApiServer, stage: Stage, name: str, rights: Iterable[Right]) -> Person:
        """A user of that name, with a Role of that name."""
        rbac = client.RbacAuthorizationV1Api(stage.client)
        meta = {"name": name, "namespace": stage.namespace}
        rbac.create_namespaced_role(stage.namespace, {"metadata": meta, "rules": [each.rule() for each in rights]})
        subject = {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name}
        role = {"kind": "Role", "apiGroup": "rbac.authorization.k8s.io", "name": name}
        rbac.create_namespaced_role_binding(stage.namespace, {"metadata": meta, "roleRef": role, "subjects": [subject]})
        return cls(stage, server.user_kubeconfig(name))

    def creates(self, run: Manifest) -> str:
        """What is said to `kubectl create` of a run."""
        run = run | {"metadata": run["metadata"] | {"namespace": self._namespace}}
        return self._said(
            lambda: self._custom.create_namespaced_custom_object(
                GROUP, VERSION, self._namespace, RUNS, run, dry_run="All"
            )
        )

    def patches(self, run: str, patch: Manifest) -> str:
        """What is said to `kubectl patch` of a run."""
        return self._said(
            lambda: self._custom.patch_namespaced_custom_object(
                GROUP, VERSION, self._namespace, RUNS, run, patch, dry_run="All"
            )
        )

    @staticmethod
    def _said(attempt: Callable[[], object]) -> str:
        try:
            attempt()
        except client.ApiException as error:
            return str(json.loads(error.body)["message"])
        return ALLOWED


def table_owner(table: Manifest, **changes: object) -> Manifest:
    """The owner reference by which a table controls its runs."""
    reference = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "PaimonTable",
        "name": table["metadata"]["name"],
        "uid": table["metadata"]["uid"],
        "controller": True,
    }
    return reference | changes
