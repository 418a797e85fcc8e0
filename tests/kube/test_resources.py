"""Paths of objects on the API server."""

from __future__ import annotations

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.kube.resources import LEASES, RESOURCES, namespace_of

GROUP = "/apis/paimon-operator.dev/v1alpha1"
PATHS = [
    (Kind.POD, ("shop", "p", None), "/api/v1/namespaces/shop/pods/p"),
    (Kind.POD, (None, None, None), "/api/v1/pods"),
    (Kind.TABLE, ("shop", "orders", "status"), f"{GROUP}/namespaces/shop/paimontables/orders/status"),
    (Kind.RUN, (None, None, None), f"{GROUP}/paimonruns"),
    (Kind.NAMESPACE, ("ignored", "kube-system", None), "/api/v1/namespaces/kube-system"),
    (Kind.CONFIG_MAP, ("shop", "../../secrets", None), "/api/v1/namespaces/shop/configmaps/..%2F..%2Fsecrets"),
]


@pytest.mark.parametrize(("kind", "where", "path"), PATHS, ids=[path for *_, path in PATHS])
def test_each_object_has_its_path(kind: Kind, where: tuple[str | None, str | None, str | None], path: str) -> None:
    namespace, name, sub = where
    assert RESOURCES[kind].path(namespace, name, sub=sub) == path


NAMESPACES = [
    *((RESOURCES[kind].path(where[0], where[1], sub=where[2]), where[0] or "") for kind, where, _ in PATHS[:4]),
    (RESOURCES[Kind.NAMESPACE].path(None, "kube-system"), ""),
    (RESOURCES[Kind.CONFIG_MAP].path("shop", "/namespaces/web/"), "shop"),
    (LEASES.path("paimon-system"), "paimon-system"),
    ("/version", ""),
]


@pytest.mark.parametrize(("path", "namespace"), NAMESPACES, ids=[path for path, _ in NAMESPACES])
def test_the_turn_of_a_request_is_that_of_the_namespace_in_its_path(path: str, namespace: str) -> None:
    assert namespace_of(path) == namespace


def test_no_resource_is_a_secret() -> None:
    assert not any("secret" in resource.plural for resource in RESOURCES.values())
