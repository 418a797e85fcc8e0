"""A table of which no tick needs a run costs no request, before and after a change of the leader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from paimon_operator.core.naming import FIELD_MANAGER
from paimon_operator.kube.lease import NOTE
from tests.apiserver.namespace_client import TABLES, NamespaceClient
from tests.apiserver.operator_process import OperatorProcess
from tests.cluster.apiserver import ApiServer
from tests.cluster.audit import audited_requests
from tests.support.manifests import REMOVED, keyed_table

SPACE, LEASE = "quiet-tables", "quiet"
MINUTELY = {"mode": "Dedicated", "minor": {"schedule": "* * * * *"}}
FEW_RUNS = {"schemaId": 0, "snapshotId": 1, "bucketMode": "Dynamic", "files": 3, "rows": 10, "sizeBytes": 2048}
NOT_MANY = {"sortedRunsMax": 2, "level0FilesMax": 0, "smallFilesMax": 0, "deletePercent": 0, "pinsCount": 0}
TICKS = 2
_OF_TABLES = 'paimon_operator_reconcile_seconds_count{kind="PaimonTable",result="ok"}'


class QuietTable:
    """One table on a real API server, and the operators that come one after the other."""

    def __init__(self, server: ApiServer, logs: Path) -> None:
        self.ns, self._server, self._logs = NamespaceClient(server.kubeconfig, SPACE), server, logs
        self.ns.create_catalog()
        self.offset = 0

    def operator(self, name: str) -> OperatorProcess:
        names = {"lease_namespace": SPACE, "lease_name": LEASE, "name": name}
        return OperatorProcess(self._server.kubeconfig, self._logs, namespaces=[SPACE], **names)

    @property
    def minor(self) -> dict[str, Any]:
        """What is stored of the schedule."""
        status = self.ns.get(TABLES, "orders").get("status", {})
        state: dict[str, Any] = status.get("compaction", {}).get("minor", {})
        return state

    @property
    def decided_until(self) -> str:
        """What the Lease says to the next leader."""
        metadata = client.CoordinationV1Api(self.ns.client).read_namespaced_lease(LEASE, SPACE).metadata
        return ((metadata and metadata.annotations) or {})[NOTE]

    def is_skipped_once_its_runs_have_ended(self) -> bool:
        for pod in (pod for pod in self.ns.pods() if pod.is_active):
            self.ns.succeed(pod, table=FEW_RUNS | NOT_MANY)
        return bool(self.minor.get("decision", {}).get("reason") == "NotNeeded")

    def wait_for_passes(self, operator: OperatorProcess, passes: int) -> None:
        """Waits until the operator has reconciled the table so many times more: once at each tick."""
        before = operator.metrics().get(_OF_TABLES, 0)
        self.ns.wait(lambda: operator.metrics().get(_OF_TABLES, 0) >= before + passes, f"{passes} passes")

    def count_from_now(self) -> None:
        self.offset = self._server.audit_log.stat().st_size

    def written(self) -> Sequence[str]:
        """What the operators have written, without their Leases."""
        found = [each for each in audited_requests(self._server.audit_log, offset=self.offset) if _is_write(each.verb)]
        own = [each for each in found if (each.user_agent, each.namespace) == (FIELD_MANAGER, SPACE)]
        return [f"{each.verb} {each.resource} {each.name}" for each in own if each.resource != "leases"]


def _is_write(verb: str) -> bool:
    return verb not in ("get", "list", "watch")


@pytest.fixture
def quiet(api_server: ApiServer, tmp_path: Path) -> Iterator[QuietTable]:
    table = QuietTable(api_server, tmp_path)
    yield table
    table.ns.close()


@pytest.mark.long
def test_ticks_that_are_not_needed_write_nothing_and_the_next_leader_knows_of_them(quiet: QuietTable) -> None:
    with quiet.operator("first") as first:
        first.wait_until_working()
        quiet.ns.create(keyed_table(spec__writes=REMOVED, spec__compaction=MINUTELY))
        quiet.ns.wait(quiet.is_skipped_once_its_runs_have_ended, "a tick that is not needed")
        quiet.wait_for_passes(first, 1)
        stored = quiet.minor
        quiet.count_from_now()
        quiet.wait_for_passes(first, TICKS)
        assert quiet.written() == []
        first.terminate()
    assert quiet.decided_until > stored["next"], "it has decided about later ticks than those stored"
    with quiet.operator("second") as second:
        second.wait_until_working()
        quiet.wait_for_passes(second, 1)
        assert quiet.written() == []
        assert quiet.minor == stored
