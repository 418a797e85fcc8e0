"""Users with exactly the rights that a test grants, and the API server's answers to their requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kubernetes import client

from tests.apiserver.api import CustomObjects, grant, user
from tests.apiserver.namespace_client import GROUP, RUNS, VERSION, NamespaceClient
from tests.cluster.apiserver import ApiServer, open_client
from tests.support.manifests import Manifest

ALLOWED: Final = ""
"""The answer to a request that is admitted."""


@dataclass(frozen=True)
class Right:
    """Verbs on a resource of the group paimon-operator.dev; without `names` on all of its objects."""

    verbs: tuple[str, ...]
    resource: str = RUNS
    names: tuple[str, ...] = ()

    def rule(self) -> Manifest:
        named = {"resourceNames": list(self.names)} if self.names else {}
        return {"apiGroups": [GROUP], "resources": [self.resource], "verbs": list(self.verbs), **named}


class User:
    """A user who sends requests for the namespace of `ns`. Every request is a dry run."""

    def __init__(self, ns: NamespaceClient, kubeconfig: Path) -> None:
        self.kubeconfig, self._namespace = kubeconfig, ns.namespace
        self._custom: CustomObjects = client.CustomObjectsApi(open_client(kubeconfig))

    @classmethod
    def with_rights(cls, server: ApiServer, ns: NamespaceClient, name: str, rights: Iterable[Right]) -> User:
        """Creates a user and a Role of the same name."""
        grant(ns.client, ns.namespace, name, user(name), [each.rule() for each in rights])
        return cls(ns, server.user_kubeconfig(name))

    @classmethod
    def impersonating(cls, server: ApiServer, ns: NamespaceClient, name: str) -> User:
        """A user of any name, with that user's rights."""
        made = cls(ns, server.kubeconfig)
        made._custom.api_client.set_default_header("Impersonate-User", name)
        return made

    def try_create(self, run: Manifest) -> str:
        """Returns the answer to `kubectl create` of a run."""
        run = run | {"metadata": run["metadata"] | {"namespace": self._namespace}}
        return self._answer(
            lambda: self._custom.create_namespaced_custom_object(
                GROUP, VERSION, self._namespace, RUNS, run, dry_run="All"
            )
        )

    def try_patch(self, run: str, patch: Manifest) -> str:
        """Returns the answer to `kubectl patch` of a run."""
        return self._answer(
            lambda: self._custom.patch_namespaced_custom_object(
                GROUP, VERSION, self._namespace, RUNS, run, patch, dry_run="All"
            )
        )

    def try_delete(self, run: str) -> str:
        """Returns the answer to `kubectl delete` of a run."""
        return self._answer(
            lambda: self._custom.delete_namespaced_custom_object(
                GROUP, VERSION, self._namespace, RUNS, run, dry_run="All"
            )
        )

    @staticmethod
    def _answer(attempt: Callable[[], object]) -> str:
        try:
            attempt()
        except client.ApiException as error:
            return str(json.loads(error.body or "{}")["message"])
        return ALLOWED


def table_owner(table: Manifest, **changes: object) -> Manifest:
    """Returns the owner reference by which a table controls its runs."""
    reference = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "PaimonTable",
        "name": table["metadata"]["name"],
        "uid": table["metadata"]["uid"],
        "controller": True,
    }
    return reference | changes
