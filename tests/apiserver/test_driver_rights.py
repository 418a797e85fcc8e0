"""What RBAC gives to the accounts of drivers and executors, asked verb by verb; what of it admission lets pass is
test_executor_policy's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kubernetes import client, utils

from tests.apiserver.stage import Stage
from tests.cluster.apiserver import ApiServer
from tests.support.executor_stage import account_objects


@pytest.fixture(scope="module")
def stage(api_server: ApiServer) -> Iterator[Stage]:
    """A namespace with the chart's accounts for Spark Pods."""
    made = Stage(api_server.kubeconfig, "driver-rights")
    for each in account_objects(made.namespace):
        utils.create_from_dict(made.client, each)
    made.wait(lambda: can(made, "get", "pods"), "the drivers' Role at work")
    yield made
    made.close()


@pytest.mark.parametrize(
    ("verb", "allowed"),
    [
        *((verb, True) for verb in ("get", "list", "watch", "create", "delete", "deletecollection")),
        *((verb, False) for verb in ("patch", "update")),
    ],
)
def test_a_driver_s_rights_on_pods(stage: Stage, verb: str, allowed: bool) -> None:
    assert can(stage, verb, "pods") is allowed


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
def test_a_driver_has_no_other_right(stage: Stage, verb: str, resource: str) -> None:
    assert can(stage, verb, resource) is False


def test_an_executor_s_account_has_no_right_on_pods(stage: Stage) -> None:
    assert [verb for verb in ("get", "list", "create", "delete") if can(stage, verb, "pods", "paimon-spark")] == []


def can(stage: Stage, verb: str, what: str, account: str = "paimon-driver") -> bool:
    resource, _, sub = what.partition("/")
    attributes = {"namespace": stage.namespace, "verb": verb, "resource": resource, "subresource": sub}
    user = f"system:serviceaccount:{stage.namespace}:{account}"
    reviews = client.AuthorizationV1Api(stage.client)
    review = reviews.create_subject_access_review({"spec": {"user": user, "resourceAttributes": attributes}})
    return bool(review.status.allowed)
