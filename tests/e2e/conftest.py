"""Fixtures: the node, the operator installed by its chart, and a namespace for every test."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Mapping

import pytest

from tests.cluster import release
from tests.cluster.hdfs import on_node
from tests.cluster.hive import metastore
from tests.cluster.hive.metastore import Metastore
from tests.cluster.layout import Layout
from tests.e2e.hdfs_lab import HdfsLab
from tests.e2e.hive_lab import HiveLab
from tests.e2e.lab import Lab
from tests.e2e.labs import Node, hdfs_lab_in, hive_lab_in, lab_in, name_of
from tests.e2e.outages import DedicatedS3, dedicated_s3_of
from tests.e2e.own_node import cluster_in, searched
from tests.e2e.soak import Soak
from tests.support.engine_matrix import engines_for, remove_without_engine


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test with the mark `each_engine` on every engine whose jars are available.

    A module can name the METASTORE that it needs. Without an engine that supports it there is no test.
    """
    if metafunc.definition.get_closest_marker("each_engine"):
        needed = getattr(metafunc.module, "METASTORE", "Filesystem")
        found = engines_for(release.engines(), needed, newest_only=False)
        metafunc.parametrize("engine", found, indirect=True, scope="class" if metafunc.cls else "function")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Removes tests that no available engine can run."""
    remove_without_engine(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the seeds of random moments, so that each can be repeated."""
    reports = [each for kind in ("passed", "failed") for each in terminalreporter.getreports(kind)]
    for report in reports:
        for name, value in report.user_properties if report.when == "call" else ():
            if name == "moment":
                terminalreporter.write_line(str(value))


@pytest.fixture(scope="session")
def cluster_env() -> Mapping[str, str]:
    """The environment of `build/cluster/env`. Starts the node unless it runs."""
    return release.ready_cluster()


@pytest.fixture(scope="session")
def own_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A second node with the operator of this checkout."""
    with cluster_in(tmp_path_factory.mktemp("checkout")) as cluster, searched(cluster) as made:
        made.install()
        yield Node(made.lab.env, made.lab.layout, made.now)


@pytest.fixture
def node(request: pytest.FixtureRequest, cluster_env: Mapping[str, str]) -> Node:
    """The node of all tests, or the second node for tests with the mark `own_node`."""
    if request.node.get_closest_marker("own_node") is None:
        return Node(cluster_env, Layout())
    second: Node = request.getfixturevalue("own_node")
    return second


@pytest.fixture(scope="class")
def engine(request: pytest.FixtureRequest) -> str:
    """The engine of a lab: the newest one, or each in turn for a test with the mark `each_engine`."""
    return getattr(request, "param", None) or release.newest_engine()


@pytest.fixture
def lab(request: pytest.FixtureRequest, node: Node, engine: str) -> Iterator[Lab]:
    """One namespace per test and run of the suite."""
    with lab_in(node, name_of(request, engine), engine) as made:
        yield made


@pytest.fixture(
    params=[pytest.param(False, marks=pytest.mark.long, id="by itself"), pytest.param(True, id="by an edit")]
)
def by_an_edit(request: pytest.FixtureRequest) -> bool:
    """Whether the test edits the table after a fix. An edit is reconciled at once, without the backoff."""
    return bool(request.param)


@pytest.fixture(scope="class")
def class_lab(request: pytest.FixtureRequest, cluster_env: Mapping[str, str], engine: str) -> Iterator[Lab]:
    """One namespace for the tests of a class, which run in order."""
    with lab_in(Node(cluster_env, Layout()), name_of(request, engine), engine) as made:
        yield made


@pytest.fixture
def dedicated_s3(lab: Lab) -> Iterator[DedicatedS3]:
    """An S3 server for this test alone, running; the lab's catalog uses it."""
    with dedicated_s3_of(lab) as opened:
        yield opened


@pytest.fixture
def soak(node: Node) -> Iterator[Soak]:
    """A soak with random moments from SOAK_SEED, which repeats them."""
    seed = int(os.environ.get("SOAK_SEED") or random.randrange(10**6))  # noqa: S311 - moments, not secrets
    with lab_in(node, f"soak-{seed}", release.newest_engine()) as lab, dedicated_s3_of(lab) as opened:
        yield Soak(lab, seed, opened)


@pytest.fixture(params=[on_node.SIMPLE, on_node.KERBEROS])
def hdfs_lab(request: pytest.FixtureRequest, cluster_env: Mapping[str, str], engine: str) -> Iterator[HdfsLab]:
    """A namespace whose catalog is on HDFS, with nothing else in it."""
    with hdfs_lab_in(cluster_env, name_of(request, engine), engine, request.param) as made:
        yield made


@pytest.fixture(scope="module")
def hive() -> Iterator[Metastore]:
    """The node's Hive metastore server, empty at the start of the module."""
    with metastore.on_node(Layout()) as started:
        yield started


@pytest.fixture
def hive_lab(
    request: pytest.FixtureRequest, cluster_env: Mapping[str, str], engine: str, hive: Metastore
) -> Iterator[HiveLab]:
    """A namespace whose catalog is on S3 and in the Hive metastore."""
    with hive_lab_in(cluster_env, name_of(request, engine), engine, hive) as made:
        yield made
