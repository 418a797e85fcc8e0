"""What kopf alone needs to see every table once: `python -m tools.benchmarks.fleet.kopf_floor [TABLES ...]`.

The handler counts the objects and does nothing else. Like the operator in the benchmark of fleets, it may use one core.
Its figures stand beside those of a restart there, though these tables have no status and no conditions.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from paimon_operator.core.ports import Kind
from paimon_operator.kube.resources import RESOURCES
from tests.apiserver.connected import connected
from tests.cluster.apiserver import ApiServer
from tools.benchmarks.fleet.operator_figures import cpu_s, peak_mib
from tools.benchmarks.fleet.stage import create_tables, serving

NAMESPACE: Final = "fleet"
COUNTED: Final = "counted"
_PATIENCE_S: Final = 600
HANDLER: Final = f"""
import kopf

seen = set()

@kopf.on.event("{RESOURCES[Kind.TABLE].api_version}", "{RESOURCES[Kind.TABLE].plural}")
def count(uid, **_):
    seen.add(uid)
    if len(seen) == {{tables}}:
        print("{COUNTED}", flush=True)
"""


async def _create(server: ApiServer, tables: int) -> None:
    async with connected(server.kubeconfig, namespaces=(NAMESPACE,), timeout_s=120) as api:
        await create_tables(api, NAMESPACE, range(tables))


def measure(server: ApiServer, directory: Path, tables: int) -> tuple[float, float, float]:
    """Seconds from the start until each table was seen, seconds of CPU, and the most MiB."""
    handler = directory / "handler.py"
    handler.write_text(HANDLER.format(tables=tables), encoding="utf-8")
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "--quiet", "--namespace", NAMESPACE, str(handler)]
    env = {**os.environ, "KUBECONFIG": str(server.kubeconfig)}
    began = time.monotonic()
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        os.sched_setaffinity(process.pid, {0})
        too_late = threading.Timer(_PATIENCE_S, process.kill)
        too_late.start()
        try:
            assert process.stdout is not None
            assert any(COUNTED in line for line in process.stdout), "kopf has not seen every table"
            return time.monotonic() - began, cpu_s(process.pid), peak_mib(process.pid)
        finally:
            too_late.cancel()
            process.kill()


def main(arguments: Sequence[str]) -> None:
    """Prints the figures as a table in Markdown."""
    print("| tables | seconds | CPU s | peak MiB |\n|---|---|---|---|")
    for tables in [int(each) for each in arguments] or [100, 1000]:
        with tempfile.TemporaryDirectory() as directory, serving(Path(directory), NAMESPACE) as server:
            asyncio.run(_create(server, tables))
            seconds, cpu, peak = measure(server, Path(directory), tables)
        print(f"| {tables} | {seconds:.1f} | {cpu:.1f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
