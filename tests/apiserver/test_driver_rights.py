"""The rights that RBAC gives to the accounts of drivers and executors, verb by verb.

test_executor_policy.py shows which of their requests admission refuses.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.apiserver.api import account_user, apply, is_allowed
from tests.apiserver.namespace_client import NamespaceClient
from tests.cluster.apiserver import ApiServer
from tests.support.executor_namespace import account_objects


@pytest.fixture(scope="module")
def ns(api_server: ApiServer) -> Iterator[NamespaceClient]:
    """A namespace with the chart's accounts for Spark Pods."""
    made = NamespaceClient(api_server.kubeconfig, "driver-rights")
    apply(api_server.kubeconfig, *account_objects(made.namespace))
    made.wait(lambda: can(made, "get", "pods"), "the drivers' rights granted")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("verb", "allowed"),
    [
        *((verb, True) for verb in ("get", "list", "watch", "create", "delete", "deletecollection")),
        *((verb, False) for verb in ("patch", "update")),
    ],
)
def test_the_rights_of_a_driver_on_pods(ns: NamespaceClient, verb: str, allowed: bool) -> None:
    assert can(ns, verb, "pods") is allowed


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        *((verb, "secrets") for verb in ("get", "list", "watch", "create")),
        *((verb, "configmaps") for verb in ("get", "list", "create", "update", "patch", "delete")),
        ("update", "pods/ephemeralcontainers"),
        ("create", "pods/exec"),
        ("create", "pods/attach"),
        ("get", "pods/log"),
        ("update", "pods/status"),
        ("create", "pods/binding"),
        ("create", "serviceaccounts/token"),
        ("list", "persistentvolumeclaims"),
        ("list", "services"),
    ],
)
def test_a_driver_has_no_other_right(ns: NamespaceClient, verb: str, resource: str) -> None:
    assert can(ns, verb, resource) is False


def test_the_account_of_executors_has_no_right_on_pods(ns: NamespaceClient) -> None:
    assert [verb for verb in ("get", "list", "create", "delete") if can(ns, verb, "pods", "paimon-spark")] == []


def can(ns: NamespaceClient, verb: str, resource: str, account: str = "paimon-driver") -> bool:
    user = account_user(ns.namespace, account)
    return is_allowed(ns.client, user, verb, resource, namespace=ns.namespace)
