"""Executors of mode Cluster: what the driver Pod has besides, and the Pod that it makes its executors from.

The driver owns its executors; no other owner, or garbage collection would wait for both. What the executors' Pods are
made from lies in the run's ConfigMap. What they may be and mount is in the run's PaimonExecutorRights: the chart's
admission policy holds every Pod that a driver makes against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from paimon_contract import environment
from paimon_contract.job import JobExecutors
from paimon_operator.core import naming

CONTAINER: Final = "executor"
TEMPLATE_FILE: Final = "executor.json"
API_DIRECTORY: Final = "/etc/paimon-api"
"""Where a driver of mode Cluster finds a token for the API server, and the API server's certificate authority."""
SHORTEST_TOKEN_S: Final = 600
"""The API server gives no shorter life to a token."""
_LOCAL_DIRECTORY: Final = "spark-local-dir-1"
"""A volume of this name is where Spark spills; without one it would add a volume without any limit."""


@dataclass(frozen=True, kw_only=True)
class Executors:
    """The executors of one run."""

    job: JobExecutors
    driver_account: str
    """Service account of the driver: it may handle Pods."""
    scratch: str
    """Upper bound of the directory in which each executor spills."""

    @property
    def memory_mib(self) -> int:
        """Memory of one container."""
        return self.job.heap_mib + self.job.overhead_mib


def driver_environment(image: str, pull_policy: str, directory: str, secrets: Iterable[str]) -> list[dict[str, Any]]:
    """What a driver needs to know beside its job, which lies in `directory` together with the executors' Pod."""
    return [
        {"name": environment.POD_IP, "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": environment.POD_NAME, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": environment.EXECUTOR_IMAGE, "value": image},
        {"name": environment.EXECUTOR_PULL_POLICY, "value": pull_policy},
        {"name": environment.EXECUTOR_TEMPLATE, "value": f"{directory}/{TEMPLATE_FILE}"},
        {"name": environment.API_ACCESS, "value": API_DIRECTORY},
        shared_secret(secrets),
    ]


def shared_secret(secrets: Iterable[str]) -> dict[str, Any]:
    """Names of variables and paths of directories with secrets that driver and executors both have.

    From them both sides work out the secret of their own connection, so that it stands in no object. With none, Spark
    makes one up and writes it into the executors' Pods.
    """
    return {"name": environment.SHARED_SECRETS, "value": " ".join(secrets)}


def token_volume(deadline_s: int) -> dict[str, Any]:
    """The account's token, for as long as the Pod may live: Spark reads it once."""
    ca = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    token = {"path": "token", "expirationSeconds": max(SHORTEST_TOKEN_S, deadline_s)}
    return {"name": "api", "projected": {"sources": [{"serviceAccountToken": token}, {"configMap": ca}]}}


def token_mount() -> dict[str, Any]:
    """Where the driver finds it."""
    return {"name": "api", "mountPath": API_DIRECTORY, "readOnly": True}


@dataclass(frozen=True, kw_only=True)
class ExecutorPodSpec:
    """What executors have in common with their driver."""

    table: str
    run: str
    run_uid: str
    command: tuple[str, ...]
    deadline_s: int
    grace_s: int
    scratch: str
    environment: list[dict[str, Any]]
    volumes: list[dict[str, Any]]
    mounts: list[dict[str, Any]]
    secrets: tuple[str, ...]
    pod_security: dict[str, Any]
    container_security: dict[str, Any]
    limits: dict[str, str]
    """Of its container, beside the memory, which Spark sets."""


def template(executors: Executors, shape: ExecutorPodSpec) -> dict[str, Any]:
    """The Pod that Spark completes for each executor: name, owner, image, sizes, and how to reach the driver."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": naming.executor_labels(shape.table, shape.run)},
        "spec": {
            "restartPolicy": "Never",
            # In case the driver is cut off without its executors noticing.
            "activeDeadlineSeconds": shape.deadline_s,
            "terminationGracePeriodSeconds": shape.grace_s,
            "serviceAccountName": executors.job.service_account,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": shape.pod_security,
            "containers": [_container(shape)],
            "volumes": [
                {"name": _LOCAL_DIRECTORY, "emptyDir": {"sizeLimit": shape.scratch}},
                *shape.volumes,
            ],
        },
    }


def _container(shape: ExecutorPodSpec) -> dict[str, Any]:
    own = [{"name": environment.RUN_UID, "value": shape.run_uid}, shared_secret(shape.secrets)]
    return {
        "name": CONTAINER,
        "command": list(shape.command),
        "env": [*own, *shape.environment],
        "securityContext": shape.container_security,
        **({"resources": {"limits": shape.limits}} if shape.limits else {}),
        "volumeMounts": [
            {"name": _LOCAL_DIRECTORY, "mountPath": "/tmp"},  # noqa: S108 - a volume of the Pod's own
            *shape.mounts,
        ],
    }


def allow_list(pod: dict[str, Any], image: str) -> tuple[str, ...]:
    """What a Pod made from this template is, and reads: `image/paimon-spark:1`, `label/team=shop`, `secret/lake-s3`.

    `image` is the driver's, which Spark takes for executors too: the template has none.
    """
    (container,) = pod["spec"]["containers"]
    found = {
        f"image/{image}",
        f"serviceaccount/{pod['spec']['serviceAccountName']}",
        f"deadline/{pod['spec']['activeDeadlineSeconds']}",
        f"priorityclass/{pod['spec'].get('priorityClassName', '')}",
        f"runtimeclass/{pod['spec'].get('runtimeClassName', '')}",
        *(f"label/{key}={value}" for key, value in pod["metadata"]["labels"].items()),
        *(f"annotation/{key}" for key in pod["metadata"].get("annotations", {})),
        *(word for variable in container["env"] for word in _read_by(variable.get("valueFrom", {}))),
        *(word for volume in pod["spec"]["volumes"] for word in _mounted_by(volume)),
    }
    return tuple(sorted(found))


def _read_by(source: dict[str, Any]) -> Iterator[str]:
    if "secretKeyRef" in source:
        yield f"secretkey/{source['secretKeyRef']['name']}/{source['secretKeyRef']['key']}"
    if "configMapKeyRef" in source:
        yield f"configmap/{source['configMapKeyRef']['name']}"


def _mounted_by(volume: dict[str, Any]) -> Iterator[str]:
    if "secret" in volume:
        yield f"secret/{volume['secret']['secretName']}"
    if "configMap" in volume:
        yield f"configmap/{volume['configMap']['name']}"
    if "persistentVolumeClaim" in volume:
        yield f"persistentvolumeclaim/{volume['persistentVolumeClaim']['claimName']}"
