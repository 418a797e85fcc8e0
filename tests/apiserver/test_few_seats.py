"""An API server that refuses most requests of the operator, by its Priority and Fairness, with status 429.

The operator pauses as the server asks it to, and nothing is lost: each table is made by one run, with one Pod.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from tests.apiserver.namespace_client import RUNS, TABLES, NamespaceClient, conditions
from tests.apiserver.replicas import Replicas
from tests.apiserver.rights import RELEASE
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import keyed_table

COUNT = 30
NAME = "paimon-few-seats"
GROUP = "flowcontrol.apiserver.k8s.io/v1"
LEVEL = {
    "type": "Limited",
    "limited": {"nominalConcurrencyShares": 1, "lendablePercent": 0, "borrowingLimitPercent": 0,
                "limitResponse": {"type": "Reject"}},
}  # fmt: skip
ALL = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": True, "namespaces": ["*"]}]


@pytest.fixture
def few(api_server: ApiServer, tmp_path: Path) -> Iterator[Replicas]:
    """An operator, not started yet, whose account may have only a few requests at once."""
    ns = NamespaceClient(api_server.kubeconfig, "few-seats")
    replicas, server = Replicas(api_server, ns, tmp_path), client.FlowcontrolApiserverV1Api(ns.client)
    account = {"kind": "ServiceAccount", "serviceAccount": {"name": RELEASE, "namespace": ns.namespace}}
    schema = {
        "priorityLevelConfiguration": {"name": NAME},
        "matchingPrecedence": 2,
        "rules": [{"subjects": [account], "resourceRules": ALL}],
    }
    meta: Any = {"apiVersion": GROUP, "metadata": {"name": NAME}}
    with contextlib.ExitStack() as undo:
        undo.callback(ns.close)
        undo.callback(replicas.close)
        server.create_priority_level_configuration(meta | {"kind": "PriorityLevelConfiguration", "spec": LEVEL})
        undo.callback(server.delete_priority_level_configuration, NAME)
        server.create_flow_schema(meta | {"kind": "FlowSchema", "spec": schema})
        undo.callback(server.delete_flow_schema, NAME)
        yield replicas


@pytest.mark.long
def test_an_operator_with_few_seats_pauses_and_loses_nothing(few: Replicas) -> None:
    ns = few.ns
    ns.create_catalog()
    operator = few.add()
    operator.wait_until_working()
    for number in range(COUNT):
        ns.create(keyed_table(metadata__name=f"t{number}"))
    performed = 0

    def all_ready() -> bool:
        nonlocal performed
        performed += ns.succeed_all()
        return all(conditions(each).get("Ready", {}).get("status") == "True" for each in ns.all(TABLES))

    ns.wait(all_ready, "all tables to be Ready", operator=operator)
    assert performed == COUNT
    assert Counter(run["spec"]["type"] for run in ns.all(RUNS)) == {"Provision": COUNT}
    assert len(ns.pods()) == COUNT
    refused = sum(
        v for name, v in operator.metrics().items() if "api_request_seconds_count" in name and '"429"' in name
    )
    assert refused > 0, "the server has refused no request, so this shows nothing"
    assert operator.errors() == []
