"""Every test that asks for `lake` or `engine` runs on each engine whose jars can be had, or on the newest of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from paimon_engines.engine import Engine
from paimon_engines.loader import supported_engines
from tests.cluster.hdfs.loopback import on_loopback
from tests.cluster.hdfs.servers import Hdfs
from tests.cluster.hive import metastore
from tests.cluster.hive.metastore import Metastore
from tests.spark import with_metastore
from tests.spark.bucket import Bucket
from tests.spark.hdfs_lake import HdfsLake, pod_environment
from tests.spark.lake import Lake
from tests.support.engine_matrix import WHOLE_MATRIX, engines_for
from tests.support.s3_server import s3_server
from tests.support.s3_token_gate import Gate, token_gate
from tests.support.spark_home import SparkHome, spark_home
from tests.support.spark_process import Worker
from tools.engines.fetch import Availability, fetch

_availability: dict[str, Availability] = {}


def _available() -> dict[str, Availability]:
    if not _availability:
        _availability.update({name: fetch(engine) for name, engine in supported_engines().items()})
    return _availability


def pytest_addoption(parser: pytest.Parser) -> None:
    """For `pytest --whole-matrix tests/spark`, which `make test-long` calls."""
    parser.addoption(WHOLE_MATRIX, action="store_true", help="run every test of tests/spark on every engine")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Sorted by engine, because only one engine's JVM is kept at a time. A module may name the metastore it needs."""
    if "engine_id" in metafunc.fixturenames:
        ready = [name for name, found in _available().items() if found.directory]
        if not ready:
            reasons = "; ".join(found.reason for found in _available().values())
            pytest.fail(f"no engine can be had, so nothing can be shown: {reasons}", pytrace=False)
        needed = getattr(metafunc.module, "METASTORE", "Filesystem")
        marked = metafunc.definition.get_closest_marker("newest_engine") is not None
        newest_only = marked and not metafunc.config.getoption(WHOLE_MATRIX)
        metafunc.parametrize("engine_id", engines_for(ready, needed, newest_only=newest_only), scope="session")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What none of the engines at hand can do is no test: the summary names the engine that is missing."""
    items[:] = [item for item in items if not _is_without_engine(item)]


def _is_without_engine(item: pytest.Item) -> bool:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return "engine_id" in parameters and parameters["engine_id"] not in supported_engines()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Engines that went untested because their jars cannot be had are named, not passed over."""
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
def worker(engine_id: str, home: SparkHome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """One JVM per engine for the whole run of the tests."""
    directory = tmp_path_factory.mktemp("worker")
    environment = with_metastore.environment(directory) | {"HIVE_LOCK_STALE_AFTER_S": "10"}
    started = Worker(home, directory / f"{engine_id}.log", **environment)
    yield started
    started.stop()


@pytest.fixture
def lake(engine: Engine, worker: Worker, home: SparkHome, tmp_path: Path) -> Lake:
    """An empty warehouse of the test's own."""
    return Lake(engine, worker, home, tmp_path)


@pytest.fixture(scope="session")
def simple_hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """An HDFS that believes every name."""
    yield from _served(on_loopback(tmp_path_factory.mktemp("hdfs"), secure=False))


@pytest.fixture(scope="session")
def kerberos_hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """An HDFS that wants a ticket, with its KDC."""
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
    """One JVM per test: Hadoop's client keeps the ticket and the connections of the first login."""
    started = Worker(home, tmp_path / "worker.log", **pod_environment(hdfs, tmp_path))
    yield started
    started.stop()


@pytest.fixture
def hdfs_lake(engine: Engine, home: SparkHome, worker_on_hdfs: Worker, hdfs: Hdfs, tmp_path: Path) -> HdfsLake:
    """An empty warehouse on either kind of HDFS."""
    return HdfsLake(engine, worker_on_hdfs, home, tmp_path, hdfs=hdfs)


def _driven(hdfs: Hdfs, directory: Path) -> HdfsLake:
    """For drivers only, by the newest engine: Hadoop's client, whose words these tests are about, is Spark's own."""
    engine, found = [(e, _available()[n]) for n, e in supported_engines().items() if _available()[n].directory][-1]
    assert found.directory is not None
    return HdfsLake(engine, None, spark_home(engine, found.directory), directory, hdfs=hdfs)


@pytest.fixture(scope="session")
def hive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metastore]:
    """A Hive metastore whose lists are in a PostgreSQL of its own."""
    with metastore.on_loopback(tmp_path_factory.mktemp("hive")) as started:
        yield started


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


@pytest.fixture
def gate(bucket: Bucket) -> Iterator[Gate]:
    """The same server for those who have temporary keys only."""
    with token_gate(bucket.server) as opened:
        bucket.env = {
            "AWS_ACCESS_KEY_ID": opened.access_key_id,
            "AWS_SECRET_ACCESS_KEY": opened.secret_access_key,
            "AWS_SESSION_TOKEN": opened.token,
        }
        yield opened
