"""What one pass over many tables costs: `python -m tools.benchmarks.observe_fleet [TABLES] [CHANGED]`.

The passes are those of an observer, over tables whose metadata files are on a real S3 server of this machine. Before
each pass after the first, CHANGED tables (10) get one commit, and all others none: their last one is a day old.
Requests, CPU time of this process and its memory are counted. At the end, every table is compared with a full read.

It fails where a pass after the first takes more requests than there are tables and changed ones (1,010), or more than a
millisecond of a core for each table.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, NamedTuple

from paimon_contract.job import JobCatalog
from paimon_engines.loader import load_engine
from spark_apps.metadata.base import MAX_BYTES, MetadataFiles, Stamped
from spark_apps.metadata.observation import Observer
from spark_apps.metadata.s3 import S3Files
from spark_apps.observer.passes import Watched
from spark_apps.observer.table import IDLE_AFTER, SCHEMA_EVERY
from tests.cluster.s3 import REGION
from tests.support.fabricated_avro import data_file
from tests.support.fabricated_table import FabricatedTable
from tests.support.fabricated_warehouse import FabricatedWarehouse
from tests.support.s3_server import S3Server, s3_server

FILES_PER_COMMIT: Final = 20
PASSES: Final = IDLE_AFTER + SCHEMA_EVERY
CPU_S_PER_TABLE: Final = 0.001


class Cost(NamedTuple):
    """What one pass has used."""

    requests: int
    cpu_s: float
    seconds: float


@dataclass
class Counted:
    """Files, and the number of requests for them. A listing here has less than one page."""

    files: MetadataFiles
    requests: int = 0

    def read(self, path: str, max_bytes: int = MAX_BYTES) -> bytes | None:
        self.requests += 1
        return self.files.read(path, max_bytes)

    def read_stamped(self, path: str) -> Stamped | None:
        self.requests += 1
        return self.files.read_stamped(path)

    def names(self, directory: str) -> Iterator[str]:
        self.requests += 1
        return self.files.names(directory)


class Fleet:
    """The tables, and an observer of them."""

    def __init__(self, server: S3Server, directory: Path, count: int) -> None:
        """Writes the tables below the directory that the server serves."""
        os.environ.update(server.keys)
        keys = load_engine("paimon-1.4").s3
        options = {keys.endpoint_key: server.endpoint, keys.region_key: REGION, keys.path_style_key: "true"}
        warehouse = FabricatedWarehouse(directory / "s3" / "lake" / "w", count, written_ago=timedelta(days=1))
        self.tables, self._files = warehouse.tables, Counted(S3Files.of(options, keys))
        self.watched = Watched(JobCatalog("s3://lake/w", "filesystem"), self._files)
        self.watched.follow(warehouse.wanted())

    def look(self) -> Cost:
        """One pass, of which the operator gets all that was found."""
        self._files.requests = 0
        cpu, wall = time.process_time(), time.monotonic()
        self.watched.look()
        for table in self.watched.tables.values():
            table.reported = table.found
        return Cost(self._files.requests, time.process_time() - cpu, time.monotonic() - wall)

    def require_as_read_in_full(self) -> None:
        """Raises AssertionError for a table of which the observer knows something else than a full read finds."""
        for _ in range(2):  # one of two passes looks at an idle table
            self.look()
        for table in self.watched.tables.values():
            assert table.schema is not None
            full = Observer(self._files, table.location, table.schema).observe()
            assert table.observation is not None
            assert table.observation.contents == full.contents, f"{table.location} differs from a full read"


def commit(table: FabricatedTable) -> None:
    """A commit of 20 files."""
    table.commit([data_file(f"{table.latest}-{n}", bucket=n) for n in range(FILES_PER_COMMIT)])


def missed(costs: Sequence[Cost], tables: int, changed: int) -> list[str]:
    """The passes after the first that have used more than they may."""
    most, most_s = tables + changed, CPU_S_PER_TABLE * tables
    problems = [f"{each.requests} requests, goal {most}" for each in costs[1:] if each.requests > most]
    return problems + [f"{each.cpu_s:.2f} s of CPU, goal {most_s:.2f}" for each in costs[1:] if each.cpu_s > most_s]


def main(count: int, changed: int) -> int:
    """Prints a row for each pass. Returns 1 where a goal is missed."""
    with tempfile.TemporaryDirectory() as scratch, s3_server(Path(scratch), "lake") as server:
        fleet, costs = Fleet(server, Path(scratch), count), []
        print("| pass | requests | CPU s | s | MiB |\n|---|---|---|---|---|")
        for number in range(1, PASSES + 1):
            for table in fleet.tables[: changed if number > 1 else 0]:
                commit(table)
            costs.append(cost := fleet.look())
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"| {number} | {cost.requests} | {cost.cpu_s:.2f} | {cost.seconds:.1f} | {memory:.0f} |", flush=True)
        fleet.require_as_read_in_full()
    problems = missed(costs, count, changed)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*(int(each) for each in (sys.argv[1:] + ["1000", "10"][len(sys.argv) - 1 :]))))
