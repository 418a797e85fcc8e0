"""A real API server that enforces Pod Security `restricted` admits the golden Pods and ConfigMaps."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client

from tests.apiserver.api import Body, account_names, create_account, create_namespace
from tests.cluster.apiserver import ApiServer, open_client
from tests.cluster.processes import wait_until

NAMESPACE = "restricted"
GOLDEN = Path(__file__).parents[1] / "core" / "launch" / "golden"
Json = dict[str, Any]


def golden(name: str) -> Json:
    body: Json = yaml.safe_load((GOLDEN / f"{name}.yaml").read_text(encoding="utf-8"))
    body["metadata"]["namespace"] = NAMESPACE
    return body


PODS = sorted(file.stem for file in GOLDEN.glob("*pod*.yaml"))
WITH_TOKEN = "cluster-pod"
CONFIG_MAPS = sorted(file.stem for file in GOLDEN.glob("config-map-*.yaml"))


@pytest.fixture(scope="module")
def core(api_server: ApiServer) -> Iterator[client.CoreV1Api]:
    """A namespace that enforces Pod Security `restricted`, with the objects that the Pods refer to."""
    with open_client(api_server.kubeconfig) as api:
        core = client.CoreV1Api(api)
        priority: Body = {"metadata": {"name": "batch"}, "value": 7}
        client.SchedulingV1Api(api).create_priority_class(priority)
        runtime: Body = {"metadata": {"name": "sandbox"}, "handler": "sandbox"}
        client.NodeV1Api(api).create_runtime_class(runtime)
        create_namespace(api, NAMESPACE, enforce="restricted")
        for account in ("lake-spark", "paimon-driver", "paimon-spark"):
            create_account(api, NAMESPACE, account)
        # a controller creates this one after the namespace
        assert wait_until(lambda: "default" in account_names(api, NAMESPACE), timeout=30)
        yield core
        core.delete_namespace(NAMESPACE)


def create_pod(core: Any, body: Json) -> Any:
    """Creates the Pod in a dry run, which passes all of admission and stores nothing. Unknown fields are refused."""
    return core.create_namespaced_pod(NAMESPACE, body, dry_run="All", field_validation="Strict")


@pytest.mark.parametrize("name", PODS)
def test_a_rendered_pod_passes_pod_security_restricted(core: Any, name: str) -> None:
    stored = create_pod(core, golden(name))
    assert stored.spec.containers[0].security_context.read_only_root_filesystem is True
    tokens = [volume.name for volume in stored.spec.volumes if volume.projected]
    assert tokens == (["api"] if name == WITH_TOKEN else []), "the server adds no token"


def test_an_executor_of_the_template_passes_pod_security_restricted(core: Any) -> None:
    """The Pod has what Spark adds: a name, an image and arguments."""
    body = golden("cluster-executor")
    body["metadata"]["name"] = "orders-compact-8f3a91c2-1-exec-1"
    body["spec"]["containers"][0] |= {"image": "paimon-spark:paimon-1.4", "args": ["executor"]}

    stored = create_pod(core, body)

    assert (stored.spec.priority_class_name, stored.spec.priority, stored.spec.runtime_class_name) == (
        "batch",
        7,
        "sandbox",
    )
    assert not [volume.name for volume in stored.spec.volumes if volume.projected]


@pytest.mark.parametrize(
    "path",
    [
        ("securityContext", "runAsNonRoot"),
        ("securityContext", "seccompProfile"),
        ("containers", 0, "securityContext", "allowPrivilegeEscalation"),
        ("containers", 0, "securityContext", "capabilities"),
    ],
)
def test_a_pod_without_any_of_these_fields_is_refused(core: Any, path: tuple[Any, ...]) -> None:
    body = deepcopy(golden("pod-usual"))
    parent: Any = body["spec"]
    for part in path[:-1]:
        parent = parent[part]
    del parent[path[-1]]
    with pytest.raises(client.ApiException) as refused:
        create_pod(core, body)
    assert refused.value.status == 403
    assert "restricted" in str(refused.value.body)


@pytest.mark.parametrize("name", CONFIG_MAPS)
def test_a_stored_job_is_immutable(core: Any, name: str) -> None:
    body = golden(name)
    # the garbage collector would delete it, because the run that owns it does not exist
    del body["metadata"]["ownerReferences"]
    core.create_namespaced_config_map(NAMESPACE, body, field_validation="Strict")
    with pytest.raises(client.ApiException) as refused:
        core.patch_namespaced_config_map(body["metadata"]["name"], NAMESPACE, {"data": {"job.json": "{}"}})
    assert refused.value.status == 422
    assert "immutable" in str(refused.value.body)


@pytest.mark.parametrize("name", ["pod-everything-set", WITH_TOKEN])
def test_the_server_stores_a_rendered_pod_unchanged(core: Any, name: str) -> None:
    body = golden(name)
    stored = core.api_client.sanitize_for_serialization(create_pod(core, body))
    assert _contains(stored["spec"], body["spec"]) == []


def _contains(stored: Any, sent: Any, path: str = "spec") -> list[str]:
    """Returns the paths of all values in `sent` that `stored` lacks or has changed."""
    if isinstance(sent, dict):
        return [line for key, value in sent.items() for line in _contains(stored.get(key), value, f"{path}.{key}")]
    if isinstance(sent, list):
        pairs = enumerate(zip(stored or [], sent, strict=False))
        short = [] if len(stored or []) >= len(sent) else [f"{path} is shorter"]
        return short + [line for n, (got, want) in pairs for line in _contains(got, want, f"{path}[{n}]")]
    return [] if stored == sent else [f"{path}: {sent!r} became {stored!r}"]
