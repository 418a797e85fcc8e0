"""The node, the operator installed by its chart, and a namespace of its own for every test."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator, Mapping

import pytest

from paimon_engines.loader import supported_engines
from tests.cluster import release
from tests.cluster.hdfs import on_node
from tests.cluster.hive import metastore
from tests.cluster.hive.metastore import Metastore
from tests.cluster.layout import Layout
from tests.e2e.hdfs_lab import HdfsLab
from tests.e2e.hive_lab import HiveLab
from tests.e2e.lab import Lab
from tests.e2e.outages import S3Door, door_of
from tests.e2e.soak import Soak
from tests.support import secret_search
from tests.support.kubectl import Kubectl


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `each_engine` runs on every engine whose jars could be had.

    A module may name the metastore that it needs. Where no engine has it there is nothing to run.
    """
    if "each_engine" in metafunc.fixturenames:
        needed = getattr(metafunc.module, "METASTORE", "Filesystem")
        known = supported_engines()
        metafunc.parametrize("each_engine", [name for name in release.engines() if needed in known[name].metastores])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """pytest would call a test without an engine skipped."""
    items[:] = [item for item in items if not _is_without_engine(item)]


def _is_without_engine(item: pytest.Item) -> bool:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return "each_engine" in parameters and parameters["each_engine"] not in supported_engines()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The random moments that tests took, so that each can be repeated."""
    reports = [each for kind in ("passed", "failed") for each in terminalreporter.getreports(kind)]
    for report in reports:
        for name, value in report.user_properties if report.when == "call" else ():
            if name == "moment":
                terminalreporter.write_line(str(value))


@pytest.fixture(scope="session")
def cluster_env() -> Mapping[str, str]:
    """The environment of `build/cluster/env`; brings the node up when it is not."""
    return release.ready_cluster()


def _lab(env: Mapping[str, str], name: str, engine: str) -> Lab:
    """A namespace under Pod Security `restricted` with the Secret `lake-s3` and the catalog `lake`."""
    lab = Lab(kubectl=Kubectl(namespace=name, env=env), env=env, engine=engine)
    lab.kubectl.apply(release.restricted_namespace(name))
    lab.kubectl.apply(lab.secret(), lab.catalog())
    return lab


@pytest.fixture
def lab(request: pytest.FixtureRequest, cluster_env: Mapping[str, str]) -> Iterator[Lab]:
    """One namespace per test and run of the suite; its deletion is left to finish in the background."""
    made = _lab(cluster_env, _name(request), _engine(request))
    yield made
    _remove(made)


def _name(request: pytest.FixtureRequest) -> str:
    return "e2e-" + hashlib.sha256(f"{request.node.nodeid} {os.getpid()}".encode()).hexdigest()[:8]


def _engine(request: pytest.FixtureRequest) -> str:
    """The one that the test asks for, or the newest."""
    asked: str = request.getfixturevalue("each_engine") if "each_engine" in request.fixturenames else ""
    return asked or release.newest_engine()


def _remove(lab: Lab) -> None:
    """Logs go with their Pods, and are searched for secrets before; all the rest is at the end of the session."""
    leaked = secret_search.in_logs_of(lab.namespace)
    lab.kubectl.run("delete", "namespace", lab.namespace, "--wait=false")
    assert leaked == []


@pytest.fixture
def door(cluster_env: Mapping[str, str], lab: Lab) -> Iterator[S3Door]:
    """An S3 server for this test alone, open; the lab's catalog leads through it."""
    with door_of(lab) as opened:
        yield opened


@pytest.fixture
def soak(cluster_env: Mapping[str, str]) -> Iterator[Soak]:
    """Random moments from SOAK_SEED, so that a bad run can be repeated."""
    seed = int(os.environ.get("SOAK_SEED") or random.randrange(10**6))  # noqa: S311 - moments, not secrets
    lab = _lab(cluster_env, f"soak-{seed}", release.newest_engine())
    with door_of(lab) as opened:
        yield Soak(lab, seed, opened)
    _remove(lab)  # its schedule would go on beside the other tests, with its door closed


@pytest.fixture(params=[on_node.SIMPLE, on_node.KERBEROS])
def hdfs_lab(request: pytest.FixtureRequest, cluster_env: Mapping[str, str]) -> Iterator[HdfsLab]:
    """A namespace whose catalog is on HDFS, with nothing else in it."""
    hdfs = on_node.start(Layout(), request.param)
    kubectl = Kubectl(namespace=_name(request), env=cluster_env)
    lab = HdfsLab(kubectl=kubectl, env=cluster_env, engine=_engine(request), hdfs=hdfs)
    lab.kubectl.apply(release.restricted_namespace(lab.namespace))
    lab.kubectl.apply(*lab.surroundings(), lab.catalog())
    yield lab
    _remove(lab)


@pytest.fixture(scope="module")
def hive() -> Iterator[Metastore]:
    """The node's Hive metastore server, empty at the module's beginning."""
    with metastore.on_node(Layout()) as started:
        yield started


@pytest.fixture
def hive_lab(request: pytest.FixtureRequest, cluster_env: Mapping[str, str], hive: Metastore) -> Iterator[HiveLab]:
    """A namespace whose catalog is on S3 and keeps its list of tables in the Hive metastore."""
    kubectl = Kubectl(namespace=_name(request), env=cluster_env)
    lab = HiveLab(kubectl=kubectl, env=cluster_env, engine=_engine(request), hive=hive)
    lab.kubectl.apply(release.restricted_namespace(lab.namespace))
    lab.kubectl.apply(lab.secret(), lab.catalog())
    yield lab
    _remove(lab)
