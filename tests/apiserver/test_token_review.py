"""Tokens of Pods on a real API server: what a TokenReview says of them, and what they are worth there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from kubernetes import client
from kubernetes.client import ApiException

from paimon_contract.looks import AUDIENCE
from paimon_operator.core.ports import PodIdentity
from paimon_operator.errors import ForbiddenError
from paimon_operator.kube.token_review import TokenReviews
from paimon_operator.runtime.looks_server import claimed_pod
from tests.apiserver.api import Body, as_json
from tests.apiserver.connected import connected
from tests.apiserver.namespace_client import NamespaceClient
from tests.apiserver.rights import Rights
from tests.cluster.apiserver import ApiServer, open_client

NAMESPACE = "reviews"
ACCOUNT = "default"


class Reviewed:
    """A namespace with a Pod, and the chart's rights of the operator."""

    def __init__(self, server: ApiServer) -> None:
        self.server, self.ns = server, NamespaceClient(server.kubeconfig, NAMESPACE)
        self.rights = Rights(server, self.ns)
        spec = {"containers": [{"name": "observer", "image": "i:1"}], "serviceAccountName": ACCOUNT}
        body: Body = {"metadata": {"name": "paimon-observer-lake-1"}, "spec": spec}
        pod = as_json(self.ns.core.create_namespaced_pod(NAMESPACE, body))["metadata"]
        self.pod = PodIdentity(namespace=NAMESPACE, name=pod["name"], uid=pod["uid"])

    def token(self, *, audience: str = AUDIENCE, bound: bool = True) -> str:
        """A token as the kubelet projects it into the Pod."""
        reference = {"kind": "Pod", "apiVersion": "v1", "name": self.pod.name, "uid": self.pod.uid}
        spec = {"audiences": [audience], "expirationSeconds": 3600} | ({"boundObjectRef": reference} if bound else {})
        body: Body = {"spec": spec}
        made = as_json(self.ns.core.create_namespaced_service_account_token(ACCOUNT, NAMESPACE, body))
        return str(made["status"]["token"])

    async def review(self, token: str) -> PodIdentity | None:
        async with connected(self.rights.kubeconfig) as adapters:
            return await TokenReviews(adapters.server, clock=lambda: 0.0).pod_of(token)


@pytest.fixture(scope="module")
def reviewed(api_server: ApiServer) -> Iterator[Reviewed]:
    made = Reviewed(api_server)
    yield made
    made.rights.close()
    made.ns.close()


async def test_the_token_of_a_pod_names_it(reviewed: Reviewed) -> None:
    token = reviewed.token()
    assert claimed_pod(token) == reviewed.pod.uid
    assert await reviewed.review(token) == reviewed.pod


@pytest.mark.parametrize(("audience", "bound"), [("https://elsewhere.test", True), (AUDIENCE, False)])
async def test_a_token_for_others_or_of_no_pod_names_none(reviewed: Reviewed, audience: str, bound: bool) -> None:
    assert await reviewed.review(reviewed.token(audience=audience, bound=bound)) is None


async def test_a_token_with_another_signature_names_none(reviewed: Reviewed) -> None:
    head, claims, signature = reviewed.token().split(".")
    assert await reviewed.review(f"{head}.{claims}.{signature[::-1]}") is None


def test_the_token_is_worth_nothing_at_the_api_server(reviewed: Reviewed) -> None:
    with open_client(reviewed.server.kubeconfig) as api:
        api.configuration.api_key = {"authorization": f"Bearer {reviewed.token()}"}
        api.configuration.cert_file = api.configuration.key_file = None
        bare = client.ApiClient(api.configuration)
        with pytest.raises(ApiException, match="401"):
            client.CoreV1Api(bare).list_namespaced_pod(NAMESPACE)


def test_the_token_of_a_deleted_pod_names_none_soon(reviewed: Reviewed) -> None:
    """The API server remembers for ten seconds that a token was good. Tokens of the same second are equal."""
    token = reviewed.token()
    reviewed.ns.core.delete_namespaced_pod(reviewed.pod.name, NAMESPACE, grace_period_seconds=0)
    reviewed.ns.wait(lambda: asyncio.run(reviewed.review(token)) is None, "the end of the token")


async def test_an_account_without_the_right_reviews_nothing(reviewed: Reviewed) -> None:
    token = reviewed.token(bound=False)
    other = reviewed.server.service_account_kubeconfig(NAMESPACE, ACCOUNT)
    async with connected(other) as adapters:
        with pytest.raises(ForbiddenError):
            await TokenReviews(adapters.server, clock=lambda: 0.0).pod_of(token)
