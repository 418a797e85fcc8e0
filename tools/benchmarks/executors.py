"""Executors against one Pod: the same full compaction in both modes, and what a run costs that has nothing to do.

`python -m tools.benchmarks.executors 1000000 20000000`: for each number of rows a table is loaded with half of them
twice, so that a full compaction reads them all; before the second mode's turn the same keys are loaded once more. Timed
from the start of the driver's container to its end, as the PaimonRun reports it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from datetime import datetime

from tests.cluster import release
from tests.e2e.lab import Lab, once
from tests.support.executor_namespace import account_objects
from tests.support.kubectl import Kubectl, Object

NAMESPACE = "bench-executors"
COLUMNS = {"id": "BIGINT", "state": "STRING", "amount": "DOUBLE"}
ROWS_PER_FILE = 500_000
SECONDS = 3600
SPARK: Object = {
    "driver": {"cores": 2, "memory": "3Gi"},
    "executor": {"instances": 2, "cores": 1, "memory": "2Gi"},
}
"""Two tasks side by side in either mode."""


class Bench:
    """One namespace, one table per size."""

    def __init__(self) -> None:
        env = release.ready_cluster()
        self.lab = Lab(kubectl=Kubectl(namespace=NAMESPACE, env=env), env=env, engine=release.newest_engine())
        self.lab.kubectl.apply(release.restricted_namespace(NAMESPACE))
        self.lab.kubectl.apply(self.lab.secret(), self.lab.catalog(spark=SPARK))
        self.lab.kubectl.apply(*account_objects(NAMESPACE))
        self.stamp = f"{int(time.time()):x}"

    def measure(self, rows: int) -> dict[str, float]:
        """Mode -> seconds, for a table of `rows`."""
        name, keys = f"t-{self.stamp}-{rows}", max(1, rows // 2)
        for number, body in enumerate(_files(keys)):
            self.lab.s3.put_object(Bucket="landing", Key=f"{NAMESPACE}/{name}/{number}.csv", Body=body)
        self._loaded(name, 1)
        found = {}
        for loads, mode in ((2, "Local"), (3, "Cluster")):
            self._loaded(name, loads)
            found[mode] = self._compacted(name, mode)
        return found

    def _loaded(self, name: str, loads: int) -> None:
        writes = [
            once(f"load-{number}", f"{name}/", mode="Upsert", file_format="csv") for number in range(1, loads + 1)
        ]
        bucket = {"type": "Fixed", "fixed": {"count": 4}}
        how = {"bucket": bucket, "compaction": {"mode": "External"}, "runPolicy": {"activeDeadline": "1h"}}
        self.lab.kubectl.apply(self.lab.table(name, COLUMNS, keys=["id"], writes=writes, spark=SPARK, **how))

        def done(obj: Object | None) -> bool:
            status = (obj or {}).get("status") or {}
            committed = [each for each in status.get("writes", ()) if each.get("committedSnapshot")]
            return len(committed) == loads and not status.get("activeRun")

        self.lab.kubectl.until("paimontable", name, done, what=f"loaded {loads} times", seconds=SECONDS)

    def _compacted(self, name: str, mode: str) -> float:
        self.lab.kubectl.apply(self.lab.catalog(spark=SPARK | {"mode": mode}))
        run = f"{name}-{mode.lower()}"
        self.lab.kubectl.apply(self.lab.compaction(name, run))

        def over(obj: Object | None) -> bool:
            return ((obj or {}).get("status") or {}).get("phase") in ("Succeeded", "Failed", "Unknown")

        status = (self.lab.kubectl.until("paimonrun", run, over, what="over", seconds=SECONDS) or {})["status"]
        (attempt,) = status["attempts"]
        if status["phase"] != "Succeeded" or status["spark"]["mode"] != mode:
            raise SystemExit(f"{run}: {status}")
        started, finished = (datetime.fromisoformat(attempt[key]) for key in ("started", "finished"))
        return (finished - started).total_seconds()


def _files(keys: int) -> Iterator[bytes]:
    for first in range(0, keys, ROWS_PER_FILE):
        ids = range(first, min(first + ROWS_PER_FILE, keys))
        yield ("id,state,amount\n" + "".join(f"{n},state {n % 97},{n * 0.5}\n" for n in ids)).encode()


def main() -> None:
    """One line per size."""
    bench = Bench()
    print("| rows | one Pod, 2 cores | 2 executors of 1 core |\n|---|---|---|")
    for rows in [int(text) for text in sys.argv[1:]] or [10, 1_000_000]:
        found = bench.measure(rows)
        print(f"| {rows:,} | {found['Local']:.0f} s | {found['Cluster']:.0f} s |", flush=True)


if __name__ == "__main__":
    main()
