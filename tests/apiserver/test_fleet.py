"""A small fleet on a real API server takes no more requests than its goals: created, at a restart, idle and running."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.apiserver.namespace_client import NamespaceClient
from tests.cluster.apiserver import ApiServer
from tools.benchmarks.fleet.__main__ import NAMESPACE, measure, missed
from tools.benchmarks.fleet.stage import operator_on_any_core

TABLES, RUNS, IDLE_S = 500, 10, 10


def test_a_fleet_of_500_tables_misses_no_goal_of_its_requests(api_server: ApiServer, tmp_path: Path) -> None:
    NamespaceClient(api_server.kubeconfig, NAMESPACE).create_catalog()
    measuring = measure(api_server, TABLES, tmp_path, starting=operator_on_any_core, runs=RUNS, idle_s=IDLE_S)
    lines, _ = asyncio.run(measuring)
    assert [(line.what, line.objects) for line in lines] == [
        ("create", TABLES),
        ("restart", TABLES),
        ("watch", TABLES),
        ("idle", IDLE_S),
        ("runs", RUNS),
    ]
    assert missed(lines) == []
