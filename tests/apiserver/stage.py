"""A namespace for one test, and the part of the kubelet, which the test plays: it decides how each Pod ends."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, TypeVar

from kubernetes import client, config
from kubernetes.client import ApiException
from kubernetes.client.exceptions import NotFoundException

from tests.apiserver.operator_process import OperatorProcess
from tests.cluster.processes import wait_until
from tests.support.manifests import Manifest, catalog

GROUP, VERSION = "paimon-operator.dev", "v1alpha1"
TABLES, CATALOGS, RUNS = "paimontables", "paimoncatalogs", "paimonruns"
_PLURALS: Final = {"PaimonTable": TABLES, "PaimonCatalog": CATALOGS, "PaimonRun": RUNS}
PATIENCE: Final = 150.0
"""Seconds until a test gives up on what must happen; nothing is asserted about how long it takes."""
T = TypeVar("T")


class Stage:
    """One namespace with its objects, Pods and Events."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        self.namespace, self.kubeconfig = namespace, kubeconfig
        self.client = config.new_client_from_config(str(kubeconfig))
        self.core = client.CoreV1Api(self.client)
        self._custom = client.CustomObjectsApi(self.client)
        self.core.create_namespace({"metadata": {"name": namespace}})
        # Pods are refused until the controller has made the account
        self.wait(lambda: self.core.list_namespaced_service_account(namespace).items, "the default service account")

    def close(self) -> None:
        """Lets everything go: without operator and kubelet, finalizers and bound Pods would hold the namespace."""
        for plural in (TABLES, RUNS, CATALOGS):
            for item in self.all(plural):
                with contextlib.suppress(NotFoundException):  # the garbage collector goes on meanwhile
                    self.patch(plural, item["metadata"]["name"], {"metadata": {"finalizers": None}})
        for pod in self.pods():
            with contextlib.suppress(NotFoundException):
                self.core.patch_namespaced_pod(pod.metadata.name, self.namespace, {"metadata": {"finalizers": None}})
            self.delete_pod(pod, force=True)
        self.core.delete_namespace(self.namespace)
        self.client.close()

    def create(self, manifest: Manifest) -> Manifest:
        plural = _PLURALS[manifest["kind"]]
        manifest = manifest | {"metadata": manifest["metadata"] | {"namespace": self.namespace}}
        created: Manifest = self._custom.create_namespaced_custom_object(
            GROUP, VERSION, self.namespace, plural, manifest, field_validation="Strict"
        )
        return created

    def create_catalog(self, **edits: object) -> Manifest:
        return self.create(catalog(spec__allowedDatabases=["shop"], **edits))

    def find(self, plural: str, name: str) -> Manifest | None:
        try:
            found: Manifest = self._custom.get_namespaced_custom_object(GROUP, VERSION, self.namespace, plural, name)
        except ApiException as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise
        return found

    def get(self, plural: str, name: str) -> Manifest:
        found = self.find(plural, name)
        assert found is not None, f"{plural}/{name} does not exist"
        return found

    def all(self, plural: str) -> list[Manifest]:
        items: list[Manifest] = self._custom.list_namespaced_custom_object(GROUP, VERSION, self.namespace, plural)[
            "items"
        ]
        return items

    def patch(self, plural: str, name: str, patch: Manifest) -> None:
        self._custom.patch_namespaced_custom_object(GROUP, VERSION, self.namespace, plural, name, patch)

    def delete(self, plural: str, name: str) -> None:
        self._custom.delete_namespaced_custom_object(GROUP, VERSION, self.namespace, plural, name)

    def pods(self) -> list[client.V1Pod]:
        return list(self.core.list_namespaced_pod(self.namespace).items)

    def wait_for_event(self, reason: str, note: str = "") -> None:
        """An Event with this reason and these words; the operator posts it after the status that it tells of."""
        selector = f"reason={reason}"
        self.wait(
            lambda: [
                event
                for event in self.core.list_namespaced_event(self.namespace, field_selector=selector).items
                if note in event.message
            ],
            f"an Event {reason} {note}",
        )

    def wait(self, look: Callable[[], T], what: str, *, operator: OperatorProcess | None = None) -> T:
        """The first answer of `look` that is true."""
        answers: list[T] = []

        def met() -> bool:
            answers[:] = [look()]
            return bool(answers[0])

        if not wait_until(met, timeout=PATIENCE):
            raise AssertionError(f"{what}: not after {PATIENCE:.0f} s\n{self.picture()}\n{operator and operator.log()}")
        return answers[0]

    def wait_for_condition(
        self, plural: str, name: str, type_: str, status: str, reason: str | None = None
    ) -> Manifest:
        """The condition, once it has this status (and reason)."""

        def look() -> Manifest | None:
            condition = conditions(self.get(plural, name)).get(type_)
            met = condition is not None and condition["status"] == status and reason in (None, condition["reason"])
            return condition if met else None

        found = self.wait(look, f"{plural}/{name} {type_}={status} {reason or ''}")
        assert found is not None
        return found

    def wait_for_pod(self, *, of: str | None = None) -> client.V1Pod:
        """The one Pod (of this table) that has not ended."""
        label = "paimon-operator.dev/table"
        pods = self.wait(
            lambda: [pod for pod in self.pods() if _open(pod) and of in (None, pod.metadata.labels[label])],
            f"an open Pod of {of or 'any table'}",
        )
        assert len(pods) == 1, [pod.metadata.name for pod in pods]
        return pods[0]

    def find_pod(self, pod: client.V1Pod) -> client.V1Pod | None:
        """The Pod as it is now."""
        return next((each for each in self.pods() if each.metadata.uid == pod.metadata.uid), None)

    def delete_pod(self, pod: client.V1Pod, *, force: bool = False) -> None:
        """What a user asks for, and what a kubelet does (`force`) once it is done with a Pod."""
        grace = {"grace_period_seconds": 0} if force else {}
        with contextlib.suppress(NotFoundException):
            self.core.delete_namespaced_pod(pod.metadata.name, self.namespace, **grace)

    def bind_pod(self, pod: client.V1Pod) -> None:
        """The scheduler gives the Pod to a node. Nothing asks whether there is such a node."""
        target = {"apiVersion": "v1", "kind": "Node", "name": "node-1"}
        body = {"metadata": {"name": pod.metadata.name}, "target": target}
        # The client cannot read the answer, which is a Status.
        self.core.create_namespaced_pod_binding(pod.metadata.name, self.namespace, body, _preload_content=False)

    def run_pod(self, pod: client.V1Pod) -> None:
        """The container starts, on a node; or it is said once more that it runs."""
        if self.core.read_namespaced_pod(pod.metadata.name, self.namespace).spec.node_name is None:
            self.bind_pod(pod)
        self._set_pod(pod, "Running", {"running": {"startedAt": _now()}})

    def end_pod(self, pod: client.V1Pod, *, exit_code: int, message: str) -> None:
        """The container ends."""
        ended = {"exitCode": exit_code, "message": message, "startedAt": _now(), "finishedAt": _now()}
        state = {"terminated": {**ended, "reason": "Completed" if exit_code == 0 else "Error"}}
        self._set_pod(pod, "Succeeded" if exit_code == 0 else "Failed", state)

    def succeed(self, pod: client.V1Pod, **result: Any) -> None:
        """The driver did its work and says so."""
        run, operation = self.run_of(pod)
        self.end_pod(pod, exit_code=0, message=json.dumps(good_result(run, operation, **result)))

    def end_with_error(self, pod: client.V1Pod, *, exit_code: int, error: dict[str, Any]) -> None:
        """The driver failed and says why."""
        run, operation = self.run_of(pod)
        result = {"version": 1, "run": run, "operation": operation, "ok": False, "error": error}
        self.end_pod(pod, exit_code=exit_code, message=json.dumps(result))

    def run_of(self, pod: client.V1Pod) -> tuple[str, str]:
        """Name and type of the run that a Pod belongs to."""
        (owner,) = pod.metadata.owner_references
        return owner.name, self.get(RUNS, owner.name)["spec"]["type"]

    def succeed_all(self) -> int:
        """Ends every open Pod well; returns how many."""
        pods = [pod for pod in self.pods() if _open(pod)]
        for pod in pods:
            self.succeed(pod)
        return len(pods)

    def picture(self) -> str:
        """Everything that is here, for a test that failed."""
        objects = {plural: [_short(item) for item in self.all(plural)] for plural in (CATALOGS, TABLES, RUNS)}
        pods = [f"{pod.metadata.name} {pod.status.phase}" for pod in self.pods()]
        return json.dumps({**objects, "pods": pods}, indent=1)

    def _set_pod(self, pod: client.V1Pod, phase: str, state: dict[str, Any]) -> None:
        container = pod.spec.containers[0]
        status = {"name": container.name, "image": container.image, "imageID": "", "ready": False, "restartCount": 0}
        body = {"status": {"phase": phase, "containerStatuses": [{**status, "state": state}]}}
        self.core.patch_namespaced_pod_status(pod.metadata.name, self.namespace, body)


def conditions(item: Manifest) -> dict[str, Manifest]:
    """Conditions of an object by type."""
    return {condition["type"]: condition for condition in (item.get("status") or {}).get("conditions") or ()}


def good_result(run: str, operation: str, **parts: Any) -> dict[str, Any]:
    """A driver's result that says ok, with what the operation brings by nature."""
    measure = {"schemaId": 0, "snapshotId": 1, "bucketMode": "Dynamic", "files": 1, "rows": 10, "sizeBytes": 2048}
    natural: dict[str, dict[str, Any]] = {
        "Provision": {"created": True},
        "Write": {"write": {"files": 1, "rows": 10, "committedSnapshot": 1}},
        "ExpireSnapshots": {"expired": 0},
        "Drop": {"dropped": True},
    }
    table = {} if operation == "Drop" else {"table": measure}
    common = {"version": 1, "run": run, "operation": operation, "ok": True}
    return {**common, **table, **natural.get(operation, {}), **parts}


def _open(pod: client.V1Pod) -> bool:
    return pod.status.phase in ("Pending", "Running") and pod.metadata.deletion_timestamp is None


def _short(item: Manifest) -> Manifest:
    status = {key: value for key, value in (item.get("status") or {}).items() if key != "effective"}
    return {"name": item["metadata"]["name"], "finalizers": item["metadata"].get("finalizers"), "status": status}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
