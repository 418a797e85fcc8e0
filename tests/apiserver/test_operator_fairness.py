"""A backlog of one namespace delays no other namespace, counted in requests: the adapter, and the operator process."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from paimon_operator.core.naming import FIELD_MANAGER
from paimon_operator.core.ports import Kind
from paimon_operator.kube.limiter import TokenBucket
from paimon_operator.kube.requests import ApiServer as Server
from paimon_operator.kube.resources import RESOURCES
from tests.apiserver.connected import connected
from tests.apiserver.namespace_client import TABLES, NamespaceClient, conditions
from tests.apiserver.operator_process import OperatorProcess
from tests.cluster.apiserver import ApiServer
from tests.cluster.audit import AuditedRequest, audited_requests
from tests.support.manifests import REMOVED, keyed_table

BACKLOG, WORKERS, RATE = 100, 4, 5
REQUESTS = 4
"""Of one reconcile at most: finalizer, status, and two Events. The first one of a table stores its first status."""
AT_MOST = WORKERS * (REQUESTS - 1) + 1 + REQUESTS
"""Until a worker is free: the requests that the busy ones have left, in turns. Then one before each own request."""
PODS = RESOURCES[Kind.POD]
NUMBERS = itertools.count()
"""A namespace that was deleted exists for a while."""


@pytest.fixture
def large(api_server: ApiServer) -> Iterator[NamespaceClient]:
    ns = NamespaceClient(api_server.kubeconfig, f"fairness-large-{next(NUMBERS)}")
    yield ns
    ns.close()


@pytest.fixture
def small(api_server: ApiServer) -> Iterator[NamespaceClient]:
    ns = NamespaceClient(api_server.kubeconfig, f"fairness-small-{next(NUMBERS)}")
    yield ns
    ns.close()


async def test_a_request_waits_for_at_most_one_request_of_a_namespace_with_a_backlog(api_server: ApiServer) -> None:
    sent: list[str] = []
    loop = asyncio.get_running_loop()
    limiter = TokenBucket(rate=RATE, burst=1, clock=loop.time, call_later=loop.call_later)
    async with connected(api_server.kubeconfig) as api:
        server = Server(api.client, limiter=limiter, timeout=10, observe=lambda *answer: sent.append(answer[1]))
        path = PODS.path("kube-system")
        backlog = [asyncio.create_task(server.request("list", path, kind="large")) for _ in range(BACKLOG)]
        await backlog[0]
        await server.request("list", PODS.path("default"), kind="small")
        await server.request("list", PODS.path(None), kind="all namespaces")
        for request in backlog:
            request.cancel()
        await asyncio.gather(*backlog, return_exceptions=True)
    counts = Counter(sent)
    assert (counts["small"], counts["all namespaces"]) == (1, 1)
    assert counts["large"] <= 1 + 2 + 1, "the first one, one in each turn, and one that was on its way"


def test_tables_of_one_namespace_delay_a_table_of_another_by_a_fixed_number_of_requests(
    api_server: ApiServer, large: NamespaceClient, small: NamespaceClient, tmp_path: Path
) -> None:
    offset = api_server.audit_log.stat().st_size
    with OperatorProcess(
        api_server.kubeconfig,
        tmp_path,
        namespaces=[large.namespace, small.namespace],
        lease_namespace=small.namespace,
        workers=str(WORKERS),
        api_rate=str(RATE),
        api_burst=str(RATE),
    ) as operator:
        operator.wait_until_working()
        for number in range(BACKLOG):
            large.create(keyed_table(metadata__name=f"orders-{number}", spec__writes=REMOVED))
        small.create(keyed_table(spec__writes=REMOVED))
        small.wait(lambda: conditions(small.get(TABLES, "orders")).get("Ready"), "a status", operator=operator)
    requests = list(audited_requests(api_server.audit_log, offset=offset))
    created = next(at for at, each in enumerate(requests) if _is(each, "create", small, ""))
    reported = next(at for at, each in enumerate(requests) if _is(each, "patch", small, "status"))
    before = [each for each in requests[:reported] if _is(each, "patch", large, "status")]
    assert len(before) < BACKLOG / 2, "there was no backlog any more"
    paced = [each for each in requests[created:reported] if each.user_agent == FIELD_MANAGER]
    delay = [each for each in paced if each.namespace == large.namespace and each.resource != "leases"]
    assert len(delay) <= AT_MOST, Counter((each.verb, each.resource, each.subresource) for each in delay)


def _is(request: AuditedRequest, verb: str, ns: NamespaceClient, subresource: str) -> bool:
    found = (request.verb, request.resource, request.subresource, request.namespace)
    return found == (verb, TABLES, subresource, ns.namespace)


def test_new_tables_of_one_namespace_come_at_the_rate_of_the_settings_beside_tables_of_another(
    api_server: ApiServer, large: NamespaceClient, small: NamespaceClient, tmp_path: Path
) -> None:
    one_in_100_s = "0.01"
    with OperatorProcess(
        api_server.kubeconfig,
        tmp_path,
        namespaces=[large.namespace, small.namespace],
        lease_namespace=small.namespace,
        new_tables_rate=one_in_100_s,
    ) as operator:
        operator.wait_until_working()
        small.create(keyed_table(spec__writes=REMOVED))
        small.wait(lambda: conditions(small.get(TABLES, "orders")).get("Ready"), "a status", operator=operator)
        for number in range(3):
            large.create(keyed_table(metadata__name=f"orders-{number}", spec__writes=REMOVED))
        large.wait(lambda: operator.metrics()["paimon_operator_new_tables_waiting"] == 2 or None, "two that wait")
        large.wait(lambda: conditions(large.get(TABLES, "orders-0")).get("Ready"), "a status", operator=operator)
        waiting = [large.get(TABLES, f"orders-{number}") for number in (1, 2)]
        assert [(conditions(each), each["metadata"].get("finalizers")) for each in waiting] == [({}, None)] * 2
