"""What one pass over many tables costs: `python -m tools.benchmarks.observe_fleet [TABLES] [CHANGED]`.

The tables are metadata files on a real S3 server of this machine. Of each pass after the first, CHANGED tables have one
new commit and all others have none. Requests, CPU time of this process and its memory are counted; the passes are those
of one process that keeps its state. At the end, every state is compared with a full read.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paimon_engines.loader import load_engine
from spark_apps.metadata.base import MAX_BYTES, MetadataFiles, Stamped
from spark_apps.metadata.observation import PROBE_EVERY, Observation, Observer
from spark_apps.metadata.s3 import S3Files
from tests.cluster.s3 import REGION
from tests.support.fabricated_avro import data_file
from tests.support.fabricated_table import FabricatedTable, schema_of
from tests.support.s3_server import S3Server, s3_server

SNAPSHOTS = 5
FILES_PER_COMMIT = 20


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


@dataclass
class Fleet:
    """The tables, and what is known of each."""

    tables: list[FabricatedTable]
    files: Counted
    states: list[Observation | None]

    def observer(self, number: int) -> Observer:
        """The observer of a table."""
        return Observer(self.files, f"s3://lake/w/t{number}", schema_of())

    def look(self) -> tuple[int, float, float]:
        """One pass: its requests, CPU seconds and seconds."""
        self.files.requests = 0
        cpu, wall = time.process_time(), time.monotonic()
        self.states = [self.observer(number).observe(state) for number, state in enumerate(self.states)]
        return self.files.requests, time.process_time() - cpu, time.monotonic() - wall

    def change(self, number: int) -> None:
        """A commit of 20 files into a table."""
        table = self.tables[number]
        table.commit([data_file(f"{table.latest}-{n}", bucket=n) for n in range(FILES_PER_COMMIT)])


def fleet_of(count: int, server: S3Server, directory: Path) -> Fleet:
    """Tables below the directory that the server serves."""
    tables = [FabricatedTable(directory / "s3" / "lake" / "w" / f"t{number}") for number in range(count)]
    os.environ.update(server.keys)
    keys = load_engine("paimon-1.4").s3
    options = {keys.endpoint_key: server.endpoint, keys.region_key: REGION, keys.path_style_key: "true"}
    fleet = Fleet(tables, Counted(S3Files.of(options, keys)), [None] * count)
    for number in range(count):
        for _ in range(SNAPSHOTS):
            fleet.change(number)
    return fleet


def show(name: str, cost: tuple[int, float, float]) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {name} | {cost[0]} | {cost[1]:.2f} | {cost[2]:.1f} | {memory:.0f} |")


def main(count: int, changed: int) -> None:
    """Prints a row for each pass."""
    with tempfile.TemporaryDirectory() as scratch, s3_server(Path(scratch), "lake") as server:
        fleet = fleet_of(count, server, Path(scratch))
        print("| pass | requests | CPU s | s | MiB |\n|---|---|---|---|---|")
        show("first", fleet.look())
        show("nothing has changed", fleet.look())
        for number in range(3, 2 * PROBE_EVERY + 2):
            for table in range(changed):
                fleet.change(table)
            show(f"{number}, {changed} commits", fleet.look())
        for number, state in enumerate(fleet.states):
            full = fleet.observer(number).observe()
            assert state is not None
            assert state.contents == full.contents, f"table {number} differs from a full read"


if __name__ == "__main__":
    main(*(int(each) for each in (sys.argv[1:] + ["1000", "10"][len(sys.argv) - 1 :])))
