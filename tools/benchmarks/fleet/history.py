"""What past runs cost a restart: `python -m tools.benchmarks.fleet.history [TABLES]`, by default with 1,000 tables.

The same fleet is restarted twice: without past runs, and with three of each table, which the operator keeps by default.
They and their Pods are copies of a run that the operator has started and recorded. The operator has one core. It fails
where the second restart misses a goal of `tools.benchmarks.fleet`, or takes requests for past runs or for their Pods
beside the pages of the lists.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from paimon_operator.core.naming import RUN_LABEL, TABLE_LABEL, owner_reference
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.kube.resources import RESOURCES
from paimon_operator.runtime.rest import is_over
from tests.apiserver.connected import Connected, connected
from tests.cluster.apiserver import ApiServer
from tools.benchmarks.fleet.__main__ import IDLE_S, MEMORY_MIB, NAMESPACE, RESTART_S, Fleet, Line, missed
from tools.benchmarks.fleet.operator_figures import peak_mib
from tools.benchmarks.fleet.stage import at_once, operator_on_one_core, serving, until

EACH: Final = 3
"""Past runs of a table: `successfulRunsHistoryLimit` where the manifest says nothing."""
_COPIED: Final = ("apiVersion", "kind", "spec")


class History:
    """Past runs, each with its Pod, as copies of one of the table `t0`."""

    def __init__(self, api: Connected) -> None:
        self._api = api
        self._run: Manifest = {}
        self._pod: Manifest = {}

    async def finds_its_run(self) -> bool:
        """Takes the run to copy and its Pod, if the run is over."""
        labels = {TABLE_LABEL: "t0"}
        (self._run,), (self._pod,) = [
            await self._api.store.list(kind, NAMESPACE, labels) for kind in (Kind.RUN, Kind.POD)
        ]
        return is_over(self._run)

    async def add(self, each: int) -> None:
        """Gives every table so many past runs."""
        tables = await self._api.store.list(Kind.TABLE, NAMESPACE)

        async def of_table(number: int) -> None:
            for past in range(each):
                await self._add(tables[number], past)

        await at_once(of_table, range(len(tables)))

    async def _add(self, table: Manifest, number: int) -> None:
        name = f"{table['metadata']['name']}-past-{number}"
        run, pod = (self._renamed(each, name, table) for each in (self._run, self._pod))
        run["spec"]["tableRef"] = {"name": table["metadata"]["name"]}
        made = await self._create(Kind.RUN, run, owner=table)
        await self._create(Kind.POD, pod, owner=made)

    def _renamed(self, template: Manifest, name: str, table: Manifest) -> dict[str, Any]:
        text = json.dumps(template).replace(self._run["metadata"]["name"], name)
        body: dict[str, Any] = json.loads(text)
        metadata = body["metadata"]
        labels = {**metadata["labels"], TABLE_LABEL: table["metadata"]["name"]}
        if RUN_LABEL in labels:
            labels[RUN_LABEL] = name
        kept = {"name": metadata["name"], "namespace": NAMESPACE, "labels": labels}
        return {**body, "metadata": {**kept, "annotations": metadata.get("annotations") or {}}}

    async def _create(self, kind: Kind, body: Mapping[str, Any], *, owner: Manifest) -> Manifest:
        reference = owner_reference(owner["kind"], owner["metadata"]["name"], owner["metadata"]["uid"])
        metadata = {**body["metadata"], "ownerReferences": [reference]}
        sent = {**{name: body[name] for name in _COPIED}, "metadata": metadata}
        made = await self._api.store.create(kind, NAMESPACE, sent)
        path = RESOURCES[kind].path(NAMESPACE, metadata["name"], sub="status")
        await self._api.server.request("merge", path, kind=kind, body={"status": body["status"]})
        return {**made, "kind": str(kind)}


async def measure(server: ApiServer, count: int, directory: Path) -> list[tuple[str, list[Line], float]]:
    """The restart without and with past runs: what it is called, its lines, and the most MiB."""
    measured = []
    async with connected(server.kubeconfig, namespaces=(NAMESPACE,), timeout_s=120) as api:
        history, fleet = History(api), Fleet(api, count)
        starting = partial(operator_on_one_core, server, directory, NAMESPACE)
        with starting() as operator:
            operator.wait_until_working()
            await fleet.create(operator)
            await fleet.runs(operator, 1)
            await until(history.finds_its_run, operator)
        for what, each in (("none", 0), (f"{EACH} of each table", EACH)):
            await history.add(each)
            fleet.lines.clear()
            with starting() as operator:
                await fleet.restart(operator)
                await fleet.watch(operator)
                await fleet.idle(operator, IDLE_S)
                measured.append((what, list(fleet.lines), peak_mib(operator.process.pid)))
    return measured


def missed_with_history(count: int, lines: Sequence[Line], peak: float) -> list[str]:
    """The goals that the restart with past runs has missed: runs fill pages of the lists as tables do."""
    restart = next(line for line in lines if line.what == "restart")
    listed = restart._replace(objects=count + EACH * count)
    found = missed([listed, *(line for line in lines if line is not restart)])
    found += [f"restart: {restart.seconds:.0f} s, goal {RESTART_S:.0f} s"] if restart.seconds > RESTART_S else []
    return [*found, *([f"memory: {peak:.0f} MiB, goal {MEMORY_MIB:.0f} MiB"] if peak > MEMORY_MIB else [])]


def main(arguments: Sequence[str]) -> int:
    """Prints the figures as a table in Markdown. Returns 1 where a goal is missed."""
    count = int(arguments[0]) if arguments else 1000
    with tempfile.TemporaryDirectory() as directory, serving(Path(directory), NAMESPACE) as server:
        measured = asyncio.run(measure(server, count, Path(directory)))
    print("| tables | past runs | what | seconds | CPU s | requests | peak MiB |\n|---|---|---|---|---|---|---|")
    for past, lines, peak in measured:
        for line in lines:
            memory = f"{peak:.0f}" if line.what == "idle" else ""
            figures = f"{line.seconds:.1f} | {line.used.cpu_s:.1f} | {line.used.requests:.0f} | {memory}"
            print(f"| {count} | {past} | {line.what} | {figures} |")
    _, lines, peak = measured[-1]
    problems = missed_with_history(count, lines, peak)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
