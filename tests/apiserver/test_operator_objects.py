"""The operator's store on a real API server: the error of each answer and the effect of each write."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client as official

from paimon_operator.api.base import API_VERSION
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.ports import Kind
from paimon_operator.errors import (
    AlreadyExistsError,
    ForbiddenError,
    InvalidObjectError,
    LeaseLostError,
    NamespaceTerminatingError,
    NotFoundError,
    RetryableError,
    StaleError,
)
from paimon_operator.kube.resources import RESOURCES
from tests.apiserver.api import Body, account_names, create_namespace, namespace_names
from tests.apiserver.connected import connected
from tests.cluster.apiserver import ApiServer, open_client
from tests.cluster.audit import FAILED_TEST, audited_requests
from tests.cluster.processes import wait_until

SPACE = "objects"


@pytest.fixture(scope="module")
def core(api_server: ApiServer) -> Iterator[official.CoreV1Api]:
    """A client, and the namespace `objects` with its default account."""
    with open_client(api_server.kubeconfig) as api:
        create_namespace(api, SPACE)
        assert wait_until(lambda: bool(account_names(api, SPACE)), timeout=60), "Pods need an account"
        core = official.CoreV1Api(api)
        yield core
        core.delete_namespace(SPACE)


@pytest.fixture
def kubeconfig(api_server: ApiServer, core: official.CoreV1Api) -> Path:
    return api_server.kubeconfig


def config_map(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": labels}, "data": {"a": "1"}}


def table(name: str) -> dict[str, Any]:
    spec = {
        "catalogRef": {"name": "lake"},
        "database": "shop",
        "schema": {"columns": [{"name": "id", "type": "BIGINT"}], "primaryKeys": ["id"]},
    }
    return {"apiVersion": API_VERSION, "kind": "PaimonTable", "metadata": {"name": name}, "spec": spec}


async def test_a_missing_object_is_none(kubeconfig: Path) -> None:
    async with connected(kubeconfig) as api:
        assert await api.store.get(Kind.CONFIG_MAP, SPACE, "nothing") is None


async def test_a_list_selects_by_labels_reads_all_pages_and_sets_each_kind(
    kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimon_operator.kube.objects._PAGE", "2")
    async with connected(kubeconfig) as api:
        for number in range(5):
            await api.store.create(Kind.CONFIG_MAP, SPACE, config_map(f"page-{number}", page="yes"))
        await api.store.create(Kind.CONFIG_MAP, SPACE, config_map("other", page="no"))
        api.requests.clear()
        found = await api.store.list(Kind.CONFIG_MAP, SPACE, {"page": "yes"})
    assert [item["metadata"]["name"] for item in found] == [f"page-{number}" for number in range(5)]
    assert {(item["apiVersion"], item["kind"]) for item in found} == {("v1", "ConfigMap")}
    assert api.requests == [("list", "ConfigMap", 200)] * 3


async def test_a_list_of_metadata_has_every_identity_and_nothing_else(
    kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimon_operator.kube.objects._PAGE_OF_METADATA", "2")
    async with connected(kubeconfig, namespaces=(SPACE, "default")) as api:
        for number in range(5):
            await api.store.create(Kind.CONFIG_MAP, SPACE, config_map(f"head-{number}", head="yes"))
        api.requests.clear()
        found = await api.store.list_metadata(Kind.CONFIG_MAP)
        whole = await api.store.list(Kind.CONFIG_MAP, None)
        selected = await api.store.list_metadata(Kind.CONFIG_MAP, SPACE, {"head": "yes"})
        elsewhere = await api.store.list_metadata(Kind.CONFIG_MAP, "default", {"head": "yes"})
    keys = ("namespace", "name", "uid", "resourceVersion")
    assert found == [{"metadata": {key: item["metadata"][key] for key in keys}} for item in whole]
    assert api.requests[:3] == [("list", "ConfigMap", 200)] * 3
    assert len(found) >= 5
    assert [each["metadata"]["name"] for each in selected] == [f"head-{number}" for number in range(5)]
    assert elsewhere == []


async def test_of_a_listed_object_only_the_kept_part_outlives_its_page(
    kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimon_operator.kube.objects._PAGE", "2")
    count, size = 20, 200 * 1024
    async with connected(kubeconfig) as api:
        for number in range(count):
            body = config_map(f"large-{number:02}", large="yes") | {"data": {"a": "x" * size}}
            await api.store.create(Kind.CONFIG_MAP, SPACE, body)
        tracemalloc.start()
        found = await api.store.list(Kind.CONFIG_MAP, SPACE, {"large": "yes"}, keep=lambda each: each["metadata"])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert [each["name"] for each in found] == [f"large-{number:02}" for number in range(count)]
    assert peak < count * size / 2, "more than two pages were in memory at once"


async def test_a_list_of_watched_namespaces_excludes_the_others(kubeconfig: Path) -> None:
    async with connected(kubeconfig, namespaces=(SPACE, "default")) as api:
        for namespace in (SPACE, "default", "kube-public"):
            await api.store.create(Kind.CONFIG_MAP, namespace, config_map("everywhere"))
        found = {item["metadata"]["namespace"] for item in await api.store.list(Kind.CONFIG_MAP, None)}
    assert found == {SPACE, "default"}
    async with connected(kubeconfig) as api:
        everywhere = {item["metadata"]["namespace"] for item in await api.store.list(Kind.CONFIG_MAP, None)}
    assert everywhere > found


async def test_an_existing_name_is_an_error_of_its_own(kubeconfig: Path) -> None:
    async with connected(kubeconfig) as api:
        await api.store.create(Kind.CONFIG_MAP, SPACE, config_map("taken"))
        with pytest.raises(AlreadyExistsError):
            await api.store.create(Kind.CONFIG_MAP, SPACE, config_map("taken"))


async def test_an_unknown_field_is_refused_and_not_dropped(kubeconfig: Path) -> None:
    async with connected(kubeconfig) as api:
        with pytest.raises(InvalidObjectError, match="unknown field"):
            await api.store.create(Kind.CONFIG_MAP, SPACE, config_map("odd") | {"dta": {}})


async def test_a_deletion_does_not_delete_an_object_of_another_uid(kubeconfig: Path) -> None:
    async with connected(kubeconfig) as api:
        first = await api.store.create(Kind.CONFIG_MAP, SPACE, config_map("again"))
        await api.store.delete(Kind.CONFIG_MAP, SPACE, "again", uid=first["metadata"]["uid"])
        second = await api.store.create(Kind.CONFIG_MAP, SPACE, config_map("again"))
        await api.store.delete(Kind.CONFIG_MAP, SPACE, "again", uid=first["metadata"]["uid"])
        kept = await api.store.get(Kind.CONFIG_MAP, SPACE, "again")
        assert kept is not None
        assert kept["metadata"]["uid"] == second["metadata"]["uid"]
        await api.store.delete(Kind.CONFIG_MAP, SPACE, "never-was", uid=first["metadata"]["uid"])


async def test_a_status_is_applied_whole_by_the_operators_field_manager(kubeconfig: Path) -> None:
    async with connected(kubeconfig) as api:
        made = await api.store.create(Kind.TABLE, SPACE, table("whole"))
        first = {"observedGeneration": 1, "activeRun": {"name": "r", "type": "Provision", "trigger": "Spec"}}
        stored = await api.store.apply_status(Kind.TABLE, made, first)
        assert stored["status"]["activeRun"]["name"] == "r"
        stored = await api.store.apply_status(Kind.TABLE, stored, {"observedGeneration": 1})
        assert stored["status"] == {"observedGeneration": 1}, "a field that is not applied is removed"
        managers = {(entry["manager"], entry.get("subresource")) for entry in stored["metadata"]["managedFields"]}
        assert ("paimon-operator", "status") in managers


async def test_the_same_status_again_changes_nothing(kubeconfig: Path) -> None:
    async with connected(kubeconfig) as api:
        made = await api.store.create(Kind.TABLE, SPACE, table("same"))
        stored = await api.store.apply_status(Kind.TABLE, made, {"observedGeneration": 1})
        again = await api.store.apply_status(Kind.TABLE, stored, {"observedGeneration": 1})
        assert again["metadata"]["resourceVersion"] == stored["metadata"]["resourceVersion"]


async def test_a_status_decided_for_a_deleted_object_does_not_reach_its_successor(kubeconfig: Path) -> None:
    async with connected(kubeconfig) as api:
        first = await api.store.create(Kind.TABLE, SPACE, table("successor"))
        await api.store.delete(Kind.TABLE, SPACE, "successor", uid=first["metadata"]["uid"])
        with pytest.raises(NotFoundError):
            await api.store.apply_status(Kind.TABLE, first, {"observedGeneration": 7})
        await api.store.create(Kind.TABLE, SPACE, table("successor"))
        with pytest.raises(StaleError):
            await api.store.apply_status(Kind.TABLE, first, {"observedGeneration": 7})
        kept = await api.store.get(Kind.TABLE, SPACE, "successor")
        assert kept is not None
        assert kept["status"] == {"observedGeneration": -1}


async def test_a_status_decided_for_an_older_spec_is_not_stored(kubeconfig: Path) -> None:
    async with connected(kubeconfig) as api:
        read = await api.store.create(Kind.TABLE, SPACE, table("edited"))
        edit = [{"op": "add", "path": "/spec/suspend", "value": True}]
        path = RESOURCES[Kind.TABLE].path(SPACE, "edited")
        await api.server.request("patch", path, kind=Kind.TABLE, body=edit)
        with pytest.raises(StaleError):
            await api.store.apply_status(Kind.TABLE, read, {"observedGeneration": 1})


async def test_a_status_that_violates_the_schema_is_an_invalid_object(kubeconfig: Path) -> None:
    async with connected(kubeconfig) as api:
        made = await api.store.create(Kind.TABLE, SPACE, table("invalid"))
        with pytest.raises(InvalidObjectError):
            await api.store.apply_status(Kind.TABLE, made, {"observedGeneration": -7})


async def test_finalizers_change_only_on_the_version_that_was_read(kubeconfig: Path) -> None:
    async with connected(kubeconfig) as api:
        made = await api.store.create(Kind.TABLE, SPACE, table("guarded"))
        guarded = await api.store.set_finalizers(Kind.TABLE, made, [FINALIZER])
        assert guarded is not None
        assert guarded["metadata"]["finalizers"] == [FINALIZER]
        with pytest.raises(StaleError) as refused:
            await api.store.set_finalizers(Kind.TABLE, made, [])
        assert refused.value.status == HTTPStatus.CONFLICT, "another version is no wrong request"
        await api.store.delete(Kind.TABLE, SPACE, "guarded", uid=made["metadata"]["uid"])
        leaving = await api.store.get(Kind.TABLE, SPACE, "guarded")
        assert leaving is not None
        await api.store.set_finalizers(Kind.TABLE, leaving, [])
        assert await api.store.get(Kind.TABLE, SPACE, "guarded") is None
        assert await api.store.set_finalizers(Kind.TABLE, leaving, []) is None


def pod(name: str, *finalizers: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "driver", "image": "example.test/none"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "finalizers": list(finalizers)}, "spec": spec}


async def test_a_pod_is_released_despite_writes_of_its_status_and_keeps_the_finalizers_of_others(
    kubeconfig: Path, core: official.CoreV1Api
) -> None:
    async with connected(kubeconfig) as api:
        held = [FINALIZER, "test.example/hold"]
        made = await api.store.create(Kind.POD, SPACE, pod("held", *held))
        core.patch_namespaced_pod_status("held", SPACE, {"status": {"phase": "Failed"}})
        await api.store.release(Kind.POD, SPACE, "held", uid=made["metadata"]["uid"], finalizers=held)
        kept = await api.store.get(Kind.POD, SPACE, "held")
        assert kept is not None
        assert (kept["metadata"]["finalizers"], kept["status"]["phase"]) == (["test.example/hold"], "Failed")
        with pytest.raises(StaleError, match=FAILED_TEST):
            await api.store.release(Kind.POD, SPACE, "held", uid=made["metadata"]["uid"], finalizers=held)
        core.patch_namespaced_pod("held", SPACE, {"metadata": {"finalizers": None}})


async def test_a_release_does_not_affect_a_pod_of_another_uid(kubeconfig: Path) -> None:
    async with connected(kubeconfig) as api:
        made = await api.store.create(Kind.POD, SPACE, pod("meant", FINALIZER))
        uid = made["metadata"]["uid"]
        with pytest.raises(StaleError):
            await api.store.release(Kind.POD, SPACE, "meant", uid="uid-of-another", finalizers=[FINALIZER])
        await api.store.delete(Kind.POD, SPACE, "meant", uid=uid)
        assert await api.store.get(Kind.POD, SPACE, "meant") is not None, "its finalizer blocks the deletion"
        await api.store.release(Kind.POD, SPACE, "meant", uid=uid, finalizers=[FINALIZER])
        assert await api.store.get(Kind.POD, SPACE, "meant") is None
        await api.store.release(Kind.POD, SPACE, "meant", uid=uid, finalizers=[FINALIZER])


async def test_a_terminating_pod_is_never_bound(kubeconfig: Path, core: official.CoreV1Api) -> None:
    """`PodObserved.ended` relies on it: no kubelet ever reports on such a Pod."""
    async with connected(kubeconfig) as api:
        made = await api.store.create(Kind.POD, SPACE, pod("unbound", FINALIZER))
        await api.store.delete(Kind.POD, SPACE, "unbound", uid=made["metadata"]["uid"])
        body: Body = {"metadata": {"name": "unbound"}, "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"}}
        with pytest.raises(official.ApiException, match="is being deleted, cannot be assigned to a host"):
            core.create_namespaced_pod_binding("unbound", SPACE, body, _preload_content=False)
        await api.store.release(Kind.POD, SPACE, "unbound", uid=made["metadata"]["uid"], finalizers=[FINALIZER])
        assert await api.store.get(Kind.POD, SPACE, "unbound") is None


async def test_a_terminating_namespace_is_another_error_than_a_missing_right(
    api_server: ApiServer, core: official.CoreV1Api
) -> None:
    create_namespace(core.api_client, "going")
    held: Body = config_map("held")
    held["metadata"]["finalizers"] = ["test.example/hold"]
    core.create_namespaced_config_map("going", held)
    core.delete_namespace("going")
    async with connected(api_server.kubeconfig) as api:
        with pytest.raises(NamespaceTerminatingError):
            await api.store.create(Kind.CONFIG_MAP, "going", config_map("late"))
    async with connected(api_server.user_kubeconfig("stranger")) as api:
        with pytest.raises(ForbiddenError, match="cannot create") as refusal:
            await api.store.create(Kind.CONFIG_MAP, SPACE, config_map("not-allowed"))
    assert type(refusal.value) is ForbiddenError
    core.patch_namespaced_config_map("held", "going", {"metadata": {"finalizers": None}})
    assert wait_until(lambda: "going" not in namespace_names(core.api_client), timeout=60)


async def test_every_request_has_the_operators_user_agent(api_server: ApiServer, kubeconfig: Path) -> None:
    before = api_server.audit_log.stat().st_size
    async with connected(kubeconfig) as api:
        await api.store.get(Kind.CONFIG_MAP, SPACE, "user-agent-probe")
    (request,) = [
        one for one in audited_requests(api_server.audit_log, offset=before) if one.name == "user-agent-probe"
    ]
    assert request.user_agent == "paimon-operator"


async def test_a_mutation_checks_the_guard_first_and_a_read_does_not(kubeconfig: Path) -> None:
    def lost() -> float:
        raise LeaseLostError("lost")

    async with connected(kubeconfig, guard=lost) as api:
        assert await api.store.get(Kind.CONFIG_MAP, SPACE, "nothing") is None
        with pytest.raises(LeaseLostError):
            await api.store.create(Kind.CONFIG_MAP, SPACE, config_map("never"))
        assert await api.store.get(Kind.CONFIG_MAP, SPACE, "never") is None


async def test_a_request_without_an_answer_ends_in_time_with_status_0(tmp_path: Path) -> None:
    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    listener = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    kubeconfig = tmp_path / "silent.kubeconfig"
    kubeconfig.write_text(
        f"""{{apiVersion: v1, kind: Config, current-context: c,
        contexts: [{{name: c, context: {{cluster: c, user: u}}}}],
        clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{port}"}}}}], users: [{{name: u, user: {{}}}}]}}"""
    )
    async with connected(kubeconfig, timeout_s=0.3) as api:
        with pytest.raises(RetryableError) as error:
            await api.store.get(Kind.CONFIG_MAP, SPACE, "x")
    assert error.value.status == 0
    assert api.requests == [("get", "ConfigMap", 0)]
    listener.close()
