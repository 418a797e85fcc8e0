"""The groups of tests when several processes share the suites (`make test`): a group runs in one process.

Tests on the node mostly wait for a Pod or a schedule, tests of the API server for leases, while Spark tests compute.
Without `-n` the groups have no effect. Tests with the marker `long` run by `make test-long`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

from tests.support.engine_matrix import WHOLE_MATRIX
from tests.support.time_limit import SECONDS_TO, limit_of

settings.register_profile("any machine", deadline=None)  # no example has a time limit
settings.load_profile("any machine")

SUITES = ("e2e", "spark", "apiserver")
"""Suites whose groups start in turn: tests of spark compute, those of apiserver wait, those of e2e do both.

The groups of a suite start before its single tests, so that no process runs a group at the end.
"""

OWN_NODE = "own-node"
"""The group of all tests on the second node. Their marker is `own_node`, because they break the node."""
WAITING = (OWN_NODE, "apiserver-operator", "spark-hdfs")
"""Groups that start before all others: they take long and mostly wait."""
GROUPS_OF_ENGINE = 3
"""Groups of the Spark tests of an engine that need no slow server. If it were one, it would be the last to end."""
ON_ITS_OWN_SERVER = ("test_bad_day", "test_tenants")
"""Files of tests/apiserver whose tests share a server with no other file."""
IN_ORDER = ("test_cluster_lifecycle", "test_release_lifecycle")
"""Files whose tests run in order on a cluster of their own."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--whole-matrix`, which `make test-long` uses, and `--seconds-to`, which both commands use."""
    parser.addoption(WHOLE_MATRIX, action="store_true", help="run every test of tests/spark on every engine")
    parser.addoption(SECONDS_TO, type=Path, help="file for the seconds of each test without the marker long")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the time limit of tests without the marker `long`."""
    if limit := limit_of(config):
        config.pluginmanager.register(limit)


REPEATED: Final = ("every_write", "worlds")
"""Markers of tests that walk the same lines a thousand times. To count these takes as long as the tests themselves."""
START_PYTEST: Final = ("test_engine_matrix", "test_time_limit")
"""Files of unit tests that start sessions of pytest."""


@pytest.hookimpl(wrapper=True, tryfirst=True)  # xdist reads the marks in its own hook of this name
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Assigns the groups: tests that share a server, a JVM, a node or the table of one lifecycle. Orders them.

    pytest's own hook of this name brings the tests together that share a parameter of a session, so the order is made
    after it.
    """
    for item in items:
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
        if any(map(item.get_closest_marker, REPEATED)):
            item.add_marker("no_cover")
    order, slow = _order(items), _slow_files(items)
    yield
    items.sort(key=lambda item: (order[_unit(item)], item.path not in slow))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Checks that the id of every grouped test has the name of its group, by which xdist distributes it."""
    if session.config.getoption("loadgroup", default=False):
        alone = [item.nodeid for item in session.items if _group(item) and "@" not in item.nodeid]
        assert not alone, f"{len(alone)} tests are without their group, such as {alone[0]}"


def _slow_files(items: list[pytest.Item]) -> set[Path]:
    """The files of unit tests that take longest. If one of them is the last, the other processes wait for it."""
    repeated = {item.path for item in items if any(map(item.get_closest_marker, REPEATED))}
    return repeated | {item.path for item in items if item.path.stem in START_PYTEST}


def _suite(item: pytest.Item) -> str:
    return item.path.parent.name


def _group(item: pytest.Item) -> str | None:
    suite, file = _suite(item), item.path.stem
    if suite == "spark":
        return f"spark-{_servers(item) or _jvm(item) or 'no-engine'}"
    if suite == "apiserver":
        # Few groups, because each process with such a test has an API server, which is never idle.
        if file in ON_ITS_OWN_SERVER:
            return f"apiserver-{file}"
        return "apiserver-operator" if file.startswith("test_operator") else "apiserver-rest"
    if file in IN_ORDER:
        return file
    if suite == "e2e":
        return _group_on_the_node(item)
    return "unit"


def _servers(item: pytest.Item) -> str | None:
    """The slow servers of a Spark test, which start once for the tests of all engines."""
    fixtures = set(getattr(item, "fixturenames", ()))
    if fixtures & {"simple_hdfs", "kerberos_hdfs", "hdfs"}:
        return "hdfs"
    if "ns" in fixtures:
        return "executors"
    if "drivers" in fixtures:
        return "clusters"
    if "hive" in fixtures:
        return "hive"
    return "jdbc" if "jdbc_servers" in fixtures else None


def _jvm(item: pytest.Item) -> str | None:
    """The engine of a Spark test, with the number of its module's group."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    part = sum(item.path.stem.encode()) % GROUPS_OF_ENGINE
    return f"{parameters['engine_id']}-{part}" if "engine_id" in parameters else None


def _group_on_the_node(item: pytest.Item) -> str | None:
    """The group of a test on the node. None: it has its own namespace. The tests of a class use one table in order."""
    if item.get_closest_marker("own_node"):
        return OWN_NODE
    if item.get_closest_marker("xdist_group"):
        return None  # the files of these tests name the group of their shared server
    of_class = getattr(item, "cls", None)
    engine = getattr(getattr(item, "callspec", None), "params", {}).get("engine", "newest")
    return of_class and f"{item.path.stem}-{of_class.__name__}-{engine}"


def _order(items: list[pytest.Item]) -> dict[str, tuple[bool, int, int]]:
    """Returns the rank of each unit: WAITING, then one unit of each suite in turn, the largest groups first."""
    units: dict[str, pytest.Item] = {}
    for item in items:
        units.setdefault(_unit(item), item)
    sizes = Counter(map(_unit, items))
    ranks: dict[str, tuple[bool, int, int]] = {}
    positions: Counter[str] = Counter()
    for unit in sorted(units, key=lambda each: -sizes[each]):
        suite = _suite(units[unit])
        ranks[unit] = unit not in WAITING, positions[suite], SUITES.index(suite) if suite in SUITES else len(SUITES)
        positions[suite] += 1
    return ranks


def _unit(item: pytest.Item) -> str:
    """What one process runs: the item's group, or the item."""
    marker = item.get_closest_marker("xdist_group")
    return str(marker.args[0]) if marker else item.nodeid
