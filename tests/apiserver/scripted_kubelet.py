"""Plays the kubelet of a namespace: its drivers succeed, miss the storage, run out of memory, or do not end."""

from __future__ import annotations

from typing import Any, Final

from paimon_contract.exit_codes import ExitCode
from paimon_operator.core.run.outcome import SIGKILLED
from tests.apiserver.namespace_client import RUNS, NamespaceClient
from tests.apiserver.pod import Pod

MEASURE: Final = {
    "schemaId": 0, "snapshotId": 1, "bucketMode": "Dynamic", "files": 4, "rows": 10, "sizeBytes": 2048,
    "sortedRunsMax": 4,
}  # fmt: skip
UNREACHABLE: Final[dict[str, Any]] = {
    "class": "Environment",
    "reason": "StorageUnreachable",
    "field": "spec.storage.s3.endpoint",
    "message": "the storage does not answer",
    "remedy": "Start it.",
}


class ScriptedKubelet:
    """Starts every Pod, and ends it as the script says for its table. The sets have names of tables."""

    def __init__(self, ns: NamespaceClient) -> None:
        self._ns = ns
        self.without_storage: set[str] = set()
        """Their writes fail with StorageUnreachable, all at once: an outage begins for all of them."""
        self.out_of_memory: set[str] = set()
        """Their compactions are killed, all at once. The next attempts have more memory and succeed."""
        self.endless: set[str] = set()
        """Their compactions do not end."""

    def turn(self) -> None:
        """Starts what is Pending, and ends what the operator has recorded as Running."""
        running = self._running()
        writes, compactions = running.get("Write", []), running.get("Compact", [])
        failing, killed = _together(writes, self.without_storage), _together(compactions, self.out_of_memory)
        held = [*_of(writes, self.without_storage), *_of(compactions, self.out_of_memory | self.endless)]
        for pod in failing:
            self._ns.end_with_error(pod, exit_code=ExitCode.ENVIRONMENT, error=UNREACHABLE)
        for pod in killed:
            self.out_of_memory.discard(pod.table)
            self._ns.end_pod(pod, exit_code=SIGKILLED, message="")
        for pod in [each for pods in running.values() for each in pods if each not in held]:
            self._ns.succeed(pod, table=MEASURE)

    def _running(self) -> dict[str, list[Pod]]:
        """Pods that the operator has recorded as Running, by type of their run. Starts those that are Pending."""
        running: dict[str, list[Pod]] = {}
        for pod in [each for each in self._ns.pods() if each.is_active]:
            run = self._ns.find(RUNS, pod.run)
            if pod.phase == "Pending":
                self._ns.run_pod(pod)
            elif run is not None and run.get("status", {}).get("phase") == "Running":
                running.setdefault(run["spec"]["type"], []).append(pod)
        return running


def _of(pods: list[Pod], tables: set[str]) -> list[Pod]:
    return [pod for pod in pods if pod.table in tables]


def _together(pods: list[Pod], tables: set[str]) -> list[Pod]:
    """The Pods of these tables, once each of them has one."""
    found = _of(pods, tables)
    return found if len(found) == len(tables) else []
