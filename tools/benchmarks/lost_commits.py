"""`make bench`: commits that are lost without an error when two write to one table, and what CommitSafe says of it.

Two processes commit 20 times 5 rows each, at the same time, into one append table. Paimon reports to each whether
its commit succeeded; pypaimon counts the rows. Options and verdict are the operator's, from the catalogs' manifests.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paimon_contract.job import job_text
from paimon_engines.engine import Engine
from paimon_engines.loader import supported_engines
from paimon_operator.api.catalog.storage import CLAIM_PATH
from paimon_operator.api.conditions import ConditionStatus
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.commits.commit_safety import commit_safe, protection_of
from paimon_operator.core.conditions import Finding
from paimon_operator.core.launch.job import build_job
from tests.cluster.hive import metastore
from tests.cluster.hive.metastore import Metastore
from tests.cluster.s3 import REGION
from tests.spark import metastore_lake
from tests.spark.jdbc_lake import JdbcServers, jdbc_servers_on_loopback
from tests.support import builders, lake_reader
from tests.support.spark_home import spark_home
from tests.support.spark_process import Worker
from tools.engines.fetch import fetch

COMMITS, ROWS = 20, 5
COMMITTER = Path(__file__).with_name("committer.py")
DATABASE = "bench"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Case:
    """A catalog, and how often it is tried at most: a case that must lose commits is over with the first loss."""

    name: str
    catalog: dict[str, Any]
    trials: int
    loses: bool | None
    """None: it may."""

    @property
    def metastore(self) -> str:
        """Its type."""
        return str(self.catalog.get("metastore", {}).get("type", "Filesystem"))


@dataclass(frozen=True)
class Trial:
    """One trial's count, in commits and rows."""

    acknowledged: int
    errors: list[str]
    rows: int

    @property
    def lost(self) -> int:
        """Commits that were acknowledged and are not in the table."""
        return self.acknowledged - self.rows // ROWS


class Bench:
    """Two writers that stay, with the servers of this run."""

    def __init__(self, engine: Engine, directory: Path, servers: JdbcServers, writers: list[Worker]) -> None:
        self.engine, self.directory, self.servers, self.writers = engine, directory, servers, writers

    def trial(self, case: Case) -> Trial:
        name = f"t{next(_numbers)}"
        job = self._job(case, name)
        self.writers[0].ask(job=str(job))
        begin = time.time() + 3
        with ThreadPoolExecutor(len(self.writers)) as threads:
            asked = [
                threads.submit(
                    writer.ask, job=str(job), commits=COMMITS, rows=ROWS, first=COMMITS * ROWS * number, at=begin
                )
                for number, writer in enumerate(self.writers)
            ]
            answers = [each.result() for each in asked]
        env = self.servers.s3.reader_environment
        rows = lake_reader.read_rows(self._here(case.catalog["warehouse"]), DATABASE, name, env=env)
        errors = [error for each in answers for error in each["errors"]]
        return Trial(sum(each["acknowledged"] for each in answers), errors, len({row["id"] for row in rows}))

    def trials(self, case: Case) -> list[Trial]:
        """Runs the trials of the case and prints each result."""
        done: list[Trial] = []
        while len(done) < case.trials and not (case.loses and any(each.lost for each in done)):
            done.append(self.trial(case))
            print(f"{case.name}: {done[-1]}", flush=True)
        return done

    def verdict(self, case: Case) -> Finding:
        """What the operator says of a table with an active outside writer in this catalog."""
        table = builders.table(
            externalWriters="Active", schema=builders.EVENTS, bucket={"type": "Unaware"}, database=DATABASE
        )
        catalog = builders.catalog(**case.catalog)
        return commit_safe(table.spec, TableStatus(), protection_of(catalog, builders.engines()[self.engine.id]))

    def _job(self, case: Case, name: str) -> Path:
        table = builders.table(name, database=DATABASE, schema=builders.EVENTS)
        run = builders.run(f"run-{name}", table=table, type="Provision", compact=None)
        catalog = builders.catalog(allowedDatabases=[DATABASE], engine=self.engine.id, **case.catalog)
        path = self.directory / f"{name}.json"
        job = build_job(run, table, catalog, builders.operator_facts(claims_allowed=True))
        path.write_text(self._here(job_text(job)))
        return path

    def _here(self, text: str) -> str:
        """With a directory of this machine where a Pod would have its claim."""
        return text.replace(f"file://{CLAIM_PATH}", (self.directory / "claim").as_uri())


def cases(servers: JdbcServers, hive: Metastore, directory: Path, *, quick: bool) -> list[Case]:
    """The catalogs side by side: they differ by metastore and storage, and by nothing else."""
    login = servers.postgres.login(DATABASE)
    secret = directory / "metastore"
    secret.mkdir()
    for key, value in {"username": login.user, "password": login.password}.items():
        (secret / key).write_text(value)
    endpoint = {"endpoint": servers.s3.endpoint, "region": REGION, "pathStyleAccess": True}
    storage = {"s3": {**endpoint, "credentialsSecretRef": {"name": "lake-s3"}}}
    jdbc = {"type": "Jdbc", "jdbc": {"uri": login.uri, "credentialsSecretRef": {"name": "lake-pg"}}}
    thrift = {"type": "Hive", "hive": {"uri": hive.uri}}
    bucket: dict[str, Any] = {"storage": storage, "locations": []}
    claim = {"storage": {"claim": {"name": "disk"}}, "warehouse": f"file://{CLAIM_PATH}/filesystem", "locations": []}
    few = 1 if quick else 5
    return [
        Case("Filesystem on S3", bucket | {"warehouse": "s3://lake/filesystem"}, 15, loses=True),
        Case("Jdbc on S3, lock", bucket | {"warehouse": "s3://lake/jdbc", "metastore": jdbc}, few, loses=False),
        Case("Hive on S3, lock", bucket | {"warehouse": "s3://lake/hive", "metastore": thrift}, few, loses=False),
        Case("Filesystem on a local disk", claim, few, loses=None),
    ]


def newest_engine() -> tuple[Engine, Path]:
    """Of those whose jars can be had, with the directory that holds them."""
    found = [(each, fetch(each).directory) for each in supported_engines().values()]
    return [(engine, jars) for engine, jars in found if jars is not None][-1]


@contextmanager
def bench(engine: Engine, jars: Path) -> Iterator[tuple[Bench, Metastore, Path]]:
    with (
        tempfile.TemporaryDirectory() as name,
        jdbc_servers_on_loopback(Path(name) / "s3") as servers,
        metastore.on_loopback(Path(name) / "hive") as hive,
    ):
        directory, env = Path(name), metastore_lake.environment(Path(name))
        home = spark_home(engine, jars)
        writers = [Worker(home, directory / f"{number}.log", COMMITTER, **env) for number in range(2)]
        try:
            yield Bench(engine, directory, servers, writers), hive, directory
        finally:
            for writer in writers:
                writer.stop()


def tell(case: Case, trials: list[Trial], said: Finding) -> str:
    """A row of the report."""
    acknowledged, lost = sum(each.acknowledged for each in trials), [each.lost for each in trials]
    counts = ", ".join(str(each) for each in lost)
    verdict = f"{said.status.value}, {said.reason}"
    return f"| {case.name} | {len(trials)} | {acknowledged} | {sum(lost)} ({counts}) | {verdict} |"


def contradictions(case: Case, trials: list[Trial], said: Finding) -> list[str]:
    """What was seen against what was to be expected, and against what the operator says."""
    lost = sum(each.lost for each in trials)
    found = []
    if case.loses is not None and (lost > 0) != case.loses:
        found.append(f"{case.name}: {lost} commits were lost")
    if said.status is ConditionStatus.TRUE and (lost or case.loses is not False):
        found.append(f"{case.name}: CommitSafe is {said.status.value}: {said.message}")
    if case.loses is False and said.status is not ConditionStatus.TRUE:
        found.append(f"{case.name}: CommitSafe is {said.status.value}: {said.message}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one trial of what must lose nothing")
    quick = parser.parse_args().quick
    engine, jars = newest_engine()
    wrong: list[str] = []
    report = [f"engine {engine.id}, 2 writers, {COMMITS} commits of {ROWS} rows each", "", *HEADING]
    with bench(engine, jars) as (running, hive, directory):
        for case in cases(running.servers, hive, directory, quick=quick):
            if case.metastore not in engine.metastores:
                report.append(f"| {case.name} | 0: {engine.id} has no {case.metastore} | | | |")
                continue
            trials, said = running.trials(case), running.verdict(case)
            report.append(tell(case, trials, said))
            wrong += contradictions(case, trials, said)
    print("\n" + "\n".join(report))
    if wrong:
        raise SystemExit("\n".join(wrong))


HEADING = (
    "| catalog | trials | acknowledged | lost without an error (per trial) | CommitSafe, outside writers Active |",
    "|---|---|---|---|---|",
)

if __name__ == "__main__":
    main()
