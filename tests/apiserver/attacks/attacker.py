"""A user who attacks: real requests to the API server, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final

from kubernetes import client

from tests.apiserver.api import Body, CustomObjects
from tests.apiserver.attacks.attack import Actor, Outcome
from tests.apiserver.namespace_client import CATALOGS, GROUP, RUNS, TABLES, VERSION
from tests.cluster.apiserver import open_client
from tests.support.manifests import Manifest

_PLURALS: Final = {"PaimonTable": TABLES, "PaimonCatalog": CATALOGS, "PaimonRun": RUNS}
_OF_POLICY: Final = "ValidatingAdmissionPolicy"


@dataclass(frozen=True)
class Answer:
    """What the API server answered to an attempt; of several requests the first that was refused."""

    status: int
    """HTTP status; 0 for a request that was admitted."""
    message: str = ""
    granted: bool = False
    """Admitted as a dry run: the request is a right of the role, and is not tried on the victim."""

    @property
    def refused(self) -> bool:
        return self.status != 0

    @property
    def outcome(self) -> Outcome:
        """The outcome, as far as the answer shows it: what an admitted request did is another question."""
        if not self.refused:
            return Outcome.ADMITTED if self.granted else Outcome.WITHOUT_EFFECT
        if _OF_POLICY in self.message:
            return Outcome.POLICY
        return Outcome.RBAC if self.status == HTTPStatus.FORBIDDEN else Outcome.RULE


ADMITTED: Final = Answer(0)


@dataclass
class Attacker:
    """A user with the rights of `actor` in `namespace`, and what the user has created."""

    actor: Actor
    name: str
    namespace: str
    kubeconfig: Path
    made: list[tuple[str, str]] = field(default_factory=list)
    """Plural and name of each object of the three kinds."""

    def __post_init__(self) -> None:
        api = open_client(self.kubeconfig)
        self.core = client.CoreV1Api(api)
        self.custom: CustomObjects = client.CustomObjectsApi(api)
        self.extensions = client.ApiextensionsV1Api(api)

    def create(self, manifest: Manifest, *, namespace: str | None = None, dry: bool = False) -> Answer:
        """Sends `kubectl create`; `dry`: the right is the role's own, so it is not used."""
        where, plural = namespace or self.namespace, _PLURALS[manifest["kind"]]
        body = manifest | {"metadata": manifest["metadata"] | {"namespace": where}}
        how = {"field_validation": "Strict"} | ({"dry_run": "All"} if dry else {})
        got = answer_to(
            lambda: self.custom.create_namespaced_custom_object(GROUP, VERSION, where, plural, body, **how), dry=dry
        )
        if not got.refused and not dry:
            self.made.append((plural, manifest["metadata"]["name"]))
        return got

    def patch(self, plural: str, name: str, patch: Manifest, *, namespace: str | None = None) -> Answer:
        """Sends `kubectl patch` as a dry run."""
        place = (GROUP, VERSION, namespace or self.namespace, plural, name, patch)
        return answer_to(lambda: self.custom.patch_namespaced_custom_object(*place, dry_run="All"), dry=True)

    def patch_status(self, plural: str, name: str, status: Manifest, *, namespace: str | None = None) -> Answer:
        """Sends a change of the status as a dry run."""
        place = (GROUP, VERSION, namespace or self.namespace, plural, name, {"status": status})
        return answer_to(lambda: self.custom.patch_namespaced_custom_object_status(*place, dry_run="All"), dry=True)

    def delete(self, plural: str, name: str, *, namespace: str | None = None) -> Answer:
        """Sends `kubectl delete` as a dry run."""
        place = (GROUP, VERSION, namespace or self.namespace, plural, name)
        return answer_to(lambda: self.custom.delete_namespaced_custom_object(*place, dry_run="All"), dry=True)

    def remove(self, plural: str, name: str) -> Answer:
        """Deletes an object of the user's own, in fact."""
        place = (GROUP, VERSION, self.namespace, plural, name)
        return answer_to(lambda: self.custom.delete_namespaced_custom_object(*place))

    def create_config_map(self, body: Body) -> Answer:
        return answer_to(lambda: self.core.create_namespaced_config_map(self.namespace, body))

    def patch_config_map(self, name: str, data: Manifest) -> Answer:
        """Sends a change of a ConfigMap as a dry run."""
        body: Body = {"data": data}
        return answer_to(
            lambda: self.core.patch_namespaced_config_map(name, self.namespace, body, dry_run="All"), dry=True
        )

    def create_pod(self, body: Body, *, namespace: str | None = None, dry: bool = False) -> Answer:
        where, how = namespace or self.namespace, "All" if dry else None
        return answer_to(lambda: self.core.create_namespaced_pod(where, body, dry_run=how), dry=dry)

    def patch_pod(self, name: str, patch: Body) -> Answer:
        """Sends a change of a Pod as a dry run."""
        return answer_to(lambda: self.core.patch_namespaced_pod(name, self.namespace, patch, dry_run="All"), dry=True)

    def patch_crd(self, name: str) -> Answer:
        """Sends a change of a CRD as a dry run."""
        body: Body = {"metadata": {"labels": {"a.test/x": "y"}}}
        return answer_to(lambda: self.extensions.patch_custom_resource_definition(name, body, dry_run="All"), dry=True)

    def read_secret(self, name: str, *, namespace: str | None = None) -> Answer:
        """Reads a Secret, by its name and in the list."""
        where = namespace or self.namespace
        return weakest(
            answer_to(lambda: self.core.read_namespaced_secret(name, where), dry=True),
            answer_to(lambda: self.core.list_namespaced_secret(where), dry=True),
        )


def answer_to(attempt: Callable[[], object], *, dry: bool = False) -> Answer:
    """Sends one request."""
    try:
        attempt()
    except client.ApiException as error:
        return Answer(error.status or -1, str(json.loads(error.body or "{}").get("message", error.reason)))
    return Answer(0, granted=dry)


def first_refusal(*answers: Answer) -> Answer:
    """The first refusal; else the last answer. For requests that succeed only together."""
    return next((each for each in answers if each.refused), answers[-1])


def weakest(*answers: Answer) -> Answer:
    """The first that was admitted; else the first that RBAC did not refuse; else the last. Any of them is an attack."""
    admitted = (each for each in answers if not each.refused)
    beyond_rbac = (each for each in answers if each.outcome is not Outcome.RBAC)
    return next(admitted, None) or next(beyond_rbac, answers[-1])
