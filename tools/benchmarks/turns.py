"""Runs of many tables in one driver, beside a driver for each: `python -m tools.benchmarks.turns [TABLES]`.

TABLES tables (50) in S3 have an expiry of three snapshots due. Compared are the seconds of all drivers: one for each
table, one with a turn after the other, and one with TURNS_AT_ONCE of them. Once the S3 server answers at once, as the
tests' own does, and once after the 15 ms that an object store in the same region takes.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from paimon_contract.turns import TURNS_AT_ONCE
from paimon_engines.loader import supported_engines
from paimon_schema.option_changes import OWNER_OPTION
from tests.spark.s3_lake import S3Lake
from tests.spark.shared_driver import TurnGiver, drive, of_table, owner_of
from tests.spark_apps.observer.fake_operator import serving
from tests.support.s3_server import s3_server
from tests.support.slow_proxy import slow_proxy
from tests.support.spark_home import spark_home
from tests.support.spark_process import ROOT
from tools.benchmarks.due_expiries import DUE, RETENTION, make_tables
from tools.engines.fetch import fetch

ALONE: Final = 10
"""Tables with a driver each: enough for a mean."""
DELAYS_S: Final = (0.0, 0.015)
PROGRAM: Final = ROOT / "tools" / "benchmarks" / "turns_program.py"
_roots = itertools.count(1)


class Bench:
    """Warehouses in one S3 server, each with its own tables."""

    def __init__(self, lake: S3Lake, tables: int) -> None:
        self._lake, self._names = lake, [f"t{number}" for number in range(tables)]

    def alone(self, delay: float) -> float:
        """Seconds of a driver for each table, by the mean of some."""
        jobs = self._expiries(self._new_lake(), ALONE)
        with slow_proxy(self._lake.s3.endpoint, delay) as endpoint:
            begin = time.monotonic()
            for job in jobs:
                done = self._lake.drive(_at(job, endpoint), **self._lake.s3.keys)
                assert (done.result or {}).get("expired") == DUE, done.log
        return (time.monotonic() - begin) / ALONE * len(self._names)

    def shared(self, delay: float, at_once: int) -> float:
        """Seconds of one driver for all tables."""
        lake = self._new_lake()
        jobs = self._expiries(lake, len(self._names))
        with slow_proxy(lake.s3.endpoint, delay) as endpoint, serving(TurnGiver()) as giver:
            begin, given = time.monotonic(), [_at(job, endpoint) for job in jobs]
            directory = Path(tempfile.mkdtemp(dir=lake.directory))
            env = {**lake.s3.keys, "SPARK_APPS_MAIN": str(PROGRAM), "AT_ONCE": str(at_once)}
            done = drive(lake, giver, given, directory, **env)
            seconds = time.monotonic() - begin
        expired = [result.get("expired") for result in giver.results().values()]
        assert expired == [DUE] * len(jobs), done.log
        return seconds

    def _new_lake(self) -> S3Lake:
        lake = dataclasses.replace(self._lake, root=f"turns-{next(_roots)}")
        owned = {name: {OWNER_OPTION: owner_of(name)} for name in self._names}
        make_tables(lake.warehouse, lake.database, owned, env=lake.s3.reader_environment)
        return lake

    def _expiries(self, lake: S3Lake, count: int) -> list[dict[str, Any]]:
        names = self._names[:count]
        return [
            of_table(lake.job("ExpireSnapshots", run=f"r-{name}", expireSnapshots=RETENTION), name) for name in names
        ]


def _at(job: dict[str, Any], endpoint: str) -> dict[str, Any]:
    catalog = job["catalog"]
    return {**job, "catalog": {**catalog, "options": {**catalog["options"], "s3.endpoint": endpoint}}}


def main(tables: int) -> None:
    """Prints a line for each way and delay."""
    engine = list(supported_engines().values())[-1]
    jars = fetch(engine).directory
    assert jars is not None
    with tempfile.TemporaryDirectory() as name, s3_server(Path(name), "lake") as server:
        lake = S3Lake(engine, None, spark_home(engine, jars), Path(name), s3=server, root="")
        bench = Bench(lake, tables)
        for delay in DELAYS_S:
            alone = bench.alone(delay)
            print(f"S3 after {delay * 1000:.0f} ms: {tables} tables alone: {alone:.0f} s", flush=True)
            for at_once in (1, TURNS_AT_ONCE):
                seconds = bench.shared(delay, at_once)
                print(f"  in one driver, {at_once} at once: {seconds:.0f} s, {seconds / alone:.2f}", flush=True)


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["50"])[0]))
