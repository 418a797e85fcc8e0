"""Detects Pods, ConfigMaps and Leases that are left of a table's ended runs."""

from __future__ import annotations

from collections.abc import Iterator

from tests.e2e.kills import OPERATOR_LABEL, OPERATOR_NAMESPACE
from tests.e2e.lab import Lab
from tests.support.kubectl import Kubectl, Object

LEASES = {"paimon-operator", "paimon-operator-canary"}
"""The operator's own, in its own namespace: the leader's, and the one that shows whether watches deliver."""
MANAGED = "app.kubernetes.io/managed-by=paimon-operator"
LIMITS = {"Succeeded": "successfulRunsHistoryLimit", "Failed": "failedRunsHistoryLimit"}
"""Phases of a run that has ended, and the limit of each; runs that users made are never removed."""


def remains(lab: Lab, table: str) -> list[str]:
    """Returns one sentence for each object that should not exist, or is missing. `table` is the lab's only one."""
    runs = lab.kubectl.list("paimonrun")
    policy = (lab.kubectl.get("paimontable", table) or {})["status"]["effective"]["runPolicy"]
    return [*_runs(runs, policy), *_pods(lab, runs), *_config_maps(lab, runs), *_leases(lab)]


def _runs(runs: list[Object], policy: Object) -> Iterator[str]:
    phases = {run["metadata"]["name"]: run.get("status", {}).get("phase") for run in runs}
    yield from (f"run {name} is {phase}" for name, phase in phases.items() if phase not in LIMITS)
    own = [phases[run["metadata"]["name"]] for run in runs if run["spec"].get("trigger")]
    for phase, limit in LIMITS.items():
        if (count := own.count(phase)) > policy[limit]:
            yield f"{count} runs are {phase}, {limit} is {policy[limit]}"


def _pods(lab: Lab, runs: list[Object]) -> Iterator[str]:
    """Checks that every Pod is the ended driver of a run's attempt."""
    drivers = {attempt["pod"] for run in runs for attempt in run.get("status", {}).get("attempts", [])}
    for pod in lab.kubectl.list("pod", "paimon-operator.dev/role!=observer"):
        metadata, phase = pod["metadata"], pod["status"].get("phase")
        if metadata["name"] not in drivers:
            yield f"pod {metadata['name']} belongs to no attempt of any run"
        if metadata.get("deletionTimestamp") or metadata.get("finalizers"):
            yield f"pod {metadata['name']} is held"
        if phase not in ("Succeeded", "Failed"):
            yield f"pod {metadata['name']} is {phase}"


def _config_maps(lab: Lab, runs: list[Object]) -> Iterator[str]:
    """Checks that every run with an attempt has its job, and that there is no other job."""
    wanted = {job["configMap"] for run in runs if (job := run.get("status", {}).get("job"))}
    there = {each["metadata"]["name"] for each in lab.kubectl.list("configmap", MANAGED)}
    yield from (f"ConfigMap {name} belongs to no run" for name in sorted(there - wanted))
    yield from (f"ConfigMap {name} of a run is lost" for name in sorted(wanted - there))


def _leases(lab: Lab) -> Iterator[str]:
    yield from (f"Lease {each['metadata']['name']} beside the table" for each in lab.kubectl.list("lease"))
    system = Kubectl(namespace=OPERATOR_NAMESPACE, env=lab.env)
    leases = {each["metadata"]["name"]: each["spec"] for each in system.list("lease")}
    yield from (f"Lease {name} of an operator that is not" for name in sorted(leases.keys() - LEASES))
    yield from (f"the operator lost its Lease {name}" for name in sorted(LEASES - leases.keys()))
    pods = {pod["metadata"]["name"] for pod in system.list("pod", OPERATOR_LABEL)}
    holder = leases.get("paimon-operator", {}).get("holderIdentity", "").partition("_")[0]
    if holder not in pods:
        yield f"the leader's Lease is held by {holder or 'nobody'}, the operator's pods are {sorted(pods)}"
