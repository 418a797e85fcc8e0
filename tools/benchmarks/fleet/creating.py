"""Creates suspended tables: `python -m tools.benchmarks.fleet.creating KUBECONFIG NAMESPACE TABLES CLIENTS`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.apiserver.connected import connected
from tools.benchmarks.fleet.stage import create_tables


async def create(kubeconfig: Path, namespace: str, tables: int, clients: int) -> None:
    """Creates the tables by so many clients at once."""
    async with connected(kubeconfig, namespaces=(namespace,), timeout_s=120) as api:
        await create_tables(api, namespace, range(tables), clients=clients)


if __name__ == "__main__":
    asyncio.run(create(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
