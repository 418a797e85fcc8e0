"""Creates suspended tables: `python -m tools.benchmarks.fleet.creating KUBECONFIG NAMESPACE TABLES RATE`.

RATE is how many a second: one that waits for its answer delays no other. With 0 they come one after the other.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from tests.apiserver.connected import connected
from tools.benchmarks.fleet.stage import create_table


async def create(kubeconfig: Path, namespace: str, tables: int, rate: float) -> None:
    """Creates so many tables a second, or fewer where the API server takes longer."""
    async with connected(kubeconfig, namespaces=(namespace,), timeout_s=120) as api, asyncio.TaskGroup() as creations:
        began = time.monotonic()
        for number in range(tables):
            if rate:
                await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
                creations.create_task(create_table(api, namespace, number))
            else:
                await create_table(api, namespace, number)


if __name__ == "__main__":
    asyncio.run(create(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
