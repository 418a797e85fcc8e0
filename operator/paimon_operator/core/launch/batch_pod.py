"""A driver Pod that several small runs of one catalog share, and what each of them brings into it.

The jobs stand in the Pod's variables: they are created with the Pod, and nobody can change them. The Pod belongs to the
catalog, because each of its runs may be deleted before the others have ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from paimon_contract import environment
from paimon_contract.documents import DocumentError
from paimon_contract.job import job_text
from paimon_contract.turns import (
    MAX_JOB_BYTES,
    MAX_JOBS,
    MAX_JOBS_BYTES,
    BatchConfig,
    TurnOf,
    config_text,
    job_texts,
    job_variable,
    read_config,
    variable_text,
)
from paimon_operator.api import units
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core import naming
from paimon_operator.core.launch import driver_pod, operator_token, pod_storage
from paimon_operator.core.launch.driver_memory import begins_larger
from paimon_operator.core.launch.driver_pod import Launch
from paimon_operator.core.launch.memory import DRIVER_MEMORY
from paimon_operator.core.launch.pod_overlay import overlaid
from paimon_operator.core.launch.pod_security import container_security
from paimon_operator.core.operations import registry
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.spec.desired_table import digest

TURNS_FOR_S: Final = 900
"""Seconds in which turns begin, from the driver's start. Those left then share another Pod."""
_SINCE: Final = ("sinceSnapshot", "sinceCommit")
"""Members of a job that say from where it looks for foreign commits."""


@dataclass(frozen=True, kw_only=True)
class BatchMember:
    """A run that may share a Pod."""

    run: TurnOf
    job: str
    """The job as it will stand in the Pod's variable."""
    launch_hash: str
    place: int = 0
    """Its place among the runs of its table that share a Pod."""
    only_with: str = ""
    """UID of the table whose runs alone it shares a Pod with; empty: with all small runs of the catalog."""


@dataclass(frozen=True, kw_only=True)
class SharedPod:
    """What is known of such a Pod from its unchangeable part."""

    namespace: str
    name: str
    uid: str
    memory: str
    cores: int
    launch_hash: str
    jobs: Mapping[str, str]
    """UID of a run -> its job."""
    runs: Mapping[str, str]
    """Name of a run -> name of its PaimonTable."""


def member_of(run: PaimonRun, table: PaimonTable, launch: Launch) -> BatchMember | None:
    """What `run` brings into a shared Pod; None for one that has its Pod alone."""
    job = variable_text(job_text(launch.job))
    beside = _beside(run, table)
    # A Pod has one host name, and some tables record that of their drivers.
    larger = begins_larger(launch.memory_mib, launch.most_memory_mib, launch.learned_memory_mib)
    is_alone = launch.executors is not None or launch.long_work or launch.table_host_name or larger
    is_large = not _is_small(run.spec.type) and list(beside) == [run.metadata.name]
    if is_alone or is_large or len(job.encode()) > MAX_JOB_BYTES:
        return None
    return BatchMember(
        run=TurnOf(name=run.metadata.name, uid=run.metadata.uid),
        job=job,
        launch_hash=launch_hash(launch),
        place=list(beside).index(run.metadata.name),
        only_with="" if all(map(_is_small, beside.values())) else table.metadata.uid,
    )


def _is_small(type_: str) -> bool:
    return registry.OPERATIONS.of(type_).small


def _beside(run: PaimonRun, table: PaimonTable) -> dict[str, str]:
    """The runs of the table that share a Pod with `run`, in their order: name -> type."""
    active, following = table.status.active_run, table.status.following_runs or ()
    named = {each.name: each.type for each in (*([active] if active else []), *following)}
    return named if run.metadata.name in named else {run.metadata.name: run.spec.type}


def is_same_work(frozen: str | None, job: str) -> bool:
    """Whether a job from the variable of a Pod does what `job` does, which was made just now.

    It may look for foreign commits since an earlier snapshot: an earlier run of the table in the same Pod has moved the
    mark. It then finds the same as that run.
    """
    if frozen is None or frozen == job:
        return frozen is not None
    before, now = json.loads(frozen), json.loads(job)
    since, until = before.get(_SINCE[0]), now.get(_SINCE[0])
    if not isinstance(since, int) or not isinstance(until, int) or since > until:
        return False
    return all(before.get(key) == now.get(key) for key in {*before, *now} - set(_SINCE))


def launch_hash(launch: Launch) -> str:
    """Hash of what the runs of one Pod have in common: everything of its Pod but the job."""
    return digest(json.loads(json.dumps(_shared_part(launch))))


def fits(members: Iterable[BatchMember], another: BatchMember) -> bool:
    """Whether one Pod may perform another run beside `members`."""
    jobs = [each.job for each in members]
    size = sum(len(job.encode()) for job in (*jobs, another.job))
    return len(jobs) < MAX_JOBS and size <= MAX_JOBS_BYTES


def batch_pod(
    catalog: PaimonCatalog,
    launch: Launch,
    members: Sequence[BatchMember],
    *,
    url: str,
    deadline_s: int,
    own_deadline_s: int,
    distinction: str,
) -> dict[str, Any]:
    """The Pod of `members`, whose launches differ from `launch` in nothing but the job.

    `deadline_s` and `own_deadline_s` are those of `driver_pod`. `distinction` distinguishes its name from that of an
    earlier Pod of the same runs.
    """
    config = BatchConfig(
        url=url, token_file=operator_token.path(), seconds=TURNS_FOR_S, launch_hash=members[0].launch_hash
    )
    own = {
        environment.DRIVER_DEADLINE_S: str(own_deadline_s),
        environment.BATCH_CONFIG: config_text(config),
        **{job_variable(number): each.job for number, each in enumerate(members)},
    }
    pod = _shared_part(launch)
    pod["spec"]["activeDeadlineSeconds"] = deadline_s
    pod["spec"]["containers"][0]["env"] += [{"name": key, "value": value} for key, value in own.items()]
    metadata = _metadata(catalog, [distinction, *(each.run.uid for each in members)])
    return pod | {"metadata": pod["metadata"] | metadata | _overlaid_metadata(pod, metadata)}


def _metadata(catalog: PaimonCatalog, parts: Iterable[str]) -> dict[str, Any]:
    owner = naming.owner_reference(Kind.CATALOG.value, catalog.metadata.name, catalog.metadata.uid)
    return {
        "name": naming.batch_name(catalog.metadata.name, catalog.metadata.uid, *parts),
        "namespace": catalog.metadata.namespace,
        "labels": naming.batch_labels(catalog.metadata.name),
        # A catalog's deletion does not wait for it: the operator has no right to let it.
        "ownerReferences": [owner | {"blockOwnerDeletion": False}],
        "finalizers": [naming.FINALIZER],
        "annotations": dict(driver_pod.ANNOTATIONS),
    }


def read_batch(body: Manifest) -> SharedPod | None:
    """The shared Pod in `body`; None for any other Pod, and for one that this release cannot read."""
    if not naming.is_batch(body):
        return None
    containers: Iterable[Mapping[str, Any]] = body["spec"].get("containers") or ()
    driver = next((each for each in containers if each.get("name") == driver_pod.CONTAINER), {})
    variables = {each["name"]: each.get("value") or "" for each in driver.get("env") or ()}
    try:
        config = read_config(variables.get(environment.BATCH_CONFIG, ""))
        jobs = {text: json.loads(text) for text in job_texts(variables)}
        return SharedPod(
            namespace=body["metadata"]["namespace"],
            name=body["metadata"]["name"],
            uid=body["metadata"]["uid"],
            memory=f"{units.mebibytes(driver['resources']['limits']['memory'])}Mi",
            cores=int(variables[environment.DRIVER_CORES]),
            launch_hash=config.launch_hash,
            jobs={job["run"]["uid"]: text for text, job in jobs.items()},
            runs={job["run"]["name"]: job["owner"].rpartition("/")[2] for job in jobs.values()},
        )
    except (DocumentError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _overlaid_metadata(pod: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Labels and annotations of the overlay, and over them the operator's own."""
    return {key: {**pod["metadata"].get(key, {}), **own[key]} for key in ("labels", "annotations")}


def _shared_part(launch: Launch) -> dict[str, Any]:
    """The Pod without its name, its deadlines and its jobs."""
    plain = {
        environment.DRIVER_CORES: str(launch.cores),
        environment.DRIVER_HEAP: f"{DRIVER_MEMORY.heap_mib(launch.memory_mib)}m",
    }
    variables = [{"name": name, "value": value} for name, value in plain.items()]
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": driver_pod.GRACE_S,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": launch.rules.pod_security(),
        "containers": [_container(launch, [*variables, *map(pod_storage.variable, launch.variables)])],
        "volumes": [
            operator_token.volume(),
            {"name": "tmp", "emptyDir": {"sizeLimit": launch.scratch}},
            *[pod_storage.volume(each) for each in launch.mounts],
        ],
    }
    if launch.service_account:
        spec["serviceAccountName"] = launch.service_account
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {}}, "spec": spec}
    return overlaid(pod, launch.overlay)


def _container(launch: Launch, variables: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": driver_pod.CONTAINER,
        "image": launch.image,
        "imagePullPolicy": launch.pull_policy,
        "command": [driver_pod.ENTRYPOINT],
        "args": ["batch"],
        "env": variables,
        "resources": driver_pod.resources(launch, launch.memory_mib),
        "securityContext": container_security(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            operator_token.mount(),
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - a volume of the Pod's own, not the operator's /tmp
            *[pod_storage.volume_mount(each) for each in launch.mounts],
        ],
    }
