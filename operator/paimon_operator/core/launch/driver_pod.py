"""A run's ConfigMap, the rights of its executors, and its driver Pod.

Every Pod passes Pod Security `restricted`. No Secret's value is in them.

The shape of the Pod (arguments, environment, /etc/paimon-run/job.json, uid 185) is a contract with the Spark image's
entrypoint. The golden files in tests/core/launch/golden hold it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from paimon_contract import environment
from paimon_contract.job import Job, job_text
from paimon_operator.api.base import API_VERSION
from paimon_operator.api.executor_rights import PaimonExecutorRightsSpec
from paimon_operator.api.pod_overlay import PodOverlay
from paimon_operator.api.run.spark import RunSpark
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core import naming
from paimon_operator.core.launch import executor_pod, pod_storage
from paimon_operator.core.launch.executor_pod import Executors
from paimon_operator.core.launch.memory import DRIVER_MEMORY
from paimon_operator.core.launch.pod_overlay import overlaid
from paimon_operator.core.launch.pod_security import PodRules, container_security, cpu
from paimon_operator.core.operations import registry
from paimon_operator.core.ports import Kind
from paimon_operator.core.spec.desired_table import digest
from paimon_operator.core.storage.access import Mount, ValueSource, Variable

ENTRYPOINT: Final = "/opt/paimon-operator/entrypoint.sh"
JOB_DIRECTORY: Final = "/etc/paimon-run"
JOB_FILE: Final = "job.json"
GRACE_S: Final = 10
"""From SIGTERM to SIGKILL. A driver may be killed at any moment, so it gets less than the usual half minute: that of a
JVM's start, in which SIGTERM to a container's first process is lost."""

CONTAINER: Final = "driver"
"""The one container whose end is the attempt's end; a sidecar that a cluster injects does not count."""
JOB_VOLUME: Final = "job"
"""The volume with the run's own ConfigMap."""

ANNOTATIONS: Final = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
    "kubectl.kubernetes.io/default-container": CONTAINER,
}
"""Moving a driver to another node loses the work done so far, so node autoscalers wait for it."""

PullPolicy = Literal["Always", "IfNotPresent", "Never"]


@dataclass(frozen=True, kw_only=True)
class Launch:
    """Everything that the driver Pod of a run is made from, attempts aside."""

    job: Job
    image: str
    pull_policy: PullPolicy = "IfNotPresent"
    service_account: str | None = None
    """None: the namespace's default account. Its token is not mounted either way, its pull secrets are used."""
    cores: int
    cpu_request_millis: int
    """CPU request in thousandths of a core."""
    memory_mib: int
    """Memory of the container in MiB, request and limit."""
    most_memory_mib: int | None = None
    """The catalog's limit for it, also after an attempt that ran out of memory; None without one."""
    learned_memory_mib: int = 0
    """What earlier runs of the kind have needed; 0: none ran out of memory."""
    scratch: str = "10Gi"
    """Upper bound of /tmp, where Spark spills; a Pod above it is evicted instead of filling the node's disk."""
    variables: tuple[Variable, ...] = ()
    """What the catalog's storage needs in the environment."""
    mounts: tuple[Mount, ...] = ()
    """What it needs as files."""
    table_host_name: bool = False
    """Whether the drivers of the table share one host name."""
    long_work: bool = False
    """Compile for a long run: it starts later, and is faster from some million rows on."""
    execution: RunSpark | None = None
    """Where the work is done, and why, for the run's status."""
    executors: Executors | None = None
    """None: the driver does everything itself, and has no token."""
    overlay: PodOverlay | None = None
    """The catalog's additions to driver and executors."""
    rules: PodRules = field(default_factory=PodRules)


def config_map(run: PaimonRun, launch: Launch, *, deadline_s: int) -> dict[str, Any]:
    """The job and the executors' Pod, frozen: what attempt 1 was asked to do is what attempt 3 does."""
    labels, data = naming.child_labels(run.spec.table_ref.name, run.metadata.name), {JOB_FILE: job_text(launch.job)}
    if launch.executors is not None:
        template = overlaid(executor_pod.template(launch.executors, _shape(run, launch, deadline_s)), launch.overlay)
        data[executor_pod.TEMPLATE_FILE] = json.dumps(template, sort_keys=True)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(run, config_map_of(run), labels),
        "immutable": True,
        "data": data,
    }


def executor_rights(job: Mapping[str, Any], image: str) -> dict[str, Any] | None:
    """What executors with this ConfigMap may use, for the admission policy. None: the run has no executors.

    `image` is the driver's. The rights have the name, the labels and the owner of the ConfigMap.
    """
    if (template := job["data"].get(executor_pod.TEMPLATE_FILE)) is None:
        return None
    allowed = executor_pod.allow_list(json.loads(template), image)
    return {
        "apiVersion": API_VERSION,
        "kind": Kind.EXECUTOR_RIGHTS.value,
        "metadata": job["metadata"],
        "spec": PaimonExecutorRightsSpec(may_use=allowed).to_json(),
    }


def config_map_of(run: PaimonRun) -> str:
    """Name of the run's ConfigMap, which its status has from the first attempt on. Its Pods are named after it."""
    if run.status.job is not None:
        return run.status.job.config_map
    return naming.config_map_name(run.metadata.name, by_user=run.spec.trigger is None)


def driver_pod(
    run: PaimonRun, launch: Launch, *, attempt: int, memory_mib: int, deadline_s: int, own_deadline_s: int
) -> dict[str, Any]:
    """The Pod of one attempt. `memory_mib` is the attempt's own size.

    `deadline_s` is the kubelet's, in seconds from the Pod's start: a backstop for a time without an operator, later
    than the run's own deadline, which counts from the container's start. `own_deadline_s` counts from there as well:
    the container ends itself, for a time without a kubelet.
    """
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "activeDeadlineSeconds": deadline_s,
        "terminationGracePeriodSeconds": GRACE_S,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": launch.rules.pod_security(),
        "containers": [_container(launch, memory_mib, _environment(run, launch, attempt, memory_mib, own_deadline_s))],
        "volumes": _volumes(run, launch),
    }
    if launch.table_host_name:
        spec["hostname"] = naming.host_name(launch.job.owner)
    if launch.service_account:
        spec["serviceAccountName"] = launch.service_account
    if launch.executors is not None:
        spec["serviceAccountName"] = launch.executors.driver_account
        spec["volumes"].append(executor_pod.token_volume(deadline_s))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": _pod_metadata(run, attempt), "spec": spec}
    return overlaid(pod, launch.overlay)


def _pod_metadata(run: PaimonRun, attempt: int) -> dict[str, Any]:
    labels = naming.pod_labels(run.spec.table_ref.name, run.metadata.name, attempt)
    return _metadata(run, naming.pod_name(config_map_of(run), attempt), labels) | {
        # The Pod stays until its kubelet reports the end: deleting the object does not stop a container.
        "finalizers": [naming.FINALIZER],
        "annotations": dict(ANNOTATIONS),
    }


def _shape(run: PaimonRun, launch: Launch, deadline_s: int) -> executor_pod.ExecutorPodSpec:
    mounts = [each for each in launch.mounts if not each.driver_only]
    return executor_pod.ExecutorPodSpec(
        table=run.spec.table_ref.name,
        run=run.metadata.name,
        run_uid=run.metadata.uid,
        command=(ENTRYPOINT,),
        deadline_s=deadline_s,
        grace_s=GRACE_S,
        scratch=launch.executors.scratch if launch.executors is not None else launch.scratch,
        environment=[pod_storage.variable(each) for each in launch.variables if not each.driver_only],
        volumes=[pod_storage.volume(each) for each in mounts],
        mounts=[pod_storage.volume_mount(each) for each in mounts],
        secrets=_secrets(launch),
        pod_security=launch.rules.pod_security(),
        container_security=container_security(),
        limits=launch.rules.cpu_limit(1000 * launch.executors.job.cores) if launch.executors is not None else {},
    )


def access_hash(launch: Launch) -> str | None:
    """Hash of what driver and executors must have in common, and of what goes with the job; None without executors.

    The executors' Pod is written once, a driver's for each attempt: from different catalogs, the two sides would work
    out different secrets. Of what is rendered, so that a newer operator that renders the same finds the same.
    """
    if launch.executors is None:
        return None
    return digest(
        {
            "account": launch.executors.job.service_account,
            "driverAccount": launch.executors.driver_account,
            "variables": [pod_storage.variable(each) for each in launch.variables],
            "volumes": [pod_storage.volume(each) for each in launch.mounts],
            "mounts": [pod_storage.volume_mount(each) for each in launch.mounts],
            "secrets": _secrets(launch),
        }
    )


def _secrets(launch: Launch) -> tuple[str, ...]:
    """Where driver and executors both find the storage's secrets."""
    variables = tuple(each.name for each in launch.variables if each.secret_key is not None and not each.driver_only)
    return variables + tuple(
        each.path for each in launch.mounts if each.source is ValueSource.SECRET and not each.driver_only
    )


def _metadata(run: PaimonRun, name: str, labels: dict[str, str]) -> dict[str, Any]:
    owner = naming.owner_reference(Kind.RUN.value, run.metadata.name, run.metadata.uid)
    return {"name": name, "namespace": run.metadata.namespace, "labels": labels, "ownerReferences": [owner]}


def _container(launch: Launch, memory_mib: int, variables: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": CONTAINER,
        "image": launch.image,
        "imagePullPolicy": launch.pull_policy,
        "command": [ENTRYPOINT],
        "args": ["driver", f"{JOB_DIRECTORY}/{JOB_FILE}"],
        "env": variables,
        "resources": resources(launch, memory_mib),
        "securityContext": container_security(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": JOB_VOLUME, "mountPath": JOB_DIRECTORY, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - a volume of the Pod's own, not the operator's /tmp
            *[pod_storage.volume_mount(each) for each in launch.mounts],
            *([executor_pod.token_mount()] if launch.executors is not None else []),
        ],
    }


def resources(launch: Launch, memory_mib: int) -> dict[str, Any]:
    """What a driver's container gets."""
    memory = _memory(memory_mib)
    requests = {"cpu": cpu(launch.cpu_request_millis), "memory": memory}
    # Memory limit = request: no overcommit.
    return {"requests": requests, "limits": launch.rules.limits(memory, 1000 * launch.cores)}


def _memory(mib: int) -> str:
    """As the API server writes it."""
    return f"{mib}Mi" if mib % 1024 else f"{mib // 1024}Gi"


def _environment(
    run: PaimonRun, launch: Launch, attempt: int, memory_mib: int, own_deadline_s: int
) -> list[dict[str, Any]]:
    plain = {
        environment.RUN_NAME: run.metadata.name,
        environment.RUN_NAMESPACE: run.metadata.namespace,
        environment.RUN_UID: run.metadata.uid,
        environment.RUN_ATTEMPT: str(attempt),
        environment.DRIVER_CORES: str(launch.cores),
        environment.DRIVER_HEAP: f"{DRIVER_MEMORY.heap_mib(memory_mib)}m",
        environment.DRIVER_DEADLINE_S: str(own_deadline_s),
    }
    if run.status.job is not None and run.status.job.digest is not None:
        plain[environment.JOB_DIGEST] = run.status.job.digest
    if launch.long_work:
        plain[environment.DRIVER_JIT] = "tiered"
    if registry.OPERATIONS.of(launch.job.operation).may_end_without_jvm:
        plain[environment.TRY_WITHOUT_JVM] = "1"
    variables: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in plain.items()]
    if launch.executors is not None:
        known = (launch.image, launch.pull_policy, JOB_DIRECTORY, _secrets(launch))
        variables += executor_pod.driver_environment(*known)
    return variables + [pod_storage.variable(each) for each in launch.variables]


def _volumes(run: PaimonRun, launch: Launch) -> list[dict[str, Any]]:
    return [
        {"name": JOB_VOLUME, "configMap": {"name": config_map_of(run)}},
        {"name": "tmp", "emptyDir": {"sizeLimit": launch.scratch}},
        *[pod_storage.volume(each) for each in launch.mounts],
    ]
