"""Kubelets of many nodes: every Pod runs as soon as it exists, for some seconds, and ends with success."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final

from paimon_operator.core.naming import RUN_LABEL
from paimon_operator.core.ports import Kind
from paimon_operator.errors import NotFoundError
from paimon_operator.kube.resources import RESOURCES
from tests.apiserver.connected import Connected
from tests.apiserver.namespace_client import good_result, now
from tools.benchmarks.fleet.stage import until_answered

_PODS: Final = RESOURCES[Kind.POD]
_BETWEEN_LISTS_S: Final = 0.2
_AT_ONCE: Final = 16


class Kubelets:
    """Plays the kubelets of one namespace."""

    def __init__(self, api: Connected, namespace: str, runs_for_s: float = 0) -> None:
        self._api, self._namespace, self._runs_for_s = api, namespace, runs_for_s
        self._busy = asyncio.Semaphore(_AT_ONCE)

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Starts and ends Pods during the block. An error of theirs ends the block."""
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self._work())
            yield
            task.cancel()

    async def _work(self) -> None:
        query = [("fieldSelector", "status.phase=Pending"), ("limit", "500")]
        async with asyncio.TaskGroup() as running:
            while True:
                path = _PODS.path(self._namespace)
                page = await until_answered(partial(self._api.server.request, "list", path, kind=Kind.POD, query=query))
                await asyncio.gather(*map(self._start, page["items"]))
                for pod in page["items"]:
                    running.create_task(self._end(pod))
                await asyncio.sleep(_BETWEEN_LISTS_S)

    async def _start(self, pod: dict[str, Any]) -> None:
        async with self._busy:
            await self._report(pod, "Running", {"running": {"startedAt": now()}})

    async def _end(self, pod: dict[str, Any]) -> None:
        await asyncio.sleep(self._runs_for_s)
        async with self._busy:
            name = pod["metadata"]["labels"][RUN_LABEL]
            run = await until_answered(partial(self._api.store.get, Kind.RUN, self._namespace, name))
            result = good_result(run["metadata"]["name"], run["spec"]["type"]) if run is not None else {}
            ended = {"exitCode": 0, "message": json.dumps(result), "startedAt": now(), "finishedAt": now()}
            await self._report(pod, "Succeeded", {"terminated": {**ended, "reason": "Completed"}})

    async def _report(self, pod: dict[str, Any], phase: str, state: dict[str, Any]) -> None:
        container = pod["spec"]["containers"][0]
        known = {"name": container["name"], "image": container["image"], "imageID": "", "ready": False}
        status = {"phase": phase, "containerStatuses": [{**known, "restartCount": 0, "state": state}]}
        path = _PODS.path(self._namespace, pod["metadata"]["name"], sub="status")
        with suppress(NotFoundError):  # deleted meanwhile
            report = partial(self._api.server.request, "merge", path, kind=Kind.POD, body={"status": status})
            await until_answered(report)
