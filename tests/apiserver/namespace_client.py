"""A namespace for one test. The test plays the kubelet: it decides how each Pod ends."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, TypeVar

from kubernetes import client
from kubernetes.client import ApiException
from kubernetes.client.exceptions import NotFoundException

from tests.apiserver.api import Body, CustomObjects, account_names, create_namespace
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.pod import Pod
from tests.cluster.apiserver import open_client
from tests.cluster.processes import wait_until
from tests.support.manifests import Manifest, catalog

GROUP, VERSION = "paimon-operator.dev", "v1alpha1"
TABLES, CATALOGS, RUNS = "paimontables", "paimoncatalogs", "paimonruns"
_PLURALS: Final = {"PaimonTable": TABLES, "PaimonCatalog": CATALOGS, "PaimonRun": RUNS}
_NO_FINALIZERS: Final = {"metadata": {"finalizers": None}}
TIMEOUT_S: Final = 150.0
"""Seconds until a wait fails. No test asserts how long something takes."""
POLL_S: Final = 0.2
"""Seconds between two reads. A shorter time costs the test and its API server a tenth of a core each."""
T = TypeVar("T")


class NamespaceClient:
    """A client of one namespace. It also reports Pods as a kubelet would."""

    def __init__(self, kubeconfig: Path, namespace: str, *, exists: bool = False) -> None:
        """Creates the namespace unless it `exists`."""
        self.namespace, self.kubeconfig = namespace, kubeconfig
        self.client = open_client(kubeconfig)
        self.core = client.CoreV1Api(self.client)
        self._custom: CustomObjects = client.CustomObjectsApi(self.client)
        if not exists:
            create_namespace(self.client, namespace)
        # Pods are refused until the controller has created the account
        self.wait(lambda: account_names(self.client, namespace), "the default service account")

    def close(self) -> None:
        """Deletes the namespace, once no policy of the chart refuses it: the API server learns of a change later."""
        self.release()
        self.wait(self._delete_namespace, "the deletion of the namespace admitted")
        self.client.close()  # type: ignore[no-untyped-call]  # not annotated

    def _delete_namespace(self) -> bool:
        try:
            self.core.delete_namespace(self.namespace)
        except ApiException as error:
            if error.status == HTTPStatus.FORBIDDEN:
                return False
            raise
        return True

    def release(self) -> None:
        """Removes finalizers and Pods, which without operator and kubelet would block the deletion of the namespace."""
        for plural in (TABLES, RUNS, CATALOGS):
            for item in self.all(plural):
                with contextlib.suppress(NotFoundException):  # the garbage collector deletes objects meanwhile
                    self.patch(plural, item["metadata"]["name"], _NO_FINALIZERS)
        for pod in self.pods():
            with contextlib.suppress(NotFoundException):
                self.set_pod_finalizers(pod, None)
            self.delete_pod(pod, force=True)

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
        listed = self._custom.list_namespaced_custom_object(GROUP, VERSION, self.namespace, plural)
        items: list[Manifest] = listed["items"]
        return items

    def patch(self, plural: str, name: str, patch: Manifest) -> None:
        self._custom.patch_namespaced_custom_object(GROUP, VERSION, self.namespace, plural, name, patch)

    def delete(self, plural: str, name: str, *, cascade: str = "Background") -> None:
        how = {"propagation_policy": cascade}
        self._custom.delete_namespaced_custom_object(GROUP, VERSION, self.namespace, plural, name, **how)

    def wait_for_event(self, reason: str, note: str = "") -> None:
        """Waits for an Event with this reason and text. The operator posts it after the status that it reports."""
        selector = f"reason={reason}"
        self.wait(
            lambda: [
                event
                for event in self.core.list_namespaced_event(self.namespace, field_selector=selector).items
                if note in (event.message or "")
            ],
            f"an Event {reason} {note}",
        )

    def wait(self, read: Callable[[], T | None], what: str, *, operator: OperatorProcess | None = None) -> T:
        """Returns the first answer of `read` that is true."""
        answers: list[T] = []

        def is_true() -> bool:
            answer = read()
            if answer:
                answers.append(answer)
            return bool(answer)

        if not wait_until(is_true, timeout=TIMEOUT_S, interval=POLL_S):
            log = operator.log() if operator else ""
            raise AssertionError(f"{what}: not after {TIMEOUT_S:.0f} s\n{self.describe()}\n{log}")
        return answers[0]

    def wait_for_condition(
        self, plural: str, name: str, type_: str, status: str, reason: str | None = None
    ) -> Manifest:
        """Returns the condition once it has this status (and reason)."""

        def read() -> Manifest | None:
            condition = conditions(self.get(plural, name)).get(type_)
            if condition is None or condition["status"] != status or reason not in (None, condition["reason"]):
                return None
            return condition

        return self.wait(read, f"{plural}/{name} {type_}={status} {reason or ''}")

    def pods(self) -> list[Pod]:
        return [Pod.of(each) for each in self.core.list_namespaced_pod(self.namespace).items]

    def wait_for_pod(self, *, of: str | None = None) -> Pod:
        """Returns the one active Pod (of this table)."""
        pods = self.wait(
            lambda: [pod for pod in self.pods() if pod.is_active and of in (None, pod.table)],
            f"an active Pod of {of or 'any table'}",
        )
        assert len(pods) == 1, [pod.name for pod in pods]
        return pods[0]

    def find_pod(self, pod: Pod) -> Pod | None:
        """Returns the current version of the Pod, or None if it is deleted."""
        return next((each for each in self.pods() if each.uid == pod.uid), None)

    def read_pod(self, pod: Pod) -> Pod:
        """Returns the current version of the Pod."""
        return Pod.of(self.core.read_namespaced_pod(pod.name, self.namespace))

    def delete_pod(self, pod: Pod, *, force: bool = False) -> None:
        """Deletes the Pod like a user, or (`force`) like a kubelet whose containers have ended."""
        with contextlib.suppress(NotFoundException):
            self.core.delete_namespaced_pod(pod.name, self.namespace, grace_period_seconds=0 if force else None)

    def set_pod_finalizers(self, pod: Pod, finalizers: list[str] | None) -> None:
        """Replaces the Pod's finalizers; None removes all of them."""
        self.core.patch_namespaced_pod(pod.name, self.namespace, {"metadata": {"finalizers": finalizers}})

    def bind_pod(self, pod: Pod) -> None:
        """Binds the Pod to a node, like the scheduler. The API server does not check that the node exists."""
        target = {"apiVersion": "v1", "kind": "Node", "name": "node-1"}
        body: Body = {"metadata": {"name": pod.name}, "target": target}
        # the client cannot read the answer, which is a Status
        self.core.create_namespaced_pod_binding(pod.name, self.namespace, body, _preload_content=False)

    def run_pod(self, pod: Pod) -> None:
        """Reports that the container runs, on a node."""
        if self.read_pod(pod).node is None:
            self.bind_pod(pod)
        self._set_pod(pod, "Running", {"running": {"startedAt": now()}})

    def end_pod(self, pod: Pod, *, exit_code: int, message: str) -> None:
        """Reports that the container has ended."""
        time = now()
        ended = {"exitCode": exit_code, "message": message, "startedAt": pod.started or time, "finishedAt": time}
        state = {"terminated": {**ended, "reason": "Completed" if exit_code == 0 else "Error"}}
        self._set_pod(pod, "Succeeded" if exit_code == 0 else "Failed", state)

    def succeed(self, pod: Pod, **result: Any) -> None:
        """Ends the Pod with the result of a successful driver; `result` overrides parts of it."""
        body = good_result(pod.run, self.run_type(pod), **result)
        self.end_pod(pod, exit_code=0, message=json.dumps(body))

    def end_with_error(self, pod: Pod, *, exit_code: int, error: Manifest, **parts: Any) -> None:
        """Ends the Pod with the result of a failed driver; `parts` are what else it reports."""
        result = {"version": 1, "run": pod.run, "operation": self.run_type(pod), "ok": False, "error": error}
        self.end_pod(pod, exit_code=exit_code, message=json.dumps(result | parts))

    def run_type(self, pod: Pod) -> str:
        """Returns the type of the run that owns the Pod."""
        return str(self.get(RUNS, pod.run)["spec"]["type"])

    def read_job(self, pod: Pod) -> Manifest:
        """Returns the job of the Pod's run from its ConfigMap."""
        data = self.core.read_namespaced_config_map(pod.config_map, self.namespace).data
        assert data is not None
        job: Manifest = json.loads(data["job.json"])
        return job

    def succeed_all(self) -> int:
        """Ends every active Pod successfully and returns their number."""
        pods = [pod for pod in self.pods() if pod.is_active]
        for pod in pods:
            self.succeed(pod)
        return len(pods)

    def describe(self) -> str:
        """Returns all objects and Pods as text, for the message of a failed test."""
        objects = {plural: [_short(item) for item in self.all(plural)] for plural in (CATALOGS, TABLES, RUNS)}
        pods = [f"{pod.name} {pod.phase}" for pod in self.pods()]
        return json.dumps({**objects, "pods": pods}, indent=1)

    def _set_pod(self, pod: Pod, phase: str, state: Manifest) -> None:
        name, image = pod.container["name"], pod.container["image"]
        status = {"name": name, "image": image, "imageID": "", "ready": False, "restartCount": 0}
        body = {"status": {"phase": phase, "containerStatuses": [{**status, "state": state}]}}
        self.core.patch_namespaced_pod_status(pod.name, self.namespace, body)


def conditions(item: Manifest) -> dict[str, Manifest]:
    """Returns the conditions of an object by type."""
    return {condition["type"]: condition for condition in (item.get("status") or {}).get("conditions") or ()}


def if_released(item: Manifest) -> Manifest | None:
    """Returns the object if it has no finalizer."""
    return None if item["metadata"].get("finalizers") else item


def good_result(run: str, operation: str, **parts: Any) -> Manifest:
    """Returns the result of a successful driver, with what the operation always reports."""
    measure = {"schemaId": 0, "snapshotId": 1, "bucketMode": "Dynamic", "files": 1, "rows": 10, "sizeBytes": 2048}
    natural: dict[str, Manifest] = {
        "Provision": {"created": True},
        "Write": {"write": {"files": 1, "rows": 10, "committedSnapshot": 1}},
        "ExpireSnapshots": {"expired": 0},
        "RemoveOrphanFiles": {"orphanFiles": {"files": 9, "orphans": 0, "orphanBytes": 0, "unknown": 0}},
        "ExpirePartitions": {"partitions": {"expired": 0, "total": 1, "remaining": 0, "unreadable": 0}},
        "MarkPartitionsDone": {
            "partitionsDone": {"marked": 1, "alreadyMarked": 0, "notYetDone": 0, "remaining": 0, "unreadable": 0}
        },
        "Drop": {"dropped": True},
    }
    table = {} if operation == "Drop" else {"table": measure}
    common = {"version": 1, "run": run, "operation": operation, "ok": True}
    return {**common, **table, **natural.get(operation, {}), **parts}


def _short(item: Manifest) -> Manifest:
    status = {key: value for key, value in (item.get("status") or {}).items() if key != "effective"}
    return {"name": item["metadata"]["name"], "finalizers": item["metadata"].get("finalizers"), "status": status}


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
