"""Fixtures of the Spark tests. A test with `lake` or `engine` runs on each available engine or on the newest one."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from paimon_engines.engine import Engine
from paimon_engines.loader import supported_engines
from tests.cluster.hdfs.loopback import on_loopback
from tests.cluster.hdfs.servers import Hdfs
from tests.cluster.hive import metastore
from tests.cluster.hive.metastore import Metastore
from tests.spark import metastore_lake
from tests.spark.bucket import Bucket
from tests.spark.driver_kubelet import Drivers
from tests.spark.hdfs_lake import HdfsLake, pod_environment
from tests.spark.hive_lake import HiveLake, HiveServers, hive_servers_with_s3
from tests.spark.jdbc_lake import JdbcLake, JdbcServers, jdbc_servers_on_loopback
from tests.spark.lake import Lake
from tests.spark.s3_lake import S3Lake
from tests.support.engine_matrix import (
    WHOLE_MATRIX,
    engines_for,
    remove_older_engines,
    remove_repeated_engines,
    remove_rows,
    remove_without_engine,
)
from tests.support.s3_server import S3Server, s3_server
from tests.support.s3_token_gate import Gate, token_gate
from tests.support.spark_home import SparkHome, spark_home
from tests.support.spark_process import WORKER, Worker
from tools.engines.fetch import Availability, fetch

_availability: dict[str, Availability] = {}
_numbers = itertools.count(1)


def _available() -> dict[str, Availability]:
    if not _availability:
        _availability.update({name: fetch(engine) for name, engine in supported_engines().items()})
    return _availability


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Adds the engines, sorted, because only one JVM runs at a time. A module can name the METASTORE that it needs,
    the NEEDED_CAPABILITY of the engine, and that it needs an older engine beside (NEEDS_OLDER_ENGINE)."""
    if "engine_id" in metafunc.fixturenames:
        ready = [name for name, found in _available().items() if found.directory]
        if not ready:
            reasons = "; ".join(found.reason for found in _available().values())
            pytest.fail(f"no engine can be had, so nothing can be shown: {reasons}", pytrace=False)
        needed = getattr(metafunc.module, "METASTORE", "Filesystem")
        marked = metafunc.definition.get_closest_marker("newest_engine") is not None
        newest_only = marked and not metafunc.config.getoption(WHOLE_MATRIX)
        needs_older = getattr(metafunc.module, "NEEDS_OLDER_ENGINE", False)
        capability = getattr(metafunc.module, "NEEDED_CAPABILITY", None)
        engines = engines_for(ready, needed, newest_only=newest_only, needs_older=needs_older, capability=capability)
        metafunc.parametrize("engine_id", engines, scope="session")


@pytest.hookimpl(tryfirst=True)  # pytest's own hook of this name changes the order, on which the choice depends
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Removes tests that no available engine can run. The summary names the missing engines.

    Only `--whole-matrix` runs all combinations of an engine and another parameter that is in turn, all rows of the
    tests that have many, and every test with every engine.
    """
    remove_without_engine(items)
    if not config.getoption(WHOLE_MATRIX):
        remove_repeated_engines(items, "engine_id")
        remove_rows(items, "engine_id")
        remove_older_engines(items, "engine_id")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the engines that are not tested because their jars are not available."""
    for name, found in _available().items():
        if found.directory is None:
            terminalreporter.write_line(f"engine {name} was not tested: {found.reason}", yellow=True)


@pytest.fixture(scope="session")
def engine(engine_id: str) -> Engine:
    return supported_engines()[engine_id]


@pytest.fixture(scope="session")
def jars(engine_id: str) -> Path:
    directory = _available()[engine_id].directory
    assert directory is not None
    return directory


@pytest.fixture(scope="session")
def home(engine: Engine, jars: Path) -> SparkHome:
    return spark_home(engine, jars)


@pytest.fixture(scope="session")
def session_worker(engine_id: str, home: SparkHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """One worker per engine for the whole session. What is not of one test calls its `begin_test` itself."""
    directory = tmp_path_factory.mktemp("worker")
    environment = metastore_lake.environment(directory) | {"HIVE_LOCK_STALE_AFTER_S": "10"}
    started = Worker(home, directory / f"{engine_id}.log", WORKER, **environment)
    yield started
    started.stop()


@pytest.fixture
def worker(session_worker: Worker) -> Worker:
    """The worker of the session, whose JVM serves at least this test."""
    session_worker.begin_test()
    return session_worker


@pytest.fixture
def lake(engine: Engine, worker: Worker, home: SparkHome, tmp_path: Path) -> Lake:
    """An empty warehouse of the test."""
    return Lake(engine, worker, home, tmp_path)


@pytest.fixture(scope="session")
def lake_s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A server with the bucket of `s3_lake`."""
    with s3_server(tmp_path_factory.mktemp("lake-s3"), "lake", keys=metastore_lake.S3_KEYS) as server:
        yield server


@pytest.fixture
def s3_lake(engine: Engine, worker: Worker, home: SparkHome, tmp_path: Path, lake_s3: S3Server) -> S3Lake:
    """An empty warehouse of the test in S3."""
    return S3Lake(engine, worker, home, tmp_path, s3=lake_s3, root=f"root-{next(_numbers)}")


@pytest.fixture
def simple_hdfs_lake(engine: Engine, home: SparkHome, simple_hdfs: Hdfs, tmp_path: Path) -> Iterator[HdfsLake]:
    """An empty warehouse of the test on an HDFS without authentication."""
    started = Worker(home, tmp_path / "worker.log", WORKER, **pod_environment(simple_hdfs, tmp_path))
    yield HdfsLake(engine, started, home, tmp_path, hdfs=simple_hdfs)
    started.stop()


@pytest.fixture(scope="session")
def simple_hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """An HDFS without authentication."""
    yield from _served(on_loopback(tmp_path_factory.mktemp("hdfs"), secure=False))


@pytest.fixture(scope="session")
def kerberos_hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """An HDFS with Kerberos and its KDC."""
    yield from _served(on_loopback(tmp_path_factory.mktemp("kerberos"), secure=True))


def _served(hdfs: Hdfs) -> Iterator[Hdfs]:
    try:
        hdfs.start()
        yield hdfs
    finally:
        hdfs.stop()


@pytest.fixture(scope="session", params=["simple", "kerberos"])
def hdfs_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def hdfs(hdfs_kind: str, request: pytest.FixtureRequest) -> Hdfs:
    served: Hdfs = request.getfixturevalue(f"{hdfs_kind}_hdfs")
    return served


@pytest.fixture
def worker_on_hdfs(hdfs: Hdfs, home: SparkHome, tmp_path: Path) -> Iterator[Worker]:
    """One JVM per test, because Hadoop's client keeps the ticket and the connections of the first login."""
    started = Worker(home, tmp_path / "worker.log", WORKER, **pod_environment(hdfs, tmp_path))
    yield started
    started.stop()


@pytest.fixture
def hdfs_lake(engine: Engine, home: SparkHome, worker_on_hdfs: Worker, hdfs: Hdfs, tmp_path: Path) -> HdfsLake:
    """An empty warehouse on either kind of HDFS."""
    return HdfsLake(engine, worker_on_hdfs, home, tmp_path, hdfs=hdfs)


def _driven(hdfs: Hdfs, directory: Path) -> HdfsLake:
    """Returns a lake for drivers alone with the newest engine. All engines have the same client of Hadoop."""
    engine, found = [(e, _available()[n]) for n, e in supported_engines().items() if _available()[n].directory][-1]
    assert found.directory is not None
    return HdfsLake(engine, None, spark_home(engine, found.directory), directory, hdfs=hdfs)


@pytest.fixture(scope="session")
def hive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """A Hive metastore with its own PostgreSQL."""
    with metastore.on_loopback(tmp_path_factory.mktemp("hive")) as started:
        yield started


@pytest.fixture(scope="session")
def hive_servers(hive: Metastore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveServers]:
    with hive_servers_with_s3(hive, tmp_path_factory.mktemp("hive-s3")) as started:
        yield started


@pytest.fixture
def hive_lake(engine: Engine, worker: Worker, home: SparkHome, tmp_path: Path, hive_servers: HiveServers) -> HiveLake:
    """An empty database and an empty warehouse of the test."""
    name = f"shop_{next(_numbers)}"
    uri, root = hive_servers.hive.uri, f"root_{name}"
    return HiveLake(engine, worker, home, tmp_path, database=name, servers=hive_servers, uri=uri, root=root)


@pytest.fixture(scope="session")
def jdbc_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JdbcServers]:
    with jdbc_servers_on_loopback(tmp_path_factory.mktemp("jdbc-s3")) as started:
        yield started


@pytest.fixture
def jdbc_lake(engine: Engine, worker: Worker, home: SparkHome, tmp_path: Path, jdbc_servers: JdbcServers) -> JdbcLake:
    """An empty database and an empty warehouse of the test."""
    login = jdbc_servers.postgres.login(f"lake_{next(_numbers)}")
    lake = JdbcLake(engine, worker, home, tmp_path, servers=jdbc_servers, login=login, uri=login.uri, root=login.user)
    lake.mount_secret()
    return lake


@pytest.fixture
def simple(simple_hdfs: Hdfs, tmp_path: Path) -> HdfsLake:
    return _driven(simple_hdfs, tmp_path)


@pytest.fixture
def secure(kerberos_hdfs: Hdfs, tmp_path: Path) -> HdfsLake:
    return _driven(kerberos_hdfs, tmp_path)


@pytest.fixture
def bucket(lake: Lake) -> Iterator[Bucket]:
    with s3_server(lake.directory, "lake", "landing") as server:
        yield Bucket(lake, server, dict(server.keys))


@pytest.fixture(scope="class")
def drivers(home: SparkHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drivers]:
    """The JVM of all driver Pods of a story's clusters. Its Hadoop keeps a bucket's server, so each story has one."""
    made = Drivers(functools.partial(Worker, home), tmp_path_factory.mktemp("drivers"))
    yield made
    made.stop()


@pytest.fixture(scope="class")
def s3(drivers: Drivers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A server with the buckets of a lake in several clusters."""
    with s3_server(tmp_path_factory.mktemp("s3"), "lake", "landing", keys=drivers.keys) as server:
        yield server


@pytest.fixture
def gate(bucket: Bucket) -> Iterator[Gate]:
    """The same server, which accepts only temporary keys."""
    with token_gate(bucket.server) as opened:
        bucket.env = {
            "AWS_ACCESS_KEY_ID": opened.access_key_id,
            "AWS_SECRET_ACCESS_KEY": opened.secret_access_key,
            "AWS_SESSION_TOKEN": opened.token,
        }
        yield opened
