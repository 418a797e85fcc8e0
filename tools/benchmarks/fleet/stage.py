"""What the benchmarks of fleets share: an API server without nodes, an operator on one core, and many new tables."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

import yaml

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.errors import RetryableError
from tests.apiserver.connected import Connected
from tests.apiserver.crds import install
from tests.apiserver.namespace_client import NamespaceClient
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.rights import CHART
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer
from tests.support.manifests import REMOVED, keyed_table

_CLIENTS: Final = 20
_PATIENCE_S: Final = 1800
_AGAIN_S: Final = 1.0
T = TypeVar("T")


@contextmanager
def serving(directory: Path, *namespaces: str) -> Iterator[ApiServer]:
    """An API server with these namespaces, each with a catalog."""
    with ApiServer(directory / "server", controllers=USUAL_CONTROLLERS) as server:
        install(server.kubeconfig)
        for namespace in namespaces:
            NamespaceClient(server.kubeconfig, namespace).create_catalog()
        yield server


@contextmanager
def operator_on_one_core(server: ApiServer, directory: Path, *namespaces: str) -> Iterator[OperatorProcess]:
    """An operator that watches these namespaces and has one core, which it shares with whatever else runs."""
    with operator_on_any_core(server, directory, *namespaces) as operator:
        os.sched_setaffinity(operator.process.pid, {0})
        yield operator


@contextmanager
def operator_on_any_core(server: ApiServer, directory: Path, *namespaces: str) -> Iterator[OperatorProcess]:
    """An operator that watches these namespaces. It renews its Lease in time also where much else runs."""
    with OperatorProcess(
        server.kubeconfig,
        directory,
        namespaces=namespaces,
        lease_namespace=namespaces[0],
        lease_name=f"fleet-{time.monotonic_ns()}",  # the one before was killed and may still hold its Lease
        **_pace(),
    ) as operator:
        yield operator


def _pace() -> dict[str, str]:
    """The pace and the workers of the chart."""
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    operator = values["operator"]
    given = {
        "api_rate": operator["apiRate"],
        "api_burst": operator["apiBurst"],
        "new_tables_rate": operator["newTablesRate"],
        "workers": values["workers"],
    }
    return {name: str(value) for name, value in given.items()}


async def create_tables(api: Connected, namespace: str, numbers: Iterable[int]) -> None:
    """Creates suspended tables by several clients at once."""
    await at_once(lambda number: create_table(api, namespace, number), numbers)


async def at_once(work: Callable[[int], Awaitable[object]], numbers: Iterable[int]) -> None:
    """Does the work for each number, by several clients at once."""
    left = iter(numbers)

    async def client() -> None:
        for number in left:
            await work(number)

    await asyncio.gather(*(client() for _ in range(_CLIENTS)))


async def until(is_true: Callable[[], Awaitable[bool]], operator: OperatorProcess) -> None:
    """Waits. Raises TimeoutError after half an hour, and ProcessDiedError if the operator ends."""
    deadline = time.monotonic() + _PATIENCE_S
    while not await is_true():
        operator.require_running()
        if time.monotonic() > deadline:
            raise TimeoutError
        await asyncio.sleep(1)


async def until_answered(ask: Callable[[], Awaitable[T]]) -> T:
    """The answer of the API server, also if it is away for a while."""
    while True:
        try:
            return await ask()
        except RetryableError:
            await asyncio.sleep(_AGAIN_S)


async def create_table(api: Connected, namespace: str, number: int) -> Manifest:
    """Creates a suspended table and returns it."""
    name = f"t{number}"
    body = keyed_table(metadata__name=name, metadata__namespace=namespace, spec__writes=REMOVED, spec__suspend=True)
    return await api.store.create(Kind.TABLE, namespace, body)
