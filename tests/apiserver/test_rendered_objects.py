"""The golden Pods and ConfigMaps, sent to a real API server whose namespace enforces Pod Security `restricted`."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config

from tests.cluster.apiserver import ApiServer
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
def core(api_server: ApiServer) -> Iterator[Any]:
    """A namespace that takes `restricted` Pods only, and what the Pods name."""
    connection = config.new_client_from_config(str(api_server.kubeconfig))
    api: Any = client.CoreV1Api(connection)
    client.SchedulingV1Api(connection).create_priority_class({"metadata": {"name": "batch"}, "value": 7})
    client.NodeV1Api(connection).create_runtime_class({"metadata": {"name": "sandbox"}, "handler": "sandbox"})
    enforce = {"pod-security.kubernetes.io/enforce": "restricted"}
    api.create_namespace({"metadata": {"name": NAMESPACE, "labels": enforce}})
    for account in ("lake-spark", "paimon-driver", "paimon-spark"):
        api.create_namespaced_service_account(NAMESPACE, {"metadata": {"name": account}})
    accounts = {"default"}  # a controller makes the first one, a moment after the namespace
    assert wait_until(lambda: accounts <= names(api.list_namespaced_service_account(NAMESPACE)), timeout=30)
    yield api
    api.delete_namespace(NAMESPACE)


def names(listed: Any) -> set[str]:
    return {item.metadata.name for item in listed.items}


def create_pod(core: Any, body: Json) -> Any:
    """A dry run passes all of admission and stores nothing; unknown fields are refused."""
    return core.create_namespaced_pod(NAMESPACE, body, dry_run="All", field_validation="Strict")


@pytest.mark.parametrize("name", PODS)
def test_a_rendered_pod_passes_pod_security_restricted(core: Any, name: str) -> None:
    stored = create_pod(core, golden(name))
    assert stored.spec.containers[0].security_context.read_only_root_filesystem is True
    tokens = [volume.name for volume in stored.spec.volumes if volume.projected]
    assert tokens == (["api"] if name == WITH_TOKEN else []), "the server mounts none by itself"


def test_an_executor_made_from_the_template_passes_as_well(core: Any) -> None:
    """With what Spark adds: a name, an image and what it is to do."""
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
def test_this_namespace_would_refuse_a_pod_that_lacks_any_of_it(core: Any, path: tuple[Any, ...]) -> None:
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
def test_a_job_cannot_be_changed_once_it_is_stored(core: Any, name: str) -> None:
    body = golden(name)
    # Owned by a run that does not exist, it would be collected before the test has looked at it.
    del body["metadata"]["ownerReferences"]
    core.create_namespaced_config_map(NAMESPACE, body, field_validation="Strict")
    with pytest.raises(client.ApiException) as refused:
        core.patch_namespaced_config_map(body["metadata"]["name"], NAMESPACE, {"data": {"job.json": "{}"}})
    assert refused.value.status == 422
    assert "immutable" in str(refused.value.body)


@pytest.mark.parametrize("name", ["pod-everything-set", WITH_TOKEN])
def test_the_server_takes_our_pod_as_it_is(core: Any, name: str) -> None:
    body = golden(name)
    stored = core.api_client.sanitize_for_serialization(create_pod(core, body))
    assert _contains(stored["spec"], body["spec"]) == []


def _contains(stored: Any, sent: Any, path: str = "spec") -> list[str]:
    """Paths of everything in `sent` that `stored` has not, or has otherwise."""
    if isinstance(sent, dict):
        return [line for key, value in sent.items() for line in _contains(stored.get(key), value, f"{path}.{key}")]
    if isinstance(sent, list):
        pairs = enumerate(zip(stored or [], sent, strict=False))
        short = [] if len(stored or []) >= len(sent) else [f"{path} is shorter"]
        return short + [line for n, (got, want) in pairs for line in _contains(got, want, f"{path}[{n}]")]
    return [] if stored == sent else [f"{path}: {sent!r} became {stored!r}"]
